"""A statistician's file: households with weights, codes, gaps, and decimal commas."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from commands import FAST, Run
from hypothesis import given
from hypothesis import strategies as st

import trajanon
from trajanon.common.errors import BadInput, TooFewRecords
from trajanon.tables.table_columns import AveragesUnclear

MDAV: dict[str, Any] = {"method": "mdav", "refine": "none"}

MEASURES = "income,rent,hours"


def survey(households: int = 60, seed: int = 0) -> pd.DataFrame:
    """Persons in households; the income is their household's, and some rents are missing."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, households)
    household = np.repeat(np.arange(households), sizes)
    n = len(household)
    person = np.concatenate([np.arange(size) + 1 for size in sizes])
    age = np.where(rng.random(n) < 0.1, -99, rng.integers(0, 90, n))
    rent = rng.normal(800, 200, n).round(3)
    return pd.DataFrame(
        {
            "household": household + 1,
            "person": person,
            "region": np.repeat(rng.integers(1, 3, households), sizes),
            "sex": rng.integers(1, 3, n),
            "born": 20240000 - 10_000 * np.abs(age) + 101 + rng.integers(0, 28, n),
            "age": age,
            "income": np.repeat(np.exp(rng.normal(10, 0.5, households)).round(2), sizes),
            "rent": np.where(rng.random(n) < 0.07, np.nan, rent),
            "hours": rng.integers(0, 60, n),
            "weight": np.repeat(rng.gamma(6, 50, households).round(3), sizes),
            "mark": rng.choice(["A", "B"], n),
        }
    )


@pytest.fixture
def german(tmp_path: Path) -> Path:
    path = tmp_path / "survey.csv"
    survey().to_csv(path, index=False, sep=";", decimal=",")
    return path


def cells(path: Path, separator: str = ";") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


def test_the_command_asks_for_columns_and_its_line_works(run: Run, german: Path) -> None:
    said = run("microaggregate", german.name, "-k", 3).sentence
    for reason in (
        "household (like an identifier), person (like an identifier)",
        "region (like a code), sex (like a code)",
        "born (dates such as ",
        "age (-99 in ",
        "weight (like a survey weight)",
    ):
        assert reason in said
    line = "--columns income,rent,hours --keep region,sex --survey-weight weight"
    assert said.endswith(f"name the columns to average: {line}\n")
    answer = run("microaggregate", german.name, "-k", 3, *line.split(), "--missing=drop", *FAST)
    assert answer.code == 0
    with pytest.raises(AveragesUnclear, match=r"such as columns=\['income', 'rent', 'hours'\], k"):
        trajanon.microaggregate_table(german, 3)


def test_a_table_keeps_the_form_of_its_source(run: Run, german: Path) -> None:
    """Kept cells stay as they are written, and means have as many decimals, and a comma."""
    words = ("--columns", MEASURES, "--keep", "all", "--missing", "drop", *FAST)
    answer = run("microaggregate", german.name, "-k", 3, *words)
    assert "Left out" not in answer.out
    source = [row for row in cells(german) if row["rent"]]
    written = cells(Path("microaggregated.csv"))
    assert len(written) == len(source)
    for before, after in zip(source, written, strict=True):
        assert list(after) == list(before)
        for name in before.keys() - set(MEASURES.split(",")):
            assert after[name] == before[name]
        assert after["income"].partition(",")[2].isdigit()
        assert len(after["rent"].partition(",")[2]) == 3
        assert after["hours"].isdigit()
    for file in ("microaggregated.csv", "out.parquet"):
        run("microaggregate", german.name, "-k", 3, *words, "--out", "out.parquet")
        checked = run("check", file, "-k", 3, "--columns", MEASURES)
        assert checked.code == 0
    typed = pd.read_parquet("out.parquet")
    assert typed["weight"].tolist() == [float(row["weight"].replace(",", ".")) for row in source]
    assert typed.dtypes[["hours", "region", "income"]].astype(str).tolist() == [
        "int64",
        "int64",
        "float64",
    ]


def test_types_and_index_of_a_frame_are_kept() -> None:
    frame = pd.DataFrame(
        {
            "n": pd.array([1, 2, None, 9, 7], dtype="Int64"),
            "x": np.array([1.5, 2.5, 9.5, 8.0, 2.0], dtype=np.float32),
            "small": np.array([250, 255, 3, 1, 251], dtype=np.uint8),
            "kind": pd.Categorical(list("abaab")),
        },
        index=list("vwxyz"),
    )
    result = trajanon.microaggregate_table(frame, 2, keep=["kind"], missing="drop", **MDAV)
    assert result.table.dtypes.equals(frame.dtypes)
    assert result.table.index.tolist() == list("vwyz")
    assert result.table["small"].max() <= 255
    assert result.table["kind"].tolist() == list("abab")


