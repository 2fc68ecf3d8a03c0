import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import Floats, Ints

from trajanon._kernels.greedy import greedy_fragments, join_fragments
from trajanon._kernels.search import OR_OPT, improve, kick, kicks
from trajanon._kernels.tour import Tour, enqueue, take_back
from trajanon.neighbours import nearest_records
from trajanon.paths.journey import Journey
from trajanon.paths.length import path_length
from trajanon.paths.or_opt import greedy, or_opt
from trajanon.paths.tours import NEIGHBOURS, closed

seeds = st.integers(0, 10**6)
kinds = st.sampled_from(["normal", "grid", "line", "clusters", "equal"])
sizes = st.integers(5, 30)


def records_of(kind: str, seed: int, n: int) -> Floats:
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(0, 4, (n, 2)).astype(float)
    if kind == "line":
        return rng.normal(size=(n, 1))
    if kind == "clusters":
        return rng.normal(size=(n, 3)) * 0.01 + rng.integers(0, 3, (n, 1))
    if kind == "equal":
        return np.full((n, 2), 0.7)
    return rng.normal(size=(n, 2))


def first_tour(kind: str, seed: int, n: int) -> Tour:
    records = records_of(kind, seed, n)
    return closed(records, greedy(records), np.random.default_rng(seed))


def path(records: Floats, kicks_per_record: int = 10, seed: int = 0) -> Ints:
    return or_opt(
        Journey(
            records=records,
            k=3,
            subjects=np.arange(len(records)),
            start=None,
            kicks_per_record=kicks_per_record,
            random=np.random.default_rng(seed),
        )
    )


def length(tour: Tour) -> float:
    order = tour.order.tolist()
    assert sorted(order) == list(range(len(order)))
    assert tour.position[tour.order].tolist() == list(range(len(order)))
    return naive.tour_length(tour.records, order)


def edges_of(tour: Tour) -> set[frozenset[int]]:
    order = tour.order.tolist()
    return {frozenset(pair) for pair in zip(order, order[1:] + order[:1], strict=True)}


@given(kind=kinds, seed=seeds, n=st.integers(1, 25), count=st.integers(1, 12))
def test_neighbours_are_as_near_as_brute_force_finds(
    kind: str, seed: int, n: int, count: int
) -> None:
    records = records_of(kind, seed, n)
    found = nearest_records(records, count)
    assert found.shape == (n, min(count, n - 1))
    distances = [
        [naive.distance(records[i], records[j]) for j in found[i]] for i in range(n)
    ]
    for i in range(n):
        assert i not in found[i]
        assert len(set(found[i].tolist())) == found.shape[1]
    expected = naive.nearest_distances(records, count)
    assert np.allclose(distances, expected, rtol=1e-9, atol=1e-9)


