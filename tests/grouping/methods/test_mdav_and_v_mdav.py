"""MDAV, V-MDAV, MD and CBFS, and the records that are left to them."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import problem
from real_data import CLASSIC, reference, toy
from records_left import Some, some_left

import trajanon
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.search_and_release_options import MethodName
from trajanon.grouping import loss
from trajanon.grouping.methods.mdav_and_v_mdav import (
    GAMMAS,
    Remaining,
    cbfs,
    md,
    mdav,
    v_mdav,
    v_mdav_with_gamma,
)

seeds = st.integers(0, 10**6)
sizes = st.integers(2, 40)
ks = st.integers(2, 8)
columns = st.integers(1, 4)
gammas = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0, 1.5, 10.0])


def groups_of(labels: Ints) -> list[set[int]]:
    return [set(np.flatnonzero(labels == g)) for g in range(labels.max() + 1)]


# Published numbers


@pytest.mark.parametrize(
    ("name", "k", "gamma", "il"),
    [
        ("census", 3, 0.0, "5.6619"),
        ("census", 5, 0.0, "9.0070"),
        ("census", 9, 0.0, "13.3368"),
        ("census", 10, 0.0, "14.0730"),
        ("census", 6, 0.5, "10.2666"),
        ("census", 5, 0.2**0.5, "8.9784"),
        ("tarragona", 3, 0.0, "16.9507"),
        ("tarragona", 5, 0.0, "22.8722"),
        ("tarragona", 10, 0.0, "33.2536"),
        ("tarragona", 3, 0.6, "15.8491"),
        ("eia", 10, 1.45, "2.6204"),
    ],
)
def test_v_mdav_gives_the_verified_losses(name: str, k: int, gamma: float, il: str) -> None:
    X = reference(name)
    records = naive.standardise(X)
    labels = v_mdav_with_gamma(problem(records, k), gamma)
    lost = loss.information_loss(loss.sse(records, labels), float((records**2).sum()))
    assert f"{lost:.4f}" == il
    if gamma == 0.0:
        assert np.array_equal(cbfs(problem(records, k)), labels)


def test_v_mdav_without_a_gamma_takes_the_best_of_0_to_2() -> None:
    asked = problem(naive.standardise(reference("tarragona")), 3)
    best = min(loss.sse(asked.records, v_mdav_with_gamma(asked, gamma)) for gamma in GAMMAS)
    assert pytest.approx([i / 20 for i in range(41)]) == GAMMAS
    assert loss.sse(asked.records, v_mdav(asked)) == best
    won = float(asked.log.chosen["gamma"])
    again = problem(asked.records, 3, method="v-mdav", gamma=won)
    assert loss.sse(asked.records, v_mdav(again)) == best
    assert again.log.chosen == {}


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "md", "cbfs"])
def test_swapping_gives_the_printed_groups_of_the_hospital(method: MethodName) -> None:
    X, labels = toy("hospital")
    partition = trajanon.microaggregate(X, 3, method=method, refine="swap")
    assert partition.labels.tolist() == labels.tolist()


# Slow twins


@pytest.mark.parametrize("how", ["v-mdav", "md", "mdav"])
@given(seed=seeds, n=sizes, k=ks, p=columns, gamma=gammas)
def test_groups_are_those_of_the_slow_twin(
    how: str, seed: int, n: int, k: int, p: int, gamma: float
) -> None:
    k = min(k, n)
    records = np.random.default_rng(seed).normal(size=(n, p))
    labels = group(how, records, k, np.arange(n), gamma)
    expected = {
        "v-mdav": lambda: naive.v_mdav(records, k, gamma),
        "md": lambda: naive.md(records, k),
        "mdav": lambda: naive.mdav(records, k),
    }[how]()
    assert groups_of(labels) == expected


# Subjects


def group(how: str, records: Floats, k: int, subjects: Ints, gamma: float) -> Ints:
    if how == "v-mdav":
        return v_mdav_with_gamma(problem(records, k, subjects), gamma)
    return {"mdav": mdav, "md": md, "cbfs": cbfs}[how](problem(records, k, subjects))


@pytest.mark.parametrize("how", ["mdav", "md", "cbfs", "v-mdav"])
@given(
    seed=seeds,
    n=st.integers(2, 60),
    k=st.integers(2, 6),
    others=st.integers(1, 12),
    share=st.floats(0.0, 0.95),
    gamma=gammas,
    grid=st.booleans(),
)
def test_every_group_has_k_subjects_whoever_has_most_records(
    how: str, seed: int, n: int, k: int, others: int, share: float, gamma: float, grid: bool
) -> None:
    rng = np.random.default_rng(seed)
    subjects = renumbered(np.where(rng.random(n) < share, 0, rng.integers(1, others + 1, n)))
    k = min(k, int(subjects.max()) + 1)
    records = rng.normal(size=(n, 2))
    labels = group(how, records.round() if grid else records, k, subjects, gamma)
    assert set(labels.tolist()) == set(range(labels.max() + 1))
    assert naive.holds(labels, subjects, k)


@pytest.mark.parametrize("name", CLASSIC)
def test_mdav_gives_the_published_losses(name: str) -> None:
    X = reference(name)
    assert X.shape == {"tarragona": (834, 13), "census": (1080, 13), "eia": (4092, 11)}[name]
    for k, il in zip(range(3, 11), CLASSIC[name].split(), strict=True):
        partition = trajanon.microaggregate(X, k, method="mdav", refine="none")
        assert f"{partition.information_loss:.4f}" == il


@pytest.mark.parametrize("n", [3, 5, 8, 14])
@pytest.mark.parametrize("far", [0.0, 1.0])
def test_equal_records_are_grouped_in_their_order(n: int, far: float) -> None:
    records = np.zeros((n, 2))
    records[-1, 0] = far
    assert groups_of(mdav(problem(records, 3))) == naive.mdav(records, 3)


def remaining(records: Floats, rows: Ints, subjects: Ints) -> Remaining:
    """Records of which only those rows are left: others have left one by one."""
    left = Remaining(problem(records, 2, subjects))
    for record in np.setdiff1d(np.arange(len(records)), rows):
        left.join(np.array([record]), 0)
    return left


@given(some_left())
def test_the_farthest_is_the_first_of_equals(some: Some) -> None:
    records, rows, random = some
    left = remaining(records, rows, np.arange(len(records)))
    for point in np.array([records[rows[0]], random.normal(size=records.shape[1])]):
        assert left.farthest(point) == naive.farthest(records, rows.tolist(), point)


@given(some_left(), st.integers(1, 8), st.integers(1, 12))
def test_the_nearest_are_the_first_of_each_other_subject(
    some: Some, count: int, people: int
) -> None:
    records, rows, random = some
    subjects = random.integers(0, people, len(records))
    centre = int(random.choice(rows))
    expected = naive.nearest_of_other_subjects(records, rows.tolist(), subjects, centre, count)
    assert remaining(records, rows, subjects).nearest_of_other_subjects(centre, count).tolist() == (
        expected
    )
