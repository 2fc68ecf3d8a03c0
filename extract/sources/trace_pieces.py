"""Pieces of recordings: made of the fixes of a device, joined, and left out without an order."""

import math
import re
from array import array
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from operator import attrgetter, itemgetter

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.common.errors import FileProblem
from trajanon.extract.sources.archives import CutOff
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace
from trajanon.extract.why_left_out import OVERLAPS

Fix = tuple[float, float, float]
"""Latitude and longitude in degrees, and seconds since 1970; NaN where one is not known."""

EMPTY = "files without track points"
PLANNED = "points of courses, which are planned, not recorded"

UNTIMED_PIECES = "points of traces without times"
CLOUD = "points sorted by place, not along a track"

_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_MOST_FIXES = 20_000_000  # of a recording
_FEWEST_POINTS = 20  # by which it can be judged whether they are sorted by place

# Of a cloud sorted by latitude two of three points turn back east or west, on roads few; and its
# way sideways is a third of the points times that to the north, of a noisy receiver's about once.
_SHARE_OF_TURNS = 1 / 3
_TIMES_SIDEWAYS = 5.0


def traces_of_fixes(
    fixes: Iterable[Fix | None], reading: Reading, subject: str | None = None
) -> Iterator[Trace]:
    """Make a trace of each piece of one recording; None ends a piece."""
    has_points = False
    for trace in with_last_cut_off(_pieces(fixes, reading.label, subject)):
        has_points = True
        yield trace
    if not has_points:
        reading.counts[EMPTY] += 1


def _pieces(fixes: Iterable[Fix | None], label: str, subject: str | None) -> Iterator[Trace]:
    """Make a trace of each piece; if the reading fails, of what comes before."""
    piece = array("d")  # the three numbers of each fix, one after another

    def traces() -> Iterator[Trace]:
        if piece:
            yield Trace(label, subject, *np.array(piece).reshape(-1, 3).T.copy())
        del piece[:]

    try:
        for fix in fixes:
            if fix is None:
                yield from traces()
                continue
            piece.extend(fix)
            if len(piece) > 3 * _MOST_FIXES:
                del piece[:]  # no recording, of which a part could be used
                raise FileProblem(f"{label} has over {_MOST_FIXES:,} points in one piece: split it")
    except FileProblem:
        yield from traces()
        raise
    yield from traces()


def with_last_cut_off(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Mark the last trace as cut off if its file cannot be read to the end."""
    held: Trace | None = None
    try:
        for trace in traces:
            if held is not None:
                yield held
            held = trace
    except (FileProblem, CutOff):
        if held is not None:
            yield replace(held, cut_off=True)
        raise
    if held is not None:
        yield held


def number(value: object) -> float:
    """Read a number of XML or JSON, perhaps with a decimal comma; NaN if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value):
        value = value.replace(",", ".")
    if isinstance(value, str) and "_" in value:  # which Python alone takes for a number
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def joined(numbered: Iterable[tuple[int, Trace]], counts: Counter[str]) -> Iterator[Trace]:
    """Join the pieces of each recording, as `joined_pieces` does, within each number."""
    for _, traces in groupby(numbered, itemgetter(0)):
        yield from joined_pieces((trace for _, trace in traces), counts)


def joined_pieces(traces: Iterable[Trace], counts: Counter[str]) -> Iterator[Trace]:
    """Join the pieces of a recording; those with overlapping times stay apart, and are counted."""
    for _, same_recording in groupby(traces, attrgetter("name", "subject")):
        pieces = iter(same_recording)
        first = next(pieces)
        second = next(pieces, None)
        if second is None:
            yield first
        else:
            yield from _joined_unless_at_once(chain([first, second], pieces), counts)


def _joined_unless_at_once(pieces: Iterable[Trace], counts: Counter[str]) -> Iterator[Trace]:
    """Join pieces one after another, up to the first that was recorded at the same time."""
    held: list[Trace] = []
    spans: list[tuple[float, float]] = []  # first and last seconds of the longer ones held, sorted
    for piece in pieces:
        # A long one without times is in the order of its file: nothing joins it.
        goes_on = all(len(part) == 1 or part.is_timed for part in (*held[:1], piece))

        first = np.fmin.reduce(piece.time, initial=np.inf, dtype=np.float64)
        last = np.fmax.reduce(piece.time, initial=-np.inf, dtype=np.float64)
        span = (first, last) if len(piece) > 1 and first <= last else None
        if held and goes_on and span and _overlaps(span, spans):
            goes_on = False
            counts[OVERLAPS] += 1

        if held and not goes_on:
            yield joined_trace(held)
            held = []
            spans = []
        held.append(piece)
        if span:
            insort(spans, span)
    yield joined_trace(held)


def _overlaps(span: tuple[float, float], spans: Sequence[tuple[float, float]]) -> bool:
    """Check whether a span overlaps one of others, which are sorted and do not overlap.

    If it does, it overlaps the last one that begins before it, or the first one after.
    """
    place = bisect_left(spans, span)
    neighbours = spans[max(place - 1, 0) : place + 1]
    return any(last > span[0] and span[1] > first for first, last in neighbours)


def joined_trace(pieces: Sequence[Trace]) -> Trace:
    """Put the points of pieces together, one after another."""
    if len(pieces) == 1:
        return pieces[0]
    return replace(
        pieces[0],
        lat=np.concatenate([piece.lat for piece in pieces]),
        lon=np.concatenate([piece.lon for piece in pieces]),
        time=np.concatenate([piece.time for piece in pieces]),
        spellings=tuple(dict.fromkeys(name for piece in pieces for name in piece.spellings)),
        cut_off=pieces[-1].cut_off,
        without_fix=tuple(time for piece in pieces for time in piece.without_fix),
    )


def without_unordered(
    traces: Iterable[Trace], untimed: str, counts: Counter[str]
) -> Iterator[Trace]:
    """Leave out traces whose points have no order: clouds that the OSM server sorts by place.

    If ``untimed`` is "reject", all traces without times are left out.
    """
    for trace in traces:
        if trace.is_timed:
            yield trace
        elif untimed == "reject":
            counts[UNTIMED_PIECES] += len(trace)
        elif is_cloud(trace.lat, trace.lon):
            counts[CLOUD] += len(trace)
        else:
            yield trace


def is_cloud(lat: Floats, lon: Floats) -> bool:
    """Return whether points are sorted by latitude, and by nothing else."""
    if len(lat) < _FEWEST_POINTS or not (np.diff(lat) >= 0.0).all():
        return False
    east = np.diff(lon) * np.cos(np.radians(lat[0]))
    turns = int((east[1:] * east[:-1] < 0.0).sum())
    is_wide = np.abs(east).sum() > _TIMES_SIDEWAYS * (lat[-1] - lat[0])
    return bool(is_wide) and turns > _SHARE_OF_TURNS * len(lat)
