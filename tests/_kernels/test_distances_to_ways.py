"""Distances to ways, as shapely measures them on a plane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import LineString, Point
from toy import on_earth

from trajanon.trajectories.distances import to_line, to_way

ways = st.integers(2, 6).flatmap(
    lambda m: st.lists(
        st.tuples(st.integers(-300, 300), st.integers(-300, 300)), min_size=2 * m, max_size=2 * m
    )
)


@given(ways)
def test_points_lie_as_far_from_a_way_as_on_a_plane(metres: list[tuple[int, int]]) -> None:
    way, points = np.split(np.array(metres, dtype=float), 2)
    expected = [LineString(way).distance(Point(point)) for point in points]
    measured = to_line(on_earth(points[None]), on_earth(way[None]))
    assert measured[0].tolist() == pytest.approx(expected, rel=1e-3, abs=0.5)
    back = to_way(on_earth(way[None]), on_earth(points[None]))
    assert back.tolist() == measured.tolist()
