"""Windows and groups are chosen together: sliding is a move of the search."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.annealing import Annealing
from trajanon._kernels.descent import Descent
from trajanon._kernels.sliding import (
    Ground,
    Slides,
    anneal_sliding,
    find_meetings,
    lay_rows,
    slide_pass,
)
from trajanon.align.ground import centred, part_of, records_at, shared_out
from trajanon.align.near import near_windows
from trajanon.course import Unheeded
from trajanon.loss import information_loss, sse
from trajanon.neighbours import turn
from trajanon.partition import dense
from trajanon.progress import Progress
from trajanon.refine.blocks import draw_blocks
from trajanon.refine.descent import NEIGHBOURS, Look, begin, looks_of, settle
from trajanon.refine.grouped import Grouped, lay_out
from trajanon.refine.random_moves import (
    PASS,
    QUANTILES,
    leading_axes,
    neighbours_within,
    warmth,
)
from trajanon.workers import in_threads

HOT, COLD = 0.7, 0.03
"""First and last heat; what groups look like from afar is settled before."""

ROUNDS = 3
"""How often it is asked which windows come near each other; they slide meanwhile."""

SHARE = 0.5
"""Of the moves that a run of the search before was given."""


class Aligned(NamedTuple):
    """Windows, and their groups.

    Attributes
    ----------
    start
        Of each window on its run, (n,).
    labels
        Group of each window, (n,).
    """

    start: NDArray[np.int64]
    labels: NDArray[np.int64]


class _Field(NamedTuple):
    """What random moves in all parts have in common.

    Attributes
    ----------
    axes
        In which they see the records, (p, q).
    near
        Neighbours of each window, (n, c).
    warmth
        Square root of the temperature that suits each window, (n,).
    """

    axes: NDArray[np.float64]
    near: NDArray[np.int64]
    warmth: NDArray[np.float64]


class Best:
    """The least that windows and groups lost so far."""

    def __init__(self, ground: Ground, aligned: Aligned) -> None:
        self._ground = ground
        records = records_at(ground, aligned.start)
        self._all = float((records**2).sum())
        self.lost = sse(records, aligned.labels)
        self.aligned = aligned

    def offer(self, aligned: Aligned) -> None:
        """Keep windows and groups that lose less than all before."""
        lost = sse(records_at(self._ground, aligned.start), aligned.labels)
        if lost < self.lost:
            self.aligned = Aligned(aligned.start.copy(), aligned.labels.copy())
            self.lost = lost

    @property
    def note(self) -> str:
        """What is lost, for those who watch the progress."""
        return f"IL {information_loss(self.lost, self._all):.4g} %"


def search(
    ground: Ground,
    best: Best,
    k: int,
    subjects: NDArray[np.int64],
    *,
    regroup: bool,
    moves_per_record: int,
    random: np.random.Generator,
    progress: Progress,
) -> None:
    """Slide windows, and regroup them, to lose less.

    First each window slides to where its group loses least, again and again. Then
    random moves, as those of annealing: a window joins a near group or changes places
    with a member, as it is or slid to where it meets the neighbour that led it there;
    or it slides within its group. In the end, slides and descent until neither gains.

    Parameters
    ----------
    ground
        Where windows may slide.
    best
        Where they are, in groups of at least k different subjects; told of all that is
        better.
    k, subjects
        Least number of different subjects in a group; the subject of each window,
        (n,), numbered from 0.
    regroup
        Whether windows may change groups, or only slide.
    moves_per_record
        What a search for groups is given; a share of it is used here.
    random
        Source of every choice left to chance.
    progress
        Told how far the work is.
    """

    def say(task: str, done: float, total: float | None, note: str = "") -> None:
        progress("Settling windows", done, total, best.note)

    grouped = Grouped(
        records=records_at(ground, best.aligned.start),
        labels=best.aligned.labels,
        k=k,
        subjects=subjects,
        random=random,
        shuffle_probability=0.0,
        max_events=0,
        progress=say,
    )
    aligned = _settle(grouped, ground, best.aligned, None, best)
    if not regroup:
        return
    passes = int(SHARE * moves_per_record) // PASS
    heats = np.geomspace(HOT, COLD, passes + 1)
    for some in filter(len, np.array_split(np.arange(passes), ROUNDS)):
        field = _lay_field(ground, aligned, k)
        for number in some.tolist():
            progress("Sliding windows", number, passes, best.note)
            work = partial(_anneal_part, k, field, heats[number : number + 2])
            aligned = _in_parts(grouped, ground, aligned, field, work)
            best.offer(aligned)
    field = _lay_field(ground, aligned, k)
    work = partial(_settle_part, grouped, field)
    aligned = _in_parts(grouped, ground, aligned, field, work)
    best.offer(aligned)
    _settle(grouped, ground, aligned, field.near, best)


class _Heard(Unheeded):
    """Offers what descent arrives at, with the windows as they are by then."""

    def __init__(self, best: Best, start: NDArray[np.int64]) -> None:
        super().__init__()
        self._best = best
        self._start = start

    def offer(self, labels: NDArray[np.int64], lost: float | None = None) -> None:
        """Offer windows and groups."""
        self._best.offer(Aligned(self._start, labels))


def _lay_field(ground: Ground, aligned: Aligned, k: int) -> _Field:
    """Find axes, neighbours and temperatures for windows where they are."""
    records = records_at(centred(ground, aligned.start), aligned.start)
    lost = sse(records, aligned.labels)
    axes = leading_axes(records, lost)
    near = near_windows(ground, aligned.start, axes, max(NEIGHBOURS, 2 * k))
    return _Field(axes, near, warmth(turn(records, axes), near, k, lost))


class _Part(NamedTuple):
    """Some of the windows, with ground of their own.

    Attributes
    ----------
    rows
        Which of all windows they are, rising.
    ground, aligned, subjects
        As for all, for these.
    word
        Random bits, not all 0.
    """

    rows: NDArray[np.int64]
    ground: Ground
    aligned: Aligned
    subjects: NDArray[np.int64]
    word: np.uint64


def _in_parts(
    grouped: Grouped,
    ground: Ground,
    aligned: Aligned,
    field: _Field,
    work: Callable[[_Part, Event], Aligned],
) -> Aligned:
    """Work in parts of whole groups that are near each other, all at once."""
    first, last = shared_out(ground, aligned.start, grouped.random)
    records = turn(records_at(ground, aligned.start), field.axes)
    parts = []
    for rows in draw_blocks(records, aligned.labels, grouped.random):
        mine = Aligned((aligned.start - first)[rows], dense(aligned.labels[rows]))
        own = centred(part_of(ground, rows, first, last), mine.start)
        word = grouped.random.integers(1, 2**63, dtype=np.uint64)
        parts.append(_Part(rows, own, mine, grouped.subjects[rows], word))
    start, labels, groups = np.empty_like(first), np.empty_like(first), 0
    found = in_threads([partial(work, part) for part in parts])
    for part, (slid, theirs) in zip(parts, found, strict=True):
        start[part.rows] = first[part.rows] + slid
        labels[part.rows] = groups + theirs
        groups += int(theirs.max()) + 1
    return Aligned(start, dense(labels))


def _anneal_part(
    k: int, field: _Field, heats: NDArray[np.float64], part: _Part, stop: Event
) -> Aligned:
    """Make random moves in a part."""
    near = neighbours_within(field.near, part.rows)
    starts = part.ground.most + 1
    first = np.cumsum(starts) - starts
    # In single precision twice as many fit into a core's cache; settling is exact.
    rows = np.empty((starts.sum(), field.axes.shape[1]), dtype=np.float32)
    lay_rows(part.ground, np.ascontiguousarray(field.axes), first, rows)
    start = part.aligned.start.copy()
    slides = Slides(rows, first, starts, start, np.empty_like(near), start.copy())
    find_meetings(slides, near)
    if stop.is_set():
        raise KeyboardInterrupt
    records = rows[first + start].astype(np.float64)
    groups = lay_out(records, part.aligned.labels, part.subjects, len(start) // k + 1)
    annealing = Annealing(
        descent=begin(groups, near),
        warmth=field.warmth[part.rows],
        quantiles=QUANTILES,
        random=np.array([part.word]),
    )
    anneal_sliding(annealing, slides, k, PASS * len(start), *heats)
    return Aligned(start, dense(groups.labels))


def _settle_part(grouped: Grouped, field: _Field, part: _Part, stop: Event) -> Aligned:
    """Let a part settle."""

    def look_up(task: str, done: float, total: float | None, note: str = "") -> None:
        if stop.is_set():
            raise KeyboardInterrupt

    mine = replace(grouped, subjects=part.subjects, progress=look_up)
    near = neighbours_within(field.near, part.rows)
    return _settle(mine, part.ground, part.aligned, near, None)


def _settle(
    grouped: Grouped,
    ground: Ground,
    aligned: Aligned,
    near: NDArray[np.int64] | None,
    best: Best | None,
) -> Aligned:
    """Slide windows, and regroup them if neighbours are given, until neither gains."""
    n, start = len(aligned.start), aligned.start.copy()
    ground = centred(ground, start)
    groups = lay_out(
        records_at(ground, start), aligned.labels, grouped.subjects, n // grouped.k + 1
    )
    descent = begin(groups, np.empty((n, 0), np.int64) if near is None else near)
    looked = np.full(n, -1)

    def slide(_: Descent, k: int, moves: int, first: int, end: int) -> int:
        return int(slide_pass(descent, ground, start, looked, moves, first, end))

    if best is not None:
        grouped = replace(grouped, course=_Heard(best, start))
    looks: list[tuple[Look, int]] = [(slide, n)]
    settle(grouped, descent, looks if near is None else looks + looks_of(descent))
    return Aligned(start, dense(groups.labels))
