"""What k promises: k different people in every group, and enough of them at all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import renumbered
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects, TrajanonError
from trajanon.grouping.k_promise import (
    broken_promises,
    check_enough,
    check_k,
    check_kept,
    member_weights,
    subjects_per_group,
)
from trajanon.trajectories.subjects import Nameless


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_subjects_of_a_group_are_counted_once(pairs: list[tuple[int, int]]) -> None:
    raw = np.array(pairs)
    labels = renumbered(raw[:, 0])
    expected = [len(set(raw[labels == g, 1])) for g in range(labels.max() + 1)]
    assert subjects_per_group(labels, raw[:, 1]).tolist() == expected


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, "4", None, True])
def test_a_k_that_hides_nobody_is_refused(k: Any) -> None:
    with pytest.raises(BadInput, match="k must be"):
        check_k(k)


def test_a_k_of_numpy_becomes_one_of_python() -> None:
    assert type(check_k(np.int32(2))) is int


def test_exactly_k_records_and_k_subjects_are_enough() -> None:
    check_enough(3, 3, 3)
    with pytest.raises(TooFewRecords, match=r"^2 trips cannot form a group of k = 3; lower k or"):
        check_enough(2, 3, unit="trip")
    with pytest.raises(TooFewSubjects, match="come from 2 subjects, and k = 3 needs 3"):
        check_enough(9, 3, 2)


def test_recordings_without_a_name_are_named_as_the_cause_only_where_all_are() -> None:
    for nameless, said in ((Nameless(5, 1), True), (Nameless(5, 2), False), (None, False)):
        with pytest.raises(TooFewSubjects) as refused:
            check_enough(9, 3, 1, "trajectory", nameless)
        assert ("nameless=different" in str(refused.value)) == said


def test_a_group_of_one_subject_too_few_breaks_the_promise() -> None:
    labels, subjects = np.repeat([0, 1], 3), np.array([7, 8, 9, 7, 8, 7])
    check_kept(labels, subjects, 2, "descent")
    assert broken_promises(labels, subjects, 3) == 1
    with pytest.raises(TrajanonError, match="descent left a group of fewer than 3"):
        check_kept(labels, subjects, 3, "descent")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_each_person_counts_as_much_as_any_other_of_a_group(pairs: list[tuple[int, int]]) -> None:
    labels, people = renumbered(np.array(pairs)[:, 0]), np.array(pairs)[:, 1]
    weights = member_weights(labels, people)
    for group in range(labels.max() + 1):
        here = sorted(set(people[labels == group].tolist()))
        shares = [weights[(labels == group) & (people == person)].sum() for person in here]
        assert shares == pytest.approx([1.0 / len(here)] * len(here))
    alone = member_weights(labels, None)
    assert np.bincount(labels, alone) == pytest.approx(1.0)
    assert alone == pytest.approx(1.0 / np.bincount(labels)[labels])
