"""Times of years that no receiver has: mended where that is certain, else left out, and said."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

import numpy as np

from trajanon.common.arrays import Bools, Floats
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.timestamps import (
    EARLIEST,
    LATEST,
    UNKNOWN_BEGINNING,
    UNREAD_TIMES,
    within,
)
from trajanon.extract.trace import Trace

_owner = attrgetter("name", "subject")  # what the pieces of a recording share
_GATHERED = 50_000  # points, by which recordings are checked together

MENDED = "mended times (Buddhist years, or 1,024 weeks early)"

_ERA = 1_024 * 7 * 86_400.0  # seconds after which the week counter of GPS begins again
_PAUSE = 3_600.0  # seconds that a recording may pause where its clock changes the era
_BUDDHIST = 543  # years that its calendar is ahead of ours
_IN_3000 = 32_503_680_000.0  # seconds since 1970; years beyond are of no calendar
_YEARS_1_TO_9999 = (-62_135_596_800, 253_402_300_799)  # seconds since 1970
_NO_CLOCK = 31_536_000.0  # seconds since 1970; earlier times count from an unknown beginning


def with_true_years(traces: Iterable[Trace], reading: Reading) -> Iterator[Trace]:
    """Check the times of recordings, given as pieces that follow each other; many at once."""
    gathered: list[Trace] = []
    points = 0
    for trace in traces:
        if points >= _GATHERED and _owner(trace) != _owner(gathered[-1]):
            yield from _checked(gathered, reading)
            gathered, points = [], 0
        gathered.append(trace)
        points += len(trace)
    yield from _checked(gathered, reading)


def _checked(traces: list[Trace], reading: Reading) -> Iterator[Trace]:
    # Most files have usual times alone: they are looked at together.
    if _are_usual(_times_of(traces)):
        yield from traces
        return

    for _, pieces in groupby(traces, _owner):
        recording = list(pieces)
        time = _times_of(recording)
        if not _are_usual(time):
            time = _mended(time, replace(reading, what=recording[0].name))
        ends = np.cumsum([len(piece) for piece in recording])
        for piece, part in zip(recording, np.split(time, ends[:-1]), strict=True):
            yield replace(piece, time=part)


def _times_of(traces: Sequence[Trace]) -> Floats:
    return np.concatenate([np.empty(0), *(trace.time for trace in traces)])


def _are_usual(time: Floats) -> bool:
    """Return whether times are of GPS, and too near to one another for a change of the era."""
    known = time[np.isfinite(time)]
    if not len(known):
        return True
    first, last = known.min(), known.max()
    return bool(first >= EARLIEST and last < LATEST and last - first < _ERA - _PAUSE)


def _mended(time: Floats, reading: Reading) -> Floats:
    """Return the times of a recording in our years, and NaN where that is not certain."""
    known = time[np.isfinite(time)]
    first = known.min()
    if first >= 0.0 and known.max() < _NO_CLOCK:
        reading.found("times read as", example=f"{first:.0f}", read_as=UNKNOWN_BEGINNING)
        return time

    time, buddhist = _in_our_years(time)
    if buddhist.any():
        year = _year(time[buddhist][0])
        reading.found("Buddhist years", year=year + _BUDDHIST, ours=year)

    time, early = _in_one_era(time)
    if early.any():
        reading.found("weeks", times=early.sum(), year=_year(time[early][0]))
    reading.counts[MENDED] += int((buddhist | early).sum())

    wrong = np.isfinite(time) & ~within(time)
    if wrong.any():
        reading.count(UNREAD_TIMES, wrong)
        reading.found("years", year=_year(time[wrong][0]), times=wrong.sum())
    return np.where(wrong, np.nan, time)


def _in_our_years(time: Floats) -> tuple[Floats, Bools]:
    """Read times that lie 543 years ahead of those of GPS by the Buddhist calendar."""
    later = np.isfinite(time) & (time >= LATEST)
    later &= time < _IN_3000
    dates = np.where(later, time, 0.0).astype("datetime64[s]")
    months = dates.astype("datetime64[M]")
    ours = (months - 12 * _BUDDHIST).astype("datetime64[s]") + (dates - months)
    fraction = time % 1.0
    moved = np.where(later, ours.astype(np.float64) + fraction, time)
    later &= within(moved)
    return np.where(later, moved, time), later


def _in_one_era(time: Floats) -> tuple[Floats, Bools]:
    """Bring the times before a change of the era to the last one, if the clock goes on there."""
    known = np.isfinite(time)
    hops = np.diff(time[known])
    eras = np.round(hops / _ERA)
    beyond_eras = np.abs(hops - eras * _ERA)
    early = np.zeros(len(time), dtype=np.bool_)
    if not eras.any() or (beyond_eras[eras != 0.0] > _PAUSE).any():
        return time, early
    era = np.concatenate([[0.0], np.cumsum(eras)])
    moved = time.copy()
    moved[known] += (era.max() - era) * _ERA
    early[known] = era < era.max()
    return moved, early


def _year(seconds: float) -> int:
    """Return the year of a time; that of the nearest time which has one."""
    bounded = int(np.clip(seconds, *_YEARS_1_TO_9999))
    return int(np.datetime64(bounded, "s").astype("datetime64[Y]").astype(int)) + 1970
