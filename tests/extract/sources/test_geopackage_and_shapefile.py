"""Geographic files: which they are, their layers, and damage."""

import gzip
import json
import logging
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pytest
import shapely
from geo_tables import (
    FILES,
    LINES,
    ROWS,
    geojson,
    is_the_two_traces,
    line,
    lines,
    many,
    places,
    points,
    read,
    read_counting,
    same,
    write,
)

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract.sources import geopackage_and_shapefile
from trajanon.extract.sources.features import NO_GEOMETRY
from trajanon.extract.sources.formats_recognised import FORMATS
from trajanon.extract.sources.geopackage_and_shapefile import BESIDE_TRACKS
from trajanon.files.trajectory_files import write_trajectories
from trajanon.trajectories.trajectories import Trajectories

ONE = Trajectories(np.ones((1, 3, 2)), np.array([0]), np.array([0]))


@pytest.mark.parametrize("name", FILES)
def test_files_are_known_by_their_content(tmp_path: Path, name: str) -> None:
    head = write(tmp_path / name, points()).read_bytes()[:4096]
    parquet = name == "x.parquet"  # its end says more than its head
    shapefile = name == "x.shp"  # it is several files, which only names hold together
    kind = FORMATS["json" if "json" in name else "geo"]
    assert kind.looks_like("noname", head) is not (parquet or shapefile)
    assert kind.looks_like(name, b"") is not parquet


def test_geojson_may_have_any_name_and_white_space(tmp_path: Path) -> None:
    path = geojson(tmp_path / "x.json", (line((1, 2), (1, 3)), {}))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert places(read(path)) == [[(1, 2), (1, 3)]]


@pytest.mark.parametrize("suffix", [".json", ".geojson"])
def test_a_geometry_may_stand_alone(tmp_path: Path, suffix: str) -> None:
    shape = {"type": "LineString", "coordinates": [[1, 2], [1, 3]]}
    path = tmp_path / f"x{suffix}"
    for content in (shape, {"type": "Feature", "properties": {}, "geometry": shape}):
        path.write_text(json.dumps(content))
        assert FORMATS["json"].looks_like(path.name, path.read_bytes())
        assert places(read(path)) == [[(1, 2), (1, 3)]]


