"""Records of which some have left: what methods by distance choose from."""

import numpy as np
from hypothesis import strategies as st

from trajanon.common.arrays import Floats, Ints

Some = tuple[Floats, Ints, np.random.Generator]


@st.composite
def some_left(draw: st.DrawFn) -> Some:
    """Records, many of them equal at times, and those that remain."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    records = random.normal(size=(draw(st.integers(1, 30)), draw(st.integers(1, 6))))
    if draw(st.booleans()):
        records = records.round()
    left = random.random(len(records)) < draw(st.sampled_from([0.1, 0.5, 1.0]))
    left[random.integers(len(records))] = True
    return records, np.flatnonzero(left), random
