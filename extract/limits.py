"""The longest hop and the longest pause of one track, found from the data.

A receiver that records a fix each minute needs other limits than one that records each second. Of
each recording the median hop is taken, in metres and in seconds, and of these numbers the median.
The longest hop is 5 times that in metres, but at least 2,000 m; the longest pause 5 times that in
seconds, but at least 300 s, and at most half an hour: nobody knows where somebody was for longer.
Both hold for cabs with a fix each minute as for phones with one each second: shorter limits leave
out trips through tunnels, and longer ones draw straight lines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from trajanon.extract.points import Points
from trajanon.extract.rules import LEAST_GAP, LEAST_PAUSE, Rules
from trajanon.extract.trace import Trace
from trajanon.words import metres, number_of, span

_TIMES = 5.0  # the median hop
_LONGEST_PAUSE = 1_800.0  # seconds
_RECORDINGS, _POINTS = 1_000, 200_000  # that are looked at


class Hops(NamedTuple):
    """The median hop of some recordings; None where nothing is known."""

    recordings: int
    metres: float | None
    seconds: float | None

    @classmethod
    def of(cls, points: Points) -> "Hops":
        """Measure the hops of cleaned recordings."""
        end = np.flatnonzero(points.follows)
        seconds = points.time[end] - points.time[end - 1]
        hops = pd.DataFrame({"metres": points.ways.length, "seconds": seconds})
        each = hops.groupby(points.piece[end]).median()
        medians = [float(each[name].median()) for name in hops]
        return cls(len(each), *(None if np.isnan(one) else one for one in medians))


def head(traces: Iterator[Trace]) -> tuple[list[Trace], Iterator[Trace]]:
    """Take the first recordings, which do not depend on batches, and give all of them."""
    some: list[Trace] = []
    size = 0
    for trace in traces:
        some.append(trace)
        size += len(trace)
        if len(some) >= _RECORDINGS or size >= _POINTS:
            break
    return some, chain(some, traces)


def with_limits(rules: Rules, hops: Hops) -> Rules:
    """Put limits in place of those that are to be found."""

    def limit(given: Any, least: float, median: float | None, most: float = np.inf) -> Any:
        found = min(max(least, float(round(_TIMES * (median or 0.0)))), most)
        return found if given == "auto" else given

    return replace(
        rules,
        max_gap=limit(rules.max_gap, LEAST_GAP, hops.metres),
        max_pause=limit(rules.max_pause, LEAST_PAUSE, hops.seconds, _LONGEST_PAUSE),
    )


def limits_told(provenance: Mapping[str, Any]) -> str:
    """Say in one sentence which limits were found, and from what; nothing if none was."""
    found = provenance.get("found")
    if not found:
        return ""
    limits = [
        f"{name} of {written(provenance[limit])}"
        for limit, name, written in (
            ("max_gap", "a longest hop", metres),
            ("max_pause", "a longest pause", span),
        )
        if limit in found["limits"]
    ]
    known = [(found["metres"], metres), (found["seconds"], span)]
    median = " and ".join(written(value) for value, written in known if value is not None)
    recordings = number_of(found["recordings"], "recording")
    why = f"half of the hops of {recordings} are below {median}" if median else "no hop is known"
    options = " and ".join(f"`{limit}`" for limit in found["limits"])
    return f"Found from the data: {' and '.join(limits)}, as {why}. Set others with {options}."
