"""Geographic files that are damaged, cut off, or something else."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from geo_tables import (
    FILES,
    ROWS,
    is_the_two_traces,
    lines,
    many,
    points,
    read,
    read_counting,
    same,
    write,
)

from trajanon.errors import BadInput, FileProblem


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("text", ["", "lat,lon\n1,2\n", "<gpx/>", '{"type": 3}', "{"])
def test_files_that_are_something_else_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (path := tmp_path / name).write_text(text)
    with pytest.raises(FileProblem, match=rf"{name} (is empty|begins)|cannot read .*{name}"):
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
        assert read_counting(path)[1] == {"lines that are no features": 1}
        return
    with pytest.raises(FileProblem, match=name):
        read(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_packed_file_that_was_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    content = gzip.compress(write(tmp_path / "x.gpkg", many()).read_bytes())
    path = tmp_path / "x.gpkg.gz"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(FileProblem, match=r"cannot unpack .*x\.gpkg\.gz"):
        read(path)


def test_broken_lines_of_geojson_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojsonl", points())
    texts = path.read_text().splitlines()
    path.write_text("\n".join([*texts[:2], "{broken", "", *texts[2:], "{}"]) + "\n\n")
    found, counts = read_counting(path)
    assert is_the_two_traces(found)
    assert counts == {"lines that are no features": 2}


@pytest.mark.parametrize("suffix", [".shx", ".dbf"])
def test_a_shapefile_needs_its_other_files(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / "x.shp", points())
    path.with_suffix(suffix).unlink()
    with pytest.raises(FileProblem, match=rf"no {suffix} beside it"):
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
        (b'{"primary_column": "g", "columns": {"g": {}}}', FileProblem, "has no column 'g'"),
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


def test_parquet_without_geometries_is_a_table(tmp_path: Path) -> None:
    ROWS.to_parquet(path := tmp_path / "x.parquet")
    with pytest.raises(BadInput, match="without geometries; give it the suffix"):
        read(path)
