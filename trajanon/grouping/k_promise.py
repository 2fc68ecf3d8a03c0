"""What k promises: enough records, and enough different people, in every group.

Each method and refinement keeps k different subjects by itself, in its own way: `mdav_and_v_mdav`
takes the nearest of other subjects, `optimal_cut` cuts where a group has enough, and the moves of
kernels count people. `check_kept` counts again after each step.
"""

from typing import SupportsIndex

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects, TrajanonError
from trajanon.common.number_text import UNITS, number_of
from trajanon.common.search_and_release_options import LEAST_K, whole_number
from trajanon.trajectories.subjects import Nameless


def check_k(k: SupportsIndex) -> int:
    """Return k as a number of Python; refuse one that hides nobody."""
    number = whole_number(k)
    if number is None:
        raise BadInput(f"k must be a whole number (got {k!r})")
    if number < LEAST_K:
        raise BadInput(f"k must be at least {LEAST_K} (got {number}): a group of 1 hides nobody")
    return number


def check_enough(
    n: int,
    k: int,
    subject_count: int | None = None,
    unit: str = "record",
    nameless: Nameless | None = None,
) -> None:
    """Refuse fewer than k of n records, and, where subjects are counted, fewer than k of these.

    ``unit`` is what messages call a record.
    """
    units = UNITS.get(unit, "records")
    records = number_of(n, unit, units)

    if n < k:
        raise TooFewRecords(f"{records} cannot form a group of k = {k}; lower k or add {units}")

    if subject_count is not None and subject_count < k:
        way_out = "lower k or add subjects"
        if subject_count == 1:
            way_out = "add subjects"
            if unit != "record":
                way_out += "; trajanon trim cuts out where one person's tracks begin and end"
        raise TooFewSubjects(
            f"the {records} come from {number_of(subject_count, 'subject')}, and k = {k} needs "
            f"{k} different ones in each group; {way_out}{_advice_on(nameless)}"
        )


def _advice_on(nameless: Nameless | None) -> str:
    """Write what helps if recordings without a name count as one subject."""
    if nameless is None or nameless.recordings < 2 or nameless.subjects > 1:
        return ""
    return (
        f"; {nameless.recordings:,} recordings without a name count as one person: extract with "
        "`columns` nameless=different if each is a different person's"
    )


def subjects_per_group(labels: Ints, subjects: Ints) -> Ints:
    """Count the different subjects in each group, shape (g,)."""
    # Each pair of group and subject as one number: rows of two are sorted ten times as slowly. It
    # fits into 64 bits if subjects are numbered from 0.
    subjects = renumbered(subjects)
    factor = int(subjects.max(initial=0)) + 1
    pairs = np.sort(labels * factor + subjects)
    is_new_pair = np.diff(pairs, prepend=-1) > 0
    return np.bincount(pairs[is_new_pair] // factor)


def broken_promises(labels: Ints, subjects: Ints, k: int) -> int:
    """Count groups with fewer than k different subjects."""
    return int((subjects_per_group(labels, subjects) < k).sum())


def check_kept(labels: Ints, subjects: Ints, k: int, step: str) -> None:
    """Fail if a step has left a group with fewer than k different subjects.

    Counted again whatever step it was: what is published rests on it.
    """
    if broken_promises(labels, subjects, k):
        raise TrajanonError(f"{step} left a group of fewer than {k}; please report it")


def member_weights(labels: Ints, subjects: Ints | None) -> Floats:
    """Return what each record counts in the mean of its group, (n,): they add up to 1 in each.

    All records that a person has in a group count together as one, so people are averaged. Without
    subjects each record is somebody's.

    >>> member_weights(np.array([0, 0, 0, 1]), np.array([7, 7, 8, 7])).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    if subjects is None:
        return np.asarray(1.0 / np.bincount(labels)[labels])

    # Of each record: a number for its person in its group, and how many records share that number.
    people = renumbered(subjects)
    person_in_group = renumbered(labels * (people.max(initial=0) + 1) + people)
    records_of_person = np.bincount(person_in_group)[person_in_group]

    people_in_group = subjects_per_group(labels, people)[labels]
    return np.asarray(1.0 / (people_in_group * records_of_person))
