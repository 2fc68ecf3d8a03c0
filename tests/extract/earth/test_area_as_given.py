"""Areas as people give them: cities, boxes in degrees, files of polygons."""

import json
import re
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
import shapely

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract.earth.area import CITIES, Box, Region, area_of, read_outline

OTHERS = [name for name in CITIES if name not in ("barcelona", "madrid", "tarraco")]


@pytest.mark.parametrize(
    ("city", "sides", "spacing"),
    [
        ("barcelona", (2.1268845, 41.3726866, 2.1903992, 41.4078446), 100),
        ("madrid", (-3.7398145, 40.387613, -3.653985, 40.483515), 150),
        ("tarraco", (1.226008, 41.0967083, 1.2946691, 41.141174), 5),
    ],
)
def test_a_city_has_the_box_and_spacing_of_the_papers(
    city: str, sides: tuple[float, ...], spacing: float
) -> None:
    box, metres = area_of(city)
    assert isinstance(box, Box)
    assert box.sides == sides
    assert metres == spacing


@pytest.mark.parametrize(
    "text",
    [
        *("atlantis", "", "1,2,3", "1 2 3 4", "1,2,3,x", "40°N,3°W,41°N,2°W"),
        f"POLYGON (({'2.1 41.3, ' * 30}2.1 41.3))",  # too long for the name of a file
    ],
)
def test_what_is_no_area_is_answered_with_those_there_are(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        area_of(text)
    said = str(caught.value)
    assert said.startswith(f"{text!r} is not an area: name barcelona, madrid, tarraco ")
    for way_out in (*CITIES, "one of 30 more (", "W,S,E,N", "`area='"):
        assert way_out in said
    assert "\n" not in said


@pytest.mark.parametrize("name", OTHERS)
def test_a_city_is_one_request_to_the_server(name: str) -> None:
    """A box that the OSM API takes, of more than a quarter."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    box, spacing = CITIES[name]
    west, south, east, north = box.sides
    assert 0.01 < (east - west) * (north - south) < 0.25
    assert 0.1 < north - south < 0.5
    assert spacing == 100


def test_several_areas_are_the_ground_of_all() -> None:
    both, _ = area_of(["2,40,3,41", " 5,40,6,42"])
    assert isinstance(both, Region)
    lat, lon = np.full(3, 40.5), np.array([2.5, 4.0, 5.5])
    assert both.contains(lat, lon).tolist() == [True, False, True]
    assert both.bounds == Box(2, 40, 6, 42)
    assert str(both) == "2,40,3,41 + 5,40,6,42"


@pytest.mark.parametrize(
    ("texts", "spacing"),
    [
        (["madrid", "barcelona"], None),
        (["barcelona", "london", "Tokyo"], 100),
        (["madrid", "2,40,3,41"], None),
        (["2,40,3,41", "5,40,6,42"], None),
    ],
)
def test_the_spacing_is_what_all_agree_in(texts: list[str], spacing: float | None) -> None:
    assert area_of(texts)[1] == spacing


def test_a_box_over_the_antimeridian_is_answered_with_the_two_to_give() -> None:
    with pytest.raises(BadInput) as caught:
        area_of("170,-20,-170,-10")
    said = str(caught.value)
    assert "`area='170,-20,180,-10'` `area='-180,-20,-170,-10'`" in said
    fiji, _ = area_of(re.findall("`area='(.*?)'`", said))
    assert fiji is not None
    lat, lon = np.full(3, -17.0), np.array([179.5, -179.5, 0.0])
    assert fiji.contains(lat, lon).tolist() == [True, True, False]


@pytest.mark.parametrize(
    "text",
    [
        *("179.9,-17,-179.9,-16", "3,40,2,41", "2,41,3,40", "2,40,2,41", "2,40,3,40"),
        *("2,40,181,41", "-180.1,40,2,41", "2,-91,3,41", "41,2,42,200"),
        *("nan,40,3,41", "2,40,3,inf", "-inf,40,3,41"),
    ],
)
def test_a_box_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"the box .* must have .* \(order: W,S,E,N\)"):
        area_of(text)


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


def test_a_polygon_that_crosses_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bow.geojson"
    bow = shapely.Polygon([(2, 41), (2.2, 41.2), (2.2, 41), (2, 41.2), (2, 41)])
    table(bow, FAR).to_file(path)
    with pytest.raises(
        BadInput, match=r"bow\.geojson holds polygons that cross themselves: repair"
    ):
        read_outline(path)


@pytest.mark.parametrize("sides", [(430_000, 4_580_000, 431_000, 4_581_000), (170, -20, 190, -10)])
def test_what_is_not_on_earth_is_refused_with_its_numbers(
    tmp_path: Path, sides: tuple[float, ...]
) -> None:
    path = tmp_path / "a.parquet"
    table(shapely.box(*sides), crs=None).to_parquet(path)
    numbers = ",".join(map(str, sides))
    with pytest.raises(BadInput, match=rf"a\.parquet is not on Earth: the box {numbers} must"):
        read_outline(path)


@pytest.mark.parametrize(
    ("shapes", "holds"),
    [
        ([shapely.Point(2, 41)], "holds Point: an outline must hold polygons"),
        ([SQUARE, shapely.LineString([(2, 41), (3, 41)])], "holds LineString"),
        ([], "holds no geometry: an outline must hold polygons"),
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


def test_a_reference_system_without_a_way_to_degrees_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.gpkg"
    table(SQUARE, crs='LOCAL_CS["a plan",UNIT["metre",1]]').to_file(path)
    with pytest.raises(BadInput, match="has a reference system that cannot be turned into WGS 84"):
        read_outline(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="as an outline: No such file"):
        read_outline(tmp_path / "none.geojson")
    with pytest.raises(FileProblem, match="as an outline: Is a directory"):
        read_outline(tmp_path)
