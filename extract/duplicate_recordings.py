"""Recordings that are copies: of one way at the same times, whatever their digits and fixes are.

People upload a recording twice: with an account and without, from two programs, whole or in part.
Where a recording was is kept at times that all recordings share: once a minute, more often of a
short one. One index of these places finds recordings that were near each other at one time, or
whole hours apart, as clocks of other zones are; these are compared over all the time they share.
Of recordings with seldom fixes, between which their ways are not known, the fixes themselves are
kept, and compared in the same way. Of recordings without times, those with as many points, which
begin and end at the same places, are compared at some of these. Whole recordings with the same
places at the same seconds from the start are found by hashes, whatever their clocks say.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats, Hashes, Ints, indices_of_spans
from trajanon.common.glibc_memory import return_free_memory
from trajanon.common.hashing import hashes_of
from trajanon.extract.points import Points, greatest_of
from trajanon.trajectories.geodesy import METRES_PER_DEGREE, cells, in_space, wrapped

WIDE, NARROW = 30.0, 3.0  # metres between two copies; between two that differ in rounding alone
MANY, FEW = 8, 3  # places by which copies are known; by which those are that differ in rounding
SHARE = 0.8  # of the places that two recordings have in common, at which they must agree
LATE = 2  # seconds between the clocks of copies, beside whole hours
CLOCKS = 14  # hours between the clocks of copies, at most, as of a time zone and UTC
TWO_PLACES = 1_000.0  # metres between places of one person at one time, who is several people
LEAST_WAY = 100.0  # metres; whoever stays at one place is there as others are

_SLOT = 10  # seconds: places are kept at multiples of it
_MINUTE = 6  # slots
_SHORT, _SHORTEST = 720.0, 240.0  # seconds of recordings with places each two slots, and each slot
_LONGEST_HOP = 600.0  # seconds; where a recording was between two fixes farther apart is not known
_SPARSE = 20.0  # seconds from fix to fix, on average, of recordings whose fixes are kept
_MOST_SLOTS = 2.0**32 - 1.0  # since 1970, as they have 32 bits: those of a second end in 2106

_DIGITS = 1e7  # of a degree
_SAMPLES = 8  # points by which recordings without times are compared, with the first and the last
_SAMPLES_SOUGHT = [0, 3, 7]
"""Those by which they are sought first: a tree of all eight takes six times as long, and one of two
ends gives five times as many pairs to compare."""
_SOUGHT_AT_ONCE = 50_000  # recordings without times: their pairs lie in memory together
_TOO_FEW_POINTS = 4  # recordings without times that are compared have more
_FASTEST = 20.0  # metres a second: where all are faster, clocks must agree better to be found
_NEAR = WIDE + LATE * _FASTEST  # metres between places by which recordings are found
_CELL = 2.01 * _NEAR
"""Metres; wider than the squares of `_corners`, so that whatever lies within _NEAR of a place lies
in the cell of a corner."""
_SURE = 1.01  # a factor: as metres are measured on planes
_COMPARED_AT_ONCE = 50_000  # places, or pairs of recordings without times


@dataclass(frozen=True, eq=False)
class _Recorded:
    """Recordings: a batch of them, or all."""

    subject: Ints  # who made each, (n,)
    ends: Floats  # times of the first and last point, (n, 2); NaN of those without points or times
    fixes: Ints  # with a time, (n,)
    points: Ints  # as they were read, (n,)
    samples: Ints  # some of these in 1e-7 degrees, (n, _SAMPLES, 2)


@dataclass(frozen=True, eq=False)
class _Sightings:
    """Where and when recordings were: a batch of them, or all.

    Times are slots, whole numbers since 1970: of `_SLOT` seconds where places are kept at the times
    that all share, and of one second where fixes are kept.
    """

    slot: Ints  # the time of each place, (p,), rising in each recording
    where: Ints  # latitude and longitude in 1e-7 degrees, (p, 2)
    velocity: Floats  # metres a second to the north and to the east, (p, 2)
    places: Ints  # how many each recording has, (n,)
    step: Ints  # slots from one place of a recording to its next, (n,)

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
    def key(number: Ints, slot: Ints) -> Ints:
        """Join the number of a recording, or of a subject, and a slot into one number.

        Slots have 32 bits; those moved by hours between clocks may be below 0, or need one bit
        more. So no slot of one number has a key of another's.
        """
        return (number << 34) + slot + (1 << 32)

    @cached_property
    def went_far_enough(self) -> Bools:
        """Mark the recordings that went far enough to be compared with others, (n,)."""
        has_places = self.places > 0
        far_enough = np.zeros(len(self.places), dtype=np.bool_)
        far_enough[has_places] = _extents(self.where, self.start[has_places]) >= LEAST_WAY
        return far_enough


_Batch = TypeVar("_Batch", _Recorded, _Sightings)


def _joined(batches: list[_Batch]) -> _Batch:
    """Put batches together into one, which replaces them in their list, for the memory."""
    if len(batches) > 1:
        names = [field.name for field in fields(batches[0])]
        columns = (np.concatenate([getattr(batch, name) for batch in batches]) for name in names)
        batches[:] = [type(batches[0])(*columns)]
    return batches[0]


class Repeats:
    """Finds recordings that have just the points of one before, perhaps by another clock."""

    def __init__(self) -> None:
        self._subject_of_content: dict[int, int] = {}
        self.subjects: list[tuple[int, int]] = []  # pairs with a recording of equal points

    def find(self, points: Points, subject: Ints) -> Bools:
        """Mark the recordings of a batch that have the points of one before, in any order."""
        # A clock that is wrong moves all times alike, by the seconds of GPS or a zone of half
        # hours: a way to the fifth digit at the same seconds from its start is nobody else's. Such
        # recordings stay, as their times differ; only their subjects are known to be one.
        timed = points.take(np.isfinite(points.time))
        timed = timed.take(np.lexsort((timed.time, timed.trace)))
        with np.errstate(over="ignore"):  # of numbers that are no degrees at all
            lat = timed.lat.round(5)
            lon = timed.lon.round(5)
        first_at_place = ~pd.DataFrame({"trace": timed.trace, "lat": lat, "lon": lon}).duplicated()
        seconds = np.floor(timed.time)
        start = np.full(len(subject), np.inf)
        np.minimum.at(start, timed.trace, seconds)
        hashes = hashes_of(seconds - start[timed.trace], lat, lon)[first_at_place]
        self._known(timed.trace[first_at_place], hashes, subject, MANY)

        # One point many people may have recorded.
        hashes = hashes_of(points.lat, points.lon, points.time)
        return self._known(points.trace, hashes, subject, 2)

    def _known(self, trace: Ints, hashes: Hashes, subject: Ints, least: int) -> Bools:
        """Mark the recordings of a batch with the same hashes as one before, at least so many."""
        different = pd.DataFrame({"trace": trace, "point": hashes}).drop_duplicates()
        of_traces = different.groupby("trace")["point"]
        contents = of_traces.sum()[of_traces.size() >= least]

        known = np.zeros(len(subject), dtype=np.bool_)
        for i, content in contents.items():
            known[i] = content in self._subject_of_content
            before = self._subject_of_content.setdefault(content, int(subject[i]))
            if before != subject[i]:
                self.subjects.append((before, int(subject[i])))
        return known


class Places:
    """Where recordings were, and which of them are copies of each other."""

    def __init__(self) -> None:
        self._recorded: list[_Recorded] = []
        self._slots: list[_Sightings] = []
        self._fixes: list[_Sightings] = []  # of recordings that have few

    def add(self, cleaned: Points, given: Points, subject: Ints) -> None:
        """Remember where recordings were, by their points cleaned, and as they were given."""
        n = len(subject)
        first, size = cleaned.pieces  # each recording is one piece still
        ends = np.full((n, 2), np.nan)
        ends[cleaned.trace[first]] = cleaned.time[np.column_stack([first, first + size - 1])]
        duration = ends[:, 1] - ends[:, 0]  # NaN of those without points or times
        fixes = np.bincount(cleaned.trace[np.isfinite(cleaned.time)], minlength=n)

        points, samples = _samples_of(given, n)
        self._recorded.append(_Recorded(subject, ends, fixes, points, samples))
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
            places_so_far = np.cumsum(sightings.places[near[:, 0]])  # of the shorter one of each
            is_last_of_batch = np.diff(places_so_far // _COMPARED_AT_ONCE) > 0
            batches = np.split(near, np.flatnonzero(is_last_of_batch) + 1)
            pairs += [batch[_are_copies(sightings, recorded, unit, batch), :2] for batch in batches]
        return np.asarray(recorded.subject[np.concatenate(pairs)])

    @property
    def subjects_and_ends(self) -> tuple[Ints, Floats]:
        """Return who made each recording, (n,), and the times of its two ends, (n, 2)."""
        recorded = _joined(self._recorded)
        return recorded.subject, recorded.ends

    def at_two_places(self) -> Ints:
        """Return the subjects who are, again and again, at two places at one time."""
        sightings = _joined(self._slots)
        subject = _joined(self._recorded).subject[sightings.recording]
        # Recordings of all steps have places at whole minutes.
        shared = np.flatnonzero(sightings.slot % _MINUTE == 0)
        key = sightings.key(subject[shared], sightings.slot[shared])
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))  # of each subject and time
        if len(first) == len(order):
            return np.empty(0, np.int64)

        extents = _extents(sightings.where[shared[order]], first)
        far_apart = order[first[extents > TWO_PLACES]]
        who, how_often = np.unique(subject[shared[far_apart]], return_counts=True)
        return np.asarray(who[how_often >= MANY])


def _extents(where: Ints, first: Ints) -> Floats:
    """Measure the longer side in metres of the boxes around groups of places, (groups,).

    Each group, of places in 1e-7 degrees, (p, 2), goes from its first to the next one's.
    """
    degrees = where / _DIGITS
    south_west = np.minimum.reduceat(degrees, first)
    north_east = np.maximum.reduceat(degrees, first)
    return np.asarray(np.abs(_metres(south_west, north_east)).max(axis=1))


def _at_slots(cleaned: Points, duration: Floats) -> _Sightings:
    """Find where recordings were at the times that all share, between their fixes."""
    time = cleaned.time

    # Short recordings have places more often.
    step = np.select([duration < _SHORTEST, duration < _SHORT], [1, 2], _MINUTE)

    # Each hop, known by the row of its second fix, has the times from its first fix on, up to that.
    hop = np.flatnonzero(cleaned.follows & (time < _SLOT * _MOST_SLOTS))
    hop_seconds = time[hop] - time[hop - 1]
    is_short = (hop_seconds > 0.0) & (hop_seconds <= _LONGEST_HOP)
    hop = hop[is_short & (time[hop - 1] >= 0.0)]
    step_of_hop = step[cleaned.trace[hop]]
    begin = np.ceil(time[hop - 1] / (step_of_hop * _SLOT)).astype(np.int64)  # in steps
    count = np.ceil(time[hop] / (step_of_hop * _SLOT)).astype(np.int64) - begin
    slot = indices_of_spans(begin, count) * np.repeat(step_of_hop, count)

    # Where it was then, on the straight way between the two fixes.
    after = np.repeat(hop, count)
    before = after - 1
    seconds = time[after] - time[before]
    share = (slot * _SLOT - time[before]) / seconds
    fixes = np.column_stack([cleaned.lat, cleaned.lon])
    where = fixes[before] + _degrees_off(fixes[before], fixes[after]) * share[:, None]

    return _Sightings(
        slot=slot.astype(np.uint32),
        where=_in_digits(where),
        velocity=(_metres(fixes[before], fixes[after]) / seconds[:, None]).astype(np.float32),
        places=np.bincount(cleaned.trace[after], minlength=len(duration)),
        step=step,
    )


def _fixes_of(cleaned: Points, is_sparse: Bools) -> _Sightings:
    """Keep the fixes, by the second, of recordings that have seldom one."""
    is_kept = is_sparse[cleaned.trace] & (cleaned.time >= 0.0) & (cleaned.time < _MOST_SLOTS)
    fix = np.flatnonzero(is_kept)
    trace = cleaned.trace[fix]
    slot = np.rint(cleaned.time[fix]).astype(np.uint32)

    # The first fix of each second; cut to the number of all, as there may be none.
    is_first = np.append(True, (np.diff(slot) != 0) | (np.diff(trace) != 0))[: len(fix)]
    fix = fix[is_first]
    return _Sightings(
        slot=slot[is_first],
        where=_in_digits(np.column_stack([cleaned.lat[fix], cleaned.lon[fix]])),
        velocity=np.zeros((len(fix), 2), np.float32),  # a late clock moves no fix
        places=np.bincount(trace[is_first], minlength=len(is_sparse)),
        step=np.ones(len(is_sparse), np.int64),
    )


def _samples_of(given: Points, n: int) -> tuple[Ints, Ints]:
    """Count the points of each recording, (n,), and pick some at equal shares of their number.

    Those picked are in 1e-7 degrees, (n, _SAMPLES, 2).
    """
    points = np.bincount(given.trace, minlength=n)
    if not len(given):
        return points, np.zeros((n, _SAMPLES, 2), np.int32)
    shares = np.linspace(0.0, 1.0, _SAMPLES) * np.maximum(points - 1, 0)[:, None]
    place = (np.cumsum(points) - points)[:, None] + np.rint(shares).astype(np.int64)
    # A recording without points gets another's, which are never compared.
    place = np.minimum(place, len(given) - 1)
    return points, _in_digits(np.stack([given.lat[place], given.lon[place]], axis=-1))


def _corners(where: Floats, reach: float) -> list[Floats]:
    """Return the four corners of a square around each place, all as places in degrees, (n, 2).

    What is within ``reach`` metres of a place shares a cell with a corner, as cells are wider than
    the square.
    """
    north = reach / METRES_PER_DEGREE
    # At the poles, a degree of longitude has no metres.
    east = north / np.maximum(np.cos(np.radians(where[:, 0])), 1e-3)
    sides = product((-north, north), (-east, east))
    return [where + np.column_stack(np.broadcast_arrays(*side)) for side in sides]


def _near_in_time(sightings: _Sightings, recorded: _Recorded, unit: int) -> Ints:
    """Find recordings of two subjects near each other at one time: both, and slots apart, (m, 3).

    The unit is seconds of a slot: 10 of places at shared times, 1 of fixes. Each recording is
    looked for where the fewest others are, a long one in each of its halves. The first of two has
    no more places than the second.
    """
    hour = 3_600 // unit  # slots
    late = LATE // unit  # none of 10 s, in which a late clock moves places, but not slots
    most_apart = CLOCKS * hour + late

    # Copies share FEW places one after the other, one of them listed; of fixes all are.
    listed_every = FEW if unit > 1 else 1
    place, lists_all = _listed_places(sightings, listed_every)
    recording = sightings.recording[place]
    slot = sightings.slot[place].astype(np.int64)
    where = sightings.where[place] / _DIGITS

    def keys(square: Ints, slot: Ints, clock: int = 0, shift: int = 0) -> Hashes:
        """Hash the square of a place, the time of the hour, and the span of hours it is in.

        Spans are so long that two places at most so far apart as clocks are lie in one, with a
        shift to either side. A late clock moves the time of the hour, but not the span.
        """
        span = (slot + shift) // (2 * most_apart + 1)
        time = span * hour + (slot + clock) % hour
        return hashes_of(square.astype(np.float64), time.astype(np.float64))

    # The places to look at: of those with few others around, one in each half. Short recordings,
    # and all of fixes, have no halves: their steps are below a minute's.
    key = keys(cells(where, _CELL), slot)
    by_key = np.argsort(key)
    others_around = _counts_of_equal(key, by_key)
    half = 2 * (place - sightings.start[recording]) // sightings.places[recording]
    half[sightings.step[recording] < _MINUTE] = 0
    speed = np.hypot(*sightings.velocity[place].T)

    # Each is looked for at a place that recordings of each step list, if it has one: at one that is
    # not too fast, and of these, as the last key counts first, where the fewest others are.
    owner = 2 * recording + half
    sought_by_step = [place[:0]]
    for step in np.unique(sightings.step).tolist():
        shared = np.flatnonzero((slot % (listed_every * step) == 0) | lists_all)
        best = greatest_of(owner[shared], -others_around[shared], speed[shared] <= _FASTEST)
        sought_by_step.append(shared[best])
    sought = np.unique(np.concatenate(sought_by_step))
    sought = sought[sightings.went_far_enough[recording[sought]]]

    # Places near each other lie in a square in which one of them has a corner of its own square.
    squares = [cells(corner, _CELL) for corner in _corners(where[sought], _NEAR)]
    keys_near = [
        keys(square, slot[sought], clock, shift)
        for square in squares
        for shift in (-most_apart, most_apart)
        for clock in range(-late, late + 1)
    ]
    row, second = _rows_of_equal(np.concatenate(keys_near), key, by_key)
    first = np.tile(sought, len(keys_near))[row]  # this and the second are rows of listed places
    apart = slot[second] - slot[first]
    metres = np.hypot(*_metres(where[first], where[second]).T)
    subject = recorded.subject[recording]

    is_near = metres <= np.minimum(WIDE + LATE * speed[first], _NEAR)
    is_near &= (np.abs(apart) <= most_apart) & (subject[first] != subject[second])
    pairs = np.column_stack([recording[first], recording[second], apart])[is_near]
    return _each_pair_once(pairs, sightings.places)


def _listed_places(sightings: _Sightings, listed_every: int) -> tuple[Ints, Bools]:
    """Return the places by which recordings are found; mark those of recordings that list all.

    Of ``listed_every`` places one after the other one is listed, at a time that is usual for the
    step of its recording. One of short steps lists more places than one of long steps: two such
    recordings may overlap briefly, and share no place that a long one would list. A recording with
    places at no usual time lists all.
    """
    is_usual = sightings.slot % (listed_every * sightings.step)[sightings.recording] == 0
    has_usual = np.bincount(sightings.recording, is_usual, len(sightings.places)) > 0.0
    lists_all = ~has_usual[sightings.recording]
    place = np.flatnonzero(is_usual | lists_all)
    return place, lists_all[place]


def _counts_of_equal(key: Hashes, by_key: Ints) -> Ints:
    """Count the keys that are equal to each, itself among them, (n,); ``by_key`` sorts them."""
    number = np.empty(len(key), np.int64)
    number[by_key] = np.cumsum(np.diff(key[by_key], prepend=key[by_key[:1]]) != 0)
    return np.bincount(number)[number]


def _each_pair_once(pairs: Ints, places: Ints) -> Ints:
    """Put the recording with fewer places first in each pair, (m, 3), and drop repeated pairs."""
    size = places[pairs[:, :2]]
    turned = (size[:, 0] > size[:, 1]) | ((size[:, 0] == size[:, 1]) & (pairs[:, 0] > pairs[:, 1]))
    pairs[turned] = pairs[turned][:, [1, 0, 2]] * [1, 1, -1]  # as many slots apart, backwards
    return np.asarray(pd.DataFrame(pairs).drop_duplicates())


def _are_copies(sightings: _Sightings, recorded: _Recorded, unit: int, pairs: Ints) -> Bools:
    """Mark the pairs that are copies, over all the time they have in common."""
    shorter, longer, apart = pairs.T
    count = sightings.places[shorter]
    pair = np.repeat(np.arange(len(pairs)), count)
    place = indices_of_spans(sightings.start[shorter], count)
    slot = sightings.slot[place] + apart[pair]  # by the clock of the longer one

    def total(pair: Ints, values: Floats | Bools) -> Floats:
        """Add up the values of the places of each pair, (m,)."""
        return np.bincount(pair, values, len(pairs)).astype(np.float64, copy=False)

    # Places at a time at which the longer one may have one, and those at which it has.
    first = sightings.start[longer]
    last = first + sightings.places[longer] - 1
    inside = (slot >= sightings.slot[first][pair]) & (slot <= sightings.slot[last][pair])
    expected = inside & (slot % sightings.step[longer][pair] == 0)
    # A key behind the last one is compared with that, and differs from it.
    key = sightings.key(longer[pair], slot)
    of_longer = np.minimum(np.searchsorted(sightings.keys, key), len(sightings.keys) - 1)
    common = sightings.keys[of_longer] == key
    share_inside = total(pair, inside) / count
    missing = total(pair, expected & ~common)

    # From here on, of the places in common alone.
    pair, of_shorter, of_longer = pair[common], place[common], of_longer[common]

    # One clock is late by as much everywhere, and that is all that may be between them: by so many
    # seconds as leave the least squares of metres, and by none where both stand still.
    off = _metres(sightings.where[of_shorter] / _DIGITS, sightings.where[of_longer] / _DIGITS)
    velocity = (sightings.velocity[of_shorter] + sightings.velocity[of_longer]) / 2.0
    late = total(pair, (off * velocity).sum(axis=1))
    late /= np.maximum(total(pair, (velocity**2).sum(axis=1)), 1e-9)
    metres = np.hypot(*(off - np.clip(late, -LATE, LATE)[pair, None] * velocity).T)
    shared = total(pair, np.ones(len(pair)))  # all places in common
    wide = total(pair, metres <= WIDE)
    narrow = total(pair, metres <= NARROW)

    # Places between two fixes are interpolated, and prove no more than the fixes do.
    fixes = np.minimum(recorded.fixes[shorter] * share_inside, recorded.fixes[longer])
    copies = (wide >= SHARE * shared) & (np.minimum(wide, fixes) >= MANY)

    # A ride known by two fixes, from station to station, looks like others at other hours: with
    # fewer than FEW fixes only one at the same time is a copy.
    enough = (recorded.fixes[shorter] >= FEW) | (apart == 0)
    copies |= (narrow >= SHARE * shared) & (narrow >= FEW) & enough
    if unit == 1:
        # Few fixes suffice if they tell seconds, and are not those of buses to the minute.
        exact = total(pair, (metres <= WIDE) & (sightings.slot[of_shorter] % 60 != 0))
        copies |= (wide >= SHARE * shared) & (exact >= FEW)

    # And that over half of the shorter one; the longer one may lack a fifth of the places.
    return np.asarray(copies & (share_inside >= 0.5) & (missing * SHARE <= shared * (1.0 - SHARE)))


def _alike_without_times(recorded: _Recorded) -> Ints:
    """Find recordings with as many points at the same places as one without times, (m, 2)."""
    comparable = np.flatnonzero(recorded.points > _TOO_FEW_POINTS)
    is_untimed = recorded.fixes[comparable] == 0
    if not is_untimed.any():
        return np.empty((0, 2), np.int64)

    from scipy.spatial import cKDTree

    # Of equal ones the first stands for all: there may be many, as on routes of a timetable.
    untimed = comparable[is_untimed]
    samples_in_rows = recorded.samples.reshape(-1, 2 * _SAMPLES)
    hashes = hashes_of(recorded.points[untimed], *samples_in_rows[untimed].T)
    _, first, equal = np.unique(hashes, return_index=True, return_inverse=True)
    pairs_found = [np.column_stack([untimed[first][equal], untimed])]
    untimed = untimed[first]

    def coordinates(recordings: Ints, way: int) -> Floats:
        """Return what a tree is made of: the samples sought of recordings in space, in metres.

        The way is 1, or -1 for backwards; the shape is (recordings, 3 * samples + 1). On the last
        axis, recordings with other numbers of points are out of reach.
        """
        sought = np.arange(_SAMPLES)[::way][_SAMPLES_SOUGHT]
        samples = recorded.samples[recordings[:, None], sought] / _DIGITS
        space = in_space(samples.reshape(-1, 2)).reshape(len(recordings), -1)
        return np.column_stack([space, 2.0 * NARROW * recorded.points[recordings]])

    candidates = np.concatenate([untimed, comparable[~is_untimed]])
    tree_of_all = cKDTree(coordinates(candidates, 1))
    reach = {"max_distance": _SURE * NARROW, "p": np.inf, "output_type": "ndarray"}
    for part in np.split(untimed, range(_SOUGHT_AT_ONCE, len(untimed), _SOUGHT_AT_ONCE)):
        for way in (1, -1):  # the same way may be written backwards
            near = cKDTree(coordinates(part, way)).sparse_distance_matrix(tree_of_all, **reach)
            pairs = np.column_stack([part[near["i"]], candidates[near["j"]]])
            pairs = pairs[np.diff(recorded.subject[pairs], axis=1)[:, 0] != 0]  # of two subjects
            for batch in np.split(pairs, range(_COMPARED_AT_ONCE, len(pairs), _COMPARED_AT_ONCE)):
                samples = recorded.samples[batch] / _DIGITS
                off = np.hypot(*np.moveaxis(_metres(samples[:, 0, ::way], samples[:, 1]), -1, 0))
                pairs_found.append(batch[(off <= NARROW).all(axis=1)])
    return np.unique(np.concatenate(pairs_found), axis=0)


def _rows_of_equal(sought: Hashes, keys: Hashes, by_key: Ints) -> tuple[Ints, Ints]:
    """Find all pairs of equal keys: the row among those sought, and that among all, (pairs,) each.

    ``by_key`` sorts all keys.
    """
    row = np.argsort(sought)  # they are found faster in order
    sought_in_order = sought[row]
    keys_in_order = keys[by_key]
    first = np.searchsorted(keys_in_order, sought_in_order, "left")
    count = np.searchsorted(keys_in_order, sought_in_order, "right") - first
    return np.repeat(row, count), by_key[indices_of_spans(first, count)]


def _degrees_off(places: Floats, other_places: Floats) -> Floats:
    """Subtract places from others, across the antimeridian where that is nearer, (n, 2)."""
    off = other_places - places
    off[..., 1] = wrapped(off[..., 1])
    return off


def _metres(places: Floats, other_places: Floats) -> Floats:
    """Measure how far other places lie to the north and to the east of places, (n, 2)."""
    off = _degrees_off(places, other_places)
    off[..., 1] *= np.cos(np.radians(places[..., 0]))
    return np.asarray(off * METRES_PER_DEGREE)


def _in_digits(where: Floats) -> Ints:
    """Round degrees to whole numbers of 1e-7 degrees; what is no number becomes 0.

    A place just beyond the antimeridian is set on it: 32 bits hold 214 degrees.
    """
    on_earth = np.clip(np.nan_to_num(where), -180.0, 180.0)
    return np.rint(on_earth * _DIGITS).astype(np.int32)
