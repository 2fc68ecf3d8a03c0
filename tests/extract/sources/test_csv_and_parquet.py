"""Tables of points: dialects, kinds of values, ids and subjects."""

import bz2
import gzip
import lzma
import math
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from point_tables import ROWS, csv, is_the_two_traces, read
from real_data import REAL, needs_real_data

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import csv_and_parquet
from trajanon.extract.sources.geopackage_and_shapefile import footer_of

TEXT = ROWS.to_csv(index=False)


def parquet(rows: pd.DataFrame) -> bytes:
    pq.write_table(pa.table(rows), stream := pa.BufferOutputStream())
    return bytes(stream.getvalue().to_pybytes())


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


def test_parquet_is_known_by_its_suffix_or_its_first_bytes(tmp_path: Path) -> None:
    for name in ("points.parquet", "points.geoparquet", "points.pq"):
        ROWS.to_parquet(tmp_path / name, row_group_size=1)
        assert is_the_two_traces(read(tmp_path / name))


@pytest.mark.parametrize(
    "table",
    [
        *(ROWS.assign(lat=ROWS["lat"].astype(k)) for k in ("float32", "string", "category")),
        ROWS.assign(lat=ROWS["lat"].map(Decimal)),
        *(ROWS.assign(id=ROWS["id"].astype(k)) for k in ("category", "string", "object")),
        *(ROWS.set_index(role) for role in ("id", "lat")),
    ],
)
def test_columns_of_parquet_may_be_of_any_kind(tmp_path: Path, table: pd.DataFrame) -> None:
    path = tmp_path / "points.parquet"
    table.to_parquet(path)
    assert is_the_two_traces(read(path))


def test_columns_of_one_name_or_of_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    columns = [[40.0], [-3.0], ["a"], ["b"]]
    pq.write_table(pa.table(columns, names=["lat", "lon", "id", "id"]), path)
    with pytest.raises(BadInput, match="has two columns 'id'; rename"):
        read(path)
    ROWS.assign(id=[["a"]] * 4).to_parquet(path)
    with pytest.raises(BadInput, match=r"column 'id' of .* holds lists, not a value a row"):
        read(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # without ids, a subject has a trace
        ("lat,lon,user\n40,-3,ann\n41,-3,bob\n42,-3,ann\n", [("ann", "ann", 2), ("bob", "bob", 1)]),
        ("lat,lon,uid,tid\n40,-3,ann,1\n41,-3,bob,1\n", [("1", "ann", 1), ("1", "bob", 1)]),
        # a gap in the subjects of a trip makes no second person
        (
            "lat,lon,tid,uid\n40,-3,1,ann\n41,-3,2,\n42,-3,3,\n",
            [("1", "ann", 1), ("2", None, 1), ("3", None, 1)],
        ),
        (
            "lat,lon,tid,uid\n1,2,a,ann\n1.1,2,a,\n1.2,2,b, ann \n1.3,2,b,ann\n",
            [("a", "ann", 2), ("b", "ann", 2)],
        ),
        # numbers as they are written, but for 7.0, which a gap makes of 7 in another file
        (
            "lat,lon,id\n40,-3,7\n41,-3,07\n42,-3,7.0\n43,-3,7\n",
            [("points#7", None, 3), ("points#07", None, 1)],
        ),
        # names of programs: scikit-mobility, movingpandas, GDAL; the best comes first
        ("lat,lng,datetime,uid,tid\n40,-3,2008-06-08 07:00:00,1,7\n", [("7", "1", 1)]),
        ("t,x,y,traj_id\n2008-06-08 07:00:00,-3,40,7\n", [("points#7", None, 1)]),
        (
            "x,y,track_fid,track_seg_id\n1,2,0,0\n1,2,0,1\n1,2,1,0\n1,2,0,1\n1,2,,1\n",
            [("points#0/0", None, 1), ("points#0/1", None, 2), ("points#1/0", None, 1)],
        ),
        ("x,y,trip_id,track_fid,track_seg_id\n1,2,a,0,0\n1,2,a,0,1\n", [("points#a", None, 2)]),
        *(
            (f"{name},trajectory,lat,lon\n7,a,40,-3\n7,b,41,-3\n", [("a", "7", 1), ("b", "7", 1)])
            for name in ("driver_id", "Person", "rider_id", "bike_id", "owner")
        ),
        # no row of a trace
        *(
            (text, [])
            for text in (
                "lat,lon,id\n",
                "lat,lon,id",
                "lat,lon,id,time\n1,2,,3\n",
                "lat,lon,uid\n",
                "lat,lon,uid,tid\n1,2,ann,\n",
            )
        ),
    ],
)
def test_ids_and_subjects_make_traces(
    tmp_path: Path, text: str, expected: list[tuple[str, str | None, int]]
) -> None:
    found = read(csv(tmp_path, text))
    assert [(one.name, one.subject, len(one)) for one in found] == expected


