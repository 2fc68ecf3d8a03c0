"""Faults planted in released files, each of which the checker has to find."""

import base64
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from naive import Floats
from numpy.typing import NDArray

import trajanon
from trajanon.errors import BadInput, FileProblem
from trajanon.files.release import FORMATS, write_release
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories

every_format = pytest.mark.parametrize("suffix", FORMATS)
K = 4


def groups(sizes: tuple[int, ...] = (4, 5, 4, 7), m: int = 3) -> Floats:
    """Released points of groups, each member equal, in random order."""
    rng = np.random.default_rng(0)
    centroids = np.round(rng.uniform((40, -4), (41, -3), (len(sizes), m, 2)), 7)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    points: Floats = centroids[labels]
    return points


def written(
    path: Path, points: Floats | None = None, attribution: str | None = OSM_ATTRIBUTION
) -> Path:
    write_release(
        path,
        Trajectories(
            groups() if points is None else points,
            provenance={"attribution": attribution},
        ),
    )
    return path


def problems(path: Path, k: int = K) -> str:
    findings = trajanon.check(path, k)
    assert findings.holds == (not findings.problems)
    return "\n".join(findings.problems)


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
def test_coordinates_equal_only_after_rounding_are_different(
    tmp_path: Path, suffix: str
) -> None:
    points = groups()
    points[0, 0, 0] += 1e-7  # the last decimal written
    path = written(tmp_path / f"r{suffix}", points)
    assert "1 of 5 different trajectories" in problems(path)


@pytest.mark.parametrize("suffix", [".parquet", ".gpkg", ".geojson"])
def test_differences_below_a_centimetre_tell_members_apart(
    tmp_path: Path, suffix: str
) -> None:
    points = groups()
    points[:, 0, 0] += np.arange(20) * 1e-12
    path = written(tmp_path / f"r{suffix}", points)
    assert "20 of 20 different trajectories" in problems(path)


@every_format
def test_the_order_of_groups_is_found(tmp_path: Path, suffix: str) -> None:
    rng = np.random.default_rng(0)
    centroids = np.round(rng.uniform((40, -4), (41, -3), (30, 2, 2)), 7)
    in_order = np.repeat(centroids, 4, axis=0)
    path = written(tmp_path / f"r{suffix}", in_order)
    assert "in the order of their groups" in problems(path)
    assert not problems(written(path, rng.permutation(in_order)))


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


def repacked(
    path: Path, change: Callable[[pa.Table], pa.Table], points: Floats | None = None
) -> str:
    """Change a written table, write it again, and say what the checker says."""
    table = change(pq.read_table(written(path, points)))
    pq.write_table(table, path)
    return problems(path)


def with_column(name: str, values: list[object]) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.append_column(name, pa.array(values))


def with_geo(**members: object) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        geo = json.loads(table.schema.metadata[b"geo"]) | members
        metadata = {**table.schema.metadata, b"geo": json.dumps(geo).encode()}
        return table.replace_schema_metadata(metadata)

    return change


