"""Faults planted in released files, each of which the checker has to find."""

import json
from collections.abc import Callable
from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from numpy.typing import NDArray
from planted import UNTIMED, K, groups, problems, repacked, run_sql, with_metadata, written

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.release_formats import read_release, write_release
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

every_format = pytest.mark.parametrize("suffix", UNTIMED)


@every_format
@pytest.mark.parametrize("attribution", [None, OSM_ATTRIBUTION])
def test_a_release_holds(tmp_path: Path, suffix: str, attribution: str | None) -> None:
    path = written(tmp_path / f"r{suffix}", attribution=attribution)
    findings = trajanon.check(path, K)
    assert findings.holds
    assert (findings.k, findings.trajectories) == (4, 20)
    assert (findings.groups, findings.smallest) == (4, 4)
    assert "1 of 4 different trajectories occur fewer than 5" not in problems(path)
    assert "2 of 4 different trajectories occur fewer than 5" in problems(path, 5)


@every_format
def test_a_group_of_one_too_few_is_found(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"r{suffix}", groups((4, 5, 3, 7)))
    assert "1 of 4 different trajectories occur fewer than 4 times" in problems(path)
    assert "the rarest 3 times" in problems(path)


@every_format
def test_coordinates_equal_only_after_rounding_are_different(tmp_path: Path, suffix: str) -> None:
    points = groups()
    points[0, 0, 0] += 1e-7  # the last decimal written
    path = written(tmp_path / f"r{suffix}", points)
    assert "1 of 5 different trajectories" in problems(path)


@pytest.mark.parametrize("suffix", [".parquet", ".gpkg", ".geojson"])
def test_differences_below_a_centimetre_tell_members_apart(tmp_path: Path, suffix: str) -> None:
    points = groups()
    points[:, 0, 0] += np.arange(20) * 1e-12
    path = written(tmp_path / f"r{suffix}", points)
    assert "20 of 20 different trajectories" in problems(path)


@every_format
@pytest.mark.parametrize("rows", ["subjects", "lines"])
def test_rows_that_are_not_sorted_are_found(tmp_path: Path, suffix: str, rows: str) -> None:
    points = groups()
    path = tmp_path / f"r{suffix}"
    for order in (np.arange(20)[::-1], np.roll(np.arange(20), 4), np.arange(20)):
        write_release(path, Trajectories(points[order], provenance={"rows": rows}))
        assert ("are not sorted by their coordinates" in problems(path)) == (order[0] > 0)


@pytest.mark.parametrize("suffix", [".csv", ".geojson", ".gpx"])
@pytest.mark.parametrize("digits", ["0", "0000000000000000001"])
def test_a_number_written_with_other_digits_is_found(
    tmp_path: Path, suffix: str, digits: str
) -> None:
    """The same number, but a text that marks one member of a group."""
    points = groups()
    points[:, 0, 0] += 0.1234567 - points[:, 0, 0] % 1
    path = written(tmp_path / f"r{suffix}", np.round(points, 7))
    assert not problems(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(".1234567", f".1234567{digits}", 1), encoding="utf-8")
    assert problems(path)


# GeoParquet


def with_column(name: str, values: list[object]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.append_column(name, pa.array(values))


def with_geo(**members: object) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        geo = json.loads(table.schema.metadata[b"geo"]) | members
        metadata = {**table.schema.metadata, b"geo": json.dumps(geo).encode()}
        return table.replace_schema_metadata(metadata)

    return change


def with_ids(ids: list[object]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(0, "id", pa.array(ids))


def with_field_metadata(table: pa.Table) -> pa.Table:
    field = table.schema.field("id").with_metadata({"of": "alice"})
    return table.cast(table.schema.set(0, field))


def with_reference_numbers(table: pa.Table) -> pa.Table:
    lines = shapely.set_srid(shapely.from_wkb(table["geometry"].to_numpy()), range(20))
    wkb = pa.array(shapely.to_wkb(lines, include_srid=True), type=pa.binary())
    return table.set_column(1, "geometry", wkb)


COLUMN = {"encoding": "WKB", "geometry_types": ["LineString"]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_column("user_id", list(range(20))), "column 'user_id'"),
        (with_column("fid", [None] * 20), "column 'fid'"),
        (with_ids(list(range(20))), "column 'id'"),
        (with_ids([*range(2, 21), 1]), "column 'id'"),
        (with_ids([f"alice-{i}" for i in range(20)]), "column 'id'"),
        (with_metadata(source="alice.gpx"), "file metadata 'source'"),
        (with_metadata(trajanon="{}"), "file metadata 'trajanon'"),
        (with_metadata(attribution="alice"), "file metadata 'attribution'"),
        (with_geo(creator="alice"), "file metadata 'geo'"),
        (with_geo(columns={"geometry": COLUMN, "of alice": COLUMN}), "'geo'"),
        (with_geo(columns={"geometry": COLUMN | {"bbox": [0, 0, 9, 9]}}), "'geo'"),
        (with_geo(columns={"geometry": COLUMN | {"crs": {"name": "alice"}}}), "'geo'"),
        (with_geo(columns={"geometry": COLUMN | {"encoding": "alice"}}), "'geo'"),
        (with_geo(version="alice"), "'geo'"),
        (with_field_metadata, "column 'id'"),
        (with_reference_numbers, "column 'geometry'"),
    ],
)
def test_more_than_lines_and_ids_in_parquet_is_found(
    tmp_path: Path, change: Callable[[pa.Table], pa.Table], says: str
) -> None:
    found = repacked(tmp_path / "r.parquet", change)
    assert found
    assert says in found


