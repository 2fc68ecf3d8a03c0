"""Records that move to where the mean of people is nearer, by brute force."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive_perturbation import mean_of_people

from trajanon.common.arrays import Floats, Ints
from trajanon.grouping import loss
from trajanon.grouping.k_promise import member_weights, subjects_per_group
from trajanon.grouping.refinements.people import nearer_to_people

seeds = st.integers(0, 10**6)


def lost(records: Floats, labels: Ints, people: Ints) -> float:
    """Sum the squared distances of records to the mean of the people of their group."""
    total = 0.0
    for group in set(labels.tolist()):
        here = labels == group
        away = records[here] - mean_of_people(records[here], people[here].tolist())
        total += float((away**2).sum())
    return total


def in_groups(seed: int, k: int) -> tuple[Floats, Ints, Ints]:
    """Records, their groups of at least k people, and the people, who have several in a group."""
    random = np.random.default_rng(seed)
    groups = int(random.integers(2, 5))
    people = [
        random.choice(6, k + int(random.integers(0, 2)), replace=False) for _ in range(groups)
    ]
    more = [random.choice(who, int(random.integers(0, 5))) for who in people]
    members = [np.concatenate(both) for both in zip(people, more, strict=True)]
    labels = np.repeat(np.arange(groups), [len(who) for who in members])
    return random.normal(size=(len(labels), 2)), labels, np.concatenate(members)


@given(seed=seeds, k=st.integers(2, 4))
def test_no_record_is_nearer_to_the_people_of_another_group(seed: int, k: int) -> None:
    records, before, people = in_groups(seed, k)
    after = nearer_to_people(records, before, people, k)
    assert subjects_per_group(after, people).min() >= k
    least = lost(records, after, people)
    assert least <= lost(records, before, people) + 1e-9
    sizes, held = np.bincount(after), subjects_per_group(after, people)
    for record, group in enumerate(after.tolist()):
        if held[group] == sizes[group]:
            continue  # the search has looked at groups in which each person is once
        for other in range(len(sizes)):
            moved = after.copy()
            moved[record] = other
            if subjects_per_group(moved, people).min() >= k:
                assert lost(records, moved, people) >= least - 1e-6


def test_groups_of_different_people_stay() -> None:
    records, labels = np.random.default_rng(0).normal(size=(12, 3)), np.repeat(np.arange(3), 4)
    assert (
        nearer_to_people(records, labels, np.tile(np.arange(4), 3), 4).tolist() == labels.tolist()
    )


@given(seed=seeds)
def test_means_by_weights_are_means_of_people(seed: int) -> None:
    records, labels, people = in_groups(seed, 3)
    weights = member_weights(labels, people)
    means = loss.group_means(records, labels, weights)
    for group, mean in enumerate(means):
        here = labels == group
        np.testing.assert_allclose(mean, mean_of_people(records[here], people[here].tolist()))
    assert np.isclose(loss.sse(records, labels, weights), lost(records, labels, people))