def with_metadata(**members: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.replace_schema_metadata(
        table.schema.metadata | {k.encode(): v.encode() for k, v in members.items()}
    )


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
        (with_ids(list(range(20))), "ids are not 1 to 20"),
        (with_ids([*range(2, 21), 1]), "ids are not 1 to 20"),
        (with_ids([f"alice-{i}" for i in range(20)]), "ids are not 1 to 20"),
        (with_metadata(source="alice.gpx"), "file metadata 'source'"),
        (with_metadata(trajanon="{}"), "file metadata 'trajanon'"),
        (with_metadata(attribution="alice"), "an unknown attribution 'alice'"),
        (with_geo(creator="alice"), ""),
        (with_geo(columns={"geometry": COLUMN, "of alice": COLUMN}), ""),
        (with_geo(columns={"geometry": COLUMN | {"bbox": [0, 0, 9, 9]}}), "bbox"),
        (with_geo(columns={"geometry": COLUMN | {"crs": {"name": "alice"}}}), ""),
        (with_geo(columns={"geometry": COLUMN | {"encoding": "alice"}}), ""),
        (with_geo(version="alice"), ""),
        (with_field_metadata, ""),
        (with_reference_numbers, ""),
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
    geopandas.GeoDataFrame(
        {"id": range(1, 21)}, geometry=lines, crs="EPSG:4326"
    ).to_parquet(path)
    assert "file metadata 'pandas'" in problems(path)


def lines_of_nan() -> NDArray[np.object_]:
    with np.errstate(invalid="ignore"):
        lines: NDArray[np.object_] = shapely.linestrings(np.full((20, 3, 2), np.nan))
    return lines


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (shapely.linestrings(np.zeros((20, 3, 3))), "points have a third number"),
        (
            [*shapely.linestrings(np.zeros((19, 3, 2))), shapely.Point(1, 1)],
            "1 geometries are Point",
        ),
        ([*shapely.linestrings(np.zeros((19, 3, 2))), None], "are nothing"),
        (
            [
                *shapely.linestrings(np.zeros((10, 3, 2))),
                *shapely.linestrings(np.ones((10, 4, 2))),
            ],
            "different numbers of points",
        ),
        (lines_of_nan(), "not finite"),
        ([shapely.MultiLineString([[(0, 0), (1, 1)]])] * 20, "are MultiLineString"),
    ],
    ids=["heights", "a point", "missing", "mixed", "nan", "several"],
)
@pytest.mark.parametrize("suffix", [".parquet", ".gpkg"])
@pytest.mark.filterwarnings("ignore::UserWarning")  # of the writer
def test_other_geometries_are_found(
    tmp_path: Path, lines: list[object], says: str, suffix: str
) -> None:
    table = geopandas.GeoDataFrame(
        {"id": range(1, 21)}, geometry=list(lines), crs="EPSG:4326"
    )
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


# GeoPackage


def run_sql(path: Path, *commands: str, tidy: bool = True) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        triggers = database.execute(  # they call functions of GDAL
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        )
        for (name,) in triggers.fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        for command in commands:
            database.execute(command)
        if tidy:
            database.execute("VACUUM")


ASPATIAL = (
    "CREATE TABLE IF NOT EXISTS gpkg_extensions (table_name TEXT, column_name TEXT, "
    "extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL)",
    "INSERT INTO gpkg_extensions VALUES (NULL, NULL, 'gdal_aspatial', 'x', "
    "'read-write')",
)


