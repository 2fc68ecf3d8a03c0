"""Windows and groups are chosen together: sliding is a move of the search."""

from dataclasses import replace
from functools import partial
from threading import Event

import numpy as np

from trajanon import neighbours
from trajanon._kernels.windows import Windows, build_rows
from trajanon.align.aligned import Aligned, Best, Heard
from trajanon.align.large import search_large
from trajanon.align.near import near_windows
from trajanon.align.parts import Field, Part, anneal_part, lay_out_windows, work_in_parts
from trajanon.align.windows import centred, records_at
from trajanon.arrays import Ints
from trajanon.axes import leading_axes, turn
from trajanon.loss import sse, sums_of_products
from trajanon.neighbours import neighbour_count
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.progress import Progress
from trajanon.refine.descent import settle
from trajanon.refine.random_moves import DROPPED, PASS, neighbours_within, warmth
from trajanon.settings import Effort

HOT, COLD = 0.7, 0.03
"""First and last heat; what groups look like from afar is settled before."""

ROUNDS = 3
"""How often it is asked which windows come near each other; they slide meanwhile."""

SHARE = 0.625
"""Of the moves that a run of the search before was given."""


def search(
    windows: Windows,
    best: Best,
    k: int,
    subjects: Ints,
    *,
    regroup: bool,
    moves_per_record: int,
    random: np.random.Generator,
    progress: Progress,
) -> None:
    """Slide windows, and regroup them, to lose less.

    First each window slides to where its group loses least, again and again.
    """

    def say(task: str, done: float, total: float | None, note: str = "") -> None:
        progress("Settling windows", done, total, best.note)

    n, moves = len(subjects), int(SHARE * moves_per_record)
    problem = Problem(
        records=np.empty((n, 0)),  # they change as windows slide
        subjects=subjects,
        k=k,
        random=random,
        budget=Effort(moves_per_record=moves),
        progress=say,
    )
    if n > max(neighbours.WHOLE, neighbours.leaf_size(neighbour_count(k))):
        search_large(problem, windows, best, regroup, progress)
        return
    aligned = _settle(problem, windows, best.aligned, None, best)
    if not regroup:
        return
    passes = moves // PASS
    heats = np.geomspace(HOT, COLD, passes + 1)
    for some in filter(len, np.array_split(np.arange(passes), ROUNDS)):
        field = _lay_field(windows, aligned, k)
        for number in some.tolist():
            progress("Sliding windows", number, passes, best.note)
            between = heats[number : number + 2]
            work = partial(anneal_part, k, field, PASS, between, build_rows)
            aligned = work_in_parts(problem, windows, aligned, field.axes, work)
            best.offer(aligned)
    field = _lay_field(windows, aligned, k)
    settling = partial(_settle_part, problem, field)
    aligned = work_in_parts(problem, windows, aligned, field.axes, settling)
    best.offer(aligned)
    _settle(problem, windows, aligned, field.near, best)


def _lay_field(windows: Windows, aligned: Aligned, k: int) -> Field:
    """Find axes, neighbours and temperatures for windows where they are."""
    records = records_at(centred(windows, aligned.start), aligned.start)
    lost = sse(records, aligned.labels)
    axes = leading_axes(sums_of_products(records), DROPPED * lost)
    near = near_windows(windows, aligned.start, axes, neighbour_count(k))
    return Field(axes, near, warmth(turn(records, axes), near, k, lost))


def _settle_part(problem: Problem, field: Field, part: Part, stop: Event) -> Aligned:
    """Let a part settle."""

    def look_up(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    mine = replace(problem, subjects=part.subjects, progress=look_up)
    near = neighbours_within(field.near, part.rows)
    return _settle(mine, part.windows, part.aligned, near, None)


def _settle(
    problem: Problem, windows: Windows, aligned: Aligned, near: Ints | None, best: Best | None
) -> Aligned:
    """Slide windows, and regroup them if neighbours are given, until neither gains."""
    descent, start, looks = lay_out_windows(problem.k, problem.subjects, windows, aligned, near)
    if best is not None:
        problem = replace(problem, log=Heard(best, start))
    settle(problem, descent, looks)
    return Aligned(start, dense(descent.groups.labels))
