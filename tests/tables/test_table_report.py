"""What a report says of a table: moments, and how likely rows are linked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trajanon.tables.table_report import moments
from trajanon.tables.tables import microaggregate_table

MDAV: dict[str, Any] = {"method": "mdav", "refine": "none"}


def test_moments_are_those_of_the_columns() -> None:
    """Far from zero, where sums of squares would lose all digits."""
    rng = np.random.default_rng(0)
    before = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3)) + [1e9, 0.0, -5.0]
    after = before.copy()
    after[:10] = after[:10].mean(axis=0)
    found = moments(before, after, ["a", "b", "c"])
    for column, name in enumerate("abc"):
        pair = [before[:, column], after[:, column]]
        assert found["mean"][name] == pytest.approx([np.mean(x) for x in pair])
        assert found["sd"][name] == pytest.approx([np.std(x, ddof=1) for x in pair], rel=1e-6)
    changes = []
    for told in found["correlations"]:
        one, other = ("abc".index(name) for name in told["columns"])
        right = [np.corrcoef(x[:, one], x[:, other])[0, 1] for x in (before, after)]
        assert told["correlation"] == pytest.approx(right, rel=1e-6)
        changes.append(abs(right[1] - right[0]))
    assert len(changes) == 3
    assert changes == sorted(changes, reverse=True)


def test_a_constant_column_has_no_correlation(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("a,b,c\n1,5,1\n2,5,8\n8,5,2\n9,5,3\n")
    report = microaggregate_table(path, 2).report
    found = json.loads(json.dumps(report["moments"], allow_nan=False))
    assert found["sd"]["b"] == [0.0, 0.0]
    assert [told["columns"] for told in found["correlations"]] == [["a", "c"]]
    one_group = microaggregate_table(path, 4).report["moments"]
    assert one_group["correlations"] == []
    assert one_group["sd"]["a"] == [pytest.approx(np.std([1, 2, 8, 9], ddof=1)), 0.0]


def test_risk_counts_rows_of_a_person() -> None:
    """Of a group's four rows three are ann's: a row is hers with 3 of 4."""
    table = pd.DataFrame({"who": ["ann"] * 3 + ["bob", "cy", "di"], "a": [1] * 4 + [9, 9]})
    risk = microaggregate_table(table, 2, subject="who", **MDAV).report["risk"]
    assert risk == {
        "linkage_highest": 0.75,
        "linkage_mean": pytest.approx((3 * 0.75 + 0.25 + 2 * 0.5) / 6),
        "near_original": 1.0,
    }


def test_weights_and_gaps_count_in_moments() -> None:
    """A row of weight 2 counts as two rows; a correlation is over rows that have both values."""
    before = np.array([[1.0, 2.0], [2.0, np.nan], [4.0, 3.0], [7.0, 5.0]])
    weights = np.array([1.0, 1.0, 2.0, 1.0])
    found = moments(before, before, ["a", "b"], weights)
    assert found["mean"]["a"] == pytest.approx([np.average(before[:, 0], weights=weights)] * 2)
    assert found["mean"]["b"] == pytest.approx([(2.0 + 2.0 * 3.0 + 5.0) / 4.0] * 2)
    (told,) = found["correlations"]
    assert -1.0 <= told["correlation"][0] == told["correlation"][1] <= 1.0


def test_a_column_without_values_has_no_moments() -> None:
    before = np.array([[1.0, np.nan], [2.0, np.nan]])
    found = moments(before, before, ["a", "b"])
    json.dumps(found, allow_nan=False)
    assert found["correlations"] == []
