"""Timed recordings with stays and pauses for tests, and all the trips found in them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tracks import bent, line

from trajanon.extract import Rules
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import Cutter
from trajanon.trajectories.trajectories import Trajectories

RULES = Rules(points=7, max_gap=2_000.0, max_pause=300.0)

_METRES = st.sampled_from([3.717, 19.951, 57.309, 211.733, 733.117, 1_511.391, 2_711.173])
_SECONDS = st.sampled_from([7, 20, 45, 61, 140, 299, 300, 301, 2_000])


@st.composite
def drives(draw: st.DrawFn) -> Trace:
    """Fixes in order, at different times and places: stays, pauses, long hops and false ones."""
    legs = draw(st.lists(st.tuples(st.floats(0, 360), _METRES, _SECONDS), max_size=40))
    recorded = bent([(azimuth, metres) for azimuth, metres, _ in legs])
    time = 1.2e9 + np.cumsum([0, *(seconds for *_, seconds in legs)])
    return replace(recorded, time=time, name=str(draw(st.integers(0, 10**9))))


def found(
    some: Sequence[Trace], rules: Rules = RULES, **more: Any
) -> tuple[Trajectories, Counter[str]]:
    """All trips of some recordings, in one batch, and the counts."""
    cutter = Cutter(rules, key=b"12345", **more)
    return cutter.cut(some), cutter.counts


def times_of(trajectories: Trajectories) -> Any:
    assert trajectories.times is not None
    return trajectories.times


def east(metres: Any, seconds: Any, name: str = "one", **more: Any) -> Trace:
    """A way to the east, timed."""
    return line(list(metres), list(1e9 + np.asarray(seconds)), name=name, **more)


def there_and_back_again(stay: float, noise: float = 0.0) -> Trace:
    """Two ways of 3 km, a fix each 10 s, with a recorded stay between them."""
    there, here = np.arange(0, 3_001, 100.0), np.arange(0, stay, 10.0)
    drift = 3_000 + noise * (1 + np.arange(len(here)) % 2) + 0.01 * np.arange(len(here))
    away = drift[-1] + np.arange(100, 3_001, 100.0)
    metres = np.concatenate([there, drift[1:], away])
    return east(metres, 10.0 * np.arange(len(metres)))
