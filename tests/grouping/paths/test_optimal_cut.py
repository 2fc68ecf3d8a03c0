import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import problem

from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.paths.optimal_cut import cut_path, latest_starts

seeds = st.integers(0, 10**6)


def cut(path_records: Floats, subjects: Ints, k: int) -> Ints:
    labels = cut_path(problem(path_records, k, subjects), np.arange(len(path_records)))
    assert (np.diff(labels, prepend=-1) >= 0).all()
    assert labels[0] == 0
    return labels


@given(st.lists(st.integers(0, 4), min_size=1, max_size=15), st.integers(1, 5))
def test_the_latest_start_is_the_naive_one(subjects: list[int], k: int) -> None:
    assert latest_starts(np.array(subjects), k).tolist() == naive.latest_starts(subjects, k)


@given(
    seed=seeds,
    n=st.integers(2, 12),
    k=st.integers(2, 12),
    people=st.none() | st.integers(2, 8),
    shift=st.sampled_from([0.0, 1e6]),
    kind=st.sampled_from(["normal", "grid", "equal"]),
    runs=st.booleans(),
)
def test_no_other_cut_of_the_path_loses_less(
    seed: int, n: int, k: int, people: int | None, shift: float, kind: str, runs: bool
) -> None:
    rng = np.random.default_rng(seed)
    subjects = np.arange(n) if people is None else rng.integers(0, people, n)
    subjects = np.sort(subjects) if runs else subjects
    k, p = min(k, len(set(subjects.tolist()))), int(rng.integers(1, 4))
    records = {
        "normal": rng.normal(size=(n, p)),
        "grid": rng.integers(0, 3, (n, p)).astype(float),
        "equal": np.full((n, p), 0.3),
    }[kind] + shift
    labels = cut(records, subjects, k)
    assert naive.holds(labels, subjects, k)
    if people is None:
        assert np.bincount(labels).max() <= 2 * k - 1
    least = naive.least_cut(records, subjects.tolist(), k)
    assert naive.sse(records, labels) == pytest.approx(least, rel=1e-7, abs=1e-9)
