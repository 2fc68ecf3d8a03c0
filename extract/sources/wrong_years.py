"""Times of years that no receiver has: mended where that is certain, else left out, and said."""

from collections.abc import Iterable, Iterator
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

MENDED = "mended times (Buddhist years, or 1,024 weeks early)"

_ERA = 1_024 * 7 * 86_400.0  # seconds after which the week counter of GPS begins again
_LONGEST_PAUSE = 3_600.0  # seconds of a recording where its clock changes the era
_BUDDHIST_YEARS = 543  # that its calendar is ahead of ours

# Seconds since 1970: of the year 3000, as years beyond are of no calendar; and of 1971, as earlier
# times count from an unknown beginning.
_YEAR_3000 = 32_503_680_000.0
_YEAR_1971 = 31_536_000.0


def with_true_years(traces: Iterable[Trace], reading: Reading) -> Iterator[Trace]:
    """Check the times of recordings, given as pieces that follow each other."""
    for _, pieces in groupby(traces, attrgetter("name", "subject")):
        recording = list(pieces)
        time = np.concatenate([piece.time for piece in recording])
        if _are_usual(time):
            yield from recording
            continue

        time = _mended(time, replace(reading, what=recording[0].name))
        ends = np.cumsum([len(piece) for piece in recording])
        for piece, part in zip(recording, np.split(time, ends[:-1]), strict=True):
            yield replace(piece, time=part)


def _are_usual(time: Floats) -> bool:
    """Return whether times are of GPS, and too near to one another for a change of the era."""
    known = time[np.isfinite(time)]
    if not len(known):
        return True
    first = known.min()
    last = known.max()
    return bool(first >= EARLIEST and last < LATEST and last - first < _ERA - _LONGEST_PAUSE)


def _mended(time: Floats, reading: Reading) -> Floats:
    """Return the times of a recording in our years, and NaN where that is not certain."""
    known = time[np.isfinite(time)]
    first = known.min()
    if first >= 0.0 and known.max() < _YEAR_1971:
        reading.found("times read as", example=f"{first:.0f}", read_as=UNKNOWN_BEGINNING)
        return time

    time, was_buddhist = _in_our_years(time)
    if was_buddhist.any():
        year = _year(time[was_buddhist][0])
        reading.found("Buddhist years", year=year + _BUDDHIST_YEARS, ours=year)

    time, was_early = _in_one_era(time)
    if was_early.any():
        reading.found("weeks", times=was_early.sum(), year=_year(time[was_early][0]))
    reading.counts[MENDED] += int((was_buddhist | was_early).sum())

    is_wrong = np.isfinite(time) & ~within(time)
    if is_wrong.any():
        reading.count(UNREAD_TIMES, is_wrong)
        reading.found("years", year=_year(time[is_wrong][0]), times=is_wrong.sum())
    return np.where(is_wrong, np.nan, time)


def _in_our_years(time: Floats) -> tuple[Floats, Bools]:
    """Read times that lie 543 years ahead of those of GPS by the Buddhist calendar.

    Also mark which these are.
    """
    is_late = (time >= LATEST) & (time < _YEAR_3000)
    # Moved by whole months, as the days of 543 years are not always as many.
    months = np.where(is_late, time, 0.0).astype("datetime64[s]").astype("datetime64[M]")
    months_in_our_years = months - 12 * _BUDDHIST_YEARS
    ahead = months.astype("datetime64[s]") - months_in_our_years.astype("datetime64[s]")
    moved = time - ahead.astype(np.float64)
    is_buddhist = is_late & within(moved)
    return np.where(is_buddhist, moved, time), is_buddhist


def _in_one_era(time: Floats) -> tuple[Floats, Bools]:
    """Bring the times before a change of the era to the last one, if the clock goes on there.

    Also mark which these are.
    """
    is_known = np.isfinite(time)
    hops = np.diff(time[is_known])
    eras_passed = np.round(hops / _ERA)
    pauses = np.abs(hops - eras_passed * _ERA)
    was_early = np.zeros(len(time), dtype=np.bool_)
    if not eras_passed.any() or (pauses[eras_passed != 0.0] > _LONGEST_PAUSE).any():
        return time, was_early

    era = np.concatenate([[0.0], np.cumsum(eras_passed)])
    moved = time.copy()
    moved[is_known] += (era.max() - era) * _ERA
    was_early[is_known] = era < era.max()
    return moved, was_early


def _year(seconds: float) -> int:
    """Return the year of a time, which may be of no calendar."""
    return int(np.datetime64(int(seconds), "s").astype("datetime64[Y]").astype(int)) + 1970
