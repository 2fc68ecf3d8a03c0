"""Numbers of numpy at every door: what they say is as if Python had said it."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trajanon
from trajanon._kernels.compiled import Kernel
from trajanon.common.search_and_release_options import ReleaseSettings
from trajanon.extract import Rules

POINTS = np.random.default_rng(0).uniform((40, -4), (40.1, -3.9), (30, 3, 2))

SEARCH: Any = {"method": "mdav", "refine": "none"}


@pytest.fixture(scope="module")
def held() -> trajanon.Trajectories:
    return trajanon.Trajectories(POINTS, subject=np.arange(30))


def test_numbers_of_numpy_are_written_and_evaluated(
    held: trajanon.Trajectories, tmp_path: Path
) -> None:
    options: Any = {"align": np.True_}
    release = trajanon.anonymize(
        held, k=np.int64(3), seed=np.uint16(1), distinct_ends=np.int8(2),
        **options, **SEARCH,
    )  # fmt: skip
    release.write(tmp_path / "r.parquet")
    report = json.loads((tmp_path / "r.report.json").read_text("utf-8"))
    assert (report["k"], report["n"]) == (3, 30)
    expected = trajanon.anonymize(held, k=3, seed=1, distinct_ends=2, **SEARCH)
    np.testing.assert_array_equal(release.trajectories.points, expected.trajectories.points)
    assert trajanon.evaluate(held, release, seed=np.int64(1), curve=[np.int64(3)]).holds


def signatures() -> set[tuple[str, str]]:
    """The kernels that have been compiled or read, each with the types of its arguments."""
    return {
        (name, str(types))
        for module in list(sys.modules.values())
        if module.__name__.startswith("trajanon._kernels.")
        for name, kernel in vars(module).items()
        if isinstance(kernel, Kernel) and "_called" in vars(kernel)
        for types in kernel._called.signatures
    }


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.float32])
def test_small_types_count_as_far_as_large_ones_and_compile_nothing(kind: Any) -> None:
    records = np.random.default_rng(0).integers(0, 255, (60, 4))
    people = np.arange(60) // 2
    expected = trajanon.microaggregate(records, 3, subjects=people, refine="descent")
    before = signatures()

    partition = trajanon.microaggregate(
        records.astype(kind), np.int8(3), subjects=people.astype(kind), refine="descent"
    )
    np.testing.assert_array_equal(partition.labels, expected.labels)
    assert signatures() == before
    assert len(before) > 3


@pytest.mark.parametrize("k", [4.0, True, "4", None, np.float64(4), np.array([4]), np.True_])
def test_what_is_no_whole_number_is_refused(k: Any, held: trajanon.Trajectories) -> None:
    for refuses in (
        lambda: trajanon.anonymize(held, k),
        lambda: trajanon.microaggregate(POINTS[:, 0], k),
        lambda: trajanon.lower_bound(POINTS[:, 0], k),
    ):
        with pytest.raises(trajanon.BadInput, match="k must be a whole number"):
            refuses()


def test_rules_hold_numbers_of_python() -> None:
    rules = Rules(points=np.int64(20), max_speed=np.float32(30))  # type: ignore[arg-type]
    assert type(rules.points) is int
    assert type(rules.max_speed) is float


def test_settings_hold_numbers_of_python() -> None:
    options: Any = {"time_step": np.int32(600), "minute_worth": np.float32(2.5), "align": np.False_}
    made = ReleaseSettings(**options)
    assert [type(made.time_step), type(made.minute_worth), made.align] == [int, float, False]
    with pytest.raises(trajanon.BadInput, match="`time_step` must be a whole number from 60"):
        ReleaseSettings(time_step=np.float64(600))  # type: ignore[arg-type]
