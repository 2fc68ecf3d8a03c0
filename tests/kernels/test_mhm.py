import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import problem

from trajanon.arrays import Floats, Ints
from trajanon.search.hm2 import cut_path, latest_starts

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
    p=st.integers(1, 3),
    k=st.integers(2, 12),
    shift=st.sampled_from([0.0, 1e6]),
    kind=st.sampled_from(["normal", "grid", "equal"]),
)
def test_no_other_cut_of_the_path_loses_less(
    seed: int, n: int, p: int, k: int, shift: float, kind: str
) -> None:
    k = min(k, n)
    rng = np.random.default_rng(seed)
    records = {
        "normal": rng.normal(size=(n, p)),
        "grid": rng.integers(0, 3, (n, p)).astype(float),
        "equal": np.full((n, p), 0.3),
    }[kind] + shift
    labels = cut(records, np.arange(n), k)
    sizes = np.bincount(labels)
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1
    least = naive.least_cut(records, range(n), k)
    assert naive.sse(records, labels) == pytest.approx(least, rel=1e-7, abs=1e-9)


@given(
    seed=seeds,
    n=st.integers(2, 12),
    k=st.integers(2, 5),
    people=st.integers(2, 8),
    shift=st.sampled_from([0.0, 1e6]),
    runs=st.booleans(),
)
def test_with_subjects_no_other_cut_of_the_path_loses_less(
    seed: int, n: int, k: int, people: int, shift: float, runs: bool
) -> None:
    rng = np.random.default_rng(seed)
    subjects = rng.integers(0, people, n)
    if runs:
        subjects.sort()
    k = min(k, len(set(subjects.tolist())))
    records = rng.normal(size=(n, 2)) + shift
    labels = cut(records, subjects, k)
    assert naive.holds(labels, subjects, k)
    least = naive.least_cut(records, subjects.tolist(), k)
    assert naive.sse(records, labels) == pytest.approx(least, rel=1e-7, abs=1e-9)