def test_the_metadata_of_pandas_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    lines = shapely.linestrings(groups()[:, :, ::-1])
    geopandas.GeoDataFrame({"id": range(1, 21)}, geometry=lines, crs="EPSG:4326").to_parquet(path)
    assert "file metadata 'pandas'" in problems(path)


def lines_of_nan() -> NDArray[np.object_]:
    with np.errstate(invalid="ignore"):
        lines: NDArray[np.object_] = shapely.linestrings(np.full((20, 3, 2), np.nan))
    return lines


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (shapely.linestrings(np.zeros((20, 3, 3))), "points have a third number"),
        ([*shapely.linestrings(np.zeros((19, 3, 2))), shapely.Point(1, 1)], "1 geometry is Point"),
        ([*shapely.linestrings(np.zeros((19, 3, 2))), None], "1 geometry is nothing"),
        (
            [*shapely.linestrings(np.zeros((10, 3, 2))), *shapely.linestrings(np.ones((10, 4, 2)))],
            "different numbers of points",
        ),
        (lines_of_nan(), "not finite"),
        ([shapely.MultiLineString([[(0, 0), (1, 1)]])] * 20, "are MultiLineString"),
    ],
    ids=["heights", "a point", "missing", "mixed", "nan", "several"],
)
@pytest.mark.parametrize("suffix", [".parquet", ".gpkg"])
def test_other_geometries_are_found(
    tmp_path: Path, lines: list[object], says: str, suffix: str
) -> None:
    table = geopandas.GeoDataFrame({"id": range(1, 21)}, geometry=list(lines), crs="EPSG:4326")
    path = tmp_path / f"r{suffix}"
    with np.errstate(invalid="ignore"):
        if suffix == ".gpkg":
            table.to_file(path, layer="anonymized")
        else:
            table.to_parquet(path)
    assert says in problems(path)


@every_format
def test_an_empty_file_does_not_hold(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"r{suffix}")
    if suffix == ".parquet":
        pq.write_table(pq.read_table(path)[:0], path)
    elif suffix == ".csv":
        path.write_text("id,lat1,lon1\n")
    elif suffix == ".geojson":
        path.write_text('{"type": "FeatureCollection", "features": []}')
    elif suffix == ".gpx":
        path.write_text('<gpx version="1.1" creator="trajanon"/>')
    else:
        run_sql(path, "DELETE FROM anonymized")
    findings = trajanon.check(path, K)
    assert "the file holds no trajectory" in findings.problems
    assert (findings.trajectories, findings.smallest) == (0, 0)
    with pytest.raises(BadInput, match="holds no trajectory: run trajanon anonymize"):
        read_release(path)


# GeoPackage

ASPATIAL = (
    "CREATE TABLE IF NOT EXISTS gpkg_extensions (table_name TEXT, column_name TEXT, "
    "extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL)",
    "INSERT INTO gpkg_extensions VALUES (NULL, NULL, 'gdal_aspatial', 'x', 'read-write')",
)


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        (["ALTER TABLE anonymized ADD COLUMN user_id TEXT"], "table 'anonymized'"),
        (["UPDATE anonymized SET id = id + 7"], "table 'anonymized'"),
        (["UPDATE anonymized SET fid = fid + 987"], "table 'anonymized'"),
        (["ALTER TABLE anonymized RENAME COLUMN fid TO alice"], "'anonymized'"),
        (["UPDATE gpkg_contents SET description = 'alice'"], "table 'gpkg_contents'"),
        (["UPDATE gpkg_contents SET identifier = 'alice'"], "table 'gpkg_contents'"),
        (["CREATE TABLE secrets (name TEXT)"], "secrets"),
        ([*ASPATIAL, "CREATE TABLE secrets (name TEXT)"], "secrets"),
        (["CREATE VIEW secrets AS SELECT 'alice' AS name"], "secrets"),
    ],
)
def test_more_than_lines_and_ids_in_geopackage_is_found(
    tmp_path: Path, commands: list[str], says: str
) -> None:
    path = written(tmp_path / "r.gpkg")
    run_sql(path, *commands)
    found = problems(path)
    assert found
    assert says in found


def test_a_second_layer_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpkg")
    table = geopandas.GeoDataFrame(
        {"user": ["alice"]}, geometry=[shapely.Point(0, 0)], crs="EPSG:4326"
    )
    table.to_file(path, layer="originals", mode="a")
    assert "table 'originals'" in problems(path)


def test_what_was_deleted_from_a_geopackage_is_found(tmp_path: Path) -> None:
    """SQLite may keep the bytes of deleted rows until the file is vacuumed."""
    path = written(tmp_path / "r.gpkg")
    run_sql(
        path,
        "CREATE TABLE originals (user TEXT)",
        *["INSERT INTO originals VALUES ('alice')"] * 3,
        "DROP TABLE originals",
        tidy=False,
    )
    assert problems(path)


# What cannot be checked


@pytest.mark.parametrize("k", [1, 0, -1])
def test_a_k_below_2_is_refused(tmp_path: Path, k: int) -> None:
    with pytest.raises(BadInput, match="k must be at least 2"):
        trajanon.check(written(tmp_path / "r.csv"), k)


def test_a_file_that_is_not_there_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"there is no .*r\.csv"):
        trajanon.check(tmp_path / "r.csv", K)
    with pytest.raises(BadInput, match="choose one of"):
        trajanon.check(tmp_path / "r.txt", K)
