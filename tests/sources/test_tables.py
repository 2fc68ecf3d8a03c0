"""Tables of points: dialects, kinds of values, ids and subjects."""

import bz2
import gzip
import lzma
import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from point_tables import ROWS, csv, is_the_two_traces, names, read
from real_data import REAL, needs_real_data

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources import delimited, table_files
from trajanon.extract.sources.formats import FORMATS
from trajanon.extract.sources.streams import Reading


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress, lzma.compress], ids=["plain", "gz", "bz2", "xz"]
)
def test_csv_of_any_dialect_is_read(
    tmp_path: Path, separator: str, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    content = ROWS.to_csv(sep=separator, index=False).encode(encoding)
    assert is_the_two_traces(read(csv(tmp_path, pack(content))))


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_quotes_and_line_endings_make_no_difference(tmp_path: Path, ending: str) -> None:
    lines = ['"id","lat","lon"', '"a, b","40","-3"', "x,41,-3"]
    path = tmp_path / "POINTS.CSV"
    path.write_bytes((ending.join(lines) + ending).encode())
    assert names(read(path)) == [("POINTS#a, b", None), ("POINTS#x", None)]


@pytest.mark.parametrize("suffix", [".parquet", ".geoparquet"])
def test_parquet_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"points{suffix}"
    ROWS.to_parquet(path)
    assert is_the_two_traces(read(path))


def test_parquet_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "points.pq"
    ROWS.to_parquet(path)
    assert is_the_two_traces(read(path))


@pytest.mark.parametrize("kind", ["float32", "float64", "string", "category", "decimal"])
def test_coordinates_may_be_of_any_kind(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "points.parquet"
    values = ROWS["lat"].map(Decimal) if kind == "decimal" else ROWS["lat"].astype(kind)
    ROWS.assign(lat=values).to_parquet(path)
    assert is_the_two_traces(read(path))


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    columns = [[40.0], [-3.0], ["a"], ["b"]]
    pq.write_table(pa.table(columns, names=["lat", "lon", "id", "id"]), path)
    with pytest.raises(BadInput, match="column 'id' appears more than once"):
        read(path)


def test_a_column_of_lists_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(id=[["a"]] * 4).to_parquet(path)
    with pytest.raises(BadInput, match=r"column 'id' of .* holds list<.*`columns`"):
        read(path)


@pytest.mark.parametrize("role", ["id", "lat"])
def test_a_column_may_be_the_index_of_a_pandas_table(tmp_path: Path, role: str) -> None:
    path = tmp_path / "points.parquet"
    ROWS.set_index(role).to_parquet(path)
    assert is_the_two_traces(read(path))


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_ids_may_be_of_any_kind(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(id=ROWS["id"].astype(kind)).to_parquet(path)
    assert is_the_two_traces(read(path))


def test_a_table_without_ids_has_a_trace_a_subject(tmp_path: Path) -> None:
    text = "lat,lon,user\n40,-3,ann\n41,-3,bob\n42,-3,ann\n"
    found = read(csv(tmp_path, text))
    assert names(found) == [("ann", "ann"), ("bob", "bob")]


def test_equal_ids_of_two_subjects_are_two_traces(tmp_path: Path) -> None:
    text = "lat,lon,uid,tid\n40,-3,ann,1\n41,-3,bob,1\n"
    assert names(read(csv(tmp_path, text))) == [("1", "ann"), ("1", "bob")]


def test_coordinates_that_are_no_numbers_are_nan(tmp_path: Path) -> None:
    text = "lat,lon,id\n40,-3,a\nnorth,-3,a\n,-3,a\n41,-3,a\n"
    (one,) = read(csv(tmp_path, text))
    assert np.isnan(one.lat).tolist() == [False, True, True, False]


@pytest.mark.parametrize("text", ["40.123456789", "4.0123456789e1", " 40.123456789 "])
def test_all_digits_of_a_coordinate_are_read(tmp_path: Path, text: str) -> None:
    (one,) = read(csv(tmp_path, f"lat,lon,id\n{text},-3,a\n"))
    assert one.lat.tolist() == [40.123456789]


def test_rows_without_an_id_are_counted_and_left_out(tmp_path: Path) -> None:
    path = csv(tmp_path, "lat,lon,id\n40,-3,a\n41,-3,\n42,-3,a\n")
    counts: Counter[str] = Counter()
    (one,) = read(path, counts=counts)
    assert one.lat.tolist() == [40, 42]
    assert counts == {"points without an id": 1}


def test_rows_without_a_subject_are_recordings_of_unknown_subjects(tmp_path: Path) -> None:
    found = read(csv(tmp_path, "lat,lon,tid,uid\n40,-3,1,ann\n41,-3,2,\n42,-3,3,\n"))
    assert names(found) == [("1", "ann"), ("2", None), ("3", None)]


def test_numbers_as_ids_are_as_they_are_written(tmp_path: Path) -> None:
    """But for 7.0, which a gap makes of 7 in another file."""
    found = read(csv(tmp_path, "lat,lon,id\n40,-3,7\n41,-3,07\n42,-3,7.0\n43,-3,7\n"))
    assert names(found) == [("points#7", None), ("points#07", None)]


def test_a_gap_among_numeric_ids_changes_none_of_them(tmp_path: Path) -> None:
    """Parquet from pandas turns them into floats: 7.0 is 7 again."""
    path = tmp_path / "points.parquet"
    table = ROWS.assign(id=[7.0, math.nan, 8.0, 7.0])
    table.to_parquet(path)
    assert names(read(path)) == [("points#7", None), ("points#8", None)]


def test_long_numbers_as_ids_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(id=[2**60, 2**60 + 1] * 2).to_parquet(path)
    assert names(read(path)) == [(f"points#{2**60}", None), (f"points#{2**60 + 1}", None)]


def test_ids_may_be_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    names = [b"\xff\x01", b"b", b"\xff\x01", b"b"]
    ROWS.assign(id=names).to_parquet(path)
    assert [len(one) for one in read(path)] == [2, 2]


def test_a_gap_among_long_numbers_does_not_make_them_one(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ids = pd.array([2**60, None, 2**60 + 1, 2**60], "Int64")
    ROWS.assign(id=ids).to_parquet(path)
    assert [(one.name, len(one)) for one in read(path)] == [
        (f"points#{2**60}", 2),
        (f"points#{2**60 + 1}", 1),
    ]


def test_equal_ids_in_two_files_are_two_traces(tmp_path: Path) -> None:
    one = csv(tmp_path, "lat,lon,id\n40,-3,1\n", "one.csv")
    two = csv(tmp_path, "lat,lon,id\n41,-3,1\n", "two.csv")
    found = read(one, two)
    assert len({each.name for each in found}) == 2


def test_equal_ids_of_one_subject_in_two_files_are_one_recording(tmp_path: Path) -> None:
    """As in a table that was cut in two; its pieces are not joined, but share names."""
    one = csv(tmp_path, "lat,lon,tid,uid\n40,-3,1,ann\n", "one.csv")
    two = csv(tmp_path, "lat,lon,tid,uid\n41,-3,1,ann\n", "two.csv")
    assert names(read(one, two)) == [("1", "ann")] * 2


def test_a_gap_in_the_subjects_of_a_trip_makes_no_second_person(tmp_path: Path) -> None:
    text = "lat,lon,tid,uid\n1,2,a,ann\n1.1,2,a,\n1.2,2,b, ann \n1.3,2,b,ann\n"
    found = read(csv(tmp_path, text))
    assert [(one.name, one.subject, len(one)) for one in found] == [
        ("a", "ann", 2),
        ("b", "ann", 2),
    ]


def test_seven_and_seven_point_nought_are_one_person(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("lat,lon,tid,uid\n1,2,a,7\n")
    two.write_text("lat,lon,tid,uid\n1,2,b,7.0\n")
    assert {trace.subject for trace in read(one, two)} == {"7"}


@pytest.mark.parametrize(
    "text",
    [
        "lat,lon,id\n",
        "lat,lon,id",
        "lat,lon,id,time\n1,2,,3\n",
        "lat,lon,uid\n",
        "lat,lon,uid,tid\n1,2,ann,\n",
    ],
)
def test_a_table_without_a_row_of_a_trace_gives_none(tmp_path: Path, text: str) -> None:
    assert read(csv(tmp_path, text)) == []


def test_an_empty_parquet_gives_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ROWS.iloc[:0].to_parquet(path)
    assert read(path) == []


def test_a_separator_at_the_end_of_each_row_shifts_no_column(tmp_path: Path) -> None:
    (one,) = read(csv(tmp_path, "lat,lon,id\n40,-3,a,\n41,-3,a,\n"))
    assert (one.lat.tolist(), one.lon.tolist()) == ([40, 41], [-3, -3])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("blank.csv", b"\n\n"),
        ("binary.csv", b"\xff\xfe\x00garbage\x00\x01"),
        ("latin.csv", b"lat,lon,id\n40,-3,Caf\xe9\n"),
        ("quote.csv", b'lat,lon,id\n40,-3,"a\n'),
        ("short.csv", b"lat,lon,id\n1,2\n3,4\n"),
        ("wide.csv", b"lat,lon,id\n1,2," + b" " * (1 << 25)),
        ("cut.csv.gz", gzip.compress(b"lat,lon,id\n40,-3,a\n" * 99)[:-9]),
        ("flipped.csv.gz", gzip.compress(bytes(range(256)) * 9)[:40] + b"x" * 300),
        ("empty.parquet", b""),
        ("cut.parquet", b"PAR1" + b"x" * 99),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileProblem) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(f"cannot read {path} as a table of points: ")
    assert "\n" not in said
    assert len(said) < 400


def test_progress_is_told_every_byte(tmp_path: Path) -> None:
    path = csv(tmp_path, gzip.compress(ROWS.to_csv(index=False).encode()))
    told: list[int] = []
    list(table_files.read(path, "points", Reading(read=told.append)))
    assert sum(told) == path.stat().st_size


def test_a_long_table_is_read_in_parts_and_is_still_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_BLOCK", 1)
    assert is_the_two_traces(read(csv(tmp_path, ROWS.to_csv(index=False))))
    monkeypatch.setattr(table_files, "_CHUNK", 1)
    ROWS.to_parquet(tmp_path / "points.parquet")
    assert is_the_two_traces(read(tmp_path / "points.parquet"))


@pytest.mark.parametrize(
    ("name", "head", "is_table"),
    [
        ("a.csv", b"what,ever\n1,2\n", True),
        ("a.tsv", b"what\tever\n", True),
        ("a.csv", b"", True),
        ("a.txt", b"\n\nLatitude;Longitude;name\n1;2;a\n", True),
        ("a.txt", b"lng|lat\n", True),
        ("a", b"PAR1\x15\x04", True),
        ("a.parquet", b"", True),
        ("a.txt", b"Start Time\tEnd Time\tTransportation Mode\n", False),
        ("a.txt", b"lat lon\n1 2\n", False),
        ("a.txt", b"", False),
        ("readme.md", b"This holds lat, lon and more", False),
        ("a.pbf", bytes(range(256)), False),
        ("train.csv", b'"TRIP_ID","TAXI_ID","POLYLINE"\n', True),  # after Porto's reader,
    ],
)
def test_a_table_is_known_by_name_or_columns(name: str, head: bytes, is_table: bool) -> None:
    assert FORMATS["table"].looks_like(name, head) is is_table


def test_projected_coordinates_are_refused_with_what_was_seen(tmp_path: Path) -> None:
    text = "y,x,id\n4474123,440291,a\n4470456,441777,a\nno,no,a\n"
    with pytest.raises(BadInput) as caught:
        read(csv(tmp_path, text))
    said = str(caught.value)
    assert "lat from 4,470,000 to 4,474,000 and lon from 440,300 to 441,800" in said
    assert "EPSG:4326" in said


def test_swapped_coordinates_are_refused_with_the_way_out(tmp_path: Path) -> None:
    path = csv(tmp_path, "lat,lon,id\n116.5,39.9,a\n116.25,39.8,a\n40,-3,a\n")
    with pytest.raises(BadInput, match=r"seem swapped, with lat from 40 to 116\.5"):
        read(path)
    found = read(path, lat="lon", lon="lat")
    assert [len(one) for one in found] == [3]


@needs_real_data
@pytest.mark.parametrize(
    ("name", "points", "trips", "cabs"),
    [
        ("cabs_dataset_20080608.parquet", 240_280, 23_830, 496),
        ("cabs_dataset_20080608_0700_0715.csv", 3_814, 643, None),
    ],
)
def test_the_cabs_of_san_francisco_are_read(
    name: str, points: int, trips: int, cabs: int | None
) -> None:
    counts: Counter[str] = Counter()
    found = read(REAL / "sf_cabs" / name, counts=counts)
    assert (sum(map(len, found)), len(found)) == (points, trips)
    assert not counts
    assert all(np.isfinite(one.time).all() for one in found)
    if cabs is not None:
        assert len({one.subject for one in found}) == cabs
