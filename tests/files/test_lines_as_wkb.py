"""Lines as WKB are those of a library of geometries, to the byte."""

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from trajanon.files.lines_as_wkb import points_of_wkb, wkb_of_points


@given(n=st.integers(0, 5), m=st.integers(2, 4), seed=st.integers(0, 99), large=st.booleans())
def test_lines_are_written_and_read_as_shapely_does(n: int, m: int, seed: int, large: bool) -> None:
    points = np.random.default_rng(seed).uniform(-90.0, 90.0, (n, m, 2))
    column = wkb_of_points(points)
    lines = shapely.linestrings(points[..., ::-1])
    assert column.to_pylist() == shapely.to_wkb(lines).tolist()
    if large:
        column = column.cast(pa.large_binary())
    for begin in range(n):
        read = points_of_wkb(column[begin:])
        assert read is not None
        assert np.array_equal(read, points[begin:])


LINE = shapely.LineString([(1.0, 2.0), (3.0, 4.0)])


@pytest.mark.parametrize(
    "column",
    [
        [],
        [shapely.to_wkb(LINE), None],
        [shapely.to_wkb(LINE), shapely.to_wkb(shapely.LineString([(0, 0)] * 3))],
        [shapely.to_wkb(LINE, byte_order=0)],
        [shapely.to_wkb(shapely.set_srid(LINE, 4326), include_srid=True)],
        [shapely.to_wkb(shapely.LineString([(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)]))],
        [shapely.to_wkb(shapely.MultiPoint([(0.0, 0.0), (1.0, 1.0)]))],
        [shapely.to_wkb(shapely.Point(1.0, 2.0))],
        [shapely.to_wkb(LINE)[:-1]],
        [b""],
    ],
)
def test_what_is_written_otherwise_is_left_to_a_library(column: list[bytes | None]) -> None:
    assert points_of_wkb(pa.array(column, pa.binary())) is None


def test_texts_are_no_lines() -> None:
    assert points_of_wkb(pa.array(["LINESTRING (0 0, 1 1)"])) is None
