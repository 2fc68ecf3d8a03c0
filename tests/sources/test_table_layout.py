"""What stands above the rows of a text, and how its numbers are written."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from point_tables import ROWS, csv, is_the_two_traces, read

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources import delimited
from trajanon.extract.sources.formats import FORMATS

TEXT = ROWS.to_csv(index=False)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("block", [1, 10, 1 << 22])
@pytest.mark.parametrize(
    "above", ["# made by hand\n", "#\n\n# of 2020, by me\r\n", "\n# lat, lon, id\n"]
)
def test_comments_above_the_names_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, above: str, block: int, mark: str
) -> None:
    monkeypatch.setattr(delimited, "_BLOCK", block)
    monkeypatch.setattr(delimited, "_HEAD", block)
    text = f"{mark}{above}{TEXT}"
    assert FORMATS["table"].looks_like("points.txt", text.encode())
    assert is_the_two_traces(read(csv(tmp_path, text)))


@pytest.mark.parametrize("head", ["#", "# "])
def test_names_may_stand_in_the_last_comment(tmp_path: Path, head: str) -> None:
    text = f"# of 2020\n{head}{TEXT}"
    assert FORMATS["table"].looks_like("points.txt", text.encode())
    assert is_the_two_traces(read(csv(tmp_path, text)))


def test_a_column_may_be_called_by_a_sharp(tmp_path: Path) -> None:
    text = ROWS.to_csv(index_label="#")
    assert is_the_two_traces(read(csv(tmp_path, text)))


def test_the_line_of_excel_says_what_separates(tmp_path: Path) -> None:
    names, rows = ("lat|,,deg;lon;time;id", ROWS.to_csv(sep=";", index=False, header=False))
    path = csv(tmp_path, f"sep=;\r\n{names}\r\n{rows}")
    (one, _) = read(path, lat="lat|,,deg")
    assert one.lat.tolist() == [40, 42]


@pytest.mark.parametrize("said", [";", "\t", ""])
def test_the_line_of_excel_may_say_what_everybody_sees(tmp_path: Path, said: str) -> None:
    text = ROWS.to_csv(sep=said or ",", index=False)
    assert is_the_two_traces(read(csv(tmp_path, f"sep={said}\n{text}")))


def test_a_comment_need_not_be_utf_8(tmp_path: Path) -> None:
    assert is_the_two_traces(read(csv(tmp_path, b"# a\xf1o\n" + TEXT.encode())))


def test_the_line_of_a_broken_row_is_counted_from_the_top(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = csv(tmp_path, "# one\nlat,lon,id\n40,-3,a\n41\n")
    read(path)
    assert f"line 4 of {path} has 1 field where 3 are expected" in caplog.text


@pytest.mark.parametrize("above", ["", "# 2020, by me\n"])
@pytest.mark.parametrize("columns", [{}, {"lat": "lat"}])
def test_a_table_without_a_line_of_names_says_what_it_lacks(
    tmp_path: Path, above: str, columns: dict[str, Any]
) -> None:
    path = csv(tmp_path, f"{above}1,40.4,-3.7,2020-09-13T12:26:40\n1,40.5,-3.7,\n")
    with pytest.raises(BadInput) as caught:
        read(path, **columns)
    assert str(caught.value) == (
        f"{path} has no line with the names of its columns, because its first line "
        "holds numbers: write one above it, such as id,lat,lon,time"
    )


def test_columns_may_have_numbers_for_names(tmp_path: Path) -> None:
    text = "1,2,3\na,40,-3\n"
    (one,) = read(csv(tmp_path, text), id="1", lat="2", lon="3")
    assert one.lat.tolist() == [40]


def test_a_file_of_nul_bytes_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"begins with NUL bytes, .*; copy it again"):
        read(csv(tmp_path, bytes(5000)))


numbers = st.decimals(-90, 90, places=5, allow_nan=False)


@given(
    places=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=9),
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


def test_few_decimal_points_among_commas_are_read_too(tmp_path: Path) -> None:
    text = "lat;lon;id;speed\n40,5;-3,7;a;1.5\n40.25;-3,5;a;1.5\n40,5;-3,7;a;1.5\n"
    (one,) = read(csv(tmp_path, text))
    assert one.lat.tolist() == [40.5, 40.25, 40.5]


def test_a_comma_in_a_note_makes_no_decimal_comma(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    text = "lat;lon;id;note\n40.5;-3.7;a;1,5\n40.25;-3.5;a;\n"
    (one,) = read(csv(tmp_path, text), counts=counts)
    assert one.lat.tolist() == [40.5, 40.25]
    assert not counts
