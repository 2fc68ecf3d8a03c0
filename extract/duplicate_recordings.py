"""Recordings that are copies: of one way at the same times, whatever their digits and fixes are.

People upload a recording twice: with an account and without, from two programs, whole or in part.
Where a recording was is kept at times that all recordings share: once a minute, more often of a
short one. One index of these places finds recordings that were near each other at one time, or
whole hours apart, as clocks of other zones are; these are compared over all the time they share.
Of recordings with seldom fixes, between which their ways are not known, the fixes themselves are
kept and compared in the same way. Of recordings without times, those with as many points are
compared, at some of these.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.hashing import bits_mixed, hashes_of
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
_SPARSE = 20.0  # seconds from fix to fix, on average, of recordings whose fixes are kept
_SECONDS = 3_600  # slots of an hour, of fixes
_LATEST_SECOND = 2.0**31 - 1.0  # seconds since 1970, of a fix that is kept

_DIGITS = 1e7  # of a degree
_SIGNS = 8  # points by which recordings without times are compared, with the first and the last
_FEWEST_POINTS = 4  # of recordings without times that are compared have more
_UNLIKE = 5.0  # metres a second, and half of the speed: how much speeds differ at most, where found
_FASTEST = 20.0  # metres a second: where all are faster, clocks must agree better to be found
_SQUARE = 2.0 * (WIDE + LATE * _FASTEST)  # metres, of the index
_AT_ONCE = 50_000  # places that are compared at once
_SOUGHT_AT_ONCE = 10_000  # recordings without times


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
    hour: int = _HOUR  # slots of an hour

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


def _joined(batches: list[Remembered]) -> Remembered:
    """Put batches together, in their place, for the memory."""
    names = [column.name for column in fields(Remembered) if column.name != "hour"]
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(batch, name) for batch in batches]) for name in names
    }
    batches[:] = [replace(batches[0], **columns)]
    return batches[0]


class Repeats:
    """Finds recordings that have just the points of one before."""

    def __init__(self) -> None:
        self._subject_of_content: dict[int, int] = {}
        self.subjects: list[tuple[int, int]] = []  # pairs with a recording of equal points

    def find(self, points: Points, subject: Ints) -> Bools:
        """Mark the recordings of a batch that have the points of one before, in any order."""
        n = len(subject)
        hashes = hashes_of(points.lat, points.lon, points.time)
        order = np.lexsort((hashes, points.trace))
        trace, hashes = points.trace[order], hashes[order]
        once = np.append(True, (np.diff(trace) != 0) | (np.diff(hashes) != 0))[: len(order)]
        trace, hashes = trace[once], hashes[once]

        # The sum of the hashes of a recording's points.
        content = np.zeros(n, dtype=np.uint64)
        np.add.at(content, trace, bits_mixed(hashes))
        size = np.bincount(trace, minlength=n)

        repeated = np.zeros(n, dtype=np.bool_)
        for i in np.flatnonzero(size >= 2).tolist():  # one point many people may have recorded
            repeated[i] = content[i] in self._subject_of_content
            before = self._subject_of_content.setdefault(int(content[i]), int(subject[i]))
            if before != subject[i]:
                self.subjects.append((before, int(subject[i])))
        return repeated


class Places:
    """Where recordings were, and which of them are copies of each other."""

    def __init__(self) -> None:
        self._batches: list[Remembered] = []
        self._sparse: list[Remembered] = []  # the fixes of recordings that have few

    def add(self, cleaned: Points, given: Points, subject: Ints) -> None:
        """Remember where recordings were, by their points cleaned, and as they were given."""
        places = _at_slots(cleaned, given, subject)
        self._batches.append(places)
        self._sparse.append(_sparse_fixes(cleaned, places))

    def all(self) -> Remembered:
        """Return where recordings were at the times that all share."""
        return _joined(self._batches)

    def copies(self) -> Ints:
        """Return pairs of subjects that have copies of one recording, (m, 2)."""
        known = self.all()
        pairs = [_alike_without_times(known)]
        for places in (known, _joined(self._sparse)):
            near = _near_in_time(places)
            pairs.append(near[_agree(places, near)][:, :2])
        return np.asarray(known.subject[np.concatenate(pairs)])


def _at_slots(cleaned: Points, given: Points, subject: Ints) -> Remembered:
    """Find where recordings were at the times that all share, between their fixes."""
    n = len(subject)
    time = cleaned.time

    # Short recordings have places more often.
    duration = np.full(n, np.nan)
    first, size = cleaned.pieces
    duration[cleaned.trace[first]] = time[first + size - 1] - time[first]
    shorter_than = [duration < seconds for seconds, _ in _STEPS]
    step = np.select(shorter_than, [slots for _, slots in _STEPS], _MINUTE)

    # Each hop has the slots from its first fix on, up to its second.
    hop = np.flatnonzero(cleaned.follows & (np.abs(time) < _LATEST))
    seconds = time[hop] - time[hop - 1]
    hop = hop[(seconds > 0.0) & (seconds <= _LONGEST_HOP)]
    slots = step[cleaned.trace[hop]]
    begin = np.ceil(time[hop - 1] / (slots * _SLOT)).astype(np.int64)
    end = np.ceil(time[hop] / (slots * _SLOT)).astype(np.int64)
    count = end - begin
    rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    slot = (np.repeat(begin, count) + rank) * np.repeat(slots, count)

    # Where it was then, on the straight way between the two fixes.
    hop = np.repeat(hop, count)
    seconds = time[hop] - time[hop - 1]
    share = (slot * _SLOT - time[hop - 1]) / seconds
    fixes = np.column_stack([cleaned.lat, cleaned.lon])
    where = fixes[hop - 1] + _degrees_off(fixes[hop - 1], fixes[hop]) * share[:, None]

    points, signs = _signs_of(given, n)
    return Remembered(
        slot=slot.astype(np.int32),
        where=_in_digits(where),
        speed=(_metres(fixes[hop - 1], fixes[hop]) / seconds[:, None]).astype(np.float32),
        places=np.bincount(cleaned.trace[hop], minlength=n),
        step=step,
        fixes=np.bincount(cleaned.trace[np.isfinite(time)], minlength=n),
        points=points,
        signs=signs,
        subject=subject,
    )


def _sparse_fixes(cleaned: Points, known: Remembered) -> Remembered:
    """Keep the fixes, by the second, of recordings that have seldom one."""
    n = len(known.subject)
    time = cleaned.time
    first, size = cleaned.pieces
    duration = np.zeros(n)
    np.add.at(duration, cleaned.trace[first], time[first + size - 1] - time[first])
    is_sparse = duration > _SPARSE * known.fixes
    fix = np.flatnonzero(is_sparse[cleaned.trace] & (np.abs(time) < _LATEST_SECOND))

    # Of a second the first one.
    slot = np.rint(time[fix]).astype(np.int64)
    same = (np.diff(slot) == 0) & (np.diff(cleaned.trace[fix]) == 0)
    once = np.append(True, ~same)[: len(fix)]
    fix, slot = fix[once], slot[once]

    return replace(
        known,
        slot=slot.astype(np.int32),
        where=_in_digits(np.column_stack([cleaned.lat[fix], cleaned.lon[fix]])),
        speed=np.zeros((len(fix), 2), np.float32),  # a late clock moves no fix
        places=np.bincount(cleaned.trace[fix], minlength=n),
        step=np.ones(n, np.int64),
        hour=_SECONDS,
    )


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
    hour = known.hour
    every = _SELDOM if hour == _HOUR else 1
    seldom = known.slot % every == 0  # one of these is among any that are enough for copies
    has_seldom = np.bincount(known.recording, seldom, len(known.places)) > 0.0
    of_grid = np.flatnonzero(seldom | ~has_seldom[known.recording])
    recording = known.recording[of_grid]
    slot = known.slot[of_grid].astype(np.int64)
    where = known.where[of_grid] / _DIGITS
    speed = known.speed[of_grid]
    pace = np.hypot(*speed.T)

    # The places to look at: of those in squares with few others, one in each half.
    grid = _Grid(where, slot % hour, (slot - slot.min(initial=0)) / (hour * 2 * CLOCKS))
    half = 2 * (of_grid - known.start[recording]) // known.places[recording]
    half[known.step[recording] < _MINUTE] = 0
    sought = greatest_of(2 * recording + half, -grid.neighbours, pace <= _FASTEST)
    sought = sought[_moves(known)[recording[sought]]]

    # The places of fixes do not change with a clock that is late, but their seconds do.
    late = int(LATE) if hour == _SECONDS else 0
    kind = slot[sought] % hour
    place, near_place = grid.near(sought, kind, late)
    if late:
        at_turn = (kind < late) | (kind >= hour - late)  # of the hour, at which seconds begin anew
        turned = np.where(kind < late, kind + hour, kind - hour)
        beyond = grid.near(sought[at_turn], turned[at_turn], late)
        place = np.concatenate([place, beyond[0]])
        near_place = np.concatenate([near_place, beyond[1]])

    # Of these, the pairs of two subjects that can be one, at a pace that is alike.
    apart = slot[near_place] - slot[place]
    most_apart = CLOCKS * hour + int(LATE)
    metres = np.hypot(*_metres(where[place], where[near_place]).T)
    faster = np.hypot(*(speed[near_place] - speed[place]).T)
    near = known.subject[recording[place]] != known.subject[recording[near_place]]
    near &= np.abs(apart) <= most_apart
    near &= (metres <= WIDE + LATE * pace[place]) & (faster <= _UNLIKE + pace[place] / 2.0)
    first, second, apart = recording[place[near]], recording[near_place[near]], apart[near]

    # Each pair once, the recording that came first before the other.
    turned = first > second
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    apart = np.where(turned, -apart, apart)
    pair = (first * len(known.places) + second) * (2 * most_apart + 1) + apart + most_apart
    once = np.unique(pair, return_index=True)[1]
    return np.column_stack([first, second, apart])[once]


def _moves(known: Remembered) -> Bools:
    """Mark the recordings that are long enough to be compared with others, (n,)."""
    moves = known.places > 0
    start, where = known.start[moves], known.where
    south_west, north_east = np.minimum.reduceat(where, start), np.maximum.reduceat(where, start)
    reach = _metres(south_west / _DIGITS, north_east / _DIGITS)
    moves[moves] = np.abs(reach).max(axis=1) >= LEAST_WAY
    return moves


class _Grid:
    """Places of several kinds by squares, and by blocks of time."""

    def __init__(self, where: Floats, kinds: Ints, block: Floats) -> None:
        row = where[:, 0] * (DEGREE / _SQUARE)
        self._cells = np.stack([row, self._column(where, np.floor(row)), block])
        self._where = where
        keys = self._keys(np.floor(self._cells), kinds)
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]
        first = np.flatnonzero(np.diff(self._sorted, prepend=self._sorted[:1] - 1))
        sizes = np.diff(first, append=len(keys))
        self.neighbours = np.empty(len(keys))  # how many places have the square of each, (p,)
        self.neighbours[self._order] = np.repeat(sizes, sizes)

    @staticmethod
    def _column(where: Floats, row: Floats) -> Floats:
        """Return how many squares of a row lie west of places."""
        return where[:, 1] * (DEGREE / _SQUARE) * np.cos(np.radians(row * (_SQUARE / DEGREE)))

    @staticmethod
    def _keys(cells: Floats, kind: Ints) -> Ints:
        row, column, block = cells.astype(np.int64)
        cell = (row * 1_000_003 + column) * 1_000_003 + block  # one in a million may be two
        return np.asarray(cell * 1_000_003 + kind)

    def near(self, sought: Ints, kind: Ints, late: int = 0) -> tuple[Ints, Ints]:
        """Find of each place those of its kind within half a square, and some beyond.

        Kinds that are numbers of times may differ by as many as clocks are late.
        """
        order = np.argsort(self._keys(np.floor(self._cells[:, sought]), kind))
        sought, kind = sought[order], kind[order]
        row, _, block = self._cells[:, sought]
        last = np.floor(self._cells[2]).max(initial=0.0)
        block = np.minimum(np.rint(block), last)

        pairs_found = []
        for south, west, before in product((0, 1), (0, 1), (0, 1) if last else (0,)):
            rows = np.rint(row) - south
            columns = np.rint(self._column(self._where[sought], rows)) - west
            keys = self._keys(np.stack([rows, columns, block - before]), kind)
            first = np.searchsorted(self._sorted, keys - late)
            count = np.searchsorted(self._sorted, keys + late, side="right") - first
            rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            place = self._order[np.repeat(first, count) + rank]
            pairs_found.append((np.repeat(sought, count), place))
        places, near_places = (np.concatenate(side) for side in zip(*pairs_found, strict=True))
        return places, near_places


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
    """Mark the pairs of recordings that are copies, over all the time they have in common."""
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
    n, count = len(pairs), known.places[shorter]
    pair = np.repeat(np.arange(n), count)
    rank = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count)
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
        share=np.bincount(pair, inside, n) / count,
        missing=np.bincount(pair[expected & ~common], minlength=n),
    )


def _are_copies(known: Remembered, pairs: Ints) -> Bools:
    """Mark the pairs that are copies; the first of each has fewer places."""
    common = _in_common(known, pairs)
    of_shorter, of_longer = common.of_shorter, common.of_longer
    off = _metres(known.where[of_shorter] / _DIGITS, known.where[of_longer] / _DIGITS)
    pace = (known.speed[of_shorter] + known.speed[of_longer]) / 2.0

    def total(values: Floats | Bools) -> Floats:
        return np.bincount(common.pair, values, len(pairs)).astype(np.float64, copy=False)

    # One clock is late by as much everywhere, and that is all that may be between them.
    late = total((off * pace).sum(axis=1)) / np.maximum(total((pace**2).sum(axis=1)), 1e-9)
    late = np.clip(late, -LATE, LATE)[common.pair, None]
    metres = np.hypot(*(off - late * pace).T)
    shared = total(metres >= 0.0)
    wide = total(metres <= WIDE)
    narrow = total(metres <= NARROW)

    shorter, longer, apart = pairs.T
    fixes = np.minimum(known.fixes[shorter] * common.share, known.fixes[longer])
    copies = (wide >= SHARE * shared) & (np.minimum(wide, fixes) >= MANY)

    # From station to station many go in as many minutes, at some hour.
    enough = (known.fixes[shorter] >= FEW) | (apart == 0)
    copies |= (narrow >= SHARE * shared) & (narrow >= FEW) & enough
    if known.hour == _SECONDS:
        # Few fixes suffice if they tell seconds, and are not those of buses to the minute.
        exact = total((metres <= WIDE) & (known.slot[of_shorter] % 60 != 0))
        copies |= (wide >= SHARE * shared) & (exact >= FEW)

    # And that over half of the shorter one, nowhere without the longer one.
    copies &= common.share >= 0.5
    copies &= common.missing * SHARE <= shared * (1.0 - SHARE)
    return np.asarray(copies)


def _alike_without_times(known: Remembered) -> Ints:
    """Find recordings with as many points at the same places as one without times, (m, 2)."""
    is_comparable = known.points > _FEWEST_POINTS
    untimed = np.flatnonzero(is_comparable & (known.fixes == 0))
    if not len(untimed):
        return np.empty((0, 2), np.int64)

    from scipy.spatial import cKDTree  # only here, as it takes long to load

    # Of equal ones the first stands for all: there may be many, as on routes of a timetable.
    written = np.column_stack([known.points, known.signs.reshape(len(known.signs), -1)])
    first, equal = np.unique(written[untimed], axis=0, return_index=True, return_inverse=True)[1:]
    pairs_found = [np.column_stack([untimed[first][equal], untimed])]

    candidates = np.concatenate([untimed[first], np.flatnonzero(is_comparable & (known.fixes > 0))])
    tree = cKDTree(_places_of_ends(known, candidates, 1))
    for sought in np.split(untimed[first], range(_SOUGHT_AT_ONCE, len(first), _SOUGHT_AT_ONCE)):
        for direction in (1, -1):
            near = cKDTree(_places_of_ends(known, sought, direction)).sparse_distance_matrix(
                tree, 1.01 * NARROW, p=np.inf, output_type="ndarray"
            )
            pairs = np.column_stack([sought[near["i"]], candidates[near["j"]]])
            different = known.subject[pairs[:, 0]] != known.subject[pairs[:, 1]]
            pairs = pairs[different]
            signs = known.signs[pairs] / _DIGITS
            off = _metres(signs[:, 0, ::direction], signs[:, 1])
            is_same = (np.hypot(off[..., 0], off[..., 1]) <= NARROW).all(axis=1)
            pairs_found.append(pairs[is_same])
    return np.concatenate(pairs_found)


def _places_of_ends(known: Remembered, recordings: Ints, direction: int) -> Floats:
    """Compute where recordings begin and end in space, in metres, and count points, (r, 7)."""
    ends = known.signs[recordings][:, [0, -1]][:, ::direction]
    lat, lon = np.radians(ends / _DIGITS).transpose(2, 0, 1)
    axes = (np.sin(lat), np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon))
    places = np.concatenate(axes, axis=1) * (DEGREE * 180.0 / np.pi)
    return np.column_stack([places, known.points[recordings] * (2.0 * NARROW)])


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
