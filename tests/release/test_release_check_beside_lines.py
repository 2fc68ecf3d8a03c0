"""What stands beside the lines of a release, where readers do not look."""

import base64
import json
import re
import sqlite3
from contextlib import closing, suppress
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import UNTIMED, K, problems, repacked, run_sql, with_metadata, written
from releases_with_times import written as written_with_times

import trajanon
from trajanon.common.errors import FileProblem
from trajanon.files.release_inspection import NOTHING_ELSE

every_format = pytest.mark.parametrize("suffix", UNTIMED)


@every_format
def test_a_file_is_compared_with_its_lines_written_anew(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"r{suffix}")
    assert trajanon.check(path, K).claim == NOTHING_ELSE
    path.write_bytes(path.read_bytes() + b"\n")
    try:
        assert problems(path)
    except FileProblem:  # not published either
        assert suffix == ".parquet"


# Text


TEXTS = (".csv", ".gpx", ".geojson")


@pytest.mark.parametrize(("suffix", "timed"), [*product(TEXTS, [False, True]), (".mfjson", True)])
def test_any_change_of_a_text_is_found(tmp_path: Path, suffix: str, timed: bool) -> None:
    path = tmp_path / f"r{suffix}"
    _ = written_with_times(path) if timed else written(path)
    whole = path.read_text(encoding="utf-8")

    @given(
        place=st.integers(0, len(whole) - 1),
        gone=st.integers(0, 3),
        text=st.text(st.sampled_from(" 0+\"'<>/&{}[],:\n\tealic"), max_size=4),
    )
    def changed(place: int, gone: int, text: str) -> None:
        other = whole[:place] + text + whole[place + gone :]
        path.write_text(other, encoding="utf-8")
        with suppress(FileProblem):  # exit code 2: not published either
            assert bool(problems(path)) == (other != whole)

    changed()


def test_another_encoding_is_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpx")
    text = path.read_text(encoding="utf-8").replace('"UTF-8"', '"utf-16"')
    path.write_bytes(text.encode("utf-16"))
    assert r"byte 1 (line 1) has '\\xff\\xfe<" in problems(path)