@pytest.mark.parametrize(
    ("columns", "ids"),
    [
        ({"taxi": "1131", "when": "2008-02-02 15:36:08", "x_wgs": 116.5, "y_wgs": 39.9},
         {"id": "taxi", "time": "when", "lon": "x_wgs", "lat": "y_wgs"}),
        ({"lat": 116.5, "lon": 39.9, "id": 1131}, {"lat": "lon", "lon": "lat"}),
        ({"1": 1131, "2": 39.9, "3": 116.5}, {"id": "1", "lat": "2", "lon": "3"}),
        ({"lat": 39.9, "lon": 116.5, "id": 7, "trip": 1131, "traj_id": 8}, {"id": "trip"}),
    ],
)  # fmt: skip
def test_any_names_can_be_given(
    tmp_path: Path, columns: dict[str, Any], ids: dict[str, Any]
) -> None:
    path = tmp_path / "points.csv"
    pd.DataFrame(columns, index=[0]).to_csv(path, index=False)
    (one,) = read(path, **ids)
    assert (one.name, one.lat.tolist(), one.lon.tolist()) == ("points#1131", [39.9], [116.5])


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([7.0, math.nan, 8.0, 7.0], {"7": 2, "8": 1}),  # pandas turns them into floats
        ([2**60, 2**60 + 1] * 2, {str(2**60): 2, str(2**60 + 1): 2}),
        (pd.array([2**60, None, 2**60 + 1, 2**60], "Int64"), {str(2**60): 2, str(2**60 + 1): 1}),
        ([b"\xff\x01", b"b", b"\xff\x01", b"b"], {r"\xff": 2, "b": 2}),
    ],
)
def test_ids_of_parquet_are_what_they_were(
    tmp_path: Path, ids: Any, expected: dict[str, int]
) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(id=ids).to_parquet(path)
    found = {one.name.removeprefix("points#"): len(one) for one in read(path)}
    assert found == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("blank.csv", b"\n\n"),
        ("nul.csv", bytes(5000)),
        ("mac.csv", b"lat,lon,id\r40,-3,a\r41,-3,a\r"),
        ("binary.csv", b"\xff\xfe\x00garbage\x00\x01"),
        ("header.csv", "lat,lon,id,años\n1,2,a,3\n".encode("latin-1")),
        ("utf16.csv", "lat,lon,id,años\n1,2,a,3\n".encode("utf-16")),
        ("quote.csv", b'lat,lon,id\n40,-3,"a\n1,2,b\n'),
        ("short.csv", b"lat,lon,id\n1,2\n3,4\n"),
        ("cut.csv.gz", gzip.compress(b"lat,lon,id\n40,-3,a\n" * 99)[:-9]),
        ("empty.parquet", b""),
        ("cut.parquet", b"PAR1" + b"x" * 99),
        ("names.parquet", parquet(ROWS).replace(b"time", b"\x87ime")),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert footer_of(path) == {}  # by which the kind of Parquet is found
    with pytest.raises(FileProblem) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(f"cannot read {path} as a table of points: ")
    assert "\n" not in said
    assert len(said) < 400


def test_coordinates_that_are_projected_or_swapped_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        read(csv(tmp_path, "y,x,id\n4474123,440291,a\n4470456,441777,a\nno,no,a\n"))
    said = str(caught.value)
    assert "lat from 4,470,456 to 4,474,123 and lon from 440,291 to 441,777" in said
    assert "EPSG:4326" in said
    path = csv(tmp_path, "lat,lon,id\n116.5,39.9,a\n116.25,39.8,a\n40,-3,a\n")
    with pytest.raises(BadInput, match=r"seem swapped, with lat from 40 to 116"):
        read(path)


@pytest.mark.parametrize("above", ["", "# 2020, by me\n"])
@pytest.mark.parametrize("columns", [{}, {"lat": "lat"}])
def test_a_table_without_a_line_of_names_says_what_it_lacks(
    tmp_path: Path, above: str, columns: dict[str, Any]
) -> None:
    path = csv(tmp_path, f"{above}1,40.4,-3.7,2020-09-13T12:26:40\n1,40.5,-3.7,\n")
    with pytest.raises(BadInput, match=r"names of its columns, .* such as id,lat,lon,time"):
        read(path, **columns)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("block", [1, 1 << 22])
