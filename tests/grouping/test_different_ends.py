"""Groups of trips hold members in different places at each end."""

from contextlib import nullcontext
from itertools import combinations

import naive
import numpy as np
import pytest
from efforts import few_moves
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Ints, renumbered
from trajanon.common.effort_of_the_search import Effort, EffortName
from trajanon.grouping.different_ends import Ends, holds_distinct_places
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.annealing import anneal_runs
from trajanon.grouping.refinements.descent import descend


def ends_at(place: Ints, distinct: int) -> Ends:
    """One end a trip, in numbered places, (n,), a kilometre from one to the next; -1 is free."""
    places = 1000.0 * place[:, None, None] * np.ones((len(place), 1, 3))
    places[place < 0] = np.nan
    n = len(place)
    return Ends(places, distinct, np.zeros((n, 3)), np.ones(n), reach=1e9)


@given(n=st.integers(12, 60), k=st.integers(2, 4), seed=st.integers(0, 10**6))
def test_no_move_takes_a_place_that_a_group_needs(n: int, k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    records = random.normal(size=(n, 2))
    labels = np.arange(n) // k if n % k == 0 else np.minimum(np.arange(n) // k, n // k - 1)
    place = random.integers(0, 3, n)
    place[::k] = 0  # near trips begin in one place: the best groups would lack one
    place[1::k] = 1
    ends = ends_at(place, 2)
    assert ends.groups_lacking_places(labels) == []

    problem = Problem(records, np.arange(n), k, budget=Effort(0, 200, 2, False), ends=ends)
    for optimum in anneal_runs(problem, descend(problem, labels)):
        assert naive.holds(optimum, np.arange(n), k)
        assert ends.groups_lacking_places(renumbered(optimum)) == []


@pytest.mark.parametrize("effort", ["balanced", "best"])
def test_a_search_that_knows_of_ends_leaves_few_groups_that_lack_a_place(
    effort: EffortName,
) -> None:
    random = np.random.default_rng(1)
    records = random.normal(size=(240, 2))
    ends = ends_at(np.round(2.0 * records[:, 0]).astype(np.int64), 2)
    with few_moves() if effort == "best" else nullcontext():  # every step of it, sooner over
        without = microaggregate(records, 3, effort=effort)
        partition = microaggregate(records, 3, ends=ends, effort=effort)
    assert len(ends.groups_lacking_places(without.labels)) > 15
    assert len(ends.groups_lacking_places(partition.labels)) < 5


def test_free_ends_are_in_places_of_their_own() -> None:
    ends = ends_at(np.array([5, 5, 5, -1, -1]), 3)
    assert not ends.lacks_place(np.array([0, 3, 4]))
    assert ends.lacks_place(np.array([0, 1, 2, 3]))
    assert ends.groups_lacking_places(np.array([0, 1, 1, 0, 0])) == [1]


@given(n=st.integers(0, 9), count=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_distinct_places_as_by_trying_all(n: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    are_apart = np.triu(random.random((n, n)) < 0.7, 1)
    are_apart |= are_apart.T
    copied = random.integers(0, max(n, 1), n)  # some members are twice in one place
    are_apart = are_apart[np.ix_(copied, copied)]
    expected = any(
        all(are_apart[pair] for pair in combinations(members, 2))
        for members in combinations(range(n), count)
    )
    assert holds_distinct_places(are_apart, count) == expected


def test_a_group_of_all_trips_of_a_courier_is_looked_at() -> None:
    """To compare each with each would take 100 GB."""
    courier = np.append(np.zeros(60_000, np.int64), [1, 0])
    assert not ends_at(courier, 2).lacks_place(np.arange(len(courier)))


def test_many_trips_from_one_place_too_few_are_soon_looked_at() -> None:
    """All sets of ten of them would take longer than the Earth is old."""
    assert ends_at(np.arange(180) % 9, 10).lacks_place(np.arange(180))
    assert not ends_at(np.arange(180) % 10, 10).lacks_place(np.arange(180))
