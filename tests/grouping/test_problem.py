"""The problem of a search, its parts, and the log of its steps."""

from dataclasses import replace

import numpy as np
import pytest
from large import large_groups, search_as_if_large

from trajanon.common.effort_of_the_search import EFFORTS
from trajanon.common.parameters_of_single_methods import MicroaggregateSettings
from trajanon.grouping.different_ends import Ends
from trajanon.grouping.problem import Problem, SearchLog, whole_problem

CENTRED = np.array([[-5.0], [-4.0], [4.0], [5.0]])
"""Records with a mean of 0, as standardised ones have."""


def test_the_neighbours_of_other_records_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    search_as_if_large(monkeypatch)
    work = large_groups(100)
    assert work.neighbours_if_large is work.neighbours
    assert replace(work, records=work.records.copy()).neighbours_if_large is None


def test_a_part_has_what_belongs_to_its_rows() -> None:
    records = np.arange(12.0).reshape(6, 2)
    ends = Ends(
        places=np.arange(36.0).reshape(6, 2, 3),
        distinct=2,
        middles=np.arange(18.0).reshape(6, 3),
        lengths=np.arange(6.0),
        reach=500.0,
    )
    whole = Problem(records, np.array([4, 4, 5, 5, 6, 6]), 2, ends=ends)
    rows = np.array([5, 0, 3])
    part = whole.part(rows)
    assert part.records.tolist() == records[rows].tolist()
    assert part.subjects.tolist() == [6, 4, 5]
    assert part.ends is not None
    assert part.ends.lengths.tolist() == [5.0, 0.0, 3.0]
    assert part.ends.places.tolist() == ends.places[rows].tolist()
    assert (part.k, part.random, part.log) == (whole.k, whole.random, whole.log)


def test_the_best_partition_offered_is_kept_as_it_was() -> None:
    log = SearchLog(CENTRED)
    assert log.note == ""
    near, far = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    for labels in (far, near, far):
        log.offer(labels)
    near[:] = 0  # goes on being searched
    assert log.best is not None
    assert log.best.tolist() == [0, 0, 1, 1]
    assert log.note == f"IL {100.0 / 82.0:.4g} %"
    log.forget_best()
    assert log.best is None
    log.offer(far)
    assert log.best is not None
    assert log.best.tolist() == far.tolist()


def test_each_step_has_what_it_chose_and_lost() -> None:
    log = SearchLog(CENTRED)
    log.chosen["heuristic"] = "npn"
    log.end_step("path")
    log.end_step("MHM", np.array([0, 0, 1, 1]))
    path, groups = log.stages
    assert (path.name, path.information_loss, path.chosen) == ("path", None, {"heuristic": "npn"})
    assert (groups.name, groups.chosen) == ("MHM", {})
    assert groups.information_loss == pytest.approx(100.0 / 82.0)
    assert min(path.seconds, groups.seconds) >= 0.0


def test_a_log_without_records_keeps_nothing() -> None:
    log = SearchLog()
    log.chosen["gamma"] = 0.2
    log.offer(np.zeros(3, dtype=np.int64))
    log.end_step("v-mdav", np.zeros(3, dtype=np.int64))
    assert (log.stages, log.chosen, log.best) == ([], {}, None)


def test_a_path_that_is_annealed_afterwards_is_kicked_once() -> None:
    records = np.zeros((4, 1))
    for settings, kicks in (
        (MicroaggregateSettings(refine="anneal", seed=3), 1),
        (MicroaggregateSettings(refine="none", seed=3), EFFORTS["balanced"].kicks_per_record),
    ):
        whole = whole_problem(records, np.arange(4), 2, settings)
        assert whole.budget.kicks_per_record == kicks
        assert whole.random.integers(1000) == np.random.default_rng(3).integers(1000)
