"""Traces of numbered units, which are files or boxes of a server, and the place to go on from."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter

import numpy as np

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.trace import Trace

LeftOut = Callable[[int], Counter[str]]
"""Gives, for the number of a unit, the counter of what is left out of it."""

NumberedTraces = Callable[[int, LeftOut], Iterator[tuple[int, Trace]]]
"""Gives the traces from a unit on, each with the number of its unit."""

CHOICES = ("accept", "reject")  # a trace without times is taken in its order, or left out
UNTIMED = "points of traces without times"
CLOUD = "points sorted by place, not along a track"

_FEW = 20  # points; with fewer the order cannot be told

_TURNS = 1 / 3
"""Share of the points at which a way turns back east or west while never a step leads
south: in a cloud sorted by latitude two of three, on roads few."""

_SIDEWAYS = 5.0
"""Mean way east or west over that to the north: in a cloud about a third of the points;
receivers whose noise turns them as often go north as fast as their noise sideways."""


@dataclass(eq=False)
class Source:
    """Traces in their order, with the place to go on from."""

    numbered: NumberedTraces
    position: Sequence[int] = (0, 0)  # the unit, and how many of its traces were taken
    left_out: Counter[str] = field(default_factory=Counter)  # of the units before
    joined: bool = False  # whether pieces are joined, as by `joined_pieces`

    def __iter__(self) -> Iterator[Trace]:
        """Give the traces from the position on; those of the unit there are skipped."""
        unit, taken = self.position
        # A unit is at work before its first trace comes: each has its own counter.
        of_each: dict[int, Counter[str]] = defaultdict(Counter)
        numbered = self.numbered(unit, of_each.__getitem__)
        settled = unit
        for number, traces in groupby(numbered, itemgetter(0)):
            self._settle(of_each, range(settled, number))
            settled = number
            each = (trace for _, trace in traces)
            for here, trace in joined_pieces(each) if self.joined else enumerate(each, start=1):
                if (number, here) > (unit, taken):
                    self.position = number, here
                    yield trace
        self._settle(of_each, sorted(of_each))

    def _settle(self, of_each: dict[int, Counter[str]], units: Iterable[int]) -> None:
        for number in units:
            self.left_out.update(of_each.pop(number, {}))


def joined_pieces(traces: Iterable[Trace]) -> Iterator[tuple[int, Trace]]:
    """Join the pieces of a recording that follow each other in time; later steps find its stops.

    With each recording comes the number of pieces up to its last.
    """
    held: list[Trace] = []
    number = 0
    for number, trace in enumerate(traces):
        if held and not _goes_on(held[-1], trace):
            yield number, _joined(held)
            held = []
        held.append(trace)
    if held:
        yield number + 1, _joined(held)


def _goes_on(one: Trace, other: Trace) -> bool:
    """Tell whether a piece is of the same recording, and later."""
    if (one.name, one.subject) != (other.name, other.subject):
        return False
    ended = np.fmax.reduce(one.time, initial=np.nan)
    return bool(ended <= np.fmin.reduce(other.time, initial=np.nan))


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
