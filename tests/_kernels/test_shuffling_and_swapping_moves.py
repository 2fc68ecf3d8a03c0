import naive
import naive_refine
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_refine import Grouped, both, grouped, random_groups
from real_data import reference

import trajanon
from trajanon._kernels.shuffling_and_swapping_moves import Swaps, find_partners, make_exchanges
from trajanon.common.arrays import renumbered
from trajanon.grouping import loss
from trajanon.grouping.refinements.descent import build_groups
from trajanon.grouping.refinements.shuffling_and_swapping import swap
from trajanon.grouping.standardised_records import standardise

seeds = st.integers(0, 10**6)
peoples = st.none() | st.integers(2, 15)

# Castro et al. (2022), Table 1, Step 3: two-swapping from MDAV, percent.
PUBLISHED = {5: 20.74, 10: 30.77}


def laid_out(work: Grouped) -> Swaps:
    n = len(work.labels)
    groups = build_groups(work.records, work.labels, work.subjects)
    swaps = Swaps(groups, np.full(n, -1), np.zeros(n))
    find_partners(swaps, work.k, 0, n)
    return swaps


@pytest.mark.parametrize("k", PUBLISHED)
def test_swap_gives_the_published_losses(k: int) -> None:
    X = reference("tarragona")
    records = standardise(X)
    mdav = trajanon.microaggregate(X, k, method="mdav", refine="none")
    labels = swap(*both(grouped(records, mdav.labels, k)))
    il = loss.information_loss(loss.sse(records, labels), mdav.sst)
    assert il == pytest.approx(PUBLISHED[k], abs=0.005)


@given(seed=seeds, n=st.integers(4, 14), k=st.integers(2, 4), people=peoples)
def test_swap_makes_the_exchanges_of_its_slow_twin(
    seed: int, n: int, k: int, people: int | None
) -> None:
    groups = random_groups(seed, n, k, people, grid=False)
    expected = naive_refine.two_swapping(groups.records, groups.labels, groups.k, groups.subjects)
    swaps, course = laid_out(groups), [groups.labels]
    while make_exchanges(swaps, groups.k, 1e-9, 1):
        course.append(swaps.groups.labels.copy())
    # Between two pairs, two exchanges give the same groups: the labels may differ.
    assert [renumbered(labels).tolist() for labels in course] == [
        renumbered(labels).tolist() for labels in expected
    ]
    assert np.array_equal(renumbered(swap(groups, groups.labels)), renumbered(expected[-1]))


@given(seed=seeds, n=st.integers(2, 30), k=st.integers(2, 5), people=peoples, grid=...)
def test_swap_ends_where_no_exchange_gains(
    seed: int, n: int, k: int, people: int | None, grid: bool
) -> None:
    groups = random_groups(seed, n, k, people, grid)
    before = groups.labels.copy()
    after = swap(groups, groups.labels)
    assert np.array_equal(groups.labels, before), "the input was changed"
    assert np.array_equal(np.bincount(after), np.bincount(before))
    assert naive.holds(after, groups.subjects, groups.k)
    least = naive.sse(groups.records, after)
    assert least <= naive.sse(groups.records, before) + 1e-9
    exchanged = naive_refine.allowed_exchanges(after, groups.k, groups.subjects)
    assert all(naive.sse(groups.records, other) >= least - 1e-9 for other in exchanged)


def test_the_first_of_equally_good_exchanges_is_made() -> None:
    # Each of 0, 1 (at 0) may change places with each of 4, 5 (at 9): the same gain.
    records = np.array([[0.0], [0.0], [9.0], [9.0], [9.0], [9.0], [0.0], [0.0]])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    swaps = laid_out(grouped(records, labels, 2))
    assert make_exchanges(swaps, 2, 1e-9, 1) == 1
    assert swaps.groups.labels.tolist() == [1, 0, 0, 0, 0, 1, 1, 1]
    assert make_exchanges(swaps, 2, 1e-9, 9) == 1
    assert swaps.groups.labels.tolist() == [1, 1, 0, 0, 0, 0, 1, 1]
