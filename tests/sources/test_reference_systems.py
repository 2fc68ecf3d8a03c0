"""Geographic files in any reference system, or in none."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from geo_tables import ROWS, in_order, is_the_two_traces, lines, names, points, read, write

from trajanon.errors import BadInput


@pytest.mark.parametrize("name", ["x.gpkg", "x.parquet", "x.shp", "x.fgb", "x.geojson"])
@pytest.mark.parametrize("crs", ["EPSG:25830", "EPSG:3857", "EPSG:4979", "OGC:CRS84"])
def test_other_reference_systems_are_brought_to_degrees(
    tmp_path: Path, name: str, crs: str
) -> None:
    frame = points(crs=crs)
    if name == "x.geojson":
        (path := tmp_path / name).write_text(frame.to_json(to_wgs84=False))
        old = json.loads(path.read_text())
        old["crs"] = {"type": "name", "properties": {"name": crs}}
        path.write_text(json.dumps(old))
    else:
        path = write(tmp_path / name, frame, **in_order(name))
    found = read(path)
    assert names(found) == [("f#a", None), ("f#b", None)]
    np.testing.assert_allclose(found[0].lat, [40, 42], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1].lon, [-3.1, -3.3], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["x.parquet", "x.shp", "x.gpkg", "x.fgb"])
def test_without_a_reference_system_degrees_are_wgs_84(tmp_path: Path, name: str) -> None:
    frame = points().set_crs(None, allow_override=True)
    path = write(tmp_path / name, frame, **in_order(name))
    assert is_the_two_traces(read(path))


def test_geoparquet_that_does_not_speak_of_it_is_wgs_84(tmp_path: Path) -> None:
    path = write(tmp_path / "x.parquet", points())
    table = pq.read_table(path)
    geo = json.loads(table.schema.metadata[b"geo"])
    del geo["columns"]["geometry"]["crs"]
    pq.write_table(table.replace_schema_metadata({"geo": json.dumps(geo)}), path)
    assert is_the_two_traces(read(path))


@pytest.mark.parametrize("name", ["x.parquet", "x.shp", "x.gpkg"])
@pytest.mark.parametrize("kind", [points, lines])
def test_without_a_reference_system_metres_are_refused_with_their_numbers(
    tmp_path: Path, name: str, kind: Any
) -> None:
    metres = kind().to_crs("EPSG:25830").set_crs(None, allow_override=True)
    path = write(tmp_path / name, metres)
    seen = r"lat from 4,\d{3},000 .* and lon from .*,\d{3}.*EPSG:4326"
    with pytest.raises(BadInput, match=rf"no reference system.*{seen}"):
        read(path)


def test_with_one_a_strange_point_is_left_to_the_cleaning(tmp_path: Path) -> None:
    rows = ROWS.assign(lat=[40.0, 41.0, 42.0, 95.0])
    found = read(write(tmp_path / "x.parquet", points(rows)))
    assert [one.lat.tolist() for one in found] == [[40, 42], [41, 95]]


@pytest.mark.parametrize("crs", [None, "EPSG:4326"])
@pytest.mark.parametrize("name", ["x.parquet", "x.gpkg"])
def test_swapped_coordinates_are_refused_with_their_numbers(
    tmp_path: Path, name: str, crs: str | None
) -> None:
    swapped = ROWS.assign(lat=[116.0, 116.5, 117, 117.5], lon=ROWS.lat)
    frame = points(swapped).set_crs(crs, allow_override=True)
    with pytest.raises(BadInput, match=r"swapped.* lat from 116 to .* and lon from 40 to 43"):
        read(write(tmp_path / name, frame))


def test_metres_that_are_said_to_be_degrees_are_refused(tmp_path: Path) -> None:
    metres = points(crs="EPSG:25830").set_crs("EPSG:4326", allow_override=True)
    with pytest.raises(BadInput, match=r"not degrees on Earth, with lat from .* to .* lon from"):
        read(write(tmp_path / "x.gpkg", metres))


def test_a_system_without_place_on_earth_is_refused(tmp_path: Path) -> None:
    drawing = 'LOCAL_CS["drawing",UNIT["metre",1]]'
    frame = points().set_crs(drawing, allow_override=True)
    with pytest.raises(BadInput, match=r"cannot be turned into WGS 84 .*EPSG:4326"):
        read(write(tmp_path / "x.parquet", frame))
