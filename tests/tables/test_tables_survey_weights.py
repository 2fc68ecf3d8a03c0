"""Survey weights: weighted means, and the weighted loss."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import FAST, Run

import trajanon
from trajanon.common.errors import BadInput

MDAV: dict[str, Any] = {"method": "mdav", "refine": "none"}


def weighted_table(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Two columns far from zero, with more digits than are rounded, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + np.array([1e7, 0.0])
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": rng.gamma(2, 10, n).round(2)})


def test_means_and_loss_are_weighted() -> None:
    table = weighted_table()
    result = trajanon.microaggregate_table(
        table, 3, columns=["a", "b"], survey_weight="w", keep=["w"], **MDAV
    )
    plain = trajanon.microaggregate_table(table, 3, columns=["a", "b"], **MDAV)
    X = table[["a", "b"]].to_numpy()
    weights = table["w"].to_numpy()
    labels = trajanon.microaggregate(X, 3, **MDAV).labels  # groups are formed without weights
    means = np.array(
        [np.average(X[labels == g], axis=0, weights=weights[labels == g]) for g in labels]
    )
    assert result.table[["a", "b"]].to_numpy() == pytest.approx(means, rel=1e-12)

    centre = np.average(X, axis=0, weights=weights)
    lost = (weights @ (X - means) ** 2) / (weights @ (X - centre) ** 2)
    report = result.report
    assert report["weighted_information_loss"] == pytest.approx(100 * lost.mean(), rel=1e-6)
    assert report["information_loss"] > plain.report["information_loss"]
    before, after = report["moments"]["mean"]["b"]
    assert before == pytest.approx(centre[1])
    assert after == pytest.approx(before)
    assert plain.report["weighted_information_loss"] is None


def test_weights_are_on_the_screen_and_rows_with_much_weight(run: Run, tmp_path: Path) -> None:
    table = weighted_table(12).round(3)
    table.loc[0, "w"] = 1e6
    table.to_csv(tmp_path / "x.csv", index=False)
    words = ("microaggregate", "x.csv", "-k", 3, "--columns", "a,b", "--survey-weight", "w", *FAST)
    answer = run(*words)
    assert "Weighted by w: " in answer.out
    assert "Weighted means " in answer.out
    assert "in 1 group one row or subject has more than 80 % of the weight" in answer.out
    assert pd.read_csv("microaggregated.csv").columns.tolist() == ["a", "b"]
    assert json.loads(run(*words, "--json").out)["survey_weight"] == "w"


def test_the_weight_of_dropped_rows_is_named(run: Run, tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1.5, 2, 3, None], "w": [1, 1, 1, 2]})
    table.to_csv(tmp_path / "x.csv", index=False)
    words = ("--columns", "a", "--survey-weight", "w", "--missing", "drop")
    said = run("microaggregate", "x.csv", "-k", 3, *words).out
    assert "of the 4 rows of x.csv (a 1); they have 40 % of the survey weights." in said


@pytest.mark.parametrize("weight", ["0", "-1", "x", "inf"])
def test_what_is_no_survey_weight_is_refused(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"a,w\n1,2\n2,{weight}\n3,1\n", encoding="utf-8")
    with pytest.raises(BadInput, match=f"holds '{weight}' in data row 2; a survey weight is a num"):
        trajanon.microaggregate_table(path, 3, survey_weight="w")
    path.write_text("a,w\n1,2\n2,\n3,1\n", encoding="utf-8")
    with pytest.raises(BadInput, match="missing in 1 of the 3 rows"):
        trajanon.microaggregate_table(path, 2, survey_weight="w", missing="keep")
    path.write_text("a;w\n1;5\n2;1,5\n3;1.5\n", encoding="utf-8")
    with pytest.raises(
        BadInput, match=r"holds '1\.5', which may be several numbers: write .*; a survey weig"
    ):
        trajanon.microaggregate_table(path, 2, survey_weight="w")


@pytest.mark.parametrize("weight", ["x", "0"])
def test_weights_are_looked_at_before_rows_are_dropped(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"a,w\n1,{weight}\n2,{weight}\n,{weight}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="in data row 1; a survey weight is a number above 0"):
        trajanon.microaggregate_table(path, 2, survey_weight="w", missing="drop")


def test_a_value_that_is_nearly_the_mean_of_its_column_is_named() -> None:
    """In a group of five the first row has 63 % of the weight, and of those with a b 83 %."""
    table = pd.DataFrame({"a": [1.0] * 5, "b": [1.0, 2, 3, None, None], "w": [10, 1, 1, 2, 2]})
    rows: dict[str, Any] = {"columns": ["a", "b"], "survey_weight": "w", "missing": "keep"}
    said = trajanon.microaggregate_table(table, 3, **rows, **MDAV).report["notices"]
    assert any(
        "in 1 group one row or subject has more than 80 % of the weight" in one for one in said
    )
    table["b"] = [1.0, 2, None, None, None]  # of two values, no mean is written
    said = trajanon.microaggregate_table(table, 3, **rows, **MDAV).report["notices"]
    assert not any("of the weight" in one for one in said)


def test_a_person_with_most_rows_of_a_group_is_named() -> None:
    """A group of four people may be one person's in all but name, with weights and without."""
    table = pd.DataFrame({"a": [100.0] * 97 + [1, 2, 3], "who": list("A" * 97 + "BCD"), "w": 1.0})
    says = "in 1 group one row or subject has more than 80 % of the weight"
    for weight in (None, "w"):
        rows: dict[str, Any] = {"columns": ["a"], "subject": "who", "survey_weight": weight}
        report = trajanon.microaggregate_table(table, 4, **rows).report
        assert any(says in notice for notice in report["notices"])
        alone = trajanon.microaggregate_table(table, 4, **rows, per_subject=True).report
        assert not any(says in notice for notice in alone["notices"])
