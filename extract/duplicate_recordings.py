"""Recordings that are copies: of one way at the same times, whatever their digits and fixes are.

People upload a recording twice: with an account and without, from two programs, whole or in part.
Where a recording was is kept at times that all recordings share: once a minute, more often of a
short one. One index of these places finds recordings that were near each other at one time, or
whole hours apart, as clocks of other zones are; these are compared over all the time they share.
Of recordings with seldom fixes, between which their ways are not known, the fixes themselves are
kept and compared in the same way. Of recordings without times, those with as many points, which
begin and end at the same places, are compared at some of these.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Hashes, Ints, places_of_spans
from trajanon.common.glibc_memory import return_free_memory
from trajanon.common.hashing import bits_mixed, hashes_of
from trajanon.extract.points import Points, greatest_of
from trajanon.trajectories.geodesy import DEGREE, EQUATOR, cells, in_space, wrapped

WIDE, NARROW = 30.0, 3.0  # metres between two copies; between two that differ in rounding alone
MANY, FEW = 8, 3  # places by which copies are known; by which those are that differ in rounding
SHARE = 0.8  # of the places that two recordings have in common, at which they must agree
LATE = 2  # seconds between the clocks of copies, beside whole hours
CLOCKS = 14  # hours between time zones, at most
TWO_PLACES = 1_000.0  # metres between places of one person at one time, who is several people
LEAST_WAY = 100.0  # metres; whoever stays at one place is there as others are

_SLOT = 10  # seconds: places are kept at multiples of it
_MINUTE = 6  # slots
_SHORT, _SHORTEST = 720.0, 240.0  # seconds of recordings with places each two slots, and each slot
_LONGEST_HOP = 600.0  # seconds; where a recording was between two fixes farther apart is not known
_SPARSE = 20.0  # seconds from fix to fix, on average, of recordings whose fixes are kept
_LATEST = 2.0**31 - 1.0  # seconds since 1970

_DIGITS = 1e7  # of a degree
_SIGNS = 8  # points by which recordings without times are compared, with the first and the last
_SIGNS_SOUGHT = [0, 3, 7]
"""Those by which they are sought first: a tree of all eight takes six times as long, and one of two
ends gives five times as many pairs to compare."""
_SOUGHT_AT_ONCE = 50_000  # recordings without times: their pairs lie in memory together
_TOO_FEW_POINTS = 4  # recordings without times that are compared have more
_FASTEST = 20.0  # metres a second: where all are faster, clocks must agree better to be found
_NEAR = WIDE + LATE * _FASTEST  # metres between places by which recordings are found
_SURE = 1.01  # a factor: as metres are measured on planes
_COMPARED_AT_ONCE = 50_000  # places, or pairs of recordings without times


@dataclass(frozen=True, eq=False)
class _Recorded:
    """Recordings: a batch of them, or all."""

    subject: Ints  # who made each, (n,)
    fixes: Ints  # with a time, (n,)
    points: Ints  # as they were read, (n,)
    signs: Ints  # some of these in 1e-7 degrees, (n, _SIGNS, 2)


@dataclass(frozen=True, eq=False)
class _Sightings:
    """Where and when recordings were: a batch of them, or all."""

    slot: Ints  # the time of each place, (p,), rising in each recording
    where: Ints  # latitude and longitude in 1e-7 degrees, (p, 2)
    speed: Floats  # metres a second to the north and to the east, (p, 2)
    places: Ints  # how many each recording has, (n,)
    step: Ints  # slots from one to the next, (n,)

    @cached_property
    def start(self) -> Ints:
        """The first place of each recording, (n,)."""
        return np.cumsum(self.places) - self.places

    @cached_property
    def recording(self) -> Ints:
        """Of which recording each place is, (p,)."""
        return np.repeat(np.arange(len(self.places)), self.places)

    @cached_property
    def keys(self) -> Ints:
        """A number for the recording and slot of each place, (p,), rising."""
        return self.key(self.recording, self.slot)

    @staticmethod
    def key(recording: Ints, slot: Ints) -> Ints:
        """Return a number for a recording and a slot."""
        return (recording << 33) + slot + (1 << 31)

    @cached_property
    def moves(self) -> Bools:
        """Mark the recordings that are long enough to be compared with others, (n,)."""
        moves = self.places > 0
        start, where = self.start[moves], self.where / _DIGITS
        south_west, north_east = (far.reduceat(where, start) for far in (np.minimum, np.maximum))
        moves[moves] = np.abs(_metres(south_west, north_east)).max(axis=1) >= LEAST_WAY
        return moves


_Batch = TypeVar("_Batch", _Recorded, _Sightings)


def _joined(batches: list[_Batch]) -> _Batch:
    """Put batches together, in their place, for the memory."""
    if len(batches) > 1:
        columns = zip(*(vars(batch).values() for batch in batches), strict=True)
        batches[:] = [type(batches[0])(*map(np.concatenate, columns))]
    return batches[0]


class Repeats:
    """Finds recordings that have just the points of one before."""

    def __init__(self) -> None:
        self._subject_of_content: dict[int, int] = {}
        self.subjects: list[tuple[int, int]] = []  # pairs with a recording of equal points

    def find(self, points: Points, subject: Ints) -> Bools:
        """Mark the recordings of a batch that have the points of one before, in any order."""
        hashes = bits_mixed(hashes_of(points.lat, points.lon, points.time))
        different = pd.DataFrame({"trace": points.trace, "point": hashes}).drop_duplicates()
        of_traces = different.groupby("trace")["point"]
        # The sum of the hashes of a recording's points; one point many people may have recorded.
        contents = of_traces.sum()[of_traces.size() >= 2]

        repeated = np.zeros(len(subject), dtype=np.bool_)
        for i, content in contents.items():
            repeated[i] = content in self._subject_of_content
            before = self._subject_of_content.setdefault(content, int(subject[i]))
            if before != subject[i]:
                self.subjects.append((before, int(subject[i])))
        return repeated


class Places:
    """Where recordings were, and which of them are copies of each other."""

    def __init__(self) -> None:
        self._recorded: list[_Recorded] = []
        self._slots: list[_Sightings] = []
        self._fixes: list[_Sightings] = []  # of recordings that have few

    def add(self, cleaned: Points, given: Points, subject: Ints) -> None:
        """Remember where recordings were, by their points cleaned, and as they were given."""
        n = len(subject)
        first, size = cleaned.pieces
        duration = np.full(n, np.nan)
        duration[cleaned.trace[first]] = cleaned.time[first + size - 1] - cleaned.time[first]
        fixes = np.bincount(cleaned.trace[np.isfinite(cleaned.time)], minlength=n)

        self._recorded.append(_Recorded(subject, fixes, *_signs_of(given, n)))
        self._slots.append(_at_slots(cleaned, duration))
        self._fixes.append(_fixes_of(cleaned, duration > _SPARSE * fixes))

    def copies(self) -> Ints:
        """Return pairs of subjects that have copies of one recording, (m, 2)."""
        return_free_memory()  # what reading and cutting left between pieces in use
        recorded = _joined(self._recorded)
        pairs = [_alike_without_times(recorded)]
        for batches_of_sightings, unit in ((self._slots, _SLOT), (self._fixes, 1)):
            sightings = _joined(batches_of_sightings)
            near = _near_in_time(sightings, recorded, unit)
            costs = np.cumsum(sightings.places[near[:, 0]])
            batches = np.split(near, np.flatnonzero(np.diff(costs // _COMPARED_AT_ONCE)) + 1)
            pairs += [batch[_are_copies(sightings, recorded, unit, batch), :2] for batch in batches]
        return np.asarray(recorded.subject[np.concatenate(pairs)])

    def at_two_places(self) -> Ints:
        """Return the subjects who are, again and again, at two places at one time."""
        sightings = _joined(self._slots)
        subject = _joined(self._recorded).subject[sightings.recording]
        slot = sightings.slot
        shared = np.flatnonzero(slot % _MINUTE == 0)
        key = sightings.key(subject[shared], slot[shared])
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        if len(first) == len(order):
            return np.empty(0, np.int64)

        where = sightings.where[shared[order]] / _DIGITS
        reach = _metres(np.minimum.reduceat(where, first), np.maximum.reduceat(where, first))
        far = order[first[np.abs(reach).max(axis=1) > TWO_PLACES]]
        who, how_often = np.unique(subject[shared[far]], return_counts=True)
        return np.asarray(who[how_often >= MANY])


def _at_slots(cleaned: Points, duration: Floats) -> _Sightings:
    """Find where recordings were at the times that all share, between their fixes."""
    time = cleaned.time

    # Short recordings have places more often.
    step = np.select([duration < _SHORTEST, duration < _SHORT], [1, 2], _MINUTE)

    # Each hop has the slots from its first fix on, up to its second.
    hop = np.flatnonzero(cleaned.follows & (np.abs(time) < _LATEST))
    seconds = time[hop] - time[hop - 1]
    hop = hop[(seconds > 0.0) & (seconds <= _LONGEST_HOP)]
    slots = step[cleaned.trace[hop]]
    begin = np.ceil(time[hop - 1] / (slots * _SLOT)).astype(np.int64)
    count = np.ceil(time[hop] / (slots * _SLOT)).astype(np.int64) - begin
    slot = places_of_spans(begin, count) * np.repeat(slots, count)

    # Where it was then, on the straight way between the two fixes.
    hop = np.repeat(hop, count)
    seconds = time[hop] - time[hop - 1]
    share = (slot * _SLOT - time[hop - 1]) / seconds
    fixes = np.column_stack([cleaned.lat, cleaned.lon])
    where = fixes[hop - 1] + _degrees_off(fixes[hop - 1], fixes[hop]) * share[:, None]

    return _Sightings(
        slot=slot.astype(np.int32),
        where=_in_digits(where),
        speed=(_metres(fixes[hop - 1], fixes[hop]) / seconds[:, None]).astype(np.float32),
        places=np.bincount(cleaned.trace[hop], minlength=len(duration)),
        step=step,
    )


def _fixes_of(cleaned: Points, is_sparse: Bools) -> _Sightings:
    """Keep the fixes, by the second, of recordings that have seldom one."""
    fix = np.flatnonzero(is_sparse[cleaned.trace] & (np.abs(cleaned.time) < _LATEST))
    trace = cleaned.trace[fix]
    slot = np.rint(cleaned.time[fix]).astype(np.int32)

    # Of a second the first one.
    once = np.append(True, (np.diff(slot) != 0) | (np.diff(trace) != 0))[: len(fix)]
    fix = fix[once]
    return _Sightings(
        slot=slot[once],
        where=_in_digits(np.column_stack([cleaned.lat[fix], cleaned.lon[fix]])),
        speed=np.zeros((len(fix), 2), np.float32),  # a late clock moves no fix
        places=np.bincount(trace[once], minlength=len(is_sparse)),
        step=np.ones(len(is_sparse), np.int64),
    )


def _signs_of(given: Points, n: int) -> tuple[Ints, Ints]:
    """Count the points of each recording, and take some, at equal shares of their number."""
    points = np.bincount(given.trace, minlength=n)
    if not len(given):
        return points, np.zeros((n, _SIGNS, 2), np.int32)
    shares = np.linspace(0.0, 1.0, _SIGNS) * np.maximum(points - 1, 0)[:, None]
    place = (np.cumsum(points) - points)[:, None] + np.rint(shares).astype(np.int64)
    place = np.minimum(place, len(given) - 1)
    return points, _in_digits(np.stack([given.lat[place], given.lon[place]], axis=-1))


def _corners(where: Floats, reach: float) -> list[Floats]:
    """Return the corners of squares around places: what is within reach shares a cell with one."""
    north = reach / DEGREE
    east = north / np.maximum(np.cos(np.radians(where[:, 0])), 1e-3)
    sides = product((-north, north), (-east, east))
    return [where + np.column_stack(np.broadcast_arrays(*side)) for side in sides]


def _near_in_time(sightings: _Sightings, recorded: _Recorded, unit: int) -> Ints:
    """Find recordings of two subjects near each other at one time: both, and slots apart, (m, 3).

    A slot has so many seconds as the unit.
    Each is looked for where the fewest others are, a long one in each of its halves. The first of
    two has no more places than the second.
    """
    hour = 3_600 // unit
    late = LATE // unit
    most_apart = CLOCKS * hour + late

    few = FEW if unit > 1 else 1
    place, is_rare = _listed_places(sightings, few)
    recording = sightings.recording[place]
    slot = sightings.slot[place].astype(np.int64)
    where = sightings.where[place] / _DIGITS

    def keys(square: Ints, slot: Ints, shift: int) -> Hashes:
        """Hash the square of a place, the time of the hour, and the span of hours it is in.

        Spans are so long that two places at most so far apart as clocks are lie in one, with a
        shift to either side.
        """
        span = (slot + shift) // (2 * most_apart + 1)
        return hashes_of(square.astype(np.float64), (span * hour + slot % hour).astype(np.float64))

    # The places to look at: of those with few others around, one in each half.
    key = keys(cells(where, 2.01 * _NEAR), slot, 0)
    by_key = np.argsort(key)
    others_around = _equal_to_each(key, by_key)
    half = 2 * (place - sightings.start[recording]) // sightings.places[recording]
    half[sightings.step[recording] < _MINUTE] = 0
    pace = np.hypot(*sightings.speed[place].T)

    # Each is looked for at a place that recordings of each step list, if it has one.
    owner = 2 * recording + half
    sought_by_step = [place[:0]]
    for step in np.unique(sightings.step).tolist():
        shared = np.flatnonzero((slot % (few * step) == 0) | is_rare)
        best = greatest_of(owner[shared], -others_around[shared], pace[shared] <= _FASTEST)
        sought_by_step.append(shared[best])
    sought = np.unique(np.concatenate(sought_by_step))
    sought = sought[sightings.moves[recording[sought]]]

    # Places near each other lie in a square in which one of them has a corner of its own square.
    squares = [cells(corner, 2.01 * _NEAR) for corner in _corners(where[sought], _NEAR)]
    keys_near = [
        keys(square, slot[sought] + clock, shift - clock)
        for square in squares
        for shift in (-most_apart, most_apart)
        for clock in range(-late, late + 1)
    ]
    row, second = _equal(np.concatenate(keys_near), key, by_key)
    first = np.tile(sought, len(keys_near))[row]
    apart = slot[second] - slot[first]
    metres = np.hypot(*_metres(where[first], where[second]).T)
    subject = recorded.subject[recording]

    is_near = metres <= np.minimum(WIDE + LATE * pace[first], _NEAR)
    is_near &= (np.abs(apart) <= most_apart) & (subject[first] != subject[second])
    pairs = np.column_stack([recording[first], recording[second], apart])[is_near]
    return _each_pair_once(pairs, sightings.places)


def _listed_places(sightings: _Sightings, few: int) -> tuple[Ints, Bools]:
    """Return the places by which recordings are found; mark those of recordings without usual ones.

    Of ``few`` places one after the other one is listed. A short recording lists more than a long
    one, as it shares fewer of the rare places with another of short steps. A recording that has
    places at no usual time lists all.
    """
    is_usual = sightings.slot % (few * sightings.step)[sightings.recording] == 0
    has_usual = np.bincount(sightings.recording, is_usual, len(sightings.places)) > 0.0
    is_rare = ~has_usual[sightings.recording]
    place = np.flatnonzero(is_usual | is_rare)
    return place, is_rare[place]


def _equal_to_each(key: Hashes, by_key: Ints) -> Ints:
    """Count the keys that are equal to each, itself among them; ``by_key`` sorts them."""
    number = np.empty(len(key), np.int64)
    number[by_key] = np.cumsum(np.diff(key[by_key], prepend=key[by_key[:1]]) != 0)
    return np.bincount(number)[number]


def _each_pair_once(pairs: Ints, places: Ints) -> Ints:
    """Put the recording with fewer places first in each pair, (m, 3), and drop repeated pairs."""
    size = places[pairs[:, :2]]
    turned = (size[:, 0] > size[:, 1]) | ((size[:, 0] == size[:, 1]) & (pairs[:, 0] > pairs[:, 1]))
    pairs[turned] = pairs[turned][:, [1, 0, 2]] * [1, 1, -1]
    return np.asarray(pd.DataFrame(pairs).drop_duplicates())


def _are_copies(sightings: _Sightings, recorded: _Recorded, unit: int, pairs: Ints) -> Bools:
    """Mark the pairs that are copies, over all the time they have in common."""
    shorter, longer, apart = pairs.T
    count = sightings.places[shorter]
    pair = np.repeat(np.arange(len(pairs)), count)
    place = places_of_spans(sightings.start[shorter], count)
    slot = sightings.slot[place] + apart[pair]

    def total(pair: Ints, values: Floats | Bools) -> Floats:
        return np.bincount(pair, values, len(pairs)).astype(np.float64, copy=False)

    # Places at a time at which the longer one may have one, and those at which it has.
    first, last = sightings.start[longer], (sightings.start + sightings.places - 1)[longer]
    inside = (slot >= sightings.slot[first][pair]) & (slot <= sightings.slot[last][pair])
    expected = inside & (slot % sightings.step[longer][pair] == 0)
    key = sightings.key(longer[pair], slot)
    of_longer = np.minimum(np.searchsorted(sightings.keys, key), len(sightings.keys) - 1)
    common = sightings.keys[of_longer] == key
    share = total(pair, inside) / count
    missing = total(pair, expected & ~common)
    pair, of_shorter, of_longer = pair[common], place[common], of_longer[common]

    # One clock is late by as much everywhere, and that is all that may be between them.
    off = _metres(sightings.where[of_shorter] / _DIGITS, sightings.where[of_longer] / _DIGITS)
    pace = (sightings.speed[of_shorter] + sightings.speed[of_longer]) / 2.0
    late = total(pair, (off * pace).sum(axis=1))
    late /= np.maximum(total(pair, (pace**2).sum(axis=1)), 1e-9)
    metres = np.hypot(*(off - np.clip(late, -LATE, LATE)[pair, None] * pace).T)
    shared = total(pair, np.ones(len(pair)))  # all places in common
    wide = total(pair, metres <= WIDE)
    narrow = total(pair, metres <= NARROW)

    fixes = np.minimum(recorded.fixes[shorter] * share, recorded.fixes[longer])
    copies = (wide >= SHARE * shared) & (np.minimum(wide, fixes) >= MANY)

    # From station to station many go in as many minutes, at some hour.
    enough = (recorded.fixes[shorter] >= FEW) | (apart == 0)
    copies |= (narrow >= SHARE * shared) & (narrow >= FEW) & enough
    if unit == 1:
        # Few fixes suffice if they tell seconds, and are not those of buses to the minute.
        exact = total(pair, (metres <= WIDE) & (sightings.slot[of_shorter] % 60 != 0))
        copies |= (wide >= SHARE * shared) & (exact >= FEW)

    # And that over half of the shorter one; the longer one may lack a fifth of the places.
    return np.asarray(copies & (share >= 0.5) & (missing * SHARE <= shared * (1.0 - SHARE)))


def _alike_without_times(recorded: _Recorded) -> Ints:
    """Find recordings with as many points at the same places as one without times, (m, 2)."""
    comparable = np.flatnonzero(recorded.points > _TOO_FEW_POINTS)
    is_untimed = recorded.fixes[comparable] == 0
    if not is_untimed.any():
        return np.empty((0, 2), np.int64)

    from scipy.spatial import cKDTree

    # Of equal ones the first stands for all: there may be many, as on routes of a timetable.
    untimed = comparable[is_untimed]
    signs_in_columns = recorded.signs[untimed].reshape(-1, 2 * _SIGNS).T
    hashes = hashes_of(recorded.points[untimed], *signs_in_columns)
    del signs_in_columns
    _, first, equal = np.unique(hashes, return_index=True, return_inverse=True)
    pairs_found = [np.column_stack([untimed[first][equal], untimed])]
    untimed = untimed[first]

    def axes(recordings: Ints, way: int) -> Floats:
        sought = np.arange(_SIGNS)[::way][_SIGNS_SOUGHT]
        signs = recorded.signs[recordings[:, None], sought] / _DIGITS
        space = in_space(signs.reshape(-1, 2), EQUATOR).reshape(len(recordings), -1)
        return np.column_stack([space, 2.0 * NARROW * recorded.points[recordings]])

    candidates = np.concatenate([untimed, comparable[~is_untimed]])
    tree_of_all = cKDTree(axes(candidates, 1))
    reach = {"max_distance": _SURE * NARROW, "p": np.inf, "output_type": "ndarray"}
    for part in np.split(untimed, range(_SOUGHT_AT_ONCE, len(untimed), _SOUGHT_AT_ONCE)):
        for way in (1, -1):  # the same way may be written backwards
            near = cKDTree(axes(part, way)).sparse_distance_matrix(tree_of_all, **reach)
            pairs = np.column_stack([part[near["i"]], candidates[near["j"]]])
            pairs = pairs[np.diff(recorded.subject[pairs], axis=1)[:, 0] != 0]
            for batch in np.split(pairs, range(_COMPARED_AT_ONCE, len(pairs), _COMPARED_AT_ONCE)):
                signs = recorded.signs[batch] / _DIGITS
                off = np.hypot(*np.moveaxis(_metres(signs[:, 0, ::way], signs[:, 1]), -1, 0))
                pairs_found.append(batch[(off <= NARROW).all(axis=1)])
    return np.unique(np.concatenate(pairs_found), axis=0)


def _equal(sought: Hashes, keys: Hashes, by_key: Ints) -> tuple[Ints, Ints]:
    """Find equal keys: which of those sought, and which of all, given the order of these."""
    row = np.argsort(sought)  # they are found faster in order
    sought, keys = sought[row], keys[by_key]
    first, end = (np.searchsorted(keys, sought, side) for side in ("left", "right"))
    count = end - first
    return np.repeat(row, count), by_key[places_of_spans(first, count)]


def _degrees_off(places: Floats, other_places: Floats) -> Floats:
    """Subtract places from others, across the antimeridian where that is nearer, (n, 2)."""
    off = other_places - places
    off[..., 1] = wrapped(off[..., 1])
    return off


def _metres(places: Floats, other_places: Floats) -> Floats:
    """Measure how far other places lie to the north and to the east of places, (n, 2)."""
    off = _degrees_off(places, other_places)
    off[..., 1] *= np.cos(np.radians(places[..., 0]))
    return np.asarray(off * DEGREE)


def _in_digits(where: Floats) -> Ints:
    """Round degrees to whole numbers of 1e-7 degrees; what is no number becomes 0."""
    on_earth = np.clip(np.nan_to_num(where), -180.0, 180.0)
    return np.rint(on_earth * _DIGITS).astype(np.int32)
