"""``trajanon bound``: the loss reached beside one that no groups can undercut."""

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pandas as pd
import pytest
from commands import Run

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.effort_of_the_search import EffortName
from trajanon.tables import table_bound
from trajanon.tables.table_bound import bound_table
from trajanon.trajectories.trajectories import Trajectories


def table(folder: Path, n: int = 10, seed: int = 0) -> Path:
    """Two columns of numbers and one of text."""
    path = folder / "table.csv"
    X = np.random.default_rng(seed).normal(size=(n, 2)) ** 3
    rows = "".join(f"{a!r},{b!r},x\n" for a, b in X.tolist())
    path.write_text(f"a,b,name\n{rows}", encoding="utf-8")
    return path


def numbers(path: Path) -> Any:
    return np.loadtxt(path, delimiter=",", skiprows=1, usecols=(0, 1))


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_best_of_all_partitions_lies_between_bound_and_loss(
    tmp_path: Path, k: int, seed: int
) -> None:
    path = table(tmp_path, 10, seed)
    least = naive.least_sse(naive.standardise(numbers(path)), k)
    found = bound_table(path, k, effort="best")
    lost = 100 * least / (9 * 2)
    assert found["columns"] == ["a", "b"]
    assert found["bound"] <= lost
    assert found["information_loss"] == pytest.approx(lost)
    assert found["gap"] == pytest.approx(100 * (1 - found["bound"] / lost), abs=1e-9)


def test_json_says_it_all(run: Run) -> None:
    answer = run("bound", table(Path()), "-k", 3, "--effort", "balanced", "--json")
    account = json.loads(answer.out)
    assert answer.code == 0
    assert [account[name] for name in ("n", "k", "columns")] == [10, 3, ["a", "b"]]
    assert 0.0 < account["bound"] <= account["information_loss"]
    reached = account["information_loss"]
    assert account["gap"] == pytest.approx(100 * (1 - account["bound"] / reached))
    assert account["certified"] is True
    assert account["stopped"] is False
    names = [stage["name"] for stage in account["stages"]]
    assert names == ["path", "MHM", "descent", "annealing"]


