"""Alignment as a whole: Ctrl-C, and progress."""

import naive
import numpy as np
import pytest
from alignments import ROUNDING, aligned, cut, lie_well, seeds
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from interrupting import Interrupting
from naive_sliding import town

import trajanon
from trajanon.common.effort_of_the_search import EffortName
from trajanon.common.search_and_release_options import RefinementName
from trajanon.grouping.refinements.annealing import MOVES_PER_PASS
from trajanon.grouping.refinements.blocks import block_count

pytestmark = pytest.mark.usefixtures("few_moves")

ALIGNING = {"Settling windows", "Sliding windows"}
"""What alignment says that it does; whatever else is said comes before it."""


@given(
    seed=seeds,
    n=st.integers(6, 40),
    k=st.integers(2, 4),
    people=st.none() | st.integers(4, 12),
    j=st.integers(0, 25),
    refine=st.sampled_from(["none", "descent", "anneal"]),
)
@example(seed=4, n=28, k=2, people=None, j=0, refine="anneal")
@settings(max_examples=12)
@pytest.mark.usefixtures("plain_means", "far_lines")
def test_ctrl_c_while_windows_slide_gives_the_best_so_far(
    block: int, seed: int, n: int, k: int, people: int | None, j: int, refine: RefinementName
) -> None:
    before = town(seed, n, 3, people=people)
    assume(before.subject is None or len(set(before.subject.tolist())) >= k)
    interrupting = Interrupting(j, ALIGNING)
    # Windows in several blocks are annealed as they slide, and by descent alone before.
    in_blocks = refine == "anneal" and block_count(n) > 1
    effort: EffortName = "fast" if in_blocks else "balanced"
    plain = trajanon.anonymize(before, k, align=False, refine=refine, effort=effort).report
    release = trajanon.anonymize(before, k, refine=refine, progress=interrupting)
    report, labels = release.report, np.array(release.report["labels"])
    assert report["stopped"] == (interrupting.left < 0)
    assert naive.holds(labels, before.subject, k)
    assert naive.holds(labels, None, k)
    assert report["n"] == len(labels) == n
    ceiling = plain["displacement"]["mean"] + ROUNDING
    assert report["displacement"]["mean"] <= ceiling
    if report["alignment"] is None:
        assert report["labels"] == plain["labels"]
        assert report["information_loss"] == plain["information_loss"]
    else:
        after = before.slid(np.array(report["alignment"]["starts"]))
        assert lie_well(before, after)
        assert report["stages"][-1]["name"] == "alignment"


@pytest.mark.parametrize(("task", "times"), [("Annealing", 0), ("Moving records", 1)])
def test_ctrl_c_before_windows_slide_leaves_them_as_they_were_cut(task: str, times: int) -> None:
    before, told = town(11, 60, 3), set()
    interrupting = Interrupting(times, {task})

    def listen(task: str, done: float, total: float | None, note: str = "") -> None:
        told.add(task)
        interrupting(task, done, total, note)

    report = trajanon.anonymize(before, 3, progress=listen).report
    assert report["stopped"] is True
    assert report["alignment"] is None
    assert report["alignment_skipped"] is True
    assert report["stages"][-1]["name"] == "Ctrl-C"
    assert not ALIGNING & told


def test_progress_tells_the_loss_of_the_best_so_far() -> None:
    told: list[tuple[str, float, float | None, str]] = []

    def listen(task: str, done: float, total: float | None, note: str = "") -> None:
        told.append((task, done, total, note))

    before = town(11, 60, 3)
    aligned(before, cut(before, 3), 3, moves=12 * MOVES_PER_PASS, progress=listen)
    assert {task for task, *_ in told} == ALIGNING
    losses = [float(note.removeprefix("IL ").removesuffix(" %")) for *_, note in told]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
