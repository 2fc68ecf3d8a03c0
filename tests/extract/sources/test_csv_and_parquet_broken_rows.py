"""Rows that are none, in texts of separated values: counted, and kept out."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from point_tables import csv, names, read

from trajanon.common.errors import FileProblem
from trajanon.extract.sources import csv_and_parquet

HEADER = b"lat,lon,id,note\n"

UNREAD = "rows that could not be read"

GOOD = st.sampled_from(
    [
        b"40.5,-3,a,\n",
        b"41,-3.25,b,x\r\n",
        b'"42","-3","a","quoted, with a comma"\n',
        b'43,-3,b,"a ""word"""\n',
        b'45,-3,a,"two\nlines"\n',
        "46,-3,Café,ñ\n".encode(),
        b"north,-3,a,\n",
    ]
)
BROKEN = st.sampled_from([b"1,2,a\n", b"1\n", b"1,2,a,b,c\r\n"])
EMPTY = st.sampled_from([b"\n", b"\r\n", b"   \n"])

lines = st.lists(
    st.tuples(st.just("good"), GOOD)
    | st.tuples(st.just("broken"), BROKEN)
    | st.tuples(st.just("empty"), EMPTY),
    max_size=12,
)


def rows(path: Path, **how: Any) -> tuple[list[tuple[str, list[str]]], Counter[str]]:
    """The traces of a table, comparable even where a number is none."""
    counts: Counter[str] = Counter()
    found = read(path, counts=counts, **how)
    return [(one.name, [str(lat) for lat in one.lat]) for one in found], counts


@given(text=lines)
@settings(max_examples=25)
def test_good_rows_are_read_and_broken_ones_are_counted(
    tmp_path_factory: pytest.TempPathFactory, text: list[tuple[str, bytes]]
) -> None:
    """Whatever stands among them, and wherever the text is cut into blocks."""
    folder = tmp_path_factory.mktemp("tables")
    good = [b"39,-3,a,\n", *(line for kind, line in text if kind == "good")]
    broken = sum(kind == "broken" for kind, _ in text)
    clean = csv(folder, HEADER + b"".join(good), "points.clean.csv")
    mixed = b"".join([HEADER, good[0], *(line for _, line in text)])
    expected, nothing = rows(clean)
    assert not nothing
    for block in (1, 10**6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_and_parquet, "_BYTES_PARSED", block)
            found, counts = rows(csv(folder, mixed))
        assert found == expected
        assert counts == ({UNREAD: broken} if broken else {})


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("1,2,a", "'1,2,a' has 3 fields where 4 are expected"),
        ("1,2,a,b,c", "'1,2,a,b,c' has 5 fields where 4 are expected"),
    ],
)
def test_the_warning_says_what_is_wrong(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, why: str
) -> None:
    broken = line.encode("latin-1")
    path = csv(tmp_path, b"# one\n" + HEADER + b"1,2,a,b\n\n" + broken + b"\n1\n")
    assert len(read(path)) == 1
    (said,) = caplog.messages
    assert said.startswith(f"2 rows of {path} cannot be read and left out: ")
    assert why in said
    path.write_bytes(HEADER + broken)
    with pytest.raises(FileProblem, match="none of its rows, 1 in all, can be read: '1,2,"):
        read(path)


@pytest.mark.parametrize("end", [b"", b'3,4,"\n'])
def test_a_quote_that_is_never_closed_swallows_no_rows(tmp_path: Path, end: bytes) -> None:
    path = csv(tmp_path, b'lat,lon,id\n1,2,"a\n' + b"2,2,b\n" * 150 + end)
    with pytest.raises(FileProblem, match="has a quote that is never closed"):
        read(path)


def test_a_quote_within_a_value_is_a_letter(tmp_path: Path) -> None:
    found = read(csv(tmp_path, 'lat,lon,id,note\n44,-3,b,5" pipe\n45,-3,a,x\n'))
    assert names(found) == [("points#b", None), ("points#a", None)]


def test_words_for_nothing_are_no_ids(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    found = read(csv(tmp_path, "lat,lon,id\n1,2,NA\n1,2,nan\n1,2,x\n"), counts=counts)
    assert names(found) == [("points#x", None)]
    assert counts == {"points without an id": 2}


def test_one_word_among_numbers_changes_no_digit_of_the_others(tmp_path: Path) -> None:
    digits = ["40.123456789012345", "+41.1", " 42.2 ", "4.33e1", ".5", "-0.1", "7."]
    text = "".join(f"{each},2,a\n" for each in digits)
    (clean,) = read(csv(tmp_path, f"lat,lon,id\n{text}"))
    (mixed,) = read(csv(tmp_path, f"lat,lon,id\n{text}north,2,a\n"))
    assert clean.lat.tolist() == [float(each) for each in digits]
    assert mixed.lat.tolist()[:-1] == clean.lat.tolist()
