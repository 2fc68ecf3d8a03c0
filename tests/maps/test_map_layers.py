"""What pages are made of: cells, steps and bends."""

import numpy as np
from browsing import places
from hypothesis import given
from hypothesis import strategies as st

from trajanon.maps.drawing import Cells, bends, steps


@given(
    st.lists(st.tuples(st.floats(-60, 60), st.floats(-170, 170)), min_size=1, max_size=20),
    st.integers(1, 3),
)
def test_each_point_counts_in_the_cell_that_holds_it(
    somewhere: list[tuple[float, float]], copies: int
) -> None:
    points = np.array(somewhere)[:, None]
    bounds = [points.min(axis=(0, 1)).tolist(), (points.max(axis=(0, 1)) + 0.001).tolist()]
    squares = Cells(bounds)
    for half in (points[::2], points[1::2]):
        squares.add(half, np.full(len(half), copies))
    layer = squares.layer("a")["density-a"]
    cells, size = np.array(layer["cells"]), np.array(layer["size"]) + 2
    assert cells[:, 2].sum() == copies * len(points)
    for cell in cells:
        held = (points[:, 0] * 1e6 >= cell[:2] - 1) & (points[:, 0] * 1e6 <= cell[:2] + size)
        assert held.all(axis=1).sum() * copies >= cell[2] > 0


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