def test_features_one_after_another_may_be_separated_by_records(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojsonl", points())
    texts = path.read_text().splitlines()
    pretty = (json.dumps(json.loads(text), indent=1) for text in texts)
    path.write_text("".join(f"\x1e{text}\n" for text in pretty))
    assert FORMATS["json"].looks_like("x", path.read_bytes()[:4096])
    assert is_the_two_traces(read(path))


def test_parquet_is_known_by_its_footer(tmp_path: Path) -> None:
    geo = write(tmp_path / "geo.parquet", points())
    ROWS.to_parquet(table := tmp_path / "table.parquet")
    own = tmp_path / "own.parquet"
    write_trajectories(own, ONE)
    (broken := tmp_path / "broken.parquet").write_bytes(geo.read_bytes()[:-9])
    (text := tmp_path / "text.parquet").write_text("lat,lon")
    nothing = tmp_path / "nothing.parquet"
    every = (geo, table, own, broken, text, nothing)
    assert [path for path in every if b"geo" in geopackage_and_shapefile.footer_of(path)] == [
        geo,
        own,
    ]
    assert [path for path in every if b"trajanon" in geopackage_and_shapefile.footer_of(path)] == [
        own
    ]


def test_what_extract_wrote_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, ONE)
    with pytest.raises(BadInput, match="extract wrote: give it to trajanon anonym"):
        read(path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_json_is_unpacked_and_a_packed_geopackage_refused(tmp_path: Path, pack: Any) -> None:
    for name in ("x.geojson", "x.gpkg"):
        path = write(tmp_path / name, points())
        packed = tmp_path / f"{name}.packed"
        packed.write_bytes(pack(path.read_bytes()))
    assert is_the_two_traces(read(tmp_path / "x.geojson.packed"))
    with pytest.raises(FileProblem, match=r"x\.gpkg\.packed is packed: unpack it"):
        read(packed)


def test_all_layers_are_read_and_keep_their_names_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.gpkg"
    write(path, points(), layer="monday")
    write(path, lines(id=["a", "b"]), layer="tuesday")
    assert [one.name for one in read(path)] == [
        "f:monday#a",
        "f:monday#b",
        "f:tuesday#a",
        "f:tuesday#b",
    ]


def test_recordings_of_a_converted_gpx_count_once(tmp_path: Path) -> None:
    """As GDAL writes it: points with times, lines without, and what is no recording."""
    path = tmp_path / "x.gpkg"
    for layer in ("waypoints", "routes", "tracks"):
        write(path, lines(id=["a", "b"]), layer=layer)
    found, counts = read_counting(path)
    assert (len(found), counts) == (2, {BESIDE_TRACKS: 2})
    write(path, points(), layer="track_points")
    found, counts = read_counting(path)
    assert is_the_two_traces(found)
    assert counts == {BESIDE_TRACKS: 3}


def test_layers_of_other_things_are_left_out_with_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.gpkg"
    write(path, lines([shapely.box(0, 0, 1, 1)]), layer="districts")
    write(path, points().drop(columns=["id", "time"]), layer="shops")
    write(path, lines(), layer="tours")
    pyogrio.write_dataframe(pd.DataFrame({"a": [1]}), path, layer="notes")
    write(path, points().iloc[:0], layer="nothing")
    with caplog.at_level(logging.WARNING):
        found = read(path)
    assert [one.name for one in found] == ["f:tours#1", "f:tours#2"]
    for said in (
        "layer 'districts' holds a Polygon; traces are lines, or points one by one",
        "layer 'shops' has no column recognised as id",
        "layer 'notes' has no geometries",
        "layer 'nothing' holds no points or lines",
    ):
        assert any(
            said in text and text.endswith("this layer is left out") for text in caplog.messages
        )
    assert len(caplog.messages) == 4


@pytest.mark.parametrize("name", FILES)
def test_no_features_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "x.geojsonl":
        path.write_text("\n")
    else:
        write(path, points().iloc[:0])
    problem = r"x\.\w+ (holds no (features|points or lines|JSON object with a point)|is not JSON)"
    with pytest.raises((BadInput, FileProblem), match=problem):
        read(path)


@pytest.mark.parametrize(
    ("geometry", "said"),
    [
        (shapely.box(0, 0, 1, 1), "Polygon"),
        (shapely.MultiPolygon([shapely.box(0, 0, 1, 1)]), "MultiPolygon"),
        (shapely.GeometryCollection([LINES[0]]), "GeometryCollection"),
        (shapely.MultiPoint([(0, 1), (2, 3)]), "MultiPoint"),
    ],
)
@pytest.mark.parametrize("name", ["x.geojson", "x.gpkg", "x.parquet", "x.fgb"])
def test_other_geometries_are_refused(tmp_path: Path, name: str, geometry: Any, said: str) -> None:
    path = write(tmp_path / name, lines([geometry], id=["a"]))
    with pytest.raises(BadInput, match=f"holds (a )?{said}"):
        read(path)


def test_points_that_a_spatial_index_has_sorted_need_times(tmp_path: Path) -> None:
    path = write(tmp_path / "x.fgb", points())
    assert {one.name: sorted(one.time) for one in read(path)} == {"f#a": [10, 30], "f#b": [20, 40]}
    untimed = write(tmp_path / "untimed.fgb", points().drop(columns="time"))
    with pytest.raises(BadInput, match=r"sorted by place.*SPATIAL_INDEX=NO"):
        read(untimed)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("text", ["", "lat,lon\n1,2\n", "<gpx/>", '{"type": 3}', "{"])
def test_files_that_are_something_else_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (path := tmp_path / name).write_text(text)
    problem = rf"{name} (is empty|does not begin|is not JSON|has no column)|cannot read .*{name}"
    with pytest.raises((BadInput, FileProblem), match=problem):
        read(path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_was_cut_off_is_never_read_as_whole(
    tmp_path: Path, name: str, share: float
) -> None:
    path = write(tmp_path / name, many())
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content)) - 9])
    if name == "x.geojsonl":
        assert read_counting(path)[1] == {"rows that could not be read": 1}
        return
    with pytest.raises(FileProblem, match=name):
        read(path)


