"""What stands beside the rows of a release, where readers do not look."""

import base64
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from planted import (
    problems,
    repacked,
    retold,
    run_sql,
    with_metadata,
    written,
)

from trajanon.files.release import FORMATS
from trajanon.trajectories import OSM_ATTRIBUTION

every_format = pytest.mark.parametrize("suffix", FORMATS)


# Beside the rows of Parquet


def forged(path: Path, shown: dict[str, str], hidden: dict[str, str]) -> str:
    """Write a release whose metadata of the file and of Arrow's schema differ."""
    table = pq.read_table(written(path))
    members = {key.encode(): value.encode() for key, value in hidden.items()}
    schema = table.schema.with_metadata(table.schema.metadata | members)
    encoded = base64.b64encode(schema.serialize().to_pybytes()).decode()
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"ARROW:schema": encoded, **shown})
    return problems(path)


def test_pandas_metadata_with_the_path_of_the_source_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pandas = json.dumps({"index_columns": [], "attributes": {"of": "/data/alice.gpx"}})
    assert "file metadata 'pandas'" in repacked(path, with_metadata(pandas=pandas))


def test_metadata_that_a_reader_may_not_show_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    assert not forged(path, {}, {})
    assert "file metadata 'source'" in forged(path, {}, {"source": "alice.gpx"})
    assert "file metadata 'source'" in forged(path, {"source": "alice.gpx"}, {})
    assert "'alice'" in forged(path, {}, {"attribution": "alice"})
    twice = forged(path, {"attribution": "alice"}, {"attribution": OSM_ATTRIBUTION})
    assert "file metadata 'attribution' twice" in twice


def test_values_of_no_row_are_found(tmp_path: Path) -> None:
    """A dictionary may still hold the lines that were taken out of a column."""

    def with_dictionary(table: pa.Table) -> pa.Table:
        lines = table["geometry"].combine_chunks().dictionary_encode()
        return table.set_column(1, "geometry", lines)

    assert "may hold values of no row" in repacked(
        tmp_path / "r.parquet", with_dictionary
    )


def test_bytes_that_belong_to_no_column_are_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.parquet")
    found = path.read_bytes()
    begin = len(found) - 8 - int.from_bytes(found[-8:-4], "little")
    path.write_bytes(found[:begin] + b"alice" + found[begin:])
    assert "5 bytes that belong to no column" in problems(path)


def test_parts_of_unequal_sizes_in_parquet_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    table = pq.read_table(written(path))
    for rows, found in ((7, ""), (20, ""), (5, "")):
        pq.write_table(table, path, row_group_size=rows)
        assert problems(path) == found
    with pq.ParquetWriter(path, table.schema) as writer:
        for part in (table[:3], table[3:12], table[12:]):
            writer.write_table(part)
    assert "3 row groups of unequal sizes" in problems(path)


def test_statistics_of_other_values_are_found(tmp_path: Path) -> None:
    """As they are left by who overwrites values where they stand."""
    path = tmp_path / "r.parquet"
    table = pq.read_table(written(path))
    pq.write_table(
        table, path, compression="none", use_dictionary=False, write_statistics=True
    )
    assert not problems(path)
    greatest = (20).to_bytes(8, "little")
    found = path.read_bytes()
    column = b"".join(number.to_bytes(8, "little") for number in range(1, 21))
    data = found.index(column) + len(column)
    assert greatest in found[data:]
    told = found[data:].replace(greatest, (987).to_bytes(8, "little"))
    path.write_bytes(found[:data] + told)
    assert "statistics of other values than column 'id'" in problems(path)


def test_an_unknown_writer_of_parquet_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.parquet")
    found = path.read_bytes()
    name = f"parquet-cpp-arrow version {pa.__version__}".encode()
    assert name in found
    path.write_bytes(found.replace(name, b"of alice's, at home".ljust(len(name), b"!")))
    assert "unknown writer" in problems(path)