@pytest.mark.parametrize(
    ("commands", "says"),
    [
        (["ALTER TABLE anonymized ADD COLUMN user_id TEXT"], "column 'user_id'"),
        (["UPDATE anonymized SET id = id + 7"], "ids are not 1 to 20"),
        (["UPDATE anonymized SET fid = fid + 987000000"], ""),
        (["ALTER TABLE anonymized RENAME COLUMN fid TO alice"], ""),
        (["UPDATE gpkg_contents SET description = 'alice'"], "attribution 'alice'"),
        (["UPDATE gpkg_contents SET identifier = 'alice'"], "IDENTIFIER"),
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
    assert "layer 'originals'" in problems(path)


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
    assert "deleted data" in problems(path)


# GeoJSON


def retold(path: Path, text: str, other: str) -> str:
    old = written(path).read_text(encoding="utf-8")
    assert text in old
    path.write_text(old.replace(text, other, 1), encoding="utf-8")
    return problems(path)


@pytest.mark.parametrize(
    ("text", "other", "says"),
    [
        ('{"id": 1}', '{"id": 1, "user_id": 7}', "property 'user_id'"),
        ('{"id": 1}', '{"id": 101}', "ids are not 1 to 20"),
        ('{"id": 1}', "{}", "ids are not 1 to 20"),
        ('"Feature",', '"Feature", "id": 9,', "feature member 'id'"),
        ('"features":', '"source": "alice", "features":', "member 'source'"),
        (OSM_ATTRIBUTION, "alice", "unknown attribution 'alice'"),
        ('"LineString",', '"LineString", "user": "alice",', ""),
        ('"type": "Feature"', '"type": "alice"', ""),
        ('"type": "FeatureCollection"', '"type": "alice"', ""),
        ('"features":', '"features": ["alice"], "features":', ""),
        ('"coordinates": [[', '"coordinates": [["alice"], [', ""),
    ],
)
def test_more_than_lines_and_ids_in_geojson_is_found(
    tmp_path: Path, text: str, other: str, says: str
) -> None:
    path = tmp_path / "r.geojson"
    try:
        found = retold(path, text, other)
    except FileProblem:  # exit code 2: not published either
        return
    assert found
    assert says in found


def test_heights_and_missing_numbers_in_geojson_are_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.geojson")
    collection = json.loads(path.read_text(encoding="utf-8"))
    for feature in collection["features"]:
        for point in feature["geometry"]["coordinates"]:
            point.append(667.0)
    path.write_text(json.dumps(collection))
    assert "points have a third number" in problems(path)
    path.write_text(path.read_text().replace("667.0", "NaN"))
    assert "not finite" in problems(path)


# CSV


def test_more_than_lines_and_ids_in_csv_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv")
    table = pd.read_csv(path)
    for name in ("user_id", "lat4", "time", "Unnamed: 9"):
        table.assign(**{name: 7}).to_csv(path, index=False)
        assert f"column '{name}'" in problems(path)
    table.assign(id=table["id"] + 7).to_csv(path, index=False)
    assert "ids are not 1 to 20" in problems(path)
    table.assign(attribution="alice").to_csv(path, index=False)
    assert "unknown attribution 'alice'" in problems(path)
    table.assign(lat1=np.nan).to_csv(path, index=False)
    assert "not finite" in problems(path)


def test_a_column_without_a_name_in_csv_is_found(tmp_path: Path) -> None:
    """A reader may take it for the names of the rows and pass over it."""
    path = written(tmp_path / "r.csv")
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    named = [f"alice-{number},{row}" for number, row in enumerate(rows)]
    path.write_text("\n".join([header, *named]), encoding="utf-8")
    with suppress(FileProblem):
        assert problems(path)


# GPX


@pytest.mark.parametrize(
    ("text", "other", "says"),
    [
        ("<trkseg>", "<name>alice</name><trkseg>", "1 × <name>"),
        ("<trkseg>", "<trkseg><!-- alice -->", ""),
        ("<trkseg>", "<trkseg><?of alice?>", ""),
        ("<trkseg>", "<trkseg>alice", ""),
        ("</trkseg>", "</trkseg>alice", ""),
        ("<number>1<", "<number>alice<", "ids are not 1 to 20"),
        ("<trkseg>", "<trkseg><number>987</number>", ""),
        ("<trk>", '<trkpt lat="1.0" lon="2.0"/><trk>', ""),
        ("<metadata>", "<metadata><number>987</number>", ""),
        ("<trkpt lat=", "<trkpt user='alice' lat=", "1 × trkpt user="),
        ('creator="trajanon"', 'creator="alice"', "unknown creator 'alice'"),
        ('version="1.1"', 'version="alice"', ""),
        ("<gpx ", '<gpx xmlns:x="alice" x:of="alice" ', "alice"),
        (OSM_ATTRIBUTION, "alice", "unknown attribution 'alice'"),
        ("<trk>", "<wpt lat='1' lon='2'/><trk>", "1 × <wpt>"),
    ],
)
def test_more_than_lines_and_ids_in_gpx_is_found(
    tmp_path: Path, text: str, other: str, says: str
) -> None:
    found = retold(tmp_path / "r.gpx", text, other)
    assert found
    assert says in found


@pytest.mark.parametrize("tag", ["time", "ele"])
def test_times_and_heights_in_gpx_are_found(tmp_path: Path, tag: str) -> None:
    path = written(tmp_path / "r.gpx")
    text = path.read_text(encoding="utf-8").replace(
        '" />', f'"><{tag}>2026-01-01T00:00:00Z</{tag}></trkpt>'
    )
    path.write_text(text, encoding="utf-8")
    assert f"60 × <{tag}>" in problems(path)


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
    ],
)
def test_boxes_and_rows_of_others_in_geopackage_are_found(
    tmp_path: Path, command: str, says: str
) -> None:
    path = written(tmp_path / "r.gpkg")
    run_sql(path, command)
    assert says in problems(path)


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


# With the holder's files


