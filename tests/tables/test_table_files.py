"""Tables as they are read: their names, separators and cells, from files, addresses and frames."""

from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest
from commands import Run, names

from trajanon.common.errors import BadInput, FileProblem, TrajanonError
from trajanon.tables.table_check import check_table
from trajanon.tables.table_files import read_table
from trajanon.tables.tables import microaggregate_table


@pytest.mark.parametrize(
    "command",
    ["microaggregate {} -k 3 --columns all", "bound {} -k 3", "check {} -k 2 --columns all"],
)
def test_a_table_without_a_header_is_refused(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "noheader.csv").write_text("34,21000\n41,30500\n29,18000\n55,52000\n")
    assert run(*command.format("noheader.csv").split()).sentence == (
        "trajanon: noheader.csv has no line with the names of its columns, because its first line "
        "holds '34', as a row does: write one above it, such as age,income; or, if these are "
        "names, begin each with a letter, such as y2019, and write none like a value below it\n"
    )
    assert names(tmp_path) == {"noheader.csv"}


@pytest.mark.parametrize(
    "text",
    [
        "f,34,21000\nm,41,30500\n",
        "f,21000\nf,30500\n",
        "08:30,x\n09:45,y\n",
        '"34","21000"\n"41","30500"\n',
        "sep=;\n34;21.000,50\n41;30.500,00\n",
        "\ufeff34\t21000\n41\t30500\n",
        "34 %|x\n35 %|y\n",
        ",34,21000\n5,41,30500\n",
        "f,NA,NA\nm,34,1\n",
        "f,unknown\nm,34\nf,35\n",
        "W-123,x\nB-99,5\nL-7,6\n",
        "ada@b.org,age\nc@d.org,5\ne@f.org,6\n",
        "<5,x\n7,y\n",
        "34,21000\n",
        "name,2019,2020\na,5,6\nb,7,8\n",
    ],
)
def test_values_in_the_first_line_are_no_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="has no line with the names of its columns"):
        read_table(path)


@pytest.mark.parametrize(
    "text", ["y2019,y2020\n5,6\n7,8\n", "x1,x2\n5,a\n7,b\n", "town,age\nWien,5\nGraz,6\n"]
)
def test_names_are_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    assert list(read_table(path).columns) == text.partition("\n")[0].split(",")


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ([1, 2], True),
        (["1", " 2 ", "3 years"], True),
        (["1", "", ""], True),
        (["1", "b"], False),
        (["", ""], False),
        ([True, False], False),
        (["1_000", "0x10"], False),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), False),
        (pd.Categorical(["1", "2"]), False),
        ([[1], [2]], False),
        (pd.array([1, None], dtype="Int64"), True),
    ],
)
def test_a_column_of_numbers_is_known_by_most_of_its_cells(values: Any, answer: bool) -> None:
    assert read_table(pd.DataFrame({"x": values})).numbers("x").are_most is answer


@pytest.mark.parametrize("text", ["a\n1,250\n980\n", "a\n1,5\n1,5,2\n", "a\n1,5\nx, y\n"])
def test_other_commas_in_a_single_column_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TrajanonError, match=r"may be several numbers|has 2 cells, and the header"):
        microaggregate_table(path, 2)


@pytest.mark.parametrize(
    "text",
    [
        "a b;b;c\n1,5;2;x,y\n2,5;3,25;z\n",
        "sep=;\na b;b;c\n1,5;2;x,y\n2,5;3,25;z\n",
        "a b\tb\tc\n1.5\t2\tx,y\n2.5\t3.25\tz\n",
        '\ufeff"a b","b",c\n1.5,2,"x,y"\n2.5,3.25,z\n',
        '\ufeff"a b", b,c\r\n"1.5", 2e0,"x,y"\r\n+2.5,3.25,z\r\n\r\n',
    ],
)
def test_separator_and_decimal_comma_are_found(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    result = microaggregate_table(path, 2, keep=["c"])
    assert result.table.to_dict("list") == {"a b": [2.0, 2.0], "b": [2.62, 2.62], "c": ["x,y", "z"]}


def test_a_table_is_read_from_a_url() -> None:
    with fsspec.open("memory://tables/in.csv", "w") as file:
        file.write("age,town\n30,a\n32,b\n50,a\n54,b\n")
    result = microaggregate_table("memory://tables/in.csv", 2, keep=["town"])
    assert result.table["age"].tolist() == [31, 31, 52, 52]
    assert check_table("memory://tables/in.csv", 2, columns=["town"]).holds
    with pytest.raises(FileProblem, match="memory://tables/none"):
        check_table("memory://tables/none.csv", 2, columns=["town"])
    with pytest.raises(BadInput, match="does not end like a table"):
        check_table("memory://tables/in.txt", 2, columns=["town"])


def test_a_table_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "in.csv"
    path.write_text("a\n1\n2\n3\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileProblem, match=r"cannot read .*in.csv: Permission denied; name another"):
        microaggregate_table(path, 2)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (pd.DataFrame({"age": []}), "the data frame has a header but no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "the data frame has two columns 'a'"),
        (pd.DataFrame({"age": [1]}, pd.Index([1], name="age")), "two columns 'age'"),
        (pd.DataFrame({"age": [1.0, None]}), "1 of the 2 rows of the data frame"),
    ],
)
def test_a_data_frame_that_is_no_table_is_refused(table: pd.DataFrame, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        microaggregate_table(table, 2)
