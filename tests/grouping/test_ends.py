"""Groups of trips hold members in different places at each end."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Ints, dense
from trajanon.common.settings import EffortName
from trajanon.grouping.ends import Ends, merge_lacking
from trajanon.grouping.loss import standardise
from trajanon.grouping.microaggregation import microaggregate


def ends_at(place: Ints, distinct: int) -> Ends:
    """One end a trip, in numbered places, (n,), a kilometre from one to the next; -1 is free."""
    places = 1000.0 * place[:, None, None] * np.ones((len(place), 1, 3))
    places[place < 0] = np.nan
    return Ends(places, distinct)


@given(
    n=st.integers(12, 60),
    k=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    effort=st.sampled_from(["fast", "best"]),
)
def test_no_group_that_is_searched_lacks_a_place(
    n: int, k: int, seed: int, effort: EffortName
) -> None:
    random = np.random.default_rng(seed)
    records = random.normal(size=(n, 2))
    # Near trips begin in one place, so that the best groups would lack one.
    place = (records[:, 0] > random.normal()).astype(np.int64)
    place[:2] = [0, 1]
    people = dense(random.integers(0, n, n))
    ends = ends_at(place, 2)
    if len(np.unique(people)) < k:
        return

    partition = microaggregate(records, k, subjects=people, ends=ends, effort=effort)
    assert naive.holds(partition.labels, people, k)
    assert ends.lacking(partition.labels) == []
    for group in range(len(partition.sizes)):
        assert len(set(place[partition.labels == group].tolist())) == 2


def test_the_search_loses_less_than_mergers_alone() -> None:
    random = np.random.default_rng(1)
    records = random.normal(size=(400, 2))
    ends = ends_at(np.round(2.0 * records[:, 0]).astype(np.int64), 2)
    as_merged = merge_lacking(records, microaggregate(records, 3).labels, ends)
    searched = microaggregate(records, 3, ends=ends)
    assert searched.sse < 0.97 * naive.sse(standardise(records), dense(as_merged))


def test_free_ends_are_in_places_of_their_own() -> None:
    ends = ends_at(np.array([5, 5, 5, -1, -1]), 3)
    assert not ends.lack(np.array([0, 3, 4]))
    assert ends.lack(np.array([0, 1, 2, 3]))
    assert ends.lacking(np.array([0, 1, 1, 0, 0])) == [1]


@pytest.mark.parametrize("may", [True, False])
def test_groups_are_merged_where_they_may_be(may: bool) -> None:
    records = np.array([0.0, 1.0, 10.0, 11.0])[:, None]
    ends = ends_at(np.array([3, 3, 3, 4]), 2)
    labels = np.array([0, 0, 1, 1])
    merged = merge_lacking(records, labels, ends, lambda group, neighbour, rows: may)
    assert merged.tolist() == ([1] * 4 if may else [0, 0, 1, 1])