@pytest.mark.parametrize(
    "text",
    [
        f"# made by hand\n{TEXT}",
        f"#\n\n# of 2020, by me\r\n{TEXT}",
        f"\n# lat, lon, id\n{TEXT}",
        f"# of 2020\n{TEXT}".replace("\n", "\r\r\n"),  # CRLF, written as text by Windows
        f"# of 2020\n#{TEXT}",  # names in the last comment
        f"# of 2020\n# {TEXT}",
        ROWS.to_csv(index_label="#"),
        TEXT.replace("\n", ",\n").replace(",\n", "\n", 1),  # a separator ends each row
        f"sep=,\n{TEXT}",  # Excel's
        f"sep=;\n{ROWS.to_csv(index=False, sep=';')}",
        f"sep=\t\n{ROWS.to_csv(index=False, sep=chr(9))}",
    ],
)
def test_what_stands_above_the_rows_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, block: int, mark: str
) -> None:
    monkeypatch.setattr(csv_and_parquet, "_BYTES_PARSED", block)
    assert is_the_two_traces(read(csv(tmp_path, f"{mark}{text}")))


@pytest.mark.parametrize("above", ["", "# by\rhand\n"])
@pytest.mark.parametrize("row", [1, 3, 4])
def test_a_cr_alone_ends_a_row_and_no_row_is_lost(tmp_path: Path, row: int, above: str) -> None:
    lines = TEXT.splitlines()
    text = "\n".join(lines[: row + 1]) + "\r" + "\n".join(lines[row + 1 :])
    assert is_the_two_traces(read(csv(tmp_path, above + text)))

    with pytest.raises(FileProblem, match="its lines end in CR alone: save it with LF or CRLF"):
        read(csv(tmp_path, above + TEXT.replace("\n", "\r", 1)))


numbers = st.decimals(-90, 90, places=5, allow_nan=False)


@given(
    places=st.lists(
        st.tuples(numbers, numbers), min_size=1, max_size=5
    ),  # of more, points in no order are refused
    separator=st.sampled_from(";\t|,"),
    number=st.sampled_from(["40,5", "north", ""]),
)
def test_decimal_commas_are_read(
    tmp_path_factory: pytest.TempPathFactory,
    places: list[tuple[object, object]],
    separator: str,
    number: str,
) -> None:
    quote = '"' if separator == "," else ""
    rows = [(f"{lat}", f"{lon}") for lat, lon in [*places, (40.5, 1.5)]]
    fields = [["lat", "lon", "id"]]
    for row in rows:
        commas = [f"{quote}{value.replace('.', ',')}{quote}" for value in row]
        fields.append([*commas, "a"])
    fields.append([f'"{number}"', "1", "a"])
    text = "".join(separator.join(row) + "\n" for row in fields)
    (one,) = read(csv(tmp_path_factory.mktemp("t"), text))
    assert one.lat[: len(rows)].tolist() == [float(lat) for lat, _ in rows]
    assert one.lon[: len(rows)].tolist() == [float(lon) for _, lon in rows]
    assert (one.lat[-1] == 40.5) == (number == "40,5")


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


@pytest.mark.parametrize("content", ["", "\ufeff", "\ufeff\n", "\x0b\n", "\x0c", "\0\0\n\0\n"])
def test_a_table_of_nothing_that_shows_is_empty(tmp_path: Path, content: str) -> None:
    with pytest.raises(FileProblem, match="it is empty"):
        read(csv(tmp_path, content))


def test_an_empty_table_ends_no_folder(tmp_path: Path) -> None:
    csv(tmp_path, "\ufeff", "empty.csv")
    csv(tmp_path, TEXT)
    counts = Counter[str]()
    assert len(list(traces(tmp_path, counts=counts))) == 2
    assert counts == {"files that could not be read": 1}


def test_lines_of_zeros_above_the_names_are_blank(tmp_path: Path) -> None:
    assert is_the_two_traces(read(csv(tmp_path, "\0\0\0\n" + TEXT)))


@pytest.mark.parametrize(
    ("ends", "words"), [("\r", "lines end in CR alone"), (" ", "its first line has more than 1 MB")]
)
def test_a_text_without_line_ends_is_refused_however_long_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, words: str
) -> None:
    monkeypatch.setattr(csv_and_parquet, "_BYTES_JUDGED", 60)
    with pytest.raises(FileProblem, match=words):
        read(csv(tmp_path, TEXT.replace("\n", ends)))
