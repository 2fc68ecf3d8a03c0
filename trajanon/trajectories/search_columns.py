"""The columns that a search compares: coordinates, and departures where times are released."""

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.common.search_and_release_options import HEAVIEST
from trajanon.trajectories.clock_and_time_zones import MINUTE
from trajanon.trajectories.geodesy import radii
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.trajectories import Trajectories


def search_columns(
    trajectories: Trajectories, timing: Timing | None, spread: Floats | None = None
) -> tuple[Floats, Floats | None]:
    """Return the columns that the search compares, and how much each counts beside the others.

    These are the coordinates, (n, 2 m), and with times the departure as the last column. What a
    column counts multiplies its squared deviations; all count alike where None is returned.
    ``spread``, (2 m,), is the standard deviation of each coordinate in all data, of which the
    trajectories are a part; None if they are all.
    """
    columns = trajectories.records
    if timing is not None:
        columns = np.hstack([columns, timing.seconds(trajectories)[:, :1]])
    elif spread is None:
        return columns, None

    # The search gives each column a spread of 1. In a part, they shall count as in all data. The
    # first row is subtracted, as numbers far from zero lose digits.
    own_spread = (columns - columns[:1]).std(axis=0, ddof=1)
    own_places = own_spread[: trajectories.records.shape[1]]
    places = own_places if spread is None else spread
    weights = np.ones(len(places))  # also of what is constant, and counts nothing
    if spread is not None:
        varies = own_places > 0.0
        weights[varies] = (own_places / places)[varies] ** 2

    if timing is not None:
        middle = trajectories.points.mean(axis=0)
        spreads = np.append(places, own_spread[-1])
        weights = np.append(weights, departure_weight(middle, spreads, timing.minute_worth))
    return columns, weights


def departure_weight(middle: Floats, spread: Floats, minute_worth: float) -> float:
    """Compute how much a column of departures counts beside those of coordinates.

    A minute counts as ``minute_worth`` metres at every point, in any direction. ``middle`` is the
    mean trajectory, (m, 2), and ``spread`` the standard deviation of each column, (2 m + 1,), in
    degrees and, at last, seconds.
    """
    # Of each coordinate, (2 m,): metres of a degree, and the standard deviation in metres.
    metres_of_degree = np.radians(np.column_stack(radii(np.radians(middle[:, 0])))).ravel()
    metres = spread[:-1] * metres_of_degree
    if not metres.any():  # all go the same way: hours alone tell them apart
        return 1.0

    # What a displacement by this many metres adds at each coordinate, were all of it along that
    # axis. In any direction it has, on average, half of its square along each of the two. With this
    # weight a minute, in deviations of departures, adds as much.
    squares = (minute_worth / metres[metres > 0.0]) ** 2
    return min(float(0.5 * squares.sum() * (spread[-1] / MINUTE) ** 2), HEAVIEST)
