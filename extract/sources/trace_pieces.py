"""Traces of numbered units, which are files or boxes of a server: joined, and in order."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.trace import Trace

CHOICES = ("accept", "reject")  # a trace without times is taken in its order, or left out
UNTIMED = "points of traces without times"
CLOUD = "points sorted by place, not along a track"
OVERLAPS = "pieces of a recording whose times overlap"

_TOGETHER = 1_000
"""Pieces that are put together at once: thousands of arrays of one point would fill the memory."""

_FEW = 20  # points; with fewer the order cannot be told

_TURNS = 1 / 3
"""Share of the points at which a way turns back east or west while never a step leads
south: in a cloud sorted by latitude two of three, on roads few."""

_SIDEWAYS = 5.0
"""Mean way east or west over that to the north: in a cloud about a third of the points;
receivers whose noise turns them as often go north as fast as their noise sideways."""


def joined(numbered: Iterable[tuple[int, Trace]], counts: Counter[str]) -> Iterator[Trace]:
    """Join the pieces of each recording, as `joined_pieces` does, within each unit."""
    for _, traces in groupby(numbered, itemgetter(0)):
        yield from joined_pieces((trace for _, trace in traces), counts)


def joined_pieces(traces: Iterable[Trace], counts: Counter[str]) -> Iterator[Trace]:
    """Join the pieces of a recording; later steps sort its points, and find its gaps.

    Pieces with times follow one another in any order, but not pieces whose times overlap, as those
    of two devices do: these stay apart, and are counted. A single point belongs to what is around
    it.
    """
    held: _Recording | None = None
    for piece in traces:
        if held is None or not held.takes(piece, counts):
            if held is not None:
                yield _joined(held.pieces)
            held = _Recording(piece)
    if held is not None:
        yield _joined(held.pieces)


class _Recording:
    """Pieces of one recording that follow one another."""

    def __init__(self, first: Trace) -> None:
        self.pieces = [first]
        self._name = first.name, first.subject
        self._fresh = 1  # pieces at the end that were not yet put together
        self._spans: list[tuple[float, float]] = []  # of the longer pieces, sorted
        self._ordered = len(first) > 1 and not _is_timed(first)  # by its file: nothing joins it
        if len(first) > 1 and not self._ordered:
            self._spans.append(_span(first))

    def takes(self, piece: Trace, counts: Counter[str]) -> bool:
        """Take a piece if it is one of this recording."""
        if (piece.name, piece.subject) != self._name or self._ordered:
            return False
        if len(piece) > 1:
            if not _is_timed(piece):
                return False
            place = bisect_left(self._spans, span := _span(piece))
            before = self._spans[max(place - 1, 0) : place]
            after = self._spans[place : place + 1]
            if any(end > span[0] for _, end in before) or any(
                span[1] > start for start, _ in after
            ):
                counts[OVERLAPS] += 1
                return False
            self._spans.insert(place, span)
        self.pieces.append(piece)
        self._fresh += 1
        if self._fresh == _TOGETHER:
            self.pieces[-_TOGETHER:] = [_joined(self.pieces[-_TOGETHER:])]
            self._fresh = 0
        return True


def _is_timed(piece: Trace) -> bool:
    return bool(np.isfinite(piece.time).any())


def _span(piece: Trace) -> tuple[float, float]:
    return float(np.nanmin(piece.time)), float(np.nanmax(piece.time))


def _joined(pieces: Sequence[Trace]) -> Trace:
    if len(pieces) == 1:
        return pieces[0]
    return replace(
        pieces[0],
        lat=np.concatenate([piece.lat for piece in pieces]),
        lon=np.concatenate([piece.lon for piece in pieces]),
        time=np.concatenate([piece.time for piece in pieces]),
        spellings=tuple(dict.fromkeys(name for piece in pieces for name in piece.spellings)),
        cut_off=pieces[-1].cut_off,
    )


def check_untimed(choice: str) -> None:
    """Refuse what is not one of `CHOICES`."""
    if choice not in CHOICES:
        raise BadInput(f"`untimed` must be {' or '.join(CHOICES)} (got {choice!r})")


def ordered(traces: Iterable[Trace], untimed: str, counts: Counter[str]) -> Iterator[Trace]:
    """Leave out traces whose points are not in the order of a track.

    The OSM server gives points of unknown order sorted by latitude and longitude, and what has read
    them since takes them for a track. Such a cloud is never a trace.
    """
    for trace in traces:
        if np.isfinite(trace.time).any():
            yield trace
        elif untimed == "reject":
            counts[UNTIMED] += len(trace)
        elif is_cloud(trace.lat, trace.lon):
            counts[CLOUD] += len(trace)
        else:
            yield trace


def is_cloud(lat: Floats, lon: Floats) -> bool:
    """Tell whether points are sorted by latitude, and by nothing else."""
    if len(lat) < _FEW or not (np.diff(lat) >= 0.0).all():
        return False
    east = np.diff(lon) * np.cos(np.radians(lat[0]))
    turns = int((east[1:] * east[:-1] < 0.0).sum())
    sideways = np.abs(east).sum() > _SIDEWAYS * (lat[-1] - lat[0])
    return bool(sideways) and turns > _TURNS * len(lat)
