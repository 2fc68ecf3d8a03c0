"""Where somebody's tracks begin, end and stay again and again; and the zones that hide this.

A zone is a circle that does not have its place in the middle: its centre lies off the place by a
way that the holder's key draws. All within `Radius.least` metres of the place is hidden, and
whoever knows the circle knows of the place only that it is less than `Radius.shift` metres, and
the width of a place, from its centre.
"""

from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.extract.gaps_and_stays import gaps_of, stays_of
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.trajectories.geodesy import EQUATOR, cells, in_space, radii

_STAY_WIDTH = 50.0  # metres; who moves less for five minutes stays
_LEAST_RADIUS = 50.0  # metres
_MOST_RADIUS = 20_000.0


class Radius(NamedTuple):
    """How far a place is hidden, in metres.

    Attributes
    ----------
    least
        All within this distance of a place is hidden, as the crow flies and so along the way.
    most
        The distance that is hidden around a place is drawn between ``least`` and this.

    Examples
    --------
    >>> from trajanon.extract import Radius
    >>> Radius(200.0, 500.0).shift
    300.0
    """

    least: float = 200.0
    most: float = 500.0

    @property
    def shift(self) -> float:
        """The longest way from a place to the centre of its circle."""
        return self.most - self.least

    @property
    def width(self) -> float:
        """Ends nearer than this to each other are ends at one place."""
        return self.least / 2.0

    @property
    def circle(self) -> float:
        """The radius of the circle."""
        return self.most + self.width


RADIUS = Radius()
"""How far places are hidden, unless another radius is named."""


def radius_of(text: str) -> Radius:
    """Read two distances, such as 200-500.

    >>> radius_of("300-800")
    Radius(least=300.0, most=800.0)

    Raises
    ------
    BadInput
        If they are no two numbers, too small or too large, or too near each other to hide a place.
    """
    try:
        least, most = map(float, text.split("-"))
    except ValueError:
        raise BadInput(
            f"`radius` must be two distances in metres such as 200-500 (got {text!r})"
        ) from None

    if not (least >= _LEAST_RADIUS and 2.0 * least <= most <= _MOST_RADIUS):
        raise BadInput(
            f"`radius` must begin at {_LEAST_RADIUS:g} m or more, and end at twice that or more, "
            f"up to {_MOST_RADIUS:,.0f} m, so that the circle does not show its place "
            f"(got {text!r})"
        )
    return Radius(least, most)


def zone_centres(
    points: Points, rules: Rules, radius: Radius, places: Floats, key: bytes
) -> Floats:
    """Draw the centres of circles that hide ends of tracks, where they stay again, and places.

    Parameters
    ----------
    points
        One person's tracks, sorted by time; each piece is a track.
    rules
        Which speed is impossible, and how long a stay is.
    radius
        How far places are hidden.
    places
        Further places to hide: latitude and longitude, shape (n, 2).
    key
        The holder's: the same place gets the same circle again.

    Returns
    -------
    Floats
        Latitude and longitude, shape (circles, 2); the radius of each is ``radius.circle``.
    """
    ends = _ends(points, rules)
    stays = _stays(points, rules)
    candidates = np.concatenate([ends, places, stays])
    # A single stay is no home.
    is_hidden_alone = np.arange(len(candidates)) < len(ends) + len(places)

    space = in_space(candidates, EQUATOR)  # metres: a chord is as good as the way
    near = cKDTree(space).query_ball_point(space, radius.width) if len(space) else []
    hidden: list[int] = []  # rows of the candidates that get a circle
    shifts: list[complex] = []
    is_covered = np.zeros(len(space), np.bool_)

    # The place with most ends and stays around it first.
    for row in sorted(range(len(space)), key=lambda row: (-len(near[row]), row)):
        if is_covered[row] or not (is_hidden_alone[row] or len(near[row]) > 1):
            continue
        is_covered[near[row]] = True

        # Two ways drawn for one home would show more of it than one: neighbours share theirs.
        away = np.linalg.norm(space[hidden] - space[row], axis=1)
        has_neighbour = len(away) > 0 and away.min() <= radius.most
        neighbour = int(away.argmin()) if has_neighbour else -1
        shifts.append(shifts[neighbour] if has_neighbour else _shift(candidates[row], radius, key))
        hidden.append(row)

    shift = np.array(shifts, complex)
    metres_north, metres_east = radii(np.radians(candidates[hidden, 0]))  # of a radian
    radians = np.column_stack([shift.imag / metres_north, shift.real / metres_east])
    return candidates[hidden] + np.degrees(radians)


def _ends(points: Points, rules: Rules) -> Floats:
    """Return the places where tracks begin and end, shape (n, 2).

    A first fix may lie far off: where the next cannot be reached from it, that is an end as well;
    so with the last.
    """
    first, size = points.pieces
    last = first + size - 1
    *_, came_too_fast = gaps_of(points, rules)  # from the point before
    is_long = size > 1
    second = first[is_long & came_too_fast[np.minimum(first + 1, len(points) - 1)]] + 1
    before_last = last[is_long & came_too_fast[last]] - 1

    rows = np.concatenate([first, last, second, before_last])
    return np.column_stack([points.lat[rows], points.lon[rows]])


def _stays(points: Points, rules: Rules) -> Floats:
    """Return the point in the middle of each stay, shape (n, 2)."""
    is_in_stay = stays_of(points, rules, _STAY_WIDTH)
    begins = is_in_stay.copy()
    begins[1:] &= ~(is_in_stay[:-1] & points.follows[1:])
    ends = is_in_stay.copy()
    ends[:-1] &= ~(is_in_stay[1:] & points.follows[1:])

    middles = (np.flatnonzero(begins) + np.flatnonzero(ends)) // 2
    return np.column_stack([points.lat[middles], points.lon[middles]])


def _shift(place: Floats, radius: Radius, key: bytes) -> complex:
    """Draw the way to the centre of a circle, evenly over a disc: metres east, imaginary north."""
    cell = cells(place[None], radius.most)[0]
    drawn = blake2b(int(cell).to_bytes(8, "little", signed=True), key=key, person=b"home zones")
    turn, share = np.frombuffer(drawn.digest()[:16], np.uint64) / 2.0**64
    return complex(radius.shift * np.sqrt(share) * np.exp(2j * np.pi * turn))
