"""Circles that hide the ends of traces, and places such as homes.

A circle does not have its place in the middle: its centre lies off the place by a way that a secret
key draws. All within `Radius.least` metres of the place is hidden, and whoever knows the circle
knows of the place only that it is less than `Radius.shift` metres, and the width of a place, from
its centre.

``extract --trim-ends`` cuts out of each part of a trace, from stop to stop, the circles of its own
two ends; ``trim`` cuts the circles of all places of one person out of all their tracks.
"""

from cmath import rect
from hashlib import blake2b
from itertools import product
from math import dist, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.extract.clip_to_area import keep
from trajanon.extract.gaps_and_stays import stays_of
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.trajectories.geodesy import (
    EQUATOR,
    SHORT_DEGREE,
    cells,
    in_space,
    metres_of_degrees,
    wrapped,
)

_STAY_WIDTH = 50.0  # metres; who moves less for five minutes stays
_LEAST_RADIUS = 50.0  # metres
_MOST_RADIUS = 20_000.0
_SURE = 1.01  # a factor: a degree to the north differs by 1 % on all the Earth


class Radius(NamedTuple):
    """How far a place is hidden, in metres.

    Attributes
    ----------
    least
        All within this distance of a place is hidden, as the crow flies and so along the way.
    most
        A circle has a radius of this and half of ``least``, and its place is not in the middle: on
        one side of a place, up to about twice this distance is cut.

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

    radius = Radius(least, most)
    check_radius(radius)
    return radius


def check_radius(radius: Radius) -> None:
    """Refuse distances that are too small or too large, or too near each other."""
    is_wide = 2.0 * radius.least <= radius.most <= _MOST_RADIUS
    if not (radius.least >= _LEAST_RADIUS and is_wide):
        raise BadInput(
            f"`radius` must begin at {_LEAST_RADIUS:g} m or more, and end at twice that or more, "
            f"up to {_MOST_RADIUS:,.0f} m, so that the circle does not show its place "
            f"(got {radius.least:g}-{radius.most:g})"
        )


class Circles:
    """The circles of places, numbered as they come; near places have that of the first of them."""

    def __init__(self, radius: Radius, key: bytes, *, share_within: float = 0.0) -> None:
        """Start without a place.

        Within ``share_within`` metres, two centres are shifted alike: two shifts drawn for one home
        would show more of it. Of one person only: where people share shifts, whoever knows one
        place finds those of the others.
        """
        self.radius = radius
        self.key = key
        self.share_within = share_within
        self.places: list[list[float]] = []  # latitude and longitude of the first place in each
        self._places_in_metres: list[list[float]] = []  # the same in space
        self._shifts: list[complex] = []  # from place to centre: metres east, imaginary north
        self._circles_of_cube: dict[tuple[int, ...], list[int]] = {}  # cubes of a place's width

    def numbers_of(self, places: Floats) -> Ints:
        """Return the number of each place's circle, (n,); places are in degrees, (n, 2)."""
        in_metres = in_space(places, EQUATOR)  # so near, straight through the Earth is as good
        cubes = (in_metres // self.radius.width).astype(np.int64)

        # What is drawn depends on the cell. Where shifts are not shared, it is half a place's width
        # wide: no two circles are in one cell, as they lie a width apart, and it is 0.7 of one
        # across. Where they are, it is as wide as they are shared, so that one home, which two runs
        # find some metres apart, mostly draws alike.
        cell = cells(places, max(self.share_within, self.radius.width / 2.0))

        numbers = list[int]()
        columns = (places.tolist(), in_metres.tolist(), map(tuple, cubes.tolist()), cell.tolist())
        for place, place_in_metres, cube, cell_number in zip(*columns, strict=True):
            near = self._near(place_in_metres, cube)
            numbers.append(min(near, default=len(self.places)))
            if near:
                continue

            self._shifts.append(self._shift(place_in_metres, cell_number))
            self._circles_of_cube.setdefault(cube, []).append(len(self.places))
            self.places.append(place)
            self._places_in_metres.append(place_in_metres)
        return np.array(numbers, np.int64)

    def centres(self, numbers: Ints) -> Floats:
        """Return latitude and longitude of the centres of circles, (n, 2)."""
        lat, lon = np.array([self.places[number] for number in numbers]).reshape(-1, 2).T
        shift = np.array([self._shifts[number] for number in numbers], complex)
        metres_north, _ = metres_of_degrees(lat).T
        centre_lat = np.clip(lat + shift.imag / metres_north, -90.0, 90.0)

        # A degree to the east counts as at the wider end of the way, which so is never too long.
        _, metres_east = metres_of_degrees(np.minimum(np.abs(lat), np.abs(centre_lat))).T
        return np.column_stack([centre_lat, wrapped(lon + shift.real / metres_east)])

    def _near(self, in_metres: list[float], cube: tuple[int, ...]) -> list[int]:
        """List the circles whose place is the same; all of them are in cubes next to it."""
        return [
            number
            for near_cube in product(*((side - 1, side, side + 1) for side in cube))
            for number in self._circles_of_cube.get(near_cube, ())
            if dist(in_metres, self._places_in_metres[number]) <= self.radius.width
        ]

    def _shift(self, in_metres: list[float], cell: int) -> complex:
        """Return a centre's shift: the nearest neighbour's, or one drawn evenly over a disc."""
        if self.share_within and self.places:
            away = [dist(in_metres, neighbour) for neighbour in self._places_in_metres]
            if min(away) <= self.share_within:
                return self._shifts[away.index(min(away))]

        # Two numbers of 64 bits; `person` keeps them apart from all else that the key draws.
        digest = blake2b(
            cell.to_bytes(8, "little", signed=True), key=self.key, person=b"home zones"
        )
        turn, share = np.frombuffer(digest.digest()[:16], np.uint64).tolist()
        return rect(self.radius.shift * sqrt(share / 2.0**64), 2.0 * pi * turn / 2.0**64)


# The ends of each trace, of many people.


def circles_of_ends(rules: Rules, key: bytes) -> Circles:
    """Start the circles of an extraction; many people's, so that no two are shifted alike.

    A circle has two and a half times the radius asked for: all within the radius is cut out, all
    beyond about four times it stays.
    """
    return Circles(Radius(rules.trim_ends, 2.0 * rules.trim_ends), key)


def cut_own_ends(points: Points, rules: Rules, circles: Circles) -> Points:
    """Cut the surroundings of its own two ends out of each part, from one stop to the next.

    A part that only passes where another one ends keeps its way there.
    """
    if len(points) == 0:
        return points

    # Parts are stops, and the ways between stops or interruptions.
    is_in_stay = stays_of(points, rules, circles.radius.width)
    first, size = points.cut(np.diff(is_in_stay, prepend=False)).pieces
    part = np.repeat(np.arange(len(first)), size)
    ends = np.stack([first, first + size - 1], axis=1).ravel()  # in order, as circles come
    numbers = circles.numbers_of(np.column_stack([points.lat[ends], points.lon[ends]]))
    centre_lat, centre_lon = circles.centres(numbers).reshape(-1, 2, 2).T  # (2, parts) each
    radius = circles.radius.circle * _SURE

    # Metres of a degree; to the east as few as anywhere in the circle, so that all near is cut out.
    north = metres_of_degrees(centre_lat)[..., 0]
    nearest_to_pole = np.minimum(np.abs(centre_lat) + radius / SHORT_DEGREE, 90.0)
    east = metres_of_degrees(nearest_to_pole)[..., 1]

    def from_centres(lat: Floats, lon: Floats, part: Ints) -> NDArray[np.complex128]:
        """Return places in metres east and, imaginary, north of both centres of their parts.

        The shape is (2, places), a row for each centre.
        """
        degrees_east = wrapped(lon - centre_lon[:, part])
        degrees_north = lat - centre_lat[:, part]
        return np.asarray(degrees_east * east[:, part] + 1j * (degrees_north * north[:, part]))

    def meets(lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Mark which ways come into a circle, or lead from one part to the next, past a stop."""
        begin = from_centres(lat[start], lon[start], part[start])
        way = from_centres(lat[start + 1], lon[start + 1], part[start]) - begin
        length = np.abs(way)

        # Where on the way the centre is nearest, from 0 to 1.
        with np.errstate(divide="ignore", invalid="ignore"):
            share = -(begin * way.conj()).real / length**2
        nearest = begin + np.clip(np.nan_to_num(share), 0.0, 1.0) * way
        comes_in = (np.abs(nearest) <= radius).any(axis=0)
        return np.asarray(comes_in | (part[start] != part[start + 1]))

    is_outside = (np.abs(from_centres(points.lat, points.lon, part)) > radius).all(axis=0)
    return keep(points, np.asarray(is_outside), meets)


# All places of one person.


def zone_centres(
    points: Points, rules: Rules, radius: Radius, places: Floats, key: bytes
) -> Floats:
    """Draw the centres of circles that hide ends of tracks, repeated stays, and further places.

    A place where the person stayed once, which is none of these, has no circle.

    Parameters
    ----------
    points
        One person's tracks, sorted by time; each piece is a track.
    rules
        How long a stay is.
    radius
        How far places are hidden.
    places
        Further places to hide: latitude and longitude, shape (n, 2).
    key
        The holder's, which draws the circles. The same tracks get the same circles again; among
        other tracks, the same place may get another circle.

    Returns
    -------
    Floats
        Latitude and longitude, shape (circles, 2); the radius of each is ``radius.circle``.
    """
    from scipy.spatial import cKDTree  # extraction has circles, but does not wait for scipy

    # Places where tracks begin and end.
    first, size = points.pieces
    rows = np.concatenate([first, first + size - 1])
    ends = np.column_stack([points.lat[rows], points.lon[rows]])

    stays = _stays(points, rules)
    candidates = np.concatenate([ends, places, stays])

    space = in_space(candidates, EQUATOR)
    candidates_near = cKDTree(space).query_ball_point(space, radius.width, return_length=True)

    # A single stay, with no end or further place near, is taken for no home.
    is_hidden = candidates_near > 1
    is_hidden[: len(ends) + len(places)] = True

    # The place with most ends and stays around it first.
    order = np.argsort(-candidates_near, kind="stable")
    circles = Circles(radius, key, share_within=radius.most)
    circles.numbers_of(candidates[order[is_hidden[order]]])
    return circles.centres(np.arange(len(circles.places)))


def _stays(points: Points, rules: Rules) -> Floats:
    """Return the point in the middle of each stay, shape (n, 2)."""
    is_in_stay = stays_of(points, rules, _STAY_WIDTH)
    stays = points.cut(np.diff(is_in_stay, prepend=False)).take(is_in_stay)
    first, size = stays.pieces
    middle = first + (size - 1) // 2
    return np.column_stack([stays.lat[middle], stays.lon[middle]])
