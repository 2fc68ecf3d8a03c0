"""Data sets that are measured: those of the papers are known by their numbers alone."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from real_data import reference

from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.trajectory_files import write_trajectories
from trajanon.tables.papers import datasets
from trajanon.tables.papers.datasets import Dataset, find_datasets, known_as
from trajanon.trajectories.trajectories import Trajectories


def trajectories(n: int) -> Trajectories:
    points = np.random.default_rng(1).uniform(0.0, 1.0, (n, 4, 2))
    return Trajectories(points=points, provenance={})


@pytest.mark.parametrize("name", ["Census", "Tarragona", "EIA"])
def test_the_published_sets_are_known(name: str) -> None:
    assert known_as(reference(name.lower())) == name


def test_of_many_trajectories_the_same_thousand_are_taken(tmp_path: Path) -> None:
    write_trajectories(tmp_path / "few.parquet", trajectories(30))
    write_trajectories(tmp_path / "many.parquet", trajectories(1_300))
    few, many = [read() for read in find_datasets(tmp_path)]
    assert (few.name, few.records.shape) == ("few", (30, 8))
    assert (many.name, many.records.shape) == ("many", (1_000, 8))
    again = find_datasets(tmp_path)[1]()
    assert np.array_equal(again.records, many.records)


def test_one_record_less_or_another_number_is_not_the_published_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = np.random.default_rng(0).normal(size=(30, 2))
    squares = float(((numbers - numbers.mean(axis=0)) ** 2).sum())
    monkeypatch.setitem(datasets.FINGERPRINTS, "Census", (30, 2, squares))
    assert known_as(numbers) == "Census"
    assert known_as(numbers[:, ::-1] + 5.0) == "Census"  # wherever they begin
    assert known_as(numbers[:-1]) is None
    assert known_as(numbers * 1.0001) is None


def test_a_table_of_the_user_is_measured_under_its_own_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=24), "b": rng.normal(size=24), "town": "x"})
    table.to_csv(tmp_path / "mine.csv", index=False)
    (read,) = find_datasets(tmp_path / "mine.csv")
    found = read()
    assert (found.name, found.own, found.published) == ("mine", True, False)
    assert found.records.shape == (24, 2)
    assert found.records.std(axis=0, ddof=1) == pytest.approx([1.0, 1.0])
    assert found.measured_by(["Census"])
    assert not Dataset("EIA", found.records).measured_by(["Census"])


def test_a_run_is_that_of_a_seed_and_its_loss_is_a_percentage() -> None:
    found = Dataset("x", np.array([[-1.0], [-1.0], [1.0], [1.0]]))
    first, again = (found.problem(2, seed=3) for _ in range(2))
    assert first.random.integers(10**9) == again.random.integers(10**9)
    assert first.subjects.tolist() == [0, 1, 2, 3]
    assert found.loss(np.array([0, 0, 1, 1])) == 0.0
    assert found.loss(np.zeros(4, dtype=np.int64)) == 100.0


def test_what_holds_no_data_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="nowhere is not a folder"):
        find_datasets(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="has no data sets"):
        find_datasets(tmp_path)
    (tmp_path / "census.csv").write_text("a,b\n" + "1,2\n3,4\n" * 9)
    (small,) = find_datasets(tmp_path)
    with pytest.raises(BadInput, match="has 18 records, and the tables need 20"):
        small()
