"""Groups of rows, or of subjects, within strata."""

from dataclasses import replace
from typing import Any

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, TooFewRecords
from trajanon.common.parameters_of_single_methods import MicroaggregateKeywords
from trajanon.grouping.microaggregation import microaggregate
from trajanon.tables import table_groups as module
from trajanon.tables.averages import Units
from trajanon.tables.table_columns import Roles, TableColumns, read_table_columns
from trajanon.tables.table_groups import Search, grouped, importance_within, strata_of

MDAV: MicroaggregateKeywords = {"method": "mdav", "refine": "none"}


def read(*strata: str, **columns: list[Any]) -> TableColumns:
    return read_table_columns(pd.DataFrame(columns), Roles(columns=["a"], strata=strata))


def rows(records: Floats) -> Units:
    n = len(records)
    return Units(records, np.arange(n), np.arange(n), None)


def test_strata_are_the_combinations_that_occur_in_their_order() -> None:
    table = read("town", "sex", a=[1, 2, 3, 4], town=["B", "A", "B", "A"], sex=[1, 1, 2, 1])
    found = strata_of(table, rows(table.records))
    assert [(stratum.name, stratum.units.tolist()) for stratum in found] == [
        ("column 'town' is 'B' and column 'sex' is '1'", [0]),
        ("column 'town' is 'A' and column 'sex' is '1'", [1, 3]),
        ("column 'town' is 'B' and column 'sex' is '2'", [2]),
    ]


def test_without_strata_all_are_one() -> None:
    table = read(a=[1, 2, 3])
    ((name, units),) = strata_of(table, rows(table.records))
    assert name == ""
    assert units.tolist() == [0, 1, 2]


def test_a_subject_in_two_strata_is_refused_by_its_row() -> None:
    table = read("town", a=[1, 2, 3, 4], town=["A", "B", "B", "A"])
    by_subject = Units(np.zeros((2, 1)), np.arange(2), np.array([0, 1, 1, 1]), None)
    with pytest.raises(BadInput, match="differ between the rows of a subject, as in data row 4"):
        strata_of(table, by_subject)


def test_no_group_is_in_two_strata() -> None:
    rng = np.random.default_rng(0)
    table = read("town", a=rng.normal(size=30).tolist(), town=list("AABAB" * 6))
    units = rows(table.records)
    labels = grouped(units, strata_of(table, units), Search(3, None, MDAV)).labels
    assert naive.holds(labels, None, 3)
    towns = pd.Series(table.cells("town")).groupby(labels).nunique()
    assert towns.max() == 1


def test_a_stratum_of_too_few_is_named() -> None:
    table = read("town", a=[1, 2, 3, 4, 5], town=list("AAABB"))
    units = rows(table.records)
    with pytest.raises(TooFewRecords, match=r"^where column 'town' is 'B', 2 records cannot form"):
        grouped(units, strata_of(table, units), Search(3, None, MDAV))


def test_after_ctrl_c_the_strata_that_are_left_are_searched_fast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    efforts = []

    def stopped(*arguments: Any, **options: Any) -> Any:
        efforts.append(options.get("effort"))
        options |= {"method": "mdav", "refine": "none"}
        return replace(microaggregate(*arguments, **options), stopped=len(efforts) == 1)

    monkeypatch.setattr(module, "microaggregate", stopped)
    table = read("town", a=list(range(9)), town=list("AAABBBCCC"))
    units = rows(table.records)
    found = grouped(units, strata_of(table, units), Search(3, None, {"effort": "best"}))
    assert found.stopped
    assert efforts == ["best", "fast", "fast"]


@given(seed=st.integers(0, 10**6), n=st.integers(4, 20))
def test_weights_of_a_stratum_count_losses_of_the_whole_table(seed: int, n: int) -> None:
    """Its records are standardised anew for the search, by deviations of their own."""
    rng = np.random.default_rng(seed)
    standard = rng.normal(size=(n, 3)) * [1.0, 0.2, 5.0] + [0.0, 4.0, 1.0]
    weights, unit = importance_within(standard)
    assert weights is not None
    assert weights.max() == 1.0
    labels = np.arange(n) // 2
    within = naive.standardise(standard) * np.sqrt(weights)
    assert naive.sse(within, labels) * unit == pytest.approx(naive.sse(standard, labels))


def test_a_stratum_of_equal_records_needs_no_weights() -> None:
    assert importance_within(np.full((5, 2), 0.1)) == (None, 0.0)
