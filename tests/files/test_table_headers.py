"""A first line of values is no header: no first person is published as the names of columns."""

from pathlib import Path

import pytest
from commands import Run, names

from trajanon.errors import BadInput
from trajanon.files.numeric_table import read_table

PEOPLE = "34,21000\n41,30500\n29,18000\n55,52000\n47,39000\n38,27000\n62,61000\n"


@pytest.mark.parametrize(
    "command",
    ["microaggregate {} -k 3 --columns all", "bound {} -k 3", "check {} -k 2 --columns all"],
)
def test_a_table_without_a_header_is_refused(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "noheader.csv").write_text(PEOPLE)
    assert run(*command.format("noheader.csv").split()).sentence == (
        "trajanon: noheader.csv has no line with the names of its columns, because its first line "
        "holds '34', as a row does: write one above it, such as age,income; or, if these are "
        "names, begin each with a letter, such as y2019\n"
    )
    assert names(tmp_path) == {"noheader.csv"}


@pytest.mark.parametrize(
    "text",
    [
        "f,34,21000\nm,41,30500\n",
        "f,21000\nf,30500\n",
        "2019-01-02,12\n2019-02-03,15\n",
        "02.01.2019,x\n03.02.2019,y\n",
        "08:30,x\n09:45,y\n",
        "21000\n30500\n",
        "-5,-6\n-7,8\n",
        '"34","21000"\n"41","30500"\n',
        "34,5;21000,0\n41,2;30500,5\n",
        "sep=;\n34;21.000,50\n41;30.500,00\n",
        "\ufeff34\t21000\n41\t30500\n",
        "$1,x\n$2,y\n",
        "34 %|x\n35 %|y\n",
        ",34,21000\n5,41,30500\n",
        "34,34\n41,30500\n",
        "f,NA,NA\nm,34,1\n",
        "f,.\nm,34\n",
        "f,unknown\nm,34\nf,35\n",
        "W-123,x\nB-99,5\nL-7,6\n",
        "ada@b.org,age\nc@d.org,5\ne@f.org,6\n",
        "(500)\n700\n",
        "<5,x\n7,y\n",
        "34 21000\n41 30500\n",
        "34,21000\n",
        "name,2019\na,5\nb,6\n",
        "name,2019,2020\na,5,6\nb,7,8\n",
        "1995,1996,1997\n1990,1991,1995\n1992,1993,1999\n",
        "2019,2020,2025\n5,6,7\n",
        "0,1,2,3\n4,5,6,7\n",
    ],
)
def test_values_in_the_first_line_are_no_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="has no line with the names of its columns"):
        read_table(path)


@pytest.mark.parametrize(
    "text",
    [
        "region,0-14,15-64,65+\na,5,6,7\nb,8,9,10\n",
        "2019-01,2019-02\n5,6\n7,8\n",
        "2019Q1,x1\n5,a\n7,b\n",
        "Na,K\n1,2\n3,4\n",
        "1st_wave,age\n5,6\n7,8\n",
        "%\n1\n2\n",
        "town,age\nWien,5\nGraz,6\n",
    ],
)
def test_names_are_names(tmp_path: Path, text: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(text, encoding="utf-8")
    assert list(read_table(path)) == text.partition("\n")[0].split(",")
