"""Areas of which a sample is drawn: compact, small, and there however trajectories lie."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from trajanon.evaluation.areas import areas_of
from trajanon.trajectories import Trajectories


@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=40),
    most=st.integers(1, 50),
    seed=st.integers(0, 2**32 - 1),
)
@example(sizes=[1, 1, 5_000], most=2_000, seed=0)  # one line has more than half of them
@example(sizes=[5_000, 4_000], most=2_000, seed=0)  # and none can be halved
def test_no_area_holds_more_than_asked_but_of_one_line(
    sizes: list[int], most: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    # On a grid, so that some lie in one place.
    points = np.array([40.0, -3.7]) + 0.01 * random.integers(0, 4, (len(sizes), 2, 2))
    held = np.array(sizes)
    area = areas_of(Trajectories(points), held, most)
    assert area.shape == held.shape
    assert set(area.tolist()) == set(range(area.max() + 1))
    for number in range(area.max() + 1):
        inside = held[area == number]
        assert len(inside) == 1 or inside.sum() <= most
