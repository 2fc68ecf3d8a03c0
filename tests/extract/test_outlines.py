"""Regions from files of polygons."""

import json
import logging
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.earth.area import Box
from trajanon.extract.earth.named_areas import read_outline

SQUARE = shapely.box(2.0, 41.0, 2.1, 41.1)
BESIDE = shapely.box(2.1, 41.0, 2.2, 41.1)
FAR = shapely.box(3.0, 41.0, 3.1, 41.1)


def table(*shapes: Any, crs: Any = 4326) -> geopandas.GeoDataFrame:
    names = [f"part {number}" for number in range(len(shapes))]
    return geopandas.GeoDataFrame({"name": names}, geometry=list(shapes), crs=crs)


def geojson(path: Path, *geometries: dict[str, Any] | None) -> Path:
    features = [{"type": "Feature", "properties": {"a": 1}, "geometry": one} for one in geometries]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


@pytest.mark.parametrize("suffix", [".geojson", ".gpkg", ".shp", ".fgb", ".parquet"])
@pytest.mark.parametrize("crs", [4326, 25831, 3857])
def test_every_kind_of_file_is_read_in_degrees(tmp_path: Path, suffix: str, crs: int) -> None:
    path = tmp_path / f"outline{suffix}"
    there = table(SQUARE, FAR).to_crs(crs)
    if suffix == ".parquet":
        there.to_parquet(path)
    else:
        there.to_file(path)
    region = read_outline(path)
    assert region.name == path.name
    np.testing.assert_allclose(region.bounds.sides, (2, 41, 3.1, 41.1), atol=1e-7)
    lat, lon = np.full(3, 41.05), np.array([2.05, 2.5, 3.05])
    assert region.contains(lat, lon).tolist() == [True, False, True]


def test_polygons_that_touch_or_overlap_are_united(tmp_path: Path) -> None:
    path = tmp_path / "a.gpkg"
    table(SQUARE, BESIDE, shapely.box(2.05, 41.0, 2.15, 41.1)).to_file(path)
    region = read_outline(path)
    assert region.bounds == Box(2.0, 41.0, 2.2, 41.1)
    lat, lon = np.full(2, 41.05), np.array([2.01, 2.19])
    assert region.leaves(lat, lon, np.array([0])).tolist() == [False]


def test_heights_and_rows_without_geometry_do_not_matter(tmp_path: Path) -> None:
    ring = [[2, 41, 500], [2.1, 41, 500], [2.1, 41.1, 500], [2, 41, 500]]
    path = geojson(tmp_path / "a.geojson", None, {"type": "Polygon", "coordinates": [ring]})
    region = read_outline(path)
    assert not region.shape.has_z
    assert region.bounds == Box(2.0, 41.0, 2.1, 41.1)


def test_a_polygon_that_crosses_itself_is_mended_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A bow tie with a tail: two triangles remain."""
    corners = [(2, 41), (2.2, 41.2), (2.2, 41), (2, 41.2), (2, 41), (1.9, 41), (2, 41)]
    path = tmp_path / "bow.geojson"
    table(shapely.Polygon(corners), FAR).to_file(path)
    with caplog.at_level(logging.WARNING):
        region = read_outline(path)
    lat, lon = np.array([41.1, 41.1, 41.05]), np.array([2.01, 2.19, 2.1])
    assert region.contains(lat, lon).tolist() == [True, True, False]
    assert region.bounds == Box(2.0, 41.0, 3.1, 41.2)
    assert "bow.geojson: 1 of 2 polygons crosses itself" in caplog.text


def test_without_a_reference_system_degrees_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table(SQUARE, crs=None).to_parquet(path)
    assert read_outline(path).bounds == Box(2.0, 41.0, 2.1, 41.1)


def test_metres_without_a_reference_system_are_refused_with_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table(shapely.box(430_000, 4_580_000, 431_000, 4_581_000), crs=None).to_parquet(path)
    with pytest.raises(BadInput, match=r"a\.parquet reaches over 430000,4580000,431000"):
        read_outline(path)


def test_what_is_not_on_earth_is_refused_with_its_system(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    table(shapely.box(170, -20, 190, -10)).to_file(path)
    says = r"reaches over 170,-20,190,-10 in WGS 84, which is not on Earth: save it"
    with pytest.raises(BadInput, match=says):
        read_outline(path)


@pytest.mark.parametrize(
    ("shapes", "holds"),
    [
        ([shapely.Point(2, 41)], "holds Point: an outline needs polygons"),
        ([SQUARE, shapely.LineString([(2, 41), (3, 41)])], "holds LineString"),
        ([], "holds no geometry: an outline needs polygons"),
        ([None, shapely.Polygon()], "holds no geometry"),
    ],
)
def test_what_is_no_polygon_is_refused(tmp_path: Path, shapes: list[Any], holds: str) -> None:
    path = tmp_path / "a.parquet"
    table(*shapes).to_parquet(path)
    with pytest.raises(BadInput, match=holds):
        read_outline(path)


def test_several_layers_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.gpkg"
    table(SQUARE).to_file(path, layer="north")
    table(FAR).to_file(path, layer="south")
    with pytest.raises(BadInput, match=r"a\.gpkg holds 2 layers \(north, south\): save"):
        read_outline(path)


@pytest.mark.parametrize("name", ["a.geojson", "a.gpkg", "a.parquet", "a"])
@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1 hello", b"{}"])
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileProblem, match=r"cannot read .* as an outline: \S") as caught:
        read_outline(path)
    assert "\n" not in str(caught.value)


def test_a_parquet_table_without_geometry_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame({"a": [1]}).to_parquet(path)
    with pytest.raises(FileProblem, match="as an outline: Missing geo metadata"):
        read_outline(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="as an outline: No such file"):
        read_outline(tmp_path / "none.geojson")
    with pytest.raises(FileProblem, match="as an outline: Is a directory"):
        read_outline(tmp_path)
