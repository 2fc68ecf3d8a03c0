import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import problem
from real_data import CLASSIC, reference

import trajanon
from trajanon._kernels.far_records import farthest, nearest_centroid
from trajanon.partition import dense
from trajanon.search.distance_methods import mdav

seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("name", CLASSIC)
def test_mdav_gives_the_published_losses(name: str) -> None:
    X = reference(name)
    assert X.shape == {"tarragona": (834, 13), "census": (1080, 13), "eia": (4092, 11)}[name]
    for k, il in zip(range(3, 11), CLASSIC[name].split(), strict=True):
        partition = trajanon.microaggregate(X, k, method="mdav", refine="none")
        assert f"{partition.information_loss:.4f}" == il


@pytest.mark.parametrize("name", ["tarragona", "census"])
@pytest.mark.parametrize("k", [3, 5])
def test_hm2_loses_less_than_mdav_on_the_reference_data(name: str, k: int) -> None:
    X = reference(name)
    hm2 = trajanon.microaggregate(X, k, refine="none")
    mdav = trajanon.microaggregate(X, k, method="mdav", refine="none")
    assert hm2.information_loss < mdav.information_loss


@given(seed=seeds, n=st.integers(2, 40), k=st.integers(2, 8), p=st.integers(1, 4))
def test_mdav_groups_as_its_slow_twin(seed: int, n: int, k: int, p: int) -> None:
    k = min(k, n)
    records = np.random.default_rng(seed).normal(size=(n, p))
    labels = mdav(problem(records, k))
    groups = [set(np.flatnonzero(labels == g)) for g in range(labels.max() + 1)]
    assert groups == naive.mdav(records, k)


@given(seed=seeds, n=st.integers(1, 12))
def test_the_loops_of_mdav_are_their_slow_twins(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 2))
    remaining = np.flatnonzero(rng.random(n) < 0.7)
    if not len(remaining):
        remaining = np.arange(n)
    point = rng.normal(size=2)
    assert farthest(records, remaining, point) == naive.farthest(records, remaining.tolist(), point)
    assert nearest_centroid(point, records) == naive.nearest_centroid(point, records)


def test_the_first_of_equals_is_the_farthest_and_the_nearest() -> None:
    records = np.array([[1.0], [5.0], [5.0], [1.0]])
    assert farthest(records, np.arange(4), np.zeros(1)) == 1
    assert nearest_centroid(np.zeros(1), records) == 0


@given(
    seed=seeds,
    n=st.integers(2, 60),
    k=st.integers(2, 6),
    others=st.integers(1, 12),
    share=st.floats(0.0, 0.95),
)
def test_one_subject_with_most_of_the_records_stays_among_k(
    seed: int, n: int, k: int, others: int, share: float
) -> None:
    rng = np.random.default_rng(seed)
    subjects = np.where(rng.random(n) < share, 0, rng.integers(1, others + 1, n))
    subjects = dense(subjects)
    k = min(k, int(subjects.max()) + 1)
    labels = mdav(problem(rng.normal(size=(n, 2)), k, subjects))
    assert labels.min() == 0
    assert naive.holds(labels, subjects, k)