@given(seed=seeds, n=st.integers(2, 25), m=st.integers(0, 80))
def test_greedy_edges_are_the_slow_twins(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (m, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    links = greedy_fragments(edges, n)
    expected = naive.greedy_links(edges, n)
    assert [set(row[row >= 0].tolist()) for row in links] == expected
    records = rng.normal(size=(n, 2))
    assert join_fragments(records, links).tolist() == naive.join(records, expected)


@given(kind=kinds, seed=seeds, n=sizes)
def test_the_gain_of_all_moves_is_what_the_tour_gets_shorter(
    kind: str, seed: int, n: int
) -> None:
    tour = first_tour(kind, seed, n)
    before = length(tour)
    gained = improve(tour, OR_OPT)
    assert gained >= 0.0
    assert length(tour) == pytest.approx(before - gained, abs=1e-8)


@given(kind=kinds, seed=seeds, n=sizes)
def test_the_loss_of_a_kick_is_what_the_tour_gets_longer(
    kind: str, seed: int, n: int
) -> None:
    tour = first_tour(kind, seed, n)
    improve(tour, OR_OPT)
    before = length(tour)
    for _ in range(5):
        lost = kick(tour)
        after = length(tour)
        assert after == pytest.approx(before + lost, abs=1e-8)
        before = after


@given(kind=kinds, seed=seeds, n=sizes)
def test_a_kick_and_its_repair_can_be_taken_back(kind: str, seed: int, n: int) -> None:
    tour = first_tour(kind, seed, n)
    improve(tour, OR_OPT)
    before = tour.order.copy()
    tour.journal[-1] = 0
    kick(tour)
    improve(tour, OR_OPT)
    take_back(tour, 0)
    assert np.array_equal(tour.order, before)
    assert length(tour) >= 0.0


@given(kind=kinds, seed=seeds, n=sizes)
def test_kicks_never_lengthen_the_tour(kind: str, seed: int, n: int) -> None:
    tour = first_tour(kind, seed, n)
    improve(tour, OR_OPT)
    before = length(tour)
    for _ in range(10):
        kicks(tour, 10)
        after = length(tour)
        assert after <= before + 1e-8
        before = after


def test_a_full_journal_keeps_the_tour_whole() -> None:
    """What cannot be taken back stays: a longer tour, but a tour."""
    tour = first_tour("normal", 0, 30)
    tour = tour._replace(journal=np.zeros(9, dtype=np.int64))
    improve(tour, OR_OPT)
    kicks(tour, 200)
    assert length(tour) > 0.0


def assert_no_move_is_left(records: Floats, order: list[int], neighbours: Ints) -> None:
    reached = naive.tour_length(records, order)
    for other in naive.tours_one_move_away(records, order, neighbours):
        assert naive.tour_length(records, other) >= reached - 1e-8


@given(kind=kinds, seed=seeds, n=sizes, kicked=st.sampled_from([0, 100]))
def test_no_move_is_overlooked_where_every_city_is_looked_at(
    kind: str, seed: int, n: int, kicked: int
) -> None:
    tour = first_tour(kind, seed, n)
    improve(tour, OR_OPT)
    kicks(tour, kicked)
    gained = 1.0
    while gained > 0.0:
        for city in tour.order:
            enqueue(tour, city)
        gained = improve(tour, OR_OPT)
    assert_no_move_is_left(tour.records, tour.order.tolist(), tour.neighbours)


@pytest.mark.parametrize("seed", [0, 41, 46, 158, 286, 367])
def test_the_path_is_a_local_optimum_before_it_is_kicked(seed: int) -> None:
    """Also where a record has another among its nearest that does not have it."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 45)), int(rng.integers(1, 4))
    records = rng.normal(size=(n, p)) ** 3
    order = [n, *path(records, 0).tolist()]
    assert_no_move_is_left(records, order, nearest_records(records, NEIGHBOURS))


@given(kind=kinds, seed=seeds, n=st.integers(1, 40))
def test_a_path_meets_every_record_once(kind: str, seed: int, n: int) -> None:
    records = records_of(kind, seed, n)
    assert sorted(path(records, 2).tolist()) == list(range(n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_path_through_a_few_numbers_goes_straight(n: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).permutation(n).astype(float)[:, None]
    assert path_length(numbers, path(numbers)) == n - 1


def test_a_seed_repeats_the_path() -> None:
    records = records_of("normal", 5, 80)
    assert np.array_equal(path(records, 10, 1), path(records, 10, 1))


@pytest.mark.parametrize("kind", ["normal", "clusters", "grid"])
def test_more_kicks_never_lengthen_the_path(kind: str) -> None:
    records = records_of(kind, 7, 120)
    lengths = [path_length(records, path(records, kicks)) for kicks in (0, 1, 10, 100)]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < lengths[0]


def test_the_length_of_a_path_is_that_of_its_steps() -> None:
    records = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]])
    assert path_length(records, np.array([0, 1, 2])) == 9.0
    assert path_length(records[:1], np.array([0])) == 0.0


def test_ten_neighbours_are_listed() -> None:
    assert first_tour("normal", 0, 30).neighbours.shape == (30, NEIGHBOURS)
