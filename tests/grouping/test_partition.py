"""What a partition holds, beside sums that are written out."""

from time import perf_counter

import numpy as np
import pytest

import trajanon
from trajanon.grouping.partition import Partition, Stage, measured, regrouped

RECORDS = np.array([[0.0, 10.0], [2.0, 14.0], [4.0, 30.0], [8.0, 34.0], [6.0, 12.0]])
LABELS = np.array([0, 0, 1, 1, 0])
WEIGHTS = np.array([1.0, 3.0])


def sums_of_squares(weights: np.ndarray) -> tuple[float, float]:
    """Within groups, and in all, of columns with mean 0 and variance 1 times a weight."""
    centred = RECORDS - RECORDS.mean(axis=0)
    columns = centred / centred.std(axis=0, ddof=1) * np.sqrt(weights)
    within = 0.0
    for group in (0, 1):
        members = columns[group == LABELS]
        within += float(((members - members.mean(axis=0)) ** 2).sum())
    return within, float((columns**2).sum())


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_groups_that_nobody_searched_are_measured(
    weights: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trajanon.grouping.partition.perf_counter", lambda: 7.0)
    found = measured(RECORDS, LABELS, "by hand", 2.0, weights)
    within, total = sums_of_squares(np.ones(2) if weights is None else weights)
    assert found.sse == pytest.approx(within)
    assert found.sst == pytest.approx(total)
    assert found.information_loss == pytest.approx(100.0 * within / total)
    assert found.centroids.tolist() == [[8.0 / 3.0, 12.0], [6.0, 32.0]]
    assert found.labels.tolist() == LABELS.tolist()
    assert found.path_length is None
    assert not found.stopped

    (stage,) = found.stages
    assert stage.name == "by hand"
    assert stage.information_loss == found.information_loss
    assert stage.seconds == 5.0  # of a clock that stands still


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_other_groups_keep_the_steps_that_led_to_them(weights: np.ndarray | None) -> None:
    stages = (Stage("path", None, 1.0), Stage("cut", 12.5, 2.0))
    before = Partition(
        np.zeros(5, np.int64), np.zeros((1, 1)), 1.0, 2.0, 77.0, stages, stopped=True
    )
    found = regrouped(before, RECORDS, LABELS, weights)
    expected = measured(RECORDS, LABELS, "by hand", perf_counter(), weights)
    assert (found.sse, found.sst) == (expected.sse, expected.sst)
    assert found.centroids.tolist() == expected.centroids.tolist()
    assert found.labels.tolist() == LABELS.tolist()
    assert (found.path_length, found.stages, found.stopped) == (77.0, stages, True)


def test_sizes_lines_and_the_table_follow_from_labels() -> None:
    found = measured(RECORDS, LABELS, "by hand", perf_counter())
    assert found.sizes.tolist() == [3, 2]
    assert found.aggregated.tolist() == found.centroids[LABELS].tolist()
    assert found.lines(RECORDS.reshape(5, 1, 2)).tolist() == found.centroids[:, None].tolist()


def test_a_stage_is_rounded_to_milliseconds_and_keeps_the_rest() -> None:
    stage = Stage("v-mdav", 3.25, 1.23456, {"gamma": 0.2})
    assert stage.rounded == Stage("v-mdav", 3.25, 1.235, {"gamma": 0.2})


def test_a_partition_shows_what_it_is() -> None:
    found = measured(RECORDS, LABELS, "by hand", perf_counter())
    loss = f"{found.information_loss:.4g} %"
    shown = repr(found)
    assert "5 records of 2 numbers in 2 groups of 2 to 3" in shown
    assert loss in shown
    assert "by hand" in shown
    assert "topped" not in shown

    one = Partition(np.zeros(1, np.int64), np.zeros((1, 1)), 0.0, 1.0, None, (), stopped=True)
    assert "1 record of 1 number in 1 group of 1 to 1" in repr(one)
    assert "stopped by Ctrl-C" in repr(one)
    stages = trajanon.microaggregate(RECORDS, k=2, method="mdav", refine="none").stages
    assert [stage.name for stage in stages] == ["mdav"]
