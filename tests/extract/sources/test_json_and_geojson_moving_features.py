"""OGC Moving Features JSON as a source of traces."""

import json
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
from geo_tables import names, same

from trajanon.common.errors import BadInput
from trajanon.extract.sources import json_and_geojson
from trajanon.extract.sources.features import NO_GEOMETRY, POINTS_BESIDE
from trajanon.extract.sources.formats_recognised import format_of
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

PLACES = [[2.0, 41.0], [2.5, 41.5], [3.0, 41.25]]
TIMES = ["2020-01-01T00:00:10Z", "2020-01-01T00:00:20.5Z", "2020-01-01T01:00:30+01:00"]
SECONDS = [1577836810.0, 1577836820.5, 1577836830.0]


def moving(coordinates: Any = PLACES, datetimes: Any = TIMES, **more: Any) -> dict[str, Any]:
    return {"type": "MovingPoint", "coordinates": coordinates, "datetimes": datetimes, **more}


def feature(geometry: Any, properties: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "Feature", "temporalGeometry": geometry, "properties": properties, **more}


def write(path: Path, *features: Any, **more: Any) -> Path:
    document = {"type": "FeatureCollection", **more, "features": list(features)}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def read(path: Path, *, counts: dict[str, int] | None = None) -> list[Trace]:
    """Read the traces of a file; what is left out is counted, and nothing otherwise."""
    how = Reading()
    found = list(json_and_geojson.read(path, how.of_file(path, "f")))
    assert how.counts == (counts or {})
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.json"


def test_the_identifier_of_a_feature_names_it_where_no_property_does(path: Path) -> None:
    write(path, feature(moving(), {"x": 1}, id="a"), feature(moving(), {"id": "b"}, id="a"))
    assert names(read(path)) == [("f#a", None), ("f#b", None)]


def test_a_feature_may_stand_alone(path: Path) -> None:
    path.write_text(json.dumps(feature(moving(), {"id": 1})))
    (one,) = read(path)
    assert one.time.tolist() == SECONDS
    path.write_text(json.dumps({"crs": None, **moving()}))  # as MobilityDB writes it
    (bare,) = read(path)
    assert same([bare], [Trace("f#1", None, one.lat, one.lon, one.time)])


def test_the_trajectory_encoding_has_its_times_beside_a_line(path: Path) -> None:
    line = {"type": "LineString", "coordinates": PLACES}
    properties = {"datetimes": TIMES, "wind": [1, 2, 3], "id": "a"}
    write(path, {"type": "Feature", "geometry": line, "properties": properties})
    (one,) = read(path)
    assert one.time.tolist() == SECONDS
    assert format_of(path, Reading()) == "json"


def test_each_part_is_a_trace_of_one_recording(path: Path) -> None:
    parts = [moving(), moving([[1, 2]], [TIMES[0]]), moving(PLACES[::-1], TIMES)]
    for geometry in (
        {"type": "MovingGeometryCollection", "prisms": parts},
        {"type": "MovingGeomPoint", "sequences": parts, "interpolation": "Linear"},
    ):
        one, other = read(write(path, feature(geometry, {"id": "a", "user": "u"})))
        assert names([one, other]) == [("a", "u")] * 2
        assert (one.lon.tolist(), other.lon.tolist()) == ([2, 2.5, 3], [3, 2.5, 2])
        assert one.time.tolist() == other.time.tolist() == SECONDS


def test_reference_systems_are_transformed(path: Path) -> None:
    where = geopandas.points_from_xy(*np.transpose(PLACES), crs="EPSG:4326").to_crs("EPSG:3857")
    metres = moving(list(zip(where.x, where.y, strict=True)))
    crs = {"type": "Name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}
    for written in (
        write(path, feature(metres), crs=crs),
        write(path, feature(metres, crs=crs)),
        write(path, feature({**metres, "crs": crs})),
    ):
        (one,) = read(written)
        assert np.allclose(np.column_stack([one.lon, one.lat]), PLACES, atol=1e-9)


@pytest.mark.parametrize(
    "crs",
    [
        {"type": "Name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
        {"type": "name", "properties": {"name": "EPSG:4326"}},
        {
            "type": "Link",
            "properties": {
                "type": "OGCDEF",
                "href": "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
            },
        },
    ],
)
def test_wgs_84_has_its_longitude_first(path: Path, crs: Any) -> None:
    (one,) = read(write(path, feature(moving()), crs=crs))
    assert one.lat.tolist() == [41, 41.5, 41.25]
    path.write_text(json.dumps({"features": [feature(moving())], "crs": crs}))
    assert same(read(path), [one])


MERCATOR = {"type": "Name", "properties": {"name": "EPSG:3857"}}


def test_several_reference_systems_are_refused(path: Path) -> None:
    with pytest.raises(BadInput, match="several reference systems, such as OGC:CRS84 and EPSG:385"):
        read(write(path, feature(moving()), feature(moving(), crs=MERCATOR)))


def test_other_features_are_counted(path: Path) -> None:
    polygon = {"type": "MovingPolygon", "coordinates": [[[[1, 2], [3, 4], [5, 6]]]]}
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}}
    short = moving([[1, 2]], TIMES[:1])
    write(path, feature(polygon), feature(moving()), point, feature(short))
    counts = {NO_GEOMETRY: 2, POINTS_BESIDE: 1}
    (one,) = read(path, counts=counts)
    assert one.name == "f#2"


BROKEN = [7, feature(moving("x")), feature(moving([[1], [2]])), feature(moving([{}, {}]))]
BROKEN += [feature({"type": "MovingGeometryCollection", "prisms": [1]}), feature(moving(None))]
BROKEN += [feature(moving(5)), feature(moving(True)), feature(moving({"x": 1}))]


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_features_are_counted(path: Path, broken: Any) -> None:
    write(path, feature(moving()), broken)
    assert len(read(path, counts={NO_GEOMETRY: 1})) == 1


def test_odd_values_of_json_make_no_trouble(path: Path) -> None:
    odd = [None, True, 2**60, 1e308, "x" * 9, 1.5]
    write(path, *(feature(moving(), {"id": value, "user": value}) for value in odd))
    found = read(path)
    assert len({one.name for one in found}) == len(odd)
    write(path, *(feature(moving(datetimes=[value] * 3)) for value in [1577836810, *odd]))
    assert len(list(json_and_geojson.read(path, Reading().of_file(path, "f")))) == len(odd) + 1