def test_broken_lines_of_geojson_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojsonl", points())
    texts = path.read_text().splitlines()
    path.write_text("\n".join([*texts[:2], "{broken", "", *texts[2:], "{}"]) + "\n\n")
    found, counts = read_counting(path)
    assert is_the_two_traces(found)
    assert counts == {"rows that could not be read": 1, NO_GEOMETRY: 1}


@pytest.mark.parametrize("suffix", [".shx", ".dbf"])
def test_a_shapefile_needs_its_other_files(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / "x.shp", points())
    path.with_suffix(suffix).unlink()
    with pytest.raises(FileProblem, match=r"needs the \.shx and \.dbf"):
        read(path)


@pytest.mark.parametrize("wkb", [b"", b"\x01\x01\x00\x00\x00", b"no geometry at all"])
def test_geometries_that_cannot_be_read_are_counted(tmp_path: Path, wkb: bytes) -> None:
    path = broken_geometry(tmp_path / "x.parquet", wkb)
    found, counts = read_counting(path)
    assert [one.lat.tolist() for one in found] == [[40], [41, 43]]
    assert counts == {"features without geometry": 1}


def broken_geometry(path: Path, wkb: bytes) -> Path:
    """The two traces, the geometry of the third row broken."""
    table = pq.read_table(write(path, points()))
    content = table["geometry"].to_pylist()
    content[2] = wkb
    place = table.schema.get_field_index("geometry")
    column = pa.array(content, pa.binary())
    pq.write_table(table.set_column(place, table.schema.field(place), column), path)
    return path


@pytest.mark.parametrize("geometry", [points, lines])
def test_geoarrow_encodings_are_read(tmp_path: Path, geometry: Any) -> None:
    plain = write(tmp_path / "x.parquet", geometry())
    path = write(tmp_path / "y.parquet", geometry(), geometry_encoding="geoarrow")
    encoding = json.loads(pq.read_metadata(path).metadata[b"geo"])
    assert encoding["columns"]["geometry"]["encoding"] != "WKB"
    assert same(read(path), read(plain))


@pytest.mark.parametrize(
    ("geo", "error", "said"),
    [
        (b"no json", FileProblem, "does not describe its geometries"),
        (b"[]", FileProblem, "does not describe its geometries"),
        (b'{"primary_column": "g", "columns": {}}', FileProblem, "does not describe"),
        (
            b'{"primary_column": "g", "columns": {"g": {}}}',
            FileProblem,
            "there is no one column 'g'",
        ),
        (
            b'{"primary_column": "id", "columns": {"id": {"encoding": "TWKB"}}}',
            FileProblem,
            "in the encoding 'TWKB'",
        ),
    ],
)
def test_footers_that_make_no_sense_are_refused(
    tmp_path: Path, geo: bytes, error: type[Exception], said: str
) -> None:
    table = pa.table(ROWS).replace_schema_metadata({b"geo": geo})
    pq.write_table(table, path := tmp_path / "x.parquet")
    with pytest.raises(error, match=said):
        read(path)


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = broken_geometry(tmp_path / "x.parquet", b"")
    table = pq.read_table(path)
    twice = table.append_column("note", pa.array(["a"] * len(table)))
    pq.write_table(twice.append_column("note", twice["note"]), path)
    with pytest.raises(BadInput, match=r"the column 'note' appears twice in .*: rename one"):
        read(path)


def test_the_name_of_a_shapefile_is_no_pattern(tmp_path: Path) -> None:
    assert is_the_two_traces(read(write(tmp_path / "x[1].shp", points())))


@pytest.mark.parametrize("name", ["x.gpkg", "x.fgb", "x.shp"])
def test_an_empty_file_needs_no_other_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(FileProblem, match="is empty: export or download it again"):
        read(tmp_path / name)
