"""What means, standard deviations and correlations become."""

import json
from pathlib import Path

import numpy as np
import pytest

from trajanon.tables.table_report import moments
from trajanon.tables.tables import microaggregate_table


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
