"""trajanon microaggregate and bound: any table of numbers."""

import json
import re
import shlex
import subprocess
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FAST, Run, names
from hypothesis import given
from hypothesis import strategies as st

from trajanon.cli.table_commands import rounded_text
from trajanon.common.arrays import Floats
from trajanon.tables import tables
from trajanon.tables.cell_numbers_and_missing import Numbers, number_texts
from trajanon.tables.papers.datasets import COLUMN_SETS

TABLE = "name,income,age,town\n" + "".join(
    f"n{i},{1000 + 7 * i * i},{20 + i},{'AB'[i % 2]}\n" for i in range(9)
)


@pytest.fixture
def table(run: Run, tmp_path: Path) -> Path:
    """A folder with people.csv: a name, two columns of numbers, a town."""
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


def test_a_table_is_microaggregated(run: Run, table: Path) -> None:
    answer = run("microaggregate", "people.csv", "-k", 3)
    assert answer.code == 0
    assert answer.err == ""
    for said in (
        "Columns microaggregated: income, age\n",
        "Groups: 3, of 3 to 3 rows\n",
        "Time for the path, heuristic or-opt: ",
        "Information loss after annealing: ",
        "Chance of linking a row to a person: 33.3 % on average, 33.3 % at most\n",
        "standard deviations shrink by ",
        "Left out, as they hold no numbers: name, town. --keep keeps columns.\n",
        "The rows keep the order of people.csv: anyone who knows that order can find",
        "k counts rows: if one person or company can have several rows, name its column",
    ):
        assert said in answer.out, said
    assert "kept as they are" not in answer.out
    assert answer.out.endswith("Wrote 9 rows to microaggregated.csv.\n")
    assert names(table) == {"people.csv", "microaggregated.csv"}
    lines = (table / "microaggregated.csv").read_text().splitlines()
    assert lines[0] == "income,age"
    assert lines[1:] == [line for line in lines[1::3] for _ in range(3)]
    assert (table / "people.csv").read_text() == TABLE


def test_a_method_has_its_own_parameters(run: Run, table: Path) -> None:
    alone = ("microaggregate", "people.csv", "-k", 3, "--refine", "none")
    answer = run(*alone, "--method", "v-mdav")
    (gamma,) = re.findall(r"after v-mdav, gamma (\S+): ", answer.out)
    again = run(*alone, "--method", "v-mdav", "--gamma", gamma, "--out", "again.csv")
    assert "after v-mdav: " in again.out
    assert Path("again.csv").read_bytes() == Path("microaggregated.csv").read_bytes()
    refused = run(*alone, "--no-exchange-first").sentence
    assert "--exchange-first needs --method decomposition: choose that, or leave out" in refused
    shown = run("microaggregate", "--help").out
    for title in ("--method v-mdav:\n  --gamma", "--compression 2 or more:\n  --compress-by"):
        assert f"Only with {title}" in shown


def test_columns_of_the_papers_have_a_name(run: Run, table: Path) -> None:
    """Of EIA's 15 they used 11, which the printed losses show."""
    names = COLUMN_SETS["eia:papers"]
    assert len(names) == 11
    rows = np.random.default_rng(0).integers(0, 99, (9, 13))
    pd.DataFrame(rows, columns=[*names, "YEAR", "MONTH"]).to_csv("eia.csv", index=False)
    for command in ("microaggregate", "bound"):
        answer = run(command, "eia.csv", "-k", 3, "--columns", "eia:papers", "--json")
        assert json.loads(answer.out)["columns"] == names


def test_a_subject_is_counted_and_not_written(run: Run, table: Path) -> None:
    answer = run("microaggregate", "people.csv", "-k", 2, "--subject", "town", *FAST)
    assert "Left out, as they hold no numbers: name. " in answer.out
    assert pd.read_csv("microaggregated.csv").columns.tolist() == ["income", "age"]
    assert "k counts rows" not in answer.out


def test_names_of_columns_are_printed_as_they_are(run: Run, table: Path) -> None:
    (table / "odd.csv").write_text('"a[red]a[/red], b",b[bold],c:c:\n1,2,3\n1,2,3\n')
    answer = run("microaggregate", "odd.csv", "-k", 2, "--columns", '"a[red]a[/red], b",b[bold]')
    assert "Columns microaggregated: a[red]a[/red], b, b[bold]\n" in answer.out
    assert "Left out" not in answer.out  # who names columns leaves out the others


