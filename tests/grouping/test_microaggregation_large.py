"""Large tables from end to end: the pipeline in blocks, forced on small ones."""

from itertools import pairwise
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from large import MOST_EXACT, clustered, search_as_if_large

from trajanon.common import threads_and_dask
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.effort_of_the_search import EffortName
from trajanon.grouping.microaggregation import microaggregate

WAYS: list[dict[str, Any]] = [
    {},
    {"effort": "fast"},
    {"refine": "descent"},
    {"refine": "none"},
    {"refine": "swap"},
    {"method": "mdav"},
    {"method": "mdav", "refine": "descent"},
    {"heuristic": "nearest-neighbor"},
    {"compression": 2},
]

every_way = pytest.mark.parametrize(
    "how", WAYS, ids=lambda how: "-".join(map(str, how.values())) or "default"
)

seeds = st.integers(0, 10**6)


@pytest.fixture(autouse=True)
def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    search_as_if_large(monkeypatch)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, Ints | None, int]:
    """Large tables of all kinds, perhaps subjects, and a k they have enough of."""
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.sampled_from([MOST_EXACT, MOST_EXACT + 1]) | st.integers(MOST_EXACT + 2, 250))
    k = draw(st.integers(2, 10))
    X = clustered(n, draw(st.integers(1, 6)), draw(seeds))
    kind = draw(st.sampled_from(["any", "equal", "duplicates", "ties", "constant"]))
    if kind == "equal":
        X[:] = 0.1
    if kind == "duplicates":
        X = X[rng.integers(0, rng.integers(1, n), n)]
    if kind == "ties":
        X = X.round()
    if kind == "constant":
        X[:, 0] = 7.0
    X = X * draw(st.sampled_from([1.0, 1e-9, 1e9])) + draw(st.sampled_from([0.0, 1e6]))
    if draw(st.booleans()):
        return X, None, k
    subjects = renumbered(rng.integers(0, draw(st.integers(k, n)), n))
    subjects[rng.permutation(n)[:k]] = n + np.arange(k)
    return X, subjects, k


@every_way
def test_every_group_has_k_records_of_k_subjects(how: dict[str, Any]) -> None:
    @settings(max_examples=8)
    @given(table=tables(), seed=st.integers(0, 3))
    def test(table: tuple[Floats, Ints | None, int], seed: int) -> None:
        X, subjects, k = table
        found = microaggregate(X, k, subjects=subjects, **how | {"seed": seed})
        assert naive.holds(found.labels, None, k)
        assert naive.holds(found.labels, subjects, k)
        losses = [stage.information_loss for stage in found.stages]
        falling = [loss for loss in losses if loss is not None]
        assert all(after <= before + 1e-9 for before, after in pairwise(falling))
        sse = naive.sse(naive.standardise(X), found.labels)
        assert found.sse == pytest.approx(sse, rel=1e-6, abs=1e-9)

    test()


def stages(n: int, **how: Any) -> list[str]:
    found = microaggregate(clustered(n, 4), 3, **how)
    return [stage.name for stage in found.stages]


def test_the_size_alone_chooses_and_the_stages_say_so() -> None:
    small = ["path", "MHM", "descent", "annealing"]
    assert stages(MOST_EXACT) == small
    assert stages(MOST_EXACT + 1) == ["neighbours", *small]
    assert stages(MOST_EXACT + 1, refine="descent") == ["neighbours", *small[:3]]
    by_distance = stages(MOST_EXACT + 1, method="mdav", refine="descent")
    assert by_distance == ["mdav", "neighbours", "descent"]
    assert stages(MOST_EXACT + 1, method="mdav", refine="none") == ["mdav"]


@every_way
def test_threads_leave_every_bit(how: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    X, subjects = clustered(200, 5), np.arange(200) % 60
    found = []
    for count in (1, 2, 5):
        monkeypatch.setattr(threads_and_dask, "cores", lambda count=count: count)
        partition = microaggregate(X, 4, subjects=subjects, **how)
        found.append((partition.labels.tolist(), partition.sse, partition.path_length))
    assert found[0] == found[1] == found[2]


# Ctrl-C


class Interrupting:
    """Progress that ends in Ctrl-C when it is told of the j-th step."""

    def __init__(self, j: int) -> None:
        self.left = j
        self.searching = False

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        self.searching |= bool(note)
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@given(j=st.integers(0, 40), seed=seeds, fast=st.booleans())
@settings(max_examples=30)
def test_ctrl_c_gives_the_best_groups_so_far(j: int, seed: int, fast: bool) -> None:
    X, interrupting = clustered(150, 4, seed), Interrupting(j)
    effort: EffortName = "fast" if fast else "balanced"
    try:
        found = microaggregate(X, 3, effort=effort, progress=interrupting)
    except KeyboardInterrupt:
        assert not interrupting.searching, "there were groups"
        return
    assert found.stopped == (interrupting.left < 0)
    assert naive.holds(found.labels, None, 3)
    first = found.stages[2].information_loss
    assert first is not None
    assert found.information_loss <= first
