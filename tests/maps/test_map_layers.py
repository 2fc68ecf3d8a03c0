"""What pages are made of: steps and bends."""

import numpy as np
from browsing import places
from hypothesis import given
from hypothesis import strategies as st

from trajanon.maps.drawing import bends, steps

lines = st.lists(
    st.lists(st.tuples(st.floats(-80, 80), st.floats(-179, 179)), min_size=2, max_size=6),
    max_size=4,
)


@given(lines)
def test_steps_lead_from_each_point_to_the_next(lines: list[list[tuple[float, float]]]) -> None:
    for line in lines:
        (flat,) = steps(np.array([line]))
        for found, place in zip(places(flat), line, strict=True):
            assert found == [round(degrees / 1e-6) for degrees in place]


@given(lines)
def test_bends_begin_and_end_where_lines_do(lines: list[list[tuple[float, float]]]) -> None:
    found = bends(np.array(line) for line in lines)
    assert len(found) == len(lines)
    for flat, line in zip(found, lines, strict=True):
        whole = places(steps(np.array([line]))[0])
        kept = places(flat)
        assert kept[0] == whole[0]
        assert kept[-1] == whole[-1]
        assert all(place in whole for place in kept)
