"""The order of a release: that of its values, by rows and from part to part."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import trajanon
from trajanon.common.arrays import Floats
from trajanon.files.rounding_order_and_keys_of_lines import in_order, out_of_order
from trajanon.trajectories.trajectories import Trajectories

few = st.sampled_from([-1.5, -0.0, 0.0, 1.0, 40.12345])  # of which many are equal


@given(
    both=st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            arrays(float, (n, 2, 2), elements=few), st.none() | arrays(float, (n, 2), elements=few)
        )
    )
)
def test_lines_are_sorted_by_their_points_and_then_by_their_times(
    both: tuple[Floats, Floats | None],
) -> None:
    lines, times = both
    keys = [
        (*line.ravel().tolist(), *([] if times is None else times[number].tolist()))
        for number, line in enumerate(lines)
    ]
    order = in_order(lines, times)
    assert [keys[one] for one in order] == sorted(keys)
    assert out_of_order(lines[order], None if times is None else times[order]) == 0
    falls = sum(one > other for one, other in pairwise(keys))
    assert out_of_order(lines, times) == falls


@given(seed=st.integers(0, 2**32 - 1), rows=st.sampled_from(["subjects", "lines"]))
def test_the_order_of_the_source_changes_nothing_of_the_order_of_a_release(
    seed: int, rows: Any
) -> None:
    random = np.random.default_rng(seed)
    points = random.uniform((40.0, -4.0), (40.2, -3.8), (12, 3, 2))
    who = np.arange(12) % 6
    how: dict[str, Any] = {
        "method": "mdav",
        "refine": "none",
        "key": bytes(range(16)),
        "rows": rows,
    }
    for order in (np.arange(12), random.permutation(12)):
        release = trajanon.anonymize(Trajectories(points[order], who[order]), 3, **how)
        assert out_of_order(release.trajectories.points) == 0
        assert release.report["rows"]["lines"] == len(
            np.unique(release.trajectories.records, axis=0)
        )


@pytest.mark.parametrize("times", [None, "of-day"])
def test_equal_groups_have_equal_lines_whatever_the_order(times: Any) -> None:
    """By the key and the members alone."""
    random = np.random.default_rng(0)
    points = np.repeat(random.uniform((40.0, -4.0), (40.2, -3.8), (4, 1, 3, 2)), 3, axis=1)
    points = (points + random.normal(0.0, 1e-5, points.shape)).reshape(12, 3, 2)
    seconds = 1.2e9 + 600.0 * random.integers(0, 40, (12, 1)) + np.array([0.0, 60.0, 120.0])
    found = []
    for order in (np.arange(12), random.permutation(12)):
        given_ = Trajectories(points[order], np.arange(12), times=seconds[order])
        how: dict[str, Any] = {} if times is None else {"times": times, "minute_worth": 0}
        release = trajanon.anonymize(given_, 3, effort="fast", key=bytes(range(16)), **how)
        found.append(release.trajectories)
    assert np.allclose(found[0].points, found[1].points, rtol=0.0, atol=1.1e-5)
    if times is not None:
        assert np.array_equal(found[0].times, found[1].times)  # type: ignore[arg-type]