def least_of_a_table(X: Floats, weights: Floats, k: int) -> float:
    """The least loss of all partitions, percent: too few values of a column are not written."""
    there = ~np.isnan(X)
    held = there * weights[:, None]
    mean = np.nansum(held * X, axis=0) / held.sum(axis=0)
    spread = np.nansum(held * (X - mean) ** 2, axis=0)
    spread *= there.sum(axis=0) / (there.sum(axis=0) - 1) / held.sum(axis=0)
    weight = weights / weights.mean()

    def lost(members: list[int]) -> float:
        total = 0.0
        for column, values in enumerate(X[members].T):
            present = ~np.isnan(values)
            own = weight[members][present]
            value = values[present]
            centre = np.average(value, weights=own) if present.sum() >= k else mean[column]
            total += (own * (value - centre) ** 2).sum() / spread[column]
        return total

    @cache
    def rest(left: frozenset[int]) -> float:
        if not left:
            return 0.0
        first, *others = sorted(left)
        return min(
            (
                lost([first, *chosen]) + rest(left - {first, *chosen})
                for size in range(k - 1, len(others) + 1)
                for chosen in combinations(others, size)
            ),
            default=np.inf,
        )

    z = np.where(there, (X - mean) / np.sqrt(spread), 0.0)
    return 100 * rest(frozenset(range(len(X)))) / float((weight @ z**2).sum())


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("gaps", [0, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_bound_holds_with_gaps_and_survey_weights(
    k: int, gaps: int, weighted: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 3))
    X[rng.integers(0, 8, gaps), rng.integers(0, 3, gaps)] = np.nan
    weights = rng.gamma(2, 3, 8) if weighted else np.ones(8)
    frame = pd.DataFrame(X, columns=list("abc")).assign(w=weights)
    found = bound_table(
        frame,
        k,
        columns=list("abc"),
        missing="keep",
        survey_weight="w" if weighted else None,
        effort="fast",
    )
    least = least_of_a_table(X, weights, k)
    assert 0.1 * least < found["bound"] <= least * (1 + 1e-9)
    assert found["information_loss"] >= least * (1 - 1e-9)
    assert not found["certified"]


def test_the_screen_says_what_it_means(run: Run) -> None:
    answer = run("bound", table(Path()), "-k", 3, "--effort", "fast", "--columns", "b")
    assert answer.code == 0
    for words in ("Information loss reached", "No grouping can lose less than", "The gap"):
        assert words in answer.out
    assert "Columns: b\n" in answer.out
    assert "not certified: no linear programme" in answer.out
    assert "searching 10 rows for groups and for a bound: some 1 s\n" in answer.err
    answer = run("bound", table(Path()), "-k", 3)
    assert "searching 10 rows for groups and for a bound: some 1 s; --effort" in answer.err
    assert "--effort balanced: 1 s; --effort fast: 1 s" in answer.err
    assert "The bound is certified" in answer.out


def test_one_group_and_equal_rows_need_no_search(tmp_path: Path) -> None:
    one = bound_table(table(tmp_path, 5), 3)
    assert one["certified"]
    assert one["gap"] == pytest.approx(0.0, abs=1e-9)
    equal = tmp_path / "equal.csv"
    equal.write_text("a\n" + "7\n" * 20, encoding="utf-8")
    same = bound_table(equal, 3)
    assert same["gap"] == same["bound"] == same["information_loss"] == 0.0


def test_ctrl_c_in_the_bound_keeps_what_the_search_found(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> trajanon.Bound:
        raise KeyboardInterrupt

    path = table(Path(), 30)
    whole = bound_table(path, 3, effort="balanced")
    monkeypatch.setattr(table_bound, "lower_bound", interrupted)
    found = bound_table(path, 3, effort="balanced")
    assert found["stopped"]
    assert not found["certified"]
    assert 0.0 < found["bound"] <= whole["bound"] + 1e-9
    assert found["information_loss"] == whole["information_loss"]
    answer = run("bound", path, "-k", 3, "--effort", "balanced")
    assert answer.code == 0
    assert "Stopped by Ctrl-C" in answer.out
    assert "not certified" in answer.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["table.csv", "-k", 11], "10 records cannot form a group of k = 11"),
        (["table.csv", "-k", 3, "--columns", "c"], "has no column 'c'"),
        (["table.csv", "-k", 3, "--effort", "x"], "'x' is not one of 'fast', 'balanced', 'best'"),
        (["table.csv", "-k", 3, "--seed", -1], "seed must be a whole number"),
    ],
)
def test_what_cannot_be_bounded_is_refused(run: Run, arguments: list[object], says: str) -> None:
    table(Path())
    assert says in run("bound", *arguments).sentence


@pytest.mark.parametrize("command", ["bound", "microaggregate"])
def test_trajectories_are_no_table_of_numbers(run: Run, madrid: Trajectories, command: str) -> None:
    trajanon.write_trajectories("trajectories.parquet", madrid)
    sentence = run(command, "trajectories.parquet", "-k", 3).sentence
    assert "holds geometries: trajectories go to" in sentence
    assert "trajanon anonymize" in sentence


@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_a_bound_of_strata_is_that_of_all_their_groups(tmp_path: Path, effort: EffortName) -> None:
    """Between the least of all partitions, found one by one, and what the search reached."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(16, 2)) * [1, 40], columns=["a", "b"])
    frame["s"] = [0] * 9 + [1] * 7
    frame.loc[9:, "b"] /= 50
    frame.to_csv(tmp_path / "x.csv", index=False)
    found = bound_table(tmp_path / "x.csv", 2, columns=["a", "b"], strata=["s"], effort=effort)
    standard = naive.standardise(frame[["a", "b"]].to_numpy())
    least = sum(naive.least_sse(standard[frame["s"] == s], 2) for s in (0, 1))
    lost = 100 * least / (standard**2).sum()
    assert found["bound"] <= lost * (1 + 1e-9)
    assert found["information_loss"] >= lost * (1 - 1e-9)
    if effort == "balanced":
        assert found["information_loss"] == pytest.approx(lost)
        assert found["bound"] > 0.9 * lost
