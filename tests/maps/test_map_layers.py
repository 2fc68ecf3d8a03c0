"""What pages are made of: rows, samples, cells, steps, colours."""

from itertools import pairwise

import numpy as np
from browsing import places
from hypothesis import given
from hypothesis import strategies as st

from trajanon.maps.layers import PALETTE, Honeycomb, bends, colours, steps
from trajanon.maps.panel import by_displacement


@given(st.lists(st.floats(0, 40_000), min_size=1))
def test_every_group_is_in_the_row_of_its_displacement(moved: list[float]) -> None:
    rows = by_displacement(np.array(moved))
    for label, count in rows:
        edges, unit = label.split()
        low, high = (
            int(edge.replace(",", "")) * (1000 if unit == "km" else 1) for edge in edges.split("–")
        )
        assert count == sum(low <= each < high for each in moved)
    assert sum(count for _, count in rows) == len(moved)


@given(
    st.lists(st.tuples(st.floats(-60, 60), st.floats(-170, 170)), min_size=1, max_size=20),
    st.integers(1, 3),
)
def test_each_point_counts_in_the_nearest_cell(
    somewhere: list[tuple[float, float]], copies: int
) -> None:
    """Against the distance to every middle, on the flat map that the cells lie on."""
    points = np.array(somewhere)[:, None]
    south, west = points.min(axis=(0, 1)) - 0.001
    north, east = points.max(axis=(0, 1)) + 0.001
    bounds = [[south, west], [north, east]]
    comb = Honeycomb(bounds).add(points, np.full(len(points), copies)).layer
    cells = np.array(comb["cells"]).reshape(-1, 3)
    assert cells[:, 2].sum() == copies * len(points)
    up, right = (each / 1e6 for each in comb["radius"])
    expected = np.zeros(len(cells))
    for lat, lon in somewhere:
        north_of = (cells[:, 0] / 1e6 - lat) / up
        east_of = (cells[:, 1] / 1e6 - lon) / right
        far = np.hypot(north_of, east_of)
        expected[np.argmin(far)] += copies
        assert far.min() <= 1.001  # nobody lies outside the corners of the cell
    assert (cells[:, 2] > 0).all()
    assert expected.sum() == cells[:, 2].sum()


def test_neighbours_have_different_colours() -> None:
    north = np.arange(40) / 1000
    street = np.stack([np.repeat(north[:, None], 30, axis=1)] * 2, axis=2)
    chosen = colours(street)
    assert set(chosen) == set(range(len(PALETTE)))
    assert all(a != b for a, b in pairwise(chosen))


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
