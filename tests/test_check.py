"""Faults planted in released files, each of which the checker has to find."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from numpy.typing import NDArray
from planted import (
    K,
    groups,
    problems,
    repacked,
    retold,
    run_sql,
    with_metadata,
    written,
)

import trajanon
from trajanon.errors import BadInput, FileProblem
from trajanon.files.release import FORMATS, read_release
from trajanon.trajectories import OSM_ATTRIBUTION

every_format = pytest.mark.parametrize("suffix", FORMATS)


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
    with pytest.raises(BadInput, match="holds no trajectory: run trajanon anonymize"):
        read_release(path)


# GeoPackage


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
        ('<?xml version="1.0" encoding="UTF-8"?>', "<?of alice?>", "instructions"),
        ("<gpx ", '<gpx xmlns:x="/home/alice" ', "xmlns"),
        ("http://www.topografix.com/GPX/1/1", "/home/alice", "xmlns"),
        ("</trkseg>", "</trkseg><trkseg></trkseg>", "1 geometries are tracks of 2"),
        ("<number>1<", "<number>1</number><number>2<", "ids are not 1 to 20"),
    ],
)
def test_more_than_lines_and_ids_in_gpx_is_found(
    tmp_path: Path, text: str, other: str, says: str
) -> None:
    found = retold(tmp_path / "r.gpx", text, other)
    assert found
    assert says in found


def test_a_comment_in_another_encoding_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpx")
    text = path.read_text(encoding="utf-8").replace("<trk>", "<!-- alice --><trk>", 1)
    path.write_bytes(text.replace('"UTF-8"', '"utf-16"').encode("utf-16"))
    assert "an encoding other than UTF-8" in problems(path)


def test_a_track_that_is_broken_elsewhere_is_told_apart(tmp_path: Path) -> None:
    """Its points are those of the others of its group."""
    path = written(tmp_path / "r.gpx")
    whole = path.read_text(encoding="utf-8")
    point = whole.index("/>", whole.index("<trkpt")) + 2
    broken = whole[:point] + "</trkseg><trkseg>" + whole[point:]
    path.write_text(broken, encoding="utf-8")
    assert "1 geometries are tracks of 2 segments" in problems(path)


def test_what_two_numbers_of_a_track_say_is_found(tmp_path: Path) -> None:
    """In turn they would count along the file, were they not both of one track."""
    path = written(tmp_path / "r.gpx")
    text = path.read_text(encoding="utf-8")
    one, two = "<number>1</number>", "<number>2</number>"
    text = text.replace(two, "").replace(one, one + two)
    path.write_text(text, encoding="utf-8")
    assert "ids are not 1 to 20" in problems(path)


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
