"""GeoParquet: what the file of a release holds."""

import json
from pathlib import Path

import geopandas
import pyarrow as pa
import pyarrow.parquet as pq
from plain_releases import release
from releases_with_times import CLOCK, written

from trajanon.files.release_formats import write_release


def test_parquet_holds_ids_lines_and_two_words_of_metadata(tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    write_release(path, release())
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    assert schema.names == ["id", "geometry"]
    assert schema.types[:2] == [pa.int64(), pa.binary()]
    assert set(schema.metadata) == {b"geo", b"attribution"}
    assert set(file.metadata.metadata) == {b"geo", b"attribution", b"ARROW:schema"}
    assert all(not field.metadata for field in schema)
    geo = json.loads(schema.metadata[b"geo"])
    assert set(geo) == {"version", "primary_column", "columns"}
    about = geo["columns"].pop("geometry")
    assert about == {"encoding": "WKB", "geometry_types": ["LineString"]}
    assert not geo["columns"]
    write_release(path, release(None))
    assert set(pq.read_schema(path).metadata) == {b"geo"}


def test_parquet_holds_lists_of_whole_seconds(tmp_path: Path) -> None:
    table = pq.read_table(written(tmp_path / "r.parquet"))
    assert table.column_names == ["id", "geometry", "times"]
    assert table.schema.field("times").type.value_type == pa.int64()
    assert table.schema.metadata[b"times"].decode() == CLOCK.sentence
    assert len(geopandas.read_parquet(tmp_path / "r.parquet")["times"][0]) == 3
