"""Whether k holds in a table, counted by what is written."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import trajanon
from trajanon.common.errors import BadInput
from trajanon.tables.table_check import check_table


def test_two_ways_to_write_a_number_make_two_rows(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("a,b,c\n0.1,0.0,x\n0.10,0.0,y\n0.1,0.0,z\n0.1,-0.0,x\n")
    for name in "ab":
        found = check_table(path, 2, columns=[name])
        assert (found.groups, found.smallest, found.rare) == (2, 1, 1)


def test_k_counts_subjects_in_the_check_and_not_their_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame({"g": [1, 1, 1, 2, 3, 4], "a": [5, 5, 5, 7, 7, 7]})
    assert trajanon.check_table(frame, 3, columns=["a"]).holds
    found = trajanon.check_table(frame, 3, columns=["all"], subject="g")
    assert (found.columns, found.smallest, found.rare, found.counted) == (["a"], 1, 3, "subjects")


PEOPLE = pd.DataFrame(
    {
        "age": [31, 31, 52, 52, 52],
        "ill": ["Flu", "flu ", "none", "cold", "none"],
        "who": ["ann", "ANN", "bob", "cy", "di"],
        "note": list("abcde"),
    }
)


def test_a_missing_value_may_be_any() -> None:
    table = pd.DataFrame({"a": [1.0, 1.0, np.nan, 2.0], "b": [5, 5, 5, 5]})
    found = check_table(table, 2, columns=["a", "b"])
    assert (found.rows, found.groups, found.incomplete) == (4, 3, 1)
    assert (found.smallest, found.rare, found.holds) == (1, 1, False)
    assert bool(found) is False


def test_all_columns_leave_out_the_sensitive_ones_and_the_subject() -> None:
    found = check_table(PEOPLE, 2, columns=["all"], sensitive=["ill"], subject="who")
    assert found.columns == ["age", "note"]
    assert found.others == []
    named = check_table(PEOPLE, 2, columns=["age", "age"], sensitive=["ill"])
    assert (named.columns, named.others) == (["age"], ["who", "note"])
    assert named.holds
    assert named.diversity["ill"].distinct == 1  # Flu and flu are one


@pytest.mark.parametrize(("exact", "smallest"), [(False, 1), (True, 2)])
def test_subjects_are_told_apart_by_letters_only_where_that_is_asked(
    exact: bool, smallest: int
) -> None:
    found = check_table(PEOPLE, 2, columns=["age"], subject="who", subjects_exact=exact)
    assert (found.smallest, found.counted) == (smallest, "subjects")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": []}, "name the columns of the data frame to look at"),
        ({"columns": ["height"]}, "height"),
        ({"columns": ["age"], "sensitive": ["height"]}, "height"),
        ({"columns": ["age", "ill"], "sensitive": ["ill"]}, "column 'ill' .* is named twice"),
        ({"columns": ["who"], "subject": "who"}, "column 'who' .* is named twice"),
        ({"columns": "age"}, "must be a list of names"),
        ({"columns": ["age"], "k": 1}, "a group of 1 hides nobody"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        check_table(PEOPLE, **{"k": 2} | options)


def test_a_row_of_nobody_is_refused_where_subjects_are_counted() -> None:
    table = PEOPLE.assign(who=["ann", None, "bob", "", "di"])
    with pytest.raises(BadInput, match=r"column 'who' .* is empty in 2 rows"):
        check_table(table, 2, columns=["age"], subject="who")