def test_the_place_of_a_difference_is_named_escaped_and_cut(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", attribution=None)
    rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    byte = sum(map(len, rows[:6])) + 3
    rows[6] = rows[6][:2] + "\x1b[31m" + "9" * 400 + rows[6][2:]
    path.write_text("".join(rows), encoding="utf-8")
    with pytest.raises(FileProblem, match="as CSV") as raised:
        trajanon.check(path, K)
    assert len(str(raised.value)) < 400
    rows[6] = rows[6].replace("\x1b[31m" + "9" * 400, "")
    rows[6] = rows[6][:2] + "0" * 400 + rows[6][2:]
    path.write_text("".join(rows), encoding="utf-8")
    assert f"byte {byte} (line 7) has '{40 * '0'}' where" in problems(path)
    path.write_text("\x1b" + path.read_text(), encoding="utf-8")
    assert "byte 1 (line 1) has '\\x1bid," in problems(path)


def test_heights_and_missing_numbers_are_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.geojson")
    collection = json.loads(path.read_text(encoding="utf-8"))
    for feature in collection["features"]:
        for point in feature["geometry"]["coordinates"]:
            point.append(667.0)
    path.write_text(json.dumps(collection))
    assert "points have a third number" in problems(path)
    path.write_text(path.read_text().replace("667.0", "NaN"))
    assert "not finite" in problems(path)
    path = written(tmp_path / "r.csv")
    pd.read_csv(path).assign(lat1=np.nan).to_csv(path, index=False)
    assert "not finite" in problems(path)


# Parquet


def by_another_version(path: Path) -> None:
    found = path.read_bytes()
    name = f"parquet-cpp-arrow version {pa.__version__}".encode()
    assert name in found
    path.write_bytes(found.replace(name, name[:-1] + b"X"))


def forged(path: Path, shown: dict[str, str], hidden: dict[str, str]) -> str:
    """Write a release whose metadata of the file and of Arrow's schema differ."""
    table = pq.read_table(written(path))
    members = {key.encode(): value.encode() for key, value in hidden.items()}
    schema = table.schema.with_metadata(table.schema.metadata | members)
    encoded = base64.b64encode(schema.serialize().to_pybytes()).decode()
    with pq.ParquetWriter(
        path, table.schema, store_schema=False, compression="zstd", write_statistics=False
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(table.schema.metadata)
        writer.add_key_value_metadata({"ARROW:schema": encoded, **shown})
    by_another_version(path)
    return problems(path)


def test_metadata_that_a_reader_may_not_show_are_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    assert not forged(path, {}, {})
    assert "file metadata 'ARROW:schema'" in forged(path, {}, {"source": "alice.gpx"})
    assert "file metadata 'source'" in forged(path, {"source": "alice.gpx"}, {})
    assert "file metadata 'geo'" in forged(path, {"geo": "alice"}, {})


@pytest.mark.parametrize("another", [False, True])
def test_a_second_entry_of_metadata_is_found(tmp_path: Path, another: bool) -> None:
    """Readers show one of the two."""
    path = written(tmp_path / "r.parquet")
    found = path.read_bytes()
    begin = len(found) - 8 - int.from_bytes(found[-8:-4], "little")
    three, four = b"\x19\x3c", b"\x19\x4c"  # entries in a list
    head, entries = found[begin:-8].rsplit(three, 1)
    footer = head + four + b"\x18\x03geo\x18\x05alice\x00" + entries
    size = len(footer).to_bytes(4, "little")
    path.write_bytes(found[:begin] + footer + size + b"PAR1")
    if another:
        by_another_version(path)
    shown = pq.read_schema(path).metadata[b"geo"]
    assert (b"alice" in shown) != (b"WKB" in shown)
    assert "file metadata 'geo' is not as trajanon writes it" in problems(path)


def test_what_arrow_may_write_and_we_do_not_is_found(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    table = pq.read_table(written(path))
    lines = table["geometry"].combine_chunks().dictionary_encode()
    ours = {"compression": "zstd", "write_statistics": False}
    for other, says in ((table, ""), (table.set_column(1, "geometry", lines), "column 'geometry'")):
        for another in (False, True):
            pq.write_table(other, path, **ours)
            if another:
                by_another_version(path)
            found = problems(path)
            assert says in found
            assert bool(found) == bool(says)
    pq.write_table(table, path, data_page_version="2.0", **ours)
    assert "where trajanon writes" in problems(path)
    pandas = json.dumps({"attributes": {"of": "/data/alice.gpx"}})
    assert "file metadata 'pandas'" in repacked(path, with_metadata(pandas=pandas))


ANEW: list[dict[str, Any]] = [
    {},
    {"compression": "zstd", "use_dictionary": False, "write_statistics": False},
    {"row_group_size": 7, "write_statistics": ["id", "times.list.element"]},
]


@pytest.mark.parametrize("how", ANEW)
def test_a_release_that_arrow_wrote_again_is_judged_by_its_content(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    path = written_with_times(tmp_path / "r.parquet")
    table = pq.read_table(path)
    pq.write_table(table, path, **how)
    findings = trajanon.check(path, K)
    assert findings.holds, findings.problems
    assert "its unused bytes could not be compared" in findings.claim

    wrong = [[*row[:-1], row[0] - 300] for row in table["times"].to_pylist()]
    pq.write_table(table.set_column(2, "times", pa.array(wrong)), path, **how)
    assert problems(path).startswith("20 of 20 trajectories have times that run back")
    pq.write_table(table.append_column("a.b", table["id"]), path, **how)
    assert "column 'a.b' is not as trajanon writes it" in problems(path)


def test_bytes_between_columns_and_statistics_of_others_are_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.parquet")
    table = pq.read_table(path)
    pq.write_table(table, path, write_page_index=True)
    assert problems(path) == "what stands beside the columns is not as trajanon writes it"

    pq.write_table(table, path)
    found = path.read_bytes()
    greatest = (20).to_bytes(8, "little")  # of the ids
    footer = len(found) - 8 - int.from_bytes(found[-8:-4], "little")
    assert greatest in found[footer:]
    path.write_bytes(found[:footer] + found[footer:].replace(greatest, b"alice\0\0\0"))
    assert problems(path) == "a least or greatest value is not as trajanon writes it"


@pytest.mark.parametrize("suffix", [".parquet", ".gpkg"])
def test_what_could_not_be_compared_is_not_claimed(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"r{suffix}")
    if suffix == ".parquet":
        by_another_version(path)
    else:
        found = path.read_bytes()
        path.write_bytes(found[:96] + (3_007_000).to_bytes(4, "big") + found[100:])
    findings = trajanon.check(path, K)
    assert findings.holds
    assert "its unused bytes could not be compared" in findings.claim
    assert "3007000" in findings.claim or "parquet-cpp" in findings.claim


# GeoPackage


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("UPDATE gpkg_contents SET min_x = -9", "table 'gpkg_contents'"),
        ("UPDATE gpkg_contents SET identifier = 'alice'", "table 'gpkg_contents'"),
        (
            "UPDATE gpkg_contents SET last_change = '2008-05-17T10:00:00.000Z'",
            "table 'gpkg_contents'",
        ),
        ("DELETE FROM rtree_anonymized_geom WHERE id = 3", "table 'rtree_anonymized_geom'"),
        (
            "UPDATE rtree_anonymized_geom SET minx = -9 WHERE id = 3",
            "table 'rtree_anonymized_geom'",
        ),
        (
            "UPDATE gpkg_spatial_ref_sys SET description = 'alice' WHERE srs_id = 0",
            "table 'gpkg_spatial_ref_sys'",
        ),
        (
            "INSERT INTO gpkg_spatial_ref_sys VALUES ('a', 7, 'a', 7, 'a', 'alice')",
            "table 'gpkg_spatial_ref_sys'",
        ),
        ("CREATE TRIGGER alice AFTER INSERT ON anonymized BEGIN SELECT 1; END", "trigger 'alice'"),
        (
            "CREATE TRIGGER rtree_anonymized_geom_alice AFTER INSERT ON anonymized "
            "BEGIN SELECT 'alice'; END",
            "trigger 'rtree_anonymized_geom_alice'",
        ),
        (
            "CREATE TABLE rtree_anonymized_geom_alice (name TEXT)",
            "table 'rtree_anonymized_geom_alice'",
        ),
        ("CREATE VIEW secrets AS SELECT 'alice' AS name", "view 'secrets'"),
        ("CREATE INDEX alice ON anonymized (id)", "index 'alice'"),
        ("UPDATE gpkg_ogr_contents SET feature_count = 9000", "table 'gpkg_ogr_contents'"),
        ("UPDATE sqlite_sequence SET seq = 9000", "table 'sqlite_sequence'"),
        ("INSERT INTO sqlite_sequence VALUES ('alice', 7)", "table 'sqlite_sequence'"),
        (
            "INSERT INTO gpkg_extensions VALUES ('anonymized', NULL, 'alice', 'x', 'read-write')",
            "table 'gpkg_extensions'",
        ),
        (
            "INSERT INTO gpkg_tile_matrix VALUES ('anonymized', 1, 2, 3, 4, 5, 6, 7)",
            "table 'gpkg_tile_matrix'",
        ),
        ("PRAGMA user_version = 7", "where trajanon writes"),
    ],
)
def test_whatever_is_planted_in_a_geopackage_is_found(
    tmp_path: Path, command: str, says: str
) -> None:
    path = written(tmp_path / "r.gpkg")
    run_sql(path, command)
    assert says in problems(path)


def test_comments_in_the_definition_of_a_table_are_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpkg")
    run_sql(
        path,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, '(', '( /* alice */ ') "
        "WHERE name = 'anonymized'",
    )
    assert "table 'anonymized' is not as trajanon writes it" in problems(path)


def test_bytes_that_belong_to_no_row_of_a_geopackage_are_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpkg")
    found = bytearray(path.read_bytes())
    slack = found.rfind(bytes(64))
    found[slack : slack + 5] = b"alice"
    path.write_bytes(found)
    assert "has 'alice" in problems(path)


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
    assert "table 'anonymized'" in problems(path)