def held(folder: Path, method: str = "hm2") -> Trajectories:
    """Trajectories of which a release and its report stand in the folder."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (30, 3, 2))
    trajectories = Trajectories(points, subject=np.arange(30) % 6)
    release = trajanon.anonymize(trajectories, K, method=method, refine="none")
    release.write(folder / "r.parquet")
    return trajectories


def test_a_group_of_one_subject_is_found_by_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    trajectories = held(tmp_path)
    assert trajanon.check(path, K, trajectories=trajectories).holds
    # The members of the first group are one person's, as the holder learns later.
    report = json.loads(path.with_suffix(".report.json").read_text(encoding="utf-8"))
    assert trajectories.subject is not None
    whose = np.where(np.array(report["labels"]) == 0, 0, trajectories.subject)
    learned = Trajectories(trajectories.points, subject=whose)
    found = trajanon.check(path, K, trajectories=learned).problems
    assert "fewer than 4 different subjects (the poorest of 1)" in "\n".join(found)
    assert trajanon.check(path, K).holds


def test_what_two_releases_tell_together_is_counted(tmp_path: Path) -> None:
    """Counted again below, pair by pair."""
    now, before = tmp_path / "now", tmp_path / "before"
    now.mkdir()
    before.mkdir()
    trajectories = held(now)
    held(before, "mdav")
    labels = [
        json.loads((folder / "r.report.json").read_text(encoding="utf-8"))["labels"]
        for folder in (now, before)
    ]
    assert labels[0] != labels[1]
    pairs = list(zip(*labels, strict=True))
    whose = trajectories.subject
    assert whose is not None
    common = [sum(pair == other for other in pairs) for pair in pairs]
    people = [
        len({w for w, other in zip(whose, pairs, strict=True) if pair == other})
        for pair in pairs
    ]
    found = trajanon.check(now / "r.parquet", K, against=before / "r.parquet")
    assert found.problems == [
        f"together with the earlier release, {sum(c < K for c in common)} of 30 "
        "trajectories are in two groups that have fewer than 4 trajectories in common; "
        f"{sum(c == 1 for c in common)} of them stand alone"
    ]
    found = trajanon.check(
        now / "r.parquet", K, trajectories=trajectories, against=before / "r.parquet"
    )
    alone = {w for w, c in zip(whose.tolist(), people, strict=True) if c == 1}
    assert found.problems == [
        f"together with the earlier release, {sum(c < K for c in people)} of 30 "
        "trajectories are in two groups that have fewer than 4 different subjects in "
        f"common; {sum(c == 1 for c in people)} of them have no other subject's beside "
        f"them, which concerns {len(alone)} subjects"
    ]
    same = trajanon.check(now / "r.parquet", K, against=now / "r.parquet")
    assert same.holds


def test_what_the_holder_gives_must_belong_together(tmp_path: Path) -> None:
    path, report = tmp_path / "r.parquet", tmp_path / "r.report.json"
    trajectories = held(tmp_path)
    said = json.loads(report.read_text(encoding="utf-8"))
    for other, says in (
        (trajectories.take(np.arange(29)), "do not belong together"),
        (trajectories.take(np.arange(30)[::-1]), "do not belong together"),
        (Trajectories(trajectories.points), "name no subjects"),
    ):
        with pytest.raises(BadInput, match=says):
            trajanon.check(path, K, trajectories=other)
    for labels, says in (
        (None, "lacks the labels"),
        (["a"] * 30, "lacks the labels"),
        ([0.5] * 30, "lacks the labels"),
        ([7] * 30, "are not its groups"),
        ([0] * 29, "are not its groups"),
        ([0] * 30, "their groups have other sizes"),
    ):
        report.write_text(json.dumps(said | {"labels": labels}), encoding="utf-8")
        with pytest.raises(BadInput, match=says):
            trajanon.check(path, K, trajectories=trajectories)
    for text in ("[]", "{"):
        report.write_text(text, encoding="utf-8")
        with pytest.raises(FileProblem, match=r"r\.report\.json"):
            trajanon.check(path, K, against=path)
    report.unlink()
    with pytest.raises(FileProblem, match="alone cannot tell"):
        trajanon.check(path, K, against=path)


def test_releases_of_other_trajectories_cannot_be_compared(tmp_path: Path) -> None:
    held(tmp_path)
    points = np.random.default_rng(1).uniform((40, -4), (41, -3), (12, 3, 2))
    trajanon.anonymize(Trajectories(points), K).write(tmp_path / "e.csv")
    with pytest.raises(BadInput, match=r"made of 12 trajectories and .* of 30"):
        trajanon.check(tmp_path / "r.parquet", K, against=tmp_path / "e.csv")