# Below the layer of a GeoPackage


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("UPDATE gpkg_contents SET min_x = -9", "a bounding box of the layer"),
        ("DELETE FROM rtree_anonymized_geom WHERE id = 3", "a spatial index of other"),
        ("UPDATE rtree_anonymized_geom SET minx = -9 WHERE id = 3", "a spatial index"),
        (
            "INSERT INTO gpkg_spatial_ref_sys VALUES ('a', 7, 'a', 7, 'a', 'alice')",
            "a row of gpkg_spatial_ref_sys about 7",
        ),
        (
            "CREATE TRIGGER alice AFTER INSERT ON anonymized BEGIN SELECT 1; END",
            "trigger 'alice'",
        ),
        (
            "UPDATE gpkg_contents SET last_change = '2008-05-17T10:00:00.000Z'",
            "a time, '2008-05-17T10:00:00.000Z'",
        ),
        (
            "UPDATE gpkg_ogr_contents SET feature_count = 9000",
            "a count in gpkg_ogr_contents",
        ),
        ("UPDATE sqlite_sequence SET seq = 9000", "a count in sqlite_sequence"),
        ("CREATE INDEX alice ON anonymized (id)", "index 'alice'"),
        (
            "UPDATE rtree_anonymized_geom SET minx = minx - 1e-3 WHERE id = "
            "(SELECT id FROM rtree_anonymized_geom ORDER BY minx DESC LIMIT 1)",
            "a spatial index of other",
        ),
    ],
)
def test_boxes_and_rows_of_others_in_geopackage_are_found(
    tmp_path: Path, command: str, says: str
) -> None:
    path = written(tmp_path / "r.gpkg")
    run_sql(path, command)
    assert says in problems(path)


def test_a_column_of_geometries_of_another_name_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpkg")
    run_sql(
        path,
        "DROP TABLE rtree_anonymized_geom",
        "DELETE FROM gpkg_extensions",
        "ALTER TABLE anonymized RENAME COLUMN geom TO alice",
        "UPDATE gpkg_geometry_columns SET column_name = 'alice'",
    )
    assert "a row of gpkg_geometry_columns about 'alice'" in problems(path)


def test_a_geopackage_does_not_tell_when_it_was_written(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpkg")
    assert not re.search(rb"20\d\d-\d\d-\d\dT", path.read_bytes())
    assert not problems(path)


def test_a_geometry_with_the_box_of_another_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpkg")
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT geom FROM anonymized WHERE fid = 3"
        (blob,) = database.execute(query).fetchone()
    box = np.frombuffer(blob, "<f8", 4, 8) - np.eye(4)[0]
    other = blob[:8] + box.tobytes() + blob[40:]
    run_sql(path, f"UPDATE anonymized SET geom = x'{other.hex()}' WHERE fid = 3")
    assert "bounding boxes of geometries that are not theirs" in problems(path)


@pytest.mark.parametrize(
    ("suffix", "text", "other", "says"),
    [
        (
            ".gpx",
            "<trk>",
            "<metadata><time>2026-01-01T00:00:00Z</time></metadata><trk>",
            "<time> in <metadata>",
        ),
        (
            ".gpx",
            "<trk>",
            '<metadata><bounds minlat="40" minlon="-4"/></metadata><trk>',
            "<bounds> in <metadata>",
        ),
        (".gpx", "<trkseg>", '<extensions/><trkseg lang="x">', "<extensions>"),
        (".geojson", '"features":', '"bbox": [0, 0, 9, 9], "features":', "'bbox'"),
        (".geojson", '"features":', '"crs": {}, "features":', "member 'crs'"),
        (".geojson", '"features":', '"name": "alice", "features":', "member 'name'"),
        (".geojson", '"coordinates"', '"bbox": [0], "coordinates"', "'bbox'"),
    ],
)
def test_times_and_boxes_in_text_formats_are_found(
    tmp_path: Path, suffix: str, text: str, other: str, says: str
) -> None:
    assert says in retold(tmp_path / f"r{suffix}", text, other)


@every_format
def test_a_file_in_the_order_of_a_source_is_found(tmp_path: Path, suffix: str) -> None:
    """Every group once and again, as if all subjects took turns."""
    rng = np.random.default_rng(0)
    centroids = np.round(rng.uniform((40, -4), (41, -3), (30, 2, 2)), 7)
    turns = np.tile(centroids, (4, 1, 1))
    path = written(tmp_path / f"r{suffix}", turns)
    assert "in an order that repeats" in problems(path)