def test_json_of_a_table_is_all_that_a_script_sees(run: Run, table: Path) -> None:
    answer = run("microaggregate", "people.csv", "-k", 3, "--keep", "all", "--json", *FAST)
    assert answer.err == ""
    report = json.loads(answer.out)
    loss = report.pop("information_loss") - report.pop("rounding_loss")
    assert loss == pytest.approx(report["stages"][-1]["information_loss"])
    assert [stage["name"] for stage in report.pop("stages")] == ["mdav"]
    assert "kept as they are: name, town" in report.pop("notices")[0]
    assert list(report.pop("loss_by_column")) == ["income", "age"]
    assert list(report.pop("moments")) == ["mean", "sd", "correlations"]
    risk = report.pop("risk")
    assert risk.pop("near_original") < 1.0
    assert risk == {"linkage_highest": 1 / 3, "linkage_mean": pytest.approx(1 / 3)}
    assert report == {
        "n": 9,
        "k": 3,
        "counted": "rows",
        "columns": ["income", "age"],
        "kept": ["name", "town"],
        "dropped": [],
        "strata": [],
        "importance": None,
        "survey_weight": None,
        "weighted_information_loss": None,
        "per_subject": False,
        "group_column": None,
        "suppressed": 0,
        "groups": 3,
        "sizes": {"min": 3, "max": 3},
        "stopped": False,
        "out": "microaggregated.csv",
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "file"),
        (["people.csv"], "'-k'"),
        (["people.csv", "-k", "3", "--subject", "town"], "come from 2 subjects"),
        (["people.csv", "-k", "3", "--columns", "a\nb"], "as column names between"),
        (["people.csv", "-k", "3", "--out", "a.txt"], "choose one of .csv, .parquet"),
        (["people.csv", "-k", "3", "--columns", "town"], "column 'town' of people.csv"),
        (["people.csv", "-k", "3", "--missing", "skip"], "is not one of 'refuse', 'drop', 'keep'"),
        (
            ["people.csv", "-k", "3", "--strata", "age"],
            "where column 'age' is '20', 1 record cannot form a group of k = 3; lower k",
        ),
        (
            ["people.csv", "-k", "2", "--strata", "town", "--subject", "town"],
            "column 'town' is named in both --subject and --strata",
        ),
        (["people.csv", "-k", "3", "--subjects-exact"], "--subjects-exact is for --subject"),
        (["none.csv", "-k", "3"], "there is no none.csv; name a table that ends in"),
        (["folder.csv", "-k", "3"], "folder.csv is a folder; name a file"),
    ],
)
def test_microaggregate_refuses_in_one_sentence(
    run: Run, table: Path, arguments: list[str], says: str
) -> None:
    (table / "folder.csv").mkdir()
    (table / "microaggregated.csv").write_text("old")
    before = names(table)
    assert says in run("microaggregate", *arguments).sentence
    assert names(table) == before
    assert (table / "microaggregated.csv").read_text() == "old"
    assert (table / "people.csv").read_text() == TABLE


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PAR1", "cannot read a.parquet as Parquet"),
        (b"", "a.csv is empty; a table has a header"),
        (b"a,b,a\n1,2,3\n", "a.csv has two columns 'a'; rename one of them"),
        (b",a\n1,2\n", "column 1 of a.csv has no name: name it"),
        (b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, and the header 2"),
        (b"a,b\n1,2\n1\n", "line 3 has 1 cell, and the header 2"),
        (b'a,b\n1,"2\n3,4\n', "cannot read a.csv as a table"),
        (b"a,b\n1,2\n3,\n", "values are missing in 1 of the 2 rows of a.csv (b 1); fill"),
        (b"a,b\n1,2\n,NA\nnan, \n", "values are missing in 2 of the 3 rows of a.csv"),
        (b"a;b\n1,5;2\n2,5;2\n1.23,5;2\n", "holds '1.23,5' in data row 3; what is not a finit"),
        (b"a,b\n1,2\n1,2\n1,2o\n", "column 'b' of a.csv holds '2o' in data row 3"),
        ("a,b\n1,2\n".encode("utf-16"), "save the file as UTF-8"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_sentence(
    run: Run, tmp_path: Path, content: bytes, says: str
) -> None:
    name = "a.parquet" if "a.parquet" in says else "a.csv"
    (tmp_path / name).write_bytes(content)
    assert says in run("microaggregate", name, "-k", 2).sentence
    assert names(tmp_path) == {name}


def test_rows_with_missing_values_are_dropped_if_asked(run: Run, table: Path) -> None:
    rows = TABLE.replace("n3,1063,", "n3,NA,").replace("n5,1175,25", "n5,,")
    (table / "gaps.csv").write_text(rows)
    said = run("microaggregate", "gaps.csv", "-k", 3).sentence
    assert "values are missing in 2 of the 9 rows of gaps.csv (income 2, age" in said
    given = ("gaps.csv", "-k", 3, "--missing", "drop", "--keep", "name", *FAST)
    assert "Rows are dropped: values are missing in 2 of" in run("microaggregate", *given).out
    written = pd.read_csv("microaggregated.csv")
    assert written["name"].tolist() == ["n0", "n1", "n2", "n4", "n6", "n7", "n8"]
    report = json.loads(run("microaggregate", *given, "--json").out)
    assert report["n"] == 7


def test_columns_that_averages_would_spoil_are_asked_for(run: Run, table: Path) -> None:
    rows = ["customerId,zip,pweight,my income"] + [f"{i},{i % 2},1,{i}" for i in range(6)]
    (table / "survey.csv").write_text("\n".join(rows))
    said = run("microaggregate", "survey.csv", "-k", 3, *FAST).sentence
    assert said == (
        "trajanon: survey.csv has columns whose averages may mean nothing: customerId (like an "
        "identifier), zip (like an identifier), pweight (like a survey weight); name the columns "
        "to average: --columns 'my income' --survey-weight pweight\n"
    )
    assert names(table) == {"people.csv", "survey.csv"}
    copied = shlex.split(said.partition("average: ")[2])
    run("microaggregate", "survey.csv", "-k", 3, *copied, *FAST)
    assert pd.read_csv("microaggregated.csv").columns.tolist() == ["my income"]

    run("microaggregate", "survey.csv", "-k", 3, "--keep", "all", *FAST)
    assert pd.read_csv("microaggregated.csv")["pweight"].tolist() == [1] * 6
    run("microaggregate", "survey.csv", "-k", 3, "--columns", "all", *FAST)
    assert len(pd.read_csv("microaggregated.csv").columns) == 4
    rows = ["id,weight"] + [f"{i},{i}" for i in range(6)]
    (table / "survey.csv").write_text("\n".join(rows))
    said = run("microaggregate", "survey.csv", "-k", 3).sentence
    assert said.endswith("(like a survey weight); name the columns to average in --columns\n")


def test_bound_looks_at_the_same_columns_and_rows(run: Run, table: Path) -> None:
    rows = ["w,income"] + [f"1,{i * i}" for i in range(6)] + ["1,"]
    (table / "survey.csv").write_text("\n".join(rows))
    asked = run("bound", "survey.csv", "-k", 3).sentence
    assert asked.endswith("name the columns to average: --columns income --survey-weight w\n")
    named = ("bound", "survey.csv", "-k", 3, "--columns", "income", "--missing")
    assert "values are missing" in run(*named, "refuse").sentence
    kept = json.loads(run(*named, "keep", "--json").out)
    assert (kept["n"], kept["certified"]) == (7, False)
    answer = run(*named, "drop")
    assert answer.code == 0
    assert "dropped: values are missing in 1 of the 7 rows" in answer.err


def test_a_table_is_checked_by_itself(run: Run, table: Path) -> None:
    run("microaggregate", "people.csv", "-k", 3, "--keep", "town", *FAST)
    checked = ("check", "microaggregated.csv", "-k", 3, "--columns")
    answer = run(*checked, "income,age")
    assert answer.code == 0
    assert answer.out == (
        "microaggregated.csv holds for rows: each of its 3 different rows of income, "
        "age occurs at least 3 times (9 in all). Not checked: town. A table does not "
        "show how many people stand behind each.\n"
    )
    answer = run(*checked, "all")
    assert answer.code == 1
    assert answer.out.splitlines()[:3] == [
        "microaggregated.csv must not be published:",
        "- 9 of 9 rows of income, age, town occur fewer than 3 times, the rarest 1",
        "- row 2 is unique in income + town and in age + town (SUDA score 2)",
    ]
    found = json.loads(run(*checked, "town", "--json").out)
    assert (found["holds"], found["smallest"], found["groups"]) == (True, 4, 2)
    assert "columns of a table" in run("check", "microaggregated.csv", "-k", 3).sentence
    assert "has no column 'agee'; its columns" in run(*checked, "agee").sentence
    assert "name the columns" in run(*checked, "").sentence
    assert "different checks" in run(*checked, "age", "--against", "a.csv").sentence


def test_a_row_that_is_too_rare_is_not_written(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the cause: the file is looked at as it was written."""

    def rounds(values: Floats, numbers: Numbers) -> list[str]:
        first, *texts = number_texts(values, numbers)
        return [f"{first}0", *texts]

    monkeypatch.setattr(tables, "number_texts", rounds)
    said = run("microaggregate", "people.csv", "-k", 2).sentence
    assert "occurs 1 times as written, and k is 2" in said
    assert names(table) == {"people.csv"}


def test_a_csv_is_microaggregated_without_libraries_that_take_long_to_load(table: Path) -> None:
    """Half the time of a small command would be pandas, and a fifth scipy, for nothing."""
    program = (
        "import sys; from trajanon.__main__ import app; "
        "app(sys.argv[1:], standalone_mode=False); "
        "print(*sorted({'pandas', 'pyarrow', 'scipy.linalg'} & {*sys.modules}), 'loaded')"
    )
    words = ["microaggregate", str(table / "people.csv"), "-k", "3", *FAST]
    run = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "loaded"


@given(value=st.floats(0, 100))
def test_a_bound_is_written_rounded_down_and_a_loss_up(value: float) -> None:
    low, high = rounded_text(value, ROUND_FLOOR), rounded_text(value, ROUND_CEILING)
    assert Decimal(low) <= Decimal(value) <= Decimal(high)
    assert Decimal(high) - Decimal(low) <= Decimal("0.0001")
