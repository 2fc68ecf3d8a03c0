from unittest import mock

import naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trajanon.arrays import Floats, Ints
from trajanon.search import distance_methods as leaves
from trajanon.search.distance_methods import Leaves

Some = tuple[Floats, Leaves, Ints, np.random.Generator]


@st.composite
def some_left(draw: st.DrawFn) -> Some:
    """Records, many of them equal at times, in leaves of four; those left."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    records = random.normal(size=(draw(st.integers(1, 80)), draw(st.integers(1, 6))))
    if draw(st.booleans()):
        records = records.round()
    out = random.random(len(records)) < draw(st.sampled_from([0.0, 0.5, 0.9]))
    out[random.integers(len(records))] = False
    with mock.patch.object(leaves, "_LEAF", 4):
        left = Leaves(records)
    left.take(random.permutation(np.flatnonzero(out)))
    return records, left, np.flatnonzero(~out), random


@given(some_left())
def test_the_farthest_is_the_first_of_equals(some: Some) -> None:
    records, left, rows, random = some
    points = [records[random.choice(rows)], random.normal(size=records.shape[1])]
    for point in np.array(points):
        assert left.farthest(point) == naive.farthest(records, rows.tolist(), point)


@given(some_left(), st.integers(1, 8), st.integers(1, 12))
def test_the_nearest_are_the_first_of_each_other_subject(
    some: Some, count: int, people: int
) -> None:
    records, left, rows, random = some
    subjects = random.integers(0, people, len(records))
    centre = int(random.choice(rows))
    expected = naive.nearest_of_other_subjects(records, rows.tolist(), subjects, centre, count)
    assert left.nearest(centre, subjects, count).tolist() == expected


@given(some_left(), st.integers(1, 5))
def test_the_nearest_to_a_group_is_that_of_its_slow_twin(some: Some, size: int) -> None:
    records, left, rows, random = some
    members = random.permutation(rows)[:size]
    left.take(members)
    rest = [row for row in rows.tolist() if row not in members]
    record, near = naive.nearest_to_group(records, rest, members.tolist())
    found, away = left.nearest_to_group(members)
    assert found == record
    assert np.isclose(np.sqrt(away), near)
    others = [row for row in rest if row != record]
    if others:
        again, _ = naive.nearest_to_group(records, others, [record])
        assert left.nearest_to_group(np.array([record]), but=record)[0] == again
