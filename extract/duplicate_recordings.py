"""Recordings that are copies: of one way at the same times, whatever their digits and fixes are.

People upload a recording twice: with an account and without, from two programs, whole or in part.
Where a recording was is kept at times that all recordings share: once a minute, more often of a
short one. One index of these places finds recordings that were near each other at one time, or
whole hours apart, as clocks of other zones are; these are compared over all the time they share.
Of recordings without times, those with as many points are compared, at some of these.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.points import Points, greatest_of
from trajanon.trajectories.geodesy import DEGREE, wrapped

WIDE, NARROW = 30.0, 3.0  # metres between two copies; between two that differ in rounding alone
MANY, FEW = 8, 3  # places by which copies are known; by which those are that differ in rounding
SHARE = 0.8  # of the places that two recordings have in common, at which they must agree
LATE = 2.0  # seconds between the clocks of copies, beside whole hours
CLOCKS = 14  # hours between time zones, at most
TWO_PLACES = 1_000.0  # metres between places of one person at one time, who is several people
LEAST_WAY = 100.0  # metres; whoever stays at one place is there as others are

_SLOT = 10.0  # seconds: places are kept at multiples of it
_MINUTE, _HOUR = 6, 360  # slots
_SELDOM = FEW * _MINUTE
# Slots between places, of recordings that last up to so many seconds.
_STEPS = ((240.0, 1), (720.0, 2))
_LONGEST_HOP = 600.0  # seconds; where a recording was between two fixes farther apart is not known
_LATEST = 2e10  # seconds since 1970

_DIGITS = 1e7  # of a degree
_SIGNS = 4  # points by which recordings without times are compared, with the first and the last
_UNLIKE = 5.0  # metres a second, and half of the speed: how much speeds differ at most, where found
_FASTEST = 20.0  # metres a second: where all are faster, clocks must agree better to be found
_SQUARE = 2.0 * (WIDE + LATE * _FASTEST)  # metres, of the index
_AT_ONCE = 50_000  # places that are compared at once


@dataclass(frozen=True, eq=False)
class Remembered:
    """Where and when recordings were: a batch of them, or all."""

    slot: Ints  # of each place, (p,), rising in each recording
    where: Ints  # latitude and longitude in 1e-7 degrees, (p, 2)
    speed: Floats  # metres a second to the north and to the east, (p, 2)
    places: Ints  # how many each recording has, (n,)
    step: Ints  # slots from one to the next, (n,)
    fixes: Ints  # of each recording, with a time, (n,)
    points: Ints  # of each recording, as they were read, (n,)
    signs: Ints  # some of these in 1e-7 degrees, (n, _SIGNS, 2)
    subject: Ints  # who made each recording, (n,)

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


class Places:
    """Where recordings were, and which of them are copies of each other."""

    def __init__(self) -> None:
        self._batches: list[Remembered] = []

    def add(self, cleaned: Points, given: Points, subject: Ints) -> None:
        """Remember where recordings were, by their points cleaned, and as they were given."""
        n, time = len(subject), cleaned.time
        lasts = np.full(n, np.nan)
        first, size = cleaned.pieces
        lasts[cleaned.trace[first]] = time[first + size - 1] - time[first]
        step = np.select(
            [lasts < seconds for seconds, _ in _STEPS], [s for _, s in _STEPS], _MINUTE
        )

        # Each hop has the slots from its first fix on, up to its second.
        hop = np.flatnonzero(cleaned.follows & (np.abs(time) < _LATEST))
        lasts = time[hop] - time[hop - 1]
        hop = hop[(lasts > 0.0) & (lasts <= _LONGEST_HOP)]
        every = step[cleaned.trace[hop]]
        first, behind = (
            np.ceil(time[i] / (every * _SLOT)).astype(np.int64) for i in (hop - 1, hop)
        )
        many = behind - first
        rank = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        slot = (np.repeat(first, many) + rank) * np.repeat(every, many)

        # There, between the two fixes.
        hop = np.repeat(hop, many)
        lasts = time[hop] - time[hop - 1]
        part = (slot * _SLOT - time[hop - 1]) / lasts
        where = np.column_stack([cleaned.lat, cleaned.lon])
        off = _degrees_off(where[hop - 1], where[hop])
        there = where[hop - 1] + off * part[:, None]
        points, signs = _signs_of(given, n)
        self._batches.append(
            Remembered(
                slot=slot.astype(np.int32),
                where=_in_digits(there),
                speed=(_metres(where[hop - 1], where[hop]) / lasts[:, None]).astype(np.float32),
                places=np.bincount(cleaned.trace[hop], minlength=n),
                step=step,
                fixes=np.bincount(cleaned.trace[np.isfinite(time)], minlength=n),
                points=points,
                signs=signs,
                subject=subject,
            )
        )

    def all(self) -> Remembered:
        """Put all batches together."""
        names = [column.name for column in fields(Remembered)]
        columns = [[getattr(batch, name) for batch in self._batches] for name in names]
        return Remembered(*map(np.concatenate, columns))


def copies(known: Remembered) -> Ints:
    """Return pairs of subjects that have copies of one recording, (m, 2)."""
    near = _near_in_time(known)
    timed = near[_agree(known, near)][:, :2]
    return np.asarray(known.subject[np.append(timed, _alike_without_times(known), axis=0)])


def at_two_places(known: Remembered) -> Ints:
    """Return the subjects who are, again and again, at two places at one time."""
    shared = np.flatnonzero(known.slot % _MINUTE == 0)
    key = known.key(known.subject[known.recording[shared]], known.slot[shared])
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    if len(first) == len(order):
        return np.empty(0, np.int64)
    where = known.where[shared[order]] / _DIGITS
    reach = _metres(np.minimum.reduceat(where, first), np.maximum.reduceat(where, first))
    far = order[first[np.abs(reach).max(axis=1) > TWO_PLACES]]
    subject, times = np.unique(known.subject[known.recording[shared[far]]], return_counts=True)
    return np.asarray(subject[times >= MANY])


def _near_in_time(known: Remembered) -> Ints:
    """Find recordings of two subjects near each other at one time: both, and slots apart, (m, 3).

    Each is looked for where the fewest others are, a long one in each of its halves.
    """
    recording, slot = known.recording, known.slot
    seldom = slot % _SELDOM == 0  # one of these is among any that are enough for copies
    has_seldom = np.bincount(recording, seldom, len(known.places)) > 0.0
    of_grid = np.flatnonzero(seldom | ~has_seldom[recording])
    recording, slot = recording[of_grid], slot[of_grid].astype(np.int64)
    where, speed = known.where[of_grid] / _DIGITS, known.speed[of_grid]
    pace = np.hypot(*speed.T)

    grid = _Grid(where, slot % _HOUR, (slot - slot.min(initial=0)) / (_HOUR * 2 * CLOCKS))
    half = 2 * (of_grid - known.start[recording]) // known.places[recording]
    half[known.step[recording] < _MINUTE] = 0
    sought = greatest_of(2 * recording + half, -grid.neighbours, pace <= _FASTEST)
    one, other = grid.near(sought[_moves(known)[recording[sought]]])

    apart = slot[other] - slot[one]
    possible = known.subject[recording[one]] != known.subject[recording[other]]
    possible &= np.abs(apart) <= CLOCKS * _HOUR
    one, other, apart = one[possible], other[possible], apart[possible]
    metres = np.hypot(*_metres(where[one], where[other]).T)
    faster = np.hypot(*(speed[other] - speed[one]).T)
    near = (metres <= WIDE + LATE * pace[one]) & (faster <= _UNLIKE + pace[one] / 2.0)
    one, other, apart = recording[one[near]], recording[other[near]], apart[near]
    turned = one > other
    one, other = np.where(turned, other, one), np.where(turned, one, other)
    apart = np.where(turned, -apart, apart)
    pair = (one * len(known.places) + other) * (2 * CLOCKS + 1) + apart // _HOUR + CLOCKS
    once = np.unique(pair, return_index=True)[1]
    return np.column_stack([one, other, apart])[once]


def _moves(known: Remembered) -> Bools:
    """Tell which recordings reach far enough to be told from others there, (n,)."""
    moves = known.places > 0
    start, where = known.start[moves], known.where
    south_west, north_east = np.minimum.reduceat(where, start), np.maximum.reduceat(where, start)
    reach = _metres(south_west / _DIGITS, north_east / _DIGITS)
    moves[moves] = np.abs(reach).max(axis=1) >= LEAST_WAY
    return moves


class _Grid:
    """Places of several kinds by squares, and by blocks of time."""

    def __init__(self, where: Floats, kind: Ints, block: Floats) -> None:
        row = where[:, 0] * (DEGREE / _SQUARE)
        self._cells = np.stack([row, self._column(where, np.floor(row)), block])
        self._where, self._kind = where, kind
        keys = self._keys(np.floor(self._cells), slice(None))
        self._order = np.argsort(keys)
        keys = keys[self._order]
        self._start = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        self._different = keys[self._start]
        self._sizes = np.diff(self._start, append=len(keys))
        self.neighbours = np.empty(len(keys))  # how many places have the square of each, (p,)
        self.neighbours[self._order] = np.repeat(self._sizes, self._sizes)

    @staticmethod
    def _column(where: Floats, row: Floats) -> Floats:
        """Return how many squares of a row lie west of places."""
        return where[:, 1] * (DEGREE / _SQUARE) * np.cos(np.radians(row * (_SQUARE / DEGREE)))

    def _keys(self, cells: Floats, which: Ints | slice) -> Ints:
        row, column, block = cells.astype(np.int64)
        cell = (row * 1_000_003 + column) * 1_000_003 + block  # one in a million may be two
        return np.asarray(cell * 1_000_003 + self._kind[which])

    def near(self, sought: Ints) -> tuple[Ints, Ints]:
        """Find of some places those of their kind within half a square, and some beyond."""
        found = []
        sought = sought[np.argsort(self._keys(np.floor(self._cells[:, sought]), sought))]
        row, _, block = self._cells[:, sought]
        last = np.floor(self._cells[2]).max(initial=0.0)
        block = np.minimum(np.rint(block), last)
        for aside in product((0, 1), (0, 1), (0, 1) if last else (0,)):
            rows = np.rint(row) - aside[0]
            columns = np.rint(self._column(self._where[sought], rows)) - aside[1]
            keys = self._keys(np.stack([rows, columns, block - aside[2]]), sought)
            square = np.searchsorted(self._different, keys)
            square = np.minimum(square, len(self._different) - 1)
            many = np.where(self._different[square] == keys, self._sizes[square], 0)
            rank = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            place = self._order[np.repeat(self._start[square], many) + rank]
            found.append((np.repeat(sought, many), place))
        one, other = (np.concatenate(side) for side in zip(*found, strict=True))
        return one, other


def _degrees_off(here: Floats, there: Floats) -> Floats:
    off = there - here
    off[..., 1] = wrapped(off[..., 1])
    return off


def _metres(here: Floats, there: Floats) -> Floats:
    """Measure how far places lie to the north and to the east of others."""
    off = _degrees_off(here, there)
    off[..., 1] *= np.cos(np.radians(here[..., 0]))
    return np.asarray(off * DEGREE)


def _agree(known: Remembered, pairs: Ints) -> Bools:
    """Tell which pairs of recordings are copies, over all the time they have in common."""
    longer = known.places[pairs[:, 0]] > known.places[pairs[:, 1]]
    pairs = np.where(longer[:, None], pairs[:, [1, 0, 2]] * [1, 1, -1], pairs)
    costs = np.cumsum(known.places[pairs[:, 0]])
    batches = np.split(pairs, np.flatnonzero(np.diff(costs // _AT_ONCE)) + 1)
    return np.concatenate([_are_copies(known, batch) for batch in batches])


class _Common(NamedTuple):
    """The places that pairs of recordings have at the same times, but for whole hours."""

    pair: Ints  # of each place, (c,)
    of_shorter: Ints  # places of the recording with fewer, (c,)
    of_longer: Ints  # those of the other, (c,)
    share: Floats  # of the places of the shorter, that lie in the time of the longer, (pairs,)
    missing: Ints  # places that the longer should have there, and has not, (pairs,)


def _in_common(known: Remembered, pairs: Ints) -> _Common:
    """Find the places that recordings have in common; the first of each pair has fewer."""
    shorter, longer, apart = pairs.T
    n, many = len(pairs), known.places[shorter]
    pair = np.repeat(np.arange(n), many)
    rank = np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many)
    place = known.start[shorter][pair] + rank
    slot = known.slot[place] + apart[pair]

    # Those at a time at which the longer one may have a place, and those at which it has.
    first, last = known.start[longer], (known.start + known.places - 1)[longer]
    inside = (slot >= known.slot[first][pair]) & (slot <= known.slot[last][pair])
    expected = inside & (slot % known.step[longer][pair] == 0)
    key = known.key(longer[pair], slot)
    at = np.minimum(np.searchsorted(known.keys, key), len(known.keys) - 1)
    common = known.keys[at] == key
    return _Common(
        pair=pair[common],
        of_shorter=place[common],
        of_longer=at[common],
        share=np.bincount(pair, inside, n) / many,
        missing=np.bincount(pair[expected & ~common], minlength=n),
    )


def _are_copies(known: Remembered, pairs: Ints) -> Bools:
    """Tell which of some pairs are copies; the first of each has fewer places."""
    common, n = _in_common(known, pairs), len(pairs)
    here, there = common.of_shorter, common.of_longer
    off = _metres(known.where[here] / _DIGITS, known.where[there] / _DIGITS)
    pace = (known.speed[here] + known.speed[there]) / 2.0

    def total(values: Floats | Bools) -> Floats:
        return np.bincount(common.pair, values, n).astype(np.float64, copy=False)

    # One clock is late by as much everywhere, and that is all that may be between them.
    late = total((off * pace).sum(axis=1)) / np.maximum(total((pace**2).sum(axis=1)), 1e-9)
    late = np.clip(late, -LATE, LATE)[common.pair, None]
    metres = np.hypot(*(off - late * pace).T)
    shared, wide, narrow = total(metres >= 0.0), total(metres <= WIDE), total(metres <= NARROW)

    shorter, longer, apart = pairs.T
    fixes = np.minimum(known.fixes[shorter] * common.share, known.fixes[longer])
    copies = (wide >= SHARE * shared) & (np.minimum(wide, fixes) >= MANY)
    # From station to station many go in as many minutes, at some hour.
    few = (known.fixes[shorter] >= FEW) | (apart == 0)
    copies |= (narrow >= SHARE * shared) & (narrow >= FEW) & few
    whole = (common.share >= 0.5) & (common.missing * SHARE <= shared * (1.0 - SHARE))
    return np.asarray(copies & whole)


def _alike_without_times(known: Remembered) -> Ints:
    """Find recordings with as many points at the same places as one without times, (m, 2)."""
    sought = np.flatnonzero((known.fixes == 0) & (known.points > _SIGNS))
    if not len(sought):
        return np.empty((0, 2), np.int64)
    signs = known.signs / _DIGITS
    grid = _Grid(signs[:, 1:-1].mean(axis=1), known.points, np.zeros(len(signs)))
    one, other = grid.near(sought)
    different = known.subject[one] != known.subject[other]
    one, other = one[different], other[different]
    same = np.zeros(len(one), dtype=np.bool_)
    for direction in (1, -1):
        off = _metres(signs[one], signs[other][:, ::direction])
        same |= (np.hypot(off[..., 0], off[..., 1]) <= NARROW).all(axis=1)
    return np.column_stack([one, other])[same]


def _signs_of(given: Points, n: int) -> tuple[Ints, Ints]:
    """Count the points of each recording, and take some, at equal shares of their number."""
    points = np.bincount(given.trace, minlength=n)
    if not len(given):
        return points, np.zeros((n, _SIGNS, 2), np.int32)
    shares = np.linspace(0.0, 1.0, _SIGNS) * np.maximum(points - 1, 0)[:, None]
    place = (np.cumsum(points) - points)[:, None] + np.rint(shares).astype(np.int64)
    place = np.minimum(place, len(given) - 1)
    return points, _in_digits(np.stack([given.lat[place], given.lon[place]], axis=-1))


def _in_digits(where: Floats) -> Ints:
    on_earth = np.clip(np.nan_to_num(where), -180.0, 180.0)
    return np.rint(on_earth * _DIGITS).astype(np.int32)
