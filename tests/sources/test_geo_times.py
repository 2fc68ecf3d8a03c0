"""The times of points and lines in geographic files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geo_tables import LINES, geojson, line, lines, read, read_counting, write


def test_zones_may_differ_from_point_to_point(tmp_path: Path) -> None:
    stamps = ("2020-01-01T02:00:10+02:00", "2020-01-01T00:00:20Z", "2020-01-01T00:00:30")
    place = {"type": "Point", "coordinates": [1, 2]}
    features = [(place, {"id": "a", "time": stamp}) for stamp in stamps]
    (one,) = read(geojson(tmp_path / "x.geojson", *features))
    assert (one.time - 1577836800).tolist() == [10, 20, 30]


TIMES = ["2020-01-01T00:00:10Z", "2020-01-01T00:00:20Z"]


@pytest.mark.parametrize(
    "properties",
    [
        {"coordTimes": TIMES},
        {"times": TIMES},
        {"coordinateProperties": {"times": TIMES}},
        {"coordinateProperties": {"times": TIMES}, "time": TIMES[0]},
        {"times": [1577836810, 1577836820]},
        {"times": [1577836810000, 1577836820000]},
    ],
)
def test_lists_as_long_as_the_line_are_its_times(
    tmp_path: Path, properties: dict[str, Any]
) -> None:
    path = geojson(tmp_path / "x.geojson", (line((1, 2), (1, 3)), properties))
    (one,) = read(path)
    assert (one.time - 1577836800).tolist() == [10, 20]


@pytest.mark.parametrize("times", [[TIMES, TIMES[::-1]], TIMES + TIMES[::-1]])
def test_times_of_the_parts_of_a_line_follow_each_other(tmp_path: Path, times: list[Any]) -> None:
    parts = [[[1, 2], [1, 3]], [[1, 4], [1, 5]]]
    geometry = {"type": "MultiLineString", "coordinates": parts}
    path = geojson(tmp_path / "x.geojson", (geometry, {"coordTimes": times}))
    assert [(one.time - 1577836800).tolist() for one in read(path)] == [[10, 20], [20, 10]]


def test_times_that_do_not_fit_their_line_are_counted(tmp_path: Path) -> None:
    long = line((1, 2), (1, 3), (1, 4))
    path = geojson(
        tmp_path / "x.geojson",
        (long, {"coordTimes": TIMES}),
        (line((1, 2), (1, 3)), {"coordTimes": TIMES}),
        (line((1, 2), (1, 3)), {}),
    )
    found, counts = read_counting(path)
    assert [np.isfinite(one.time).tolist() for one in found] == [
        [False] * 3,
        [True] * 2,
        [False] * 2,
    ]
    assert counts == {"lines with more or fewer times than points": 1}


@pytest.mark.parametrize("time", [TIMES[0], 1577836810, "[1, 2", "{}", '{"times": 3}', "[" * 9_000])
def test_a_single_time_says_nothing_of_the_points(tmp_path: Path, time: Any) -> None:
    path = geojson(tmp_path / "x.geojson", (line((1, 2), (1, 3)), {"times": time}))
    (one,) = read(path, time="times")
    assert np.isnan(one.time).all()


def test_a_column_of_lists_is_times_of_points(tmp_path: Path) -> None:
    stamps = [np.array([5, 86_400], "datetime64[s]").astype("datetime64[ms]")]
    (one,) = read(write(tmp_path / "x.parquet", lines(LINES[1:], time=stamps)))
    assert one.time.tolist() == [5, 86_400]
