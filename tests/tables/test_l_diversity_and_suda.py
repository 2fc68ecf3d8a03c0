"""l-diversity and special uniques, by hand and beside slow twins."""

import json
from itertools import combinations
from math import exp, factorial, log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run
from hypothesis import given
from hypothesis import strategies as st

import trajanon
from trajanon.common.errors import BadInput
from trajanon.tables import l_diversity_and_suda
from trajanon.tables.l_diversity_and_suda import diversity, special_uniques

Cells = list[list[int]]


def naive_minimal_sets(cells: Cells) -> dict[int, list[tuple[int, ...]]]:
    """Find the minimal sample uniques of each row, by their definition."""
    places = range(len(cells[0]))
    every = [s for size in range(1, len(places) + 1) for s in combinations(places, size)]

    def is_unique(row: list[int], columns: tuple[int, ...]) -> bool:
        return sum(all(other[c] == row[c] for c in columns) for other in cells) == 1

    minimal = {}
    for number, row in enumerate(cells):
        unique = [set(columns) for columns in every if is_unique(row, columns)]
        minimal[number] = [tuple(sorted(s)) for s in unique if not any(t < s for t in unique)]
    return minimal


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 2), min_size=width, max_size=width), min_size=1, max_size=12
    )
)


@given(cells=tables)
def test_scores_are_those_of_the_slow_twin(cells: Cells) -> None:
    names = [f"c{place}" for place in range(len(cells[0]))]
    found = special_uniques(pd.DataFrame(cells, columns=names))
    minimal = naive_minimal_sets(cells)
    scores = {row: sum(factorial(len(names) - len(s)) for s in of) for row, of in minimal.items()}

    assert found.unique == sum(map(bool, minimal.values()))
    everything = [s for of in minimal.values() for s in of]
    for size, count in found.by_size.items():
        assert count == sum(len(s) == size for s in everything)
    assert sum(found.by_size.values()) == len(everything)

    riskiest = sorted((row for row in scores if scores[row]), key=lambda row: -scores[row])[:10]
    assert [risky.row for risky in found.riskiest] == [row + 1 for row in riskiest]
    for risky in found.riskiest:
        assert risky.score == scores[risky.row - 1]
        assert risky.columns == [[names[c] for c in s] for s in minimal[risky.row - 1]]

    for place, name in enumerate(names if everything else []):
        part = sum(factorial(len(names) - len(s)) for s in everything if place in s)
        assert found.contributions[name] == pytest.approx(100.0 * part / sum(scores.values()))


def test_sets_are_as_large_as_the_table_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame(
        {"a": [0, 0, 1, 1, 2], "b": [0, 1, 0, 1, 1], "c": [0, 1, 1, 0, 0], "d": [0, 0, 0, 0, 0]}
    )
    # One column: 2 in a. Two: all pairs of a and b, a and c, b and c but for the rows unique there.
    assert special_uniques(table).largest == 4
    assert special_uniques(table).riskiest[0].score == 6  # 2 alone: 3 * 2 * 1
    monkeypatch.setattr(l_diversity_and_suda, "_MOST_CELLS", 4 * 1_005)  # the sets of one column
    found = special_uniques(table)
    assert (found.unique, found.largest, found.by_size) == (5, 1, {1: 1})
    assert found.riskiest[0].score == 3  # 4 columns - 1, up to sets of one


@given(
    values=st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), min_size=1, max_size=20)
)
def test_diversity_is_that_of_the_slow_twin(values: list[tuple[int, str]]) -> None:
    groups, letters = zip(*values, strict=True)
    found = diversity(np.array(groups), np.array(letters))
    members = [[v for g, v in values if g == group] for group in sorted(set(groups))]
    shares = [[m.count(v) / len(m) for v in set(m)] for m in members]
    assert found.distinct == min(len(set(m)) for m in members)
    assert found.entropy == pytest.approx(min(exp(-sum(p * log(p) for p in s)) for s in shares))
    assert found.disclosed == sum(len(set(m)) == 1 for m in members)


@pytest.mark.parametrize("gaps", [[None, np.nan], ["", " "], [None, pd.NaT]])
def test_all_missing_values_are_one(gaps: list[object]) -> None:
    table = pd.DataFrame({"age": [31, 31], "ill": pd.Series(gaps, dtype=object)})
    found = trajanon.check_table(table, 2, columns=["age"], sensitive=["ill"])
    assert (found.diversity["ill"].distinct, found.diversity["ill"].disclosed) == (1, 1)


@pytest.mark.parametrize(
    "values", [["flu", "Flu", " FLU "], ["1", "1.0", "01"], [1, 1.0, "1"], ["big  toe", "Big toe"]]
)
def test_spellings_of_one_value_hide_nothing(values: list[object]) -> None:
    table = pd.DataFrame({"age": 31, "ill": pd.Series(values, dtype=object)})
    found = trajanon.check_table(table, 2, columns=["age"], sensitive=["ill"])
    assert (found.diversity["ill"].distinct, found.diversity["ill"].disclosed) == (1, 1)


def test_blood_groups_are_two() -> None:
    table = pd.DataFrame({"age": 31, "blood": ["A+", "A-"]})
    found = trajanon.check_table(table, 2, columns=["age"], sensitive=["blood"])
    assert found.diversity["blood"].distinct == 2


def test_the_check_prints_both(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "people.csv"
    people = {"age": [31, 31, 52, 52], "sex": list("ffmm"), "ill": list("abcc")}
    pd.DataFrame(people).to_csv(file, index=False)

    answer = run("check", str(file), "-k", "2", "--columns", "age,sex,sensitive=ill")
    assert answer.code == 0
    assert answer.out.splitlines()[1] == (
        "ill: at least 1 value in each group (distinct l = 1, entropy l = 1.00); 1 group has one "
        "value alone, which k rows do not hide"
    )

    answer = run("check", str(file), "-k", "2", "--columns", "all")
    assert answer.code == 1
    assert "row 1 is unique in ill (SUDA score 2)" in answer.out
    answer = run("check", str(file), "-k", "2", "--columns", "all,sensitive=ill", "--json")
    account = json.loads(answer.out)
    assert account["diversity"] == {"ill": {"distinct": 1, "entropy": 1.0, "disclosed": 1}}
    assert (account["uniques"]["unique"], account["others"]) == (0, [])


def test_a_sensitive_column_is_none_of_those_that_identify(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    pd.DataFrame({"age": [31, 31], "ill": ["a", "b"]}).to_csv(file, index=False)
    with pytest.raises(BadInput, match=r"column .age. of .* is named twice"):
        trajanon.check_table(file, 2, columns=["age"], sensitive=["age"])
    with pytest.raises(BadInput, match="has no column 'x'"):
        trajanon.check_table(file, 2, columns=["age"], sensitive=["x"])
    with pytest.raises(BadInput, match="must be a list of names"):
        trajanon.check_table(file, 2, columns=["age"], sensitive="ill")
