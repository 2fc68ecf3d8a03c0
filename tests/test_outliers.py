from itertools import combinations

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.privacy.outliers import outliers


def lost(records: Floats, away: Floats, different: int, k: int) -> float:
    """What a group loses: filled up to k subjects, or with all members elsewhere."""
    if len(records) == 0:
        return 0.0
    filled = naive.group_sse(records)
    if different < k:
        filled += (k - different) * away.mean()
    return float(min(filled, away.sum()))


class Slow:
    """Greedy, with every candidate of every group tried by hand at every step."""

    def __init__(self, records: Floats, labels: Ints, subjects: Ints, k: int) -> None:
        self.records, self.subjects, self.k = records, subjects, k
        self.groups: list[list[int]] = [
            np.flatnonzero(labels == g).tolist() for g in np.unique(labels)
        ]
        means = [records[rows].mean(axis=0) for rows in self.groups]
        nowhere = float(records.size)  # more than all there is to lose
        self.away = np.full(len(records), nowhere)
        for own, rows in enumerate(self.groups):
            for row in rows:
                for other, mean in enumerate(means):
                    if other != own:
                        far = naive.squared_distance(records[row], mean)
                        self.away[row] = min(self.away[row], far)

    def cost(self, rows: list[int]) -> float:
        different = len(set(self.subjects[rows]))
        return lost(self.records[rows], self.away[rows], different, self.k)

    def candidates(self, rows: list[int]) -> list[list[int]]:
        far = sorted(rows, key=lambda row: -self.away[row])
        return (
            [[row] for row in rows]
            + [far[: t + 1] for t in range(len(far))]
            + [[r for r in rows if self.subjects[r] == who] for who in self.subjects]
        )

    def total(self, out: set[int]) -> float:
        return sum(self.cost([r for r in g if r not in out]) for g in self.groups)

    def choice(self, many: int) -> set[int]:
        out: set[int] = set()
        while True:
            tried = [
                (
                    (self.cost(rows) - self.cost([r for r in rows if r not in some])) / len(some),
                    some,
                )
                for rows in [[r for r in g if r not in out] for g in self.groups]
                for some in self.candidates(rows)
                if 0 < len(some) <= many - len(out)
            ]
            gain, best = max(tried, key=lambda each: each[0], default=(0.0, []))
            if gain <= 1e-12:
                return out
            out |= set(best)


@given(st.integers(3, 12), st.integers(1, 3), st.floats(0.0, 0.99), st.integers(0, 99))
def test_it_is_the_slow_twin(n: int, g: int, share: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    records, labels = random.standard_t(2, (n, 3)), random.integers(0, g, n)
    subjects, k = random.integers(0, 5, n), int(random.integers(1, 4))
    left_out = outliers(records, labels, share, k=k, subjects=subjects)
    slow = Slow(naive.standardise(records), labels, subjects, k)
    expected = slow.choice(int(share * n + 1e-9))
    assert left_out.sum() == len(expected)
    # The last two of a group cost as much: either may have gone.
    found = slow.total(set(np.flatnonzero(left_out).tolist()))
    assert found == pytest.approx(slow.total(expected), abs=1e-9)


def test_one_who_holds_a_group_together_goes_and_not_those_who_joined_him() -> None:
    """Each innocent alone spares more than any of his seven, but others must come."""
    place = np.array([0.0, 0.1, 0.2, 0.3, 10.0, 10.1, 10.2, 10.3, 0.4, 10.4, 0.5])
    his = 1_000.0 + np.arange(7)
    records = np.concatenate([place, his])[:, None]
    labels = np.repeat([0, 1, 2], [4, 4, 10])
    subjects = np.append(np.arange(11), np.full(7, 99))
    left_out = outliers(records, labels, 7 / 18, k=4, subjects=subjects)
    assert np.flatnonzero(left_out).tolist() == list(range(11, 18))


def test_the_one_far_from_its_group_goes_and_not_a_group_far_from_all() -> None:
    place = np.array([0.0, 1.0, 2.0, 12.0, 100.0, 101.0, 102.0, 103.0])
    left_out = outliers(place[:, None], np.repeat([0, 1], 4), 1 / 8)
    assert np.flatnonzero(left_out).tolist() == [3]


def test_those_who_bore_with_an_outlier_may_stay() -> None:
    """Beside it all are far from their mean; without it they are not."""
    place = np.array([0.0, 0.1, 0.2, 50.0, 20.0, 23.0, 26.0])
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    left_out = outliers(place[:, None], labels, 2 / 7)
    assert np.flatnonzero(left_out & (labels == 0)).tolist() == [3]


def test_trajectories_are_as_good_as_records() -> None:
    points = np.random.default_rng(0).normal(40.0, 0.1, (20, 5, 2))
    labels = np.arange(20) % 4
    np.testing.assert_array_equal(
        outliers(points, labels, 0.2), outliers(points.reshape(20, 10), labels, 0.2)
    )
    assert outliers(points, labels, 0.2).sum() == 4


def test_grouped_anew_without_them_less_is_lost() -> None:
    random = np.random.default_rng(1)
    records = random.standard_t(1.5, (300, 4))
    before = trajanon.microaggregate(records, 4, method="mdav", refine="none")
    left_out = outliers(records, before.labels, 0.05)
    assert left_out.sum() == 15
    after = trajanon.microaggregate(records[~left_out], 4, method="mdav", refine="none")
    assert after.information_loss < before.information_loss


@pytest.mark.parametrize(("n", "share", "many"), [(100, 0.29, 29), (99, 0.01, 0)])
def test_a_share_is_rounded_down(n: int, share: float, many: int) -> None:
    records = np.arange(float(n))[:, None]
    assert outliers(records, np.arange(n) // 4, share).sum() == many


@pytest.mark.parametrize("seed", range(4))
def test_those_far_away_are_whom_all_pairs_tried_in_full_leave_out(seed: int) -> None:
    random = np.random.default_rng(seed)
    records = np.concatenate([random.normal(0, 1, (7, 2)), random.normal(50, 1, (2, 2))])
    before = trajanon.microaggregate(records, 3, effort="fast")
    left_out = outliers(records, before.labels, 2 / 9, k=3)
    pairs = list(combinations(range(9), 2))
    lost = [naive.least_sse(np.delete(records, pair, axis=0), 3) for pair in pairs]
    best = pairs[int(np.argmin(lost))]
    assert tuple(np.flatnonzero(left_out).tolist()) == best == (7, 8)


def test_where_nothing_is_gained_nobody_goes() -> None:
    assert not outliers(np.ones((6, 2)), np.arange(6) // 3, 0.5).any()
