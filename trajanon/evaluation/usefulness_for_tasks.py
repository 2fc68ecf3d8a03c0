"""What counts of a release are worth: the error of each task beside the originals."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats, Ints
from trajanon.evaluation.intervals import Estimate, estimated, mean, median
from trajanon.evaluation.od_flows import flow_error, flows
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.streets import count_on_streets
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR
from trajanon.trajectories.distances import displacement, lengths
from trajanon.trajectories.geodesy import cells

TASKS = ("lengths", "volumes", "speeds", "travel times", "OD 1 km", "OD 2 km", "hours")
"""What counts and lines are used for, in the order of the pages."""

CELL_OF_TRAFFIC = 500.0  # metres, of volumes and speeds
CELLS_OF_FLOWS = (1_000.0, 2_000.0)  # metres, of the two tasks of origins and destinations (OD)
CELL_OF_DEPARTURES = 1_000.0  # metres
BUSIEST_CELLS = 100
BUSIEST_STREETS = 1_000
QUANTILES = 200  # of lengths
TRAVELLED = 1_000  # trips at most, spread over all, of which travel times are compared

_LEAST = 1e-9  # metres or seconds, in place of 0 in a division


class Traffic(NamedTuple):
    """Trips at each place, a cell or a street in one direction, and their speed there."""

    trips: pd.Series
    speed: pd.Series | None  # None without times


def task_errors(
    before: ReleasedLines, after: ReleasedLines, roads: RoadsToFollow | None = None
) -> dict[str, Estimate | None]:
    """Measure the error of each task as a share of what the originals give.

    A task that needs times is None where lines have none, one of lengths, speeds or travel times
    where no original moves, and one of volumes or speeds where no original is on a street.
    """
    are_timed = all(
        lines.times is not None and np.isfinite(lines.times[:, 0]).any()
        for lines in (before, after)
    )
    in_cells = _in_cells(before), _in_cells(after)
    if roads is None:
        volumes, speeds = _traffic_errors(*in_cells, BUSIEST_CELLS)
    else:
        on_streets = _on_streets(before, roads), _on_streets(after, roads)
        volumes, speeds = _traffic_errors(*on_streets, BUSIEST_STREETS)

    errors = [
        _length_error(before, after),
        volumes,
        speeds,
        _travel_time_error(before, *in_cells) if are_timed else None,
        *(flow_error(_od_pairs(before, cell), _od_pairs(after, cell)) for cell in CELLS_OF_FLOWS),
        flow_error(_departures(before), _departures(after)) if are_timed else None,
    ]
    return dict(zip(TASKS, errors, strict=True))


def _length_error(before: ReleasedLines, after: ReleasedLines) -> Estimate | None:
    """Compute Wasserstein's distance between lengths, as a share of the mean length.

    That is the mean difference of the same quantiles of both; a line counts once for each trip.
    """
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    known, released = (np.repeat(lengths(lines.points), lines.trips) for lines in (before, after))
    if not known.any():
        return None
    known_quantiles, released_quantiles = (
        np.quantile(metres, shares, method="inverted_cdf") for metres in (known, released)
    )
    metres_off = np.abs(known_quantiles - released_quantiles)
    return estimated(mean, metres_off / float(known.mean()))


def _traffic_errors(
    known: Traffic, released: Traffic, places: int
) -> tuple[Estimate | None, Estimate | None]:
    """Compare trips and speeds at so many of the busiest places, in the median."""
    busiest = known.trips.nlargest(places)
    if busiest.empty:
        return None, None
    change_of_trips = released.trips.reindex(busiest.index, fill_value=0.0) / busiest - 1.0
    volumes = estimated(median, change_of_trips.abs().to_numpy())
    if known.speed is None or released.speed is None:
        return volumes, None

    # A place without a released trip has no speed: it is wrong by all of it.
    speed = known.speed.reindex(busiest.index)
    speed = speed[speed > 0.0]
    if speed.empty:
        return volumes, None
    change = released.speed.reindex(speed.index) / speed - 1.0
    return volumes, estimated(median, change.abs().fillna(1.0).to_numpy())


def _travel_time_error(before: ReleasedLines, known: Traffic, released: Traffic) -> Estimate | None:
    """Compare how long trips of the originals take, if each goes as fast as the cells it passes.

    That is what a planner computes who has speeds but no router. Beside the speeds of the release
    stand those of the originals, not the trips' own seconds, so that originals have no error. Where
    nobody was released, the median speed of all cells is taken.
    """
    rows = np.linspace(0, len(before.points) - 1, min(len(before.points), TRAVELLED)).astype(int)
    points = before.points[rows]
    metres = displacement(points[:, :-1], points[:, 1:])
    cell = cells(points[:, :-1], CELL_OF_TRAFFIC).ravel()  # where each hop begins

    def seconds_of_trips(speed: pd.Series | None) -> Floats:
        assert speed is not None
        moving = speed[speed > 0.0]
        speed_of_hops = moving.reindex(cell).fillna(moving.median()).to_numpy()
        return np.asarray((metres / speed_of_hops.reshape(metres.shape)).sum(axis=1))

    if known.speed is None or not (known.speed > 0.0).any():
        return None
    usual = seconds_of_trips(known.speed)
    share_off = np.abs(seconds_of_trips(released.speed) - usual) / np.maximum(usual, _LEAST)
    # Without any speed, all of it is wrong.
    return estimated(median, np.nan_to_num(share_off, nan=1.0))


def _on_streets(lines: ReleasedLines, roads: RoadsToFollow) -> Traffic:
    """Count the trips on each street, in each direction."""
    table = count_on_streets(lines, roads.network).table.set_index("state")
    speed = None if lines.times is None else table["speed"]
    return Traffic(table["trips"].astype(np.float64), speed)


def _in_cells(lines: ReleasedLines) -> Traffic:
    """Count the trips that pass each cell, and compute their speed there.

    A trip counts once in a cell. Hops count where they begin. Cells without seconds have no speed.
    """
    metres = displacement(lines.points[:, :-1], lines.points[:, 1:])
    line = np.repeat(np.arange(len(metres)), metres.shape[1])
    cell = cells(lines.points[:, :-1], CELL_OF_TRAFFIC).ravel()
    hops = pd.DataFrame({"cell": cell, "line": line, "trips": lines.trips[line]})
    trips = hops.drop_duplicates(["cell", "line"]).groupby("cell").trips.sum().astype(float)
    if lines.times is None:
        return Traffic(trips, None)

    seconds = np.diff(lines.times, axis=1)
    # Times of a release's clock are rounded: right of a line, not of a hop. So it has one speed.
    if lines.clock is not None:
        seconds_a_metre = seconds.sum(axis=1) / np.maximum(metres.sum(axis=1), _LEAST)
        seconds = metres * seconds_a_metre[:, None]
    # Metres of a line without times make no speed.
    hops["metres"] = np.where(np.isnan(seconds), 0.0, metres).ravel() * hops.trips
    hops["seconds"] = seconds.ravel() * hops.trips
    sums = hops.groupby("cell")[["metres", "seconds"]].sum()
    return Traffic(trips, sums.metres / sums.seconds.where(sums.seconds > 0.0))


def _od_pairs(lines: ReleasedLines, cell: float) -> Ints:
    """Number the cells where each trip begins and ends, (trips, 2); their width is in metres."""
    return np.repeat(flows(lines.points, cell), lines.trips, axis=0)


def _departures(lines: ReleasedLines) -> Ints:
    """Number the cell, and the hour, where each trip with times begins, (trips, 2)."""
    assert lines.times is not None
    is_timed = np.isfinite(lines.times[:, 0])
    departure = lines.times[is_timed, 0]
    if lines.clock is None:
        hour = (departure % DAY // HOUR).astype(np.int64)
    else:
        hour = lines.clock.hour(departure)
    starts = np.column_stack([cells(lines.points[is_timed, 0], CELL_OF_DEPARTURES), hour])
    return np.repeat(starts, lines.trips[is_timed], axis=0)