def test_a_frame_of_another_library_comes_back_as_one() -> None:
    table = pa.table({"age": [30, 32, 50, 54], "job": ["a", "b", "a", "b"]})
    result = trajanon.microaggregate_table(table, 2, keep=["job"], **MDAV).table
    assert isinstance(result, pa.Table)
    assert result.to_pydict() == {"age": [31, 31, 52, 52], "job": ["a", "b", "a", "b"]}
    assert trajanon.check_table(table, 2, columns=["job"]).holds


@given(seed=st.integers(0, 999), decimals=st.integers(0, 3), how=st.sampled_from([MDAV, {}]))
def test_rounding_costs_what_the_report_says(seed: int, decimals: int, how: dict[str, Any]) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 3, (int(rng.integers(6, 40)), 2)).round(decimals)
    table = pd.DataFrame(values, columns=["a", "b"])
    result = trajanon.microaggregate_table(table, 3, columns=["all"], **how)
    written = result.table.to_numpy()
    assert np.array_equal(written, written.round(decimals))
    assert np.unique(written, axis=0, return_counts=True)[1].min() >= 3
    moved = (written - values) / np.where(
        values.std(axis=0) > 0, values.std(axis=0, ddof=1), np.inf
    )
    lost = 100 * (moved**2).sum() / max((len(values) - 1) * (np.ptp(values, axis=0) > 0).sum(), 1)
    report = result.report
    assert report["information_loss"] == pytest.approx(lost)
    assert report["information_loss"] - report["rounding_loss"] == pytest.approx(
        report["stages"][-1]["information_loss"]
    )
    assert report["rounding_loss"] >= -1e-9


# Households


@pytest.mark.parametrize("missing", ["drop", "keep"])
def test_members_of_a_household_get_one_mean(run: Run, german: Path, missing: str) -> None:
    words = ("microaggregate", german.name, "-k", 3, "--columns", MEASURES, "--missing", missing)
    apart = run(*words, "--subject", "household", *FAST)
    assert "different means in them: --per-subject writes one to all" in apart.out

    together = ("--per-subject", "--group-column", "g", "--subject", "household")
    run(*words, *together, "--keep", "mark", *FAST)
    written = pd.read_csv("microaggregated.csv", sep=";", decimal=",")
    source = survey()
    household = source["household"]
    if missing == "drop":
        household = household[source["rent"].notna()]
    by_household = written.drop(columns="mark").groupby(household.to_numpy())
    assert (by_household.nunique(dropna=False) == 1).all(axis=None)

    # The number is new, and one for each household; k households share each row.
    assert written["g"].nunique() == household.nunique()
    assert sorted(written["g"].unique()) == list(range(1, household.nunique() + 1))
    shared = written.groupby(["income", "hours"])["g"].nunique()
    assert shared.min() >= 3

    checked = ("check", "microaggregated.csv", "--columns", MEASURES, "--subject", "g", "-k")
    holds = run(*checked, 3)
    assert holds.code == 0
    assert "holds for subjects: each of its " in holds.out
    assert "is of at least 3 different g (" in holds.out
    assert "Not checked: mark" in holds.out
    fails = json.loads(run(*checked, 99, "--json").out)
    assert fails["answered"] == "subjects"
    assert not fails["holds"]


def test_numbers_of_households_do_not_tell_their_order() -> None:
    named: dict[str, Any] = {"columns": ["income"], "subject": "household", "group_column": "g"}
    first, second = (
        trajanon.microaggregate_table(survey(), 3, **named, **MDAV).table for _ in range(2)
    )
    assert first["g"].tolist() != second["g"].tolist()
    assert first["income"].tolist() == second["income"].tolist()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"per_subject": True}, "`per_subject` and `group_column` need `subject`"),
        ({"group_column": "g"}, "`per_subject` and `group_column` need `subject`"),
        ({"subject": "household", "group_column": "age"}, "has a column 'age' already"),
        (
            {"subject": "household", "per_subject": True, "strata": ["region", "sex"]},
            "`strata` region, sex differ between the rows of a subject, as in data row",
        ),
    ],
)
def test_households_are_refused_in_one_sentence(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        trajanon.microaggregate_table(survey(), 3, columns=["income"], **options)


# Strata


def test_groups_lie_within_combinations_of_strata(run: Run, german: Path) -> None:
    words = ("--columns", "income,hours", "--strata", "region,sex", "--keep", "region,sex")
    run("microaggregate", german.name, "-k", 3, *words, *FAST)
    written = pd.read_csv("microaggregated.csv", sep=";", decimal=",")
    assert written.groupby(["region", "sex", "income", "hours"]).size().min() >= 3
    with pytest.raises(
        TooFewRecords, match=r"^where column 'region' is '\d' and column 'household' is '\d+', \d"
    ):
        trajanon.microaggregate_table(
            survey(), 3, columns=["income"], strata=["region", "household"]
        )
