"""The limits of hops and pauses that are found from the data.

A limit is 5 times the median, over recordings, of their median hop, in metres or seconds. That of
hops is at least 2,000 m, and that of pauses from 300 s to half an hour: for longer, it is unknown
where somebody was. They are found from the first 1,000 recordings, or those up to 200,000 points,
and hold for all.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.extract.options_and_defaults import LEAST_GAP, LEAST_PAUSE, Limit, Rules
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace

_OF_MEDIAN = 5.0  # a limit, as a multiple of the median hop
_LONGEST_PAUSE = 1_800.0  # seconds
_MOST_RECORDINGS = 1_000  # that are looked at
_MOST_POINTS = 200_000  # after which no more recordings are looked at


def head(traces: Iterator[Trace]) -> tuple[list[Trace], Iterator[Trace]]:
    """Read the first recordings, which do not depend on batches; return these, and all of them."""
    first: list[Trace] = []
    size = 0
    for trace in traces:
        first.append(trace)
        size += len(trace)
        if len(first) >= _MOST_RECORDINGS or size >= _MOST_POINTS:
            break
    return first, chain(first, traces)


class LimitsFound(NamedTuple):
    """Which limits were found from the data, and from what."""

    limits: list[str]  # names of rules
    recordings: int
    metres: float | None  # the median of the recordings' median hops
    seconds: float | None


def with_limits(rules: Rules, points: Points) -> tuple[Rules, LimitsFound]:
    """Replace the limits that are "auto" by numbers, found from cleaned points."""
    # Each recording is one piece still.
    hops = pd.DataFrame({"metres": points.hop_metres, "seconds": points.hop_seconds})
    of_recordings = hops.groupby(points.piece[points.hop_ends]).median()
    metres, seconds = (
        None if np.isnan(median) else float(median) for median in of_recordings.median()
    )

    limits = [name for name in ("max_gap", "max_pause") if getattr(rules, name) == "auto"]
    found = LimitsFound(limits, len(of_recordings), metres, seconds)
    max_gap = _limit(rules.max_gap, metres, LEAST_GAP, np.inf)
    max_pause = _limit(rules.max_pause, seconds, LEAST_PAUSE, _LONGEST_PAUSE)
    return replace(rules, max_gap=max_gap, max_pause=max_pause), found


def _limit(limit: Limit, median: float | None, lowest: float, highest: float) -> Limit:
    """Return a limit; one that is "auto" follows from the median hop, within bounds."""
    if limit != "auto":
        return limit
    return min(max(lowest, float(round(_OF_MEDIAN * (median or 0.0)))), highest)
