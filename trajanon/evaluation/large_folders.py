"""Evaluation of folders too large for memory: counts of all rows, and the rest on a sample.

The sample has whole lines, with all rows behind them, near places that are drawn by a fixed seed:
among them rows are as close as in the whole. Persons are counted with all of their lines.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from msgspec import structs

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.progress import Progress, silent
from trajanon.common.remote_copies import SCRATCH
from trajanon.evaluation.attacks.attack import Published, published
from trajanon.evaluation.attacks.chains import Followed, people_followed
from trajanon.evaluation.attacks.habits import other_trips
from trajanon.evaluation.attacks.known_tracks import TRIED, Guessed
from trajanon.evaluation.evaluation import box_of, evaluate, months, violations
from trajanon.evaluation.evidence import Evaluation
from trajanon.evaluation.publisher import Publisher
from trajanon.files.release_contents import line_keys
from trajanon.files.trajectory_files import copy_rows, read_trajectories
from trajanon.release.originals import matched
from trajanon.release.originals_in_parts import (
    RowsOnLines,
    lines_by_part,
    released_lines,
    rows_on_lines,
)
from trajanon.release.people_left import drives_left
from trajanon.release.release_check import Findings
from trajanon.release.report import Report, Suppressed
from trajanon.trajectories.times import departure_days
from trajanon.trajectories.trajectories import (
    ReleasedTrajectories,
    Trajectories,
    joined_trajectories,
)

ROWS = 50_000
"""Rows of the sample, about; folders of more rows are sampled."""

PLACES = 10  # that are drawn, around which lines are in the sample


class Taken(NamedTuple):
    """Some rows of a folder, their lines, and a report of these alone."""

    trajectories: Trajectories
    release: ReleasedTrajectories
    report: Report


def evaluate_large(
    originals: Path,
    released: Path,
    report: Report,
    findings: Findings,
    *,
    subjects_exact: bool,
    publisher: Publisher | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Evaluation:
    """Measure as `evaluate` does: what is counted of all rows, what is attacked of a sample."""
    progress("Evaluating", 0, 4, "counts")
    lines = released_lines(released)
    rows = rows_on_lines(originals, report, lines, subjects_exact=subjects_exact)
    ends = rows.ends.take(rows.released)
    subjects = None if ends.subject is None else dense(ends.subject)
    seen = Published(
        ends.points, lines.ends, rows.line, report.k, subjects, unit=ends.unit, own_row=rows.own_row
    )

    random = np.random.default_rng(seed)
    taken = partial(_taken, originals, released, report, rows)
    sample = taken(near_places(lines.middles, seen.sizes, random)[rows.line], whole_lines=True)
    evaluation = evaluate(*sample, seed=seed, publisher=publisher, progress=progress)

    habits = None
    people = _people_drawn(seen, random)
    if people.any():
        habits = _habits(taken(people, whole_lines=False), seed)
    chained = {}
    if rows.run is not None:
        run = rows.run[rows.released]
        chained = drives_left(seen.labels, run, subjects, report.k)
    followed = people_followed(seen, departure_days(ends))

    return replace(
        evaluation,
        file=released.name,
        area=box_of(lines.corners),
        trajectories=len(ends),
        subjects=None if subjects is None else int(subjects.max()) + 1,
        sizes=seen.sizes,
        rows=seen.rows,
        violations=violations(seen, report.k),
        problems=findings.problems,
        period=months(ends.times),
        loss=report.information_loss,
        most_of_one=1 if subjects is None else int(np.bincount(subjects).max()),
        habits=habits,
        chained=chained,
        followed=_with_steps(followed, evaluation.followed),
        report=report,
        sample=sample.report.n,
    )


def near_places(middles: Floats, sizes: Ints, random: np.random.Generator) -> Bools:
    """Mark the lines nearest to lines that are drawn, with about `ROWS` rows in all."""
    chosen = np.zeros(len(middles), dtype=np.bool_)
    for drawn in random.choice(len(middles), min(PLACES, len(middles)), replace=False).tolist():
        away = (middles - middles[drawn]) * [1.0, np.cos(np.radians(middles[drawn, 0]))]
        order = np.argsort((away**2).sum(axis=1), kind="stable")
        rows = np.cumsum(sizes[order])
        chosen[order[rows <= max(ROWS // PLACES, rows[0])]] = True
    return chosen


def _people_drawn(seen: Published, random: np.random.Generator) -> Bools:
    """Mark all rows of people who are drawn from those with several."""
    rows_of_person = np.bincount(seen.owners)
    several = np.flatnonzero(rows_of_person > 1)
    drawn = random.permutation(several)[:TRIED]
    return np.isin(seen.owners, drawn[np.cumsum(rows_of_person[drawn]) <= ROWS])


def _taken(
    originals: Path,
    released: Path,
    report: Report,
    rows: RowsOnLines,
    chosen: Bools,
    *,
    whole_lines: bool,
) -> Taken:
    """Read some of the released rows, and their lines; of people each row has one of its own."""
    # Windows lie on their runs, of which other rows hold pieces.
    row = np.flatnonzero(rows.released)[chosen]
    beside = np.zeros(len(rows.released), dtype=np.bool_)
    beside[row] = True
    if rows.run is not None:
        beside |= np.isin(rows.run, rows.run[row])

    with TemporaryDirectory(prefix="trajanon-", suffix=SCRATCH) as scratch:
        copy = Path(scratch) / "rows.parquet"
        copy_rows(originals, beside, copy)
        trajectories = read_trajectories(copy, subjects_exact=True)
    subject = None if rows.ends.subject is None else rows.ends.subject[beside]
    trajectories = replace(trajectories, subject=subject, provenance=rows.ends.provenance)

    line, labels = np.unique(rows.line[chosen], return_inverse=True)
    own_row = rows.own_row[chosen] if whole_lines else np.ones(len(labels), dtype=np.bool_)
    copies = np.bincount(labels[own_row], minlength=len(line))
    lines = _lines_taken(released, line)
    alignment = report.alignment
    if alignment is not None and alignment.starts:
        starts = np.array(alignment.starts)[chosen].tolist()
        alignment = structs.replace(alignment, starts=starts)
    report_of_rows = structs.replace(
        report,
        n=len(labels),
        labels=labels.tolist(),
        line_keys=line_keys(lines.points, lines.times).tolist(),
        rows=structs.replace(report.rows, without=np.flatnonzero(~own_row).tolist()),
        suppressed=Suppressed(np.flatnonzero(~np.isin(np.flatnonzero(beside), row)).tolist()),
        alignment=alignment,
        averaged=None,  # of all rows
        ledger=None,
    )
    return Taken(trajectories, lines.take(np.repeat(np.arange(len(line)), copies)), report_of_rows)


def _lines_taken(released: Path, line: Ints) -> ReleasedTrajectories:
    """Read some lines by their rising numbers among those of all parts."""
    taken = []
    first = 0
    for _, copies, lines in lines_by_part(released):
        inside = line[(line >= first) & (line < first + len(copies))]
        taken.append(lines.take(inside - first))
        first += len(copies)
    return replace(joined_trajectories(taken), provenance=taken[0].provenance)


def _habits(people: Taken, seed: int) -> Guessed | None:
    """Guess trips of people who are drawn, with all other trips of theirs."""
    trajectories, release, report = people
    seen = published(matched(report.released_of(trajectories), release, report), report)
    return other_trips(seen, seed=seed)


def _with_steps(followed: Followed | None, of_sample: Followed | None) -> Followed | None:
    """Add how lines are followed one by one, among those of the sample."""
    if followed is None or of_sample is None:
        return followed
    return replace(
        followed,
        lines=of_sample.lines,
        steps=of_sample.steps,
        on_a_day=of_sample.on_a_day,
        found=of_sample.found,
    )
