"""Points that are nearest, asked for in threads."""

from collections.abc import Callable
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from trajanon import neighbours, workers
from trajanon.neighbours import nearest_points


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 30),
    m=st.integers(1, 20),
    count=st.integers(1, 25),
    within=st.sampled_from([0.5, np.inf]),
)
@settings(max_examples=50)
def test_the_nearest_are_those_of_all_distances(
    seed: int, n: int, m: int, count: int, within: float
) -> None:
    rng = np.random.default_rng(seed)
    some, points = rng.normal(size=(m, 2)), rng.normal(size=(n, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_AT_ONCE", 7)
        away, which = nearest_points(cKDTree(some), points, count, within)
    assert away.shape == which.shape == (n, count)
    for point, far, places in zip(points, away, which, strict=True):
        distances = np.hypot(*(some - point).T)
        near = np.sort(distances[distances < within])[:count]
        assert far[: len(near)] == pytest.approx(near)
        assert np.isinf(far[len(near) :]).all()
        assert (places[len(near) :] == m).all()
        assert distances[places[: len(near)]] == pytest.approx(near)


def test_ctrl_c_ends_the_threads_that_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that threads of its own would still read may be gone by then."""
    asked = []

    class Tree:
        def query(self, some: object, **_: object) -> tuple[object, object]:
            asked.append(some)
            raise KeyboardInterrupt

    monkeypatch.setattr(neighbours, "_AT_ONCE", 1)
    monkeypatch.setattr(workers, "cores", lambda: 1)
    with pytest.raises(KeyboardInterrupt):
        nearest_points(Tree(), np.zeros((50, 2)), 1)
    assert len(asked) < 50


def test_no_more_is_asked_once_the_work_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(jobs: list[Callable[[Event], object]]) -> None:
        stop = Event()
        stop.set()
        jobs[0](stop)

    monkeypatch.setattr(neighbours, "in_threads", at_once)
    with pytest.raises(KeyboardInterrupt):
        nearest_points(cKDTree(np.zeros((3, 2))), np.zeros((5, 2)), 1)
