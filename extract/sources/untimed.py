"""Traces without times: a track in its order, or a cloud of points without order."""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.extract.trace import Trace

CHOICES = ("accept", "reject")
"""Whether a trace without times is taken in its order, or left out."""

UNTIMED = "points of traces without times"
CLOUD = "points sorted by place, not along a track"

_FEW = 20
"""Points; with fewer the order cannot be told."""

_TURNS = 1 / 3
"""Share of the points at which a way turns back east or west while never a step leads
south: in a cloud sorted by latitude two of three, on roads few."""

_SIDEWAYS = 5.0
"""Mean way east or west over that to the north: in a cloud about a third of the points;
receivers whose noise turns them as often go north as fast as their noise sideways."""


def check_untimed(choice: str) -> None:
    """Refuse what is not one of `CHOICES`."""
    if choice not in CHOICES:
        msg = f"`untimed` must be {' or '.join(CHOICES)} (got {choice!r})"
        raise BadInput(msg)


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
    if len(lat) < _FEW:
        return False
    if not (np.diff(lat) >= 0.0).all():
        return False
    east = np.diff(lon) * np.cos(np.radians(lat[0]))
    turns = int((east[1:] * east[:-1] < 0.0).sum())
    sideways = np.abs(east).sum() > _SIDEWAYS * (lat[-1] - lat[0])
    return bool(sideways) and turns > _TURNS * len(lat)
