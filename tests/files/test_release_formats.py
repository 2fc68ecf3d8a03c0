"""Releases in all formats: read as they were written, damaged, or of another kind."""

import re
from collections.abc import Callable
from pathlib import Path

import geopandas
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_releases import points_of, release
from planted import UNTIMED

from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.release_formats import read_lines, read_release, write_release
from trajanon.files.release_inspection import NOTHING_ELSE, compare_with_rewrite
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

every_format = pytest.mark.parametrize("suffix", UNTIMED)


@every_format
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 8),
    m=st.integers(2, 40),
    attribution=st.sampled_from([None, OSM_ATTRIBUTION, "<&\"'> ;,\n ñ"]),
)
@settings(max_examples=12)
def test_a_release_is_read_as_it_was_written(
    tmp_path: Path, suffix: str, seed: int, n: int, m: int, attribution: str | None
) -> None:
    points = points_of(n, m, seed)
    points[0, 0] = -0.0000001, 180.0  # small and large numbers alike
    path = tmp_path / f"release{suffix}"
    write_release(path, Trajectories(points, provenance={"attribution": attribution}))
    got = read_release(path)
    assert np.array_equal(got.points, points)
    assert got.attribution == attribution
    assert got.subject is None
    assert got.trace is None
    beside = compare_with_rewrite(path, read_lines(path))
    assert (beside == ([], NOTHING_ELSE)) is (attribution in (None, OSM_ATTRIBUTION))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def replaced_by_noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 4)


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@every_format
@pytest.mark.parametrize("damage", [truncated, replaced_by_noise, replaced_by_a_folder])
def test_a_damaged_release_is_a_problem_that_names_the_file(
    tmp_path: Path, suffix: str, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / f"release{suffix}"
    write_release(path, release(n=40))
    damage(path)
    if suffix == ".csv" and damage is truncated:
        with pytest.raises((FileProblem, BadInput)):  # a cut line has missing numbers
            read_release(path)
        return
    with pytest.raises(FileProblem, match=re.escape(str(path))):
        read_release(path)


@pytest.mark.parametrize("name", ["release.txt", "release", "release.geoparquet"])
def test_another_suffix_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match="choose one of"):
        write_release(tmp_path / name, release())
    with pytest.raises(BadInput, match="choose one of"):
        read_release(tmp_path / name)


@pytest.mark.parametrize("name", ["areas.gpkg", "areas.parquet"])
def test_areas_are_no_lines_of_a_release(tmp_path: Path, name: str) -> None:
    areas = geopandas.GeoDataFrame(geometry=[shapely.box(0, 0, 1, 1)] * 2, crs="EPSG:4326")
    path = tmp_path / name
    areas.to_parquet(path) if name.endswith("parquet") else areas.to_file(path)
    with pytest.raises(BadInput, match="does not hold lines of equally many points"):
        read_release(path)
