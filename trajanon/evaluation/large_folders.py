"""Evaluation of folders too large for memory: counts of all rows, and the rest on a sample.

The sample has whole lines, with all rows behind them, near places that are drawn by a fixed seed:
among them rows are as close as in the whole. Persons are counted with all of their lines.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.object_stores import scratch_folder
from trajanon.common.progress import Progress, silent
from trajanon.evaluation.attacks.attack import Published, published
from trajanon.evaluation.attacks.chains import Followed, people_followed
from trajanon.evaluation.attacks.habits import other_trips
from trajanon.evaluation.attacks.known_tracks import TRIED
from trajanon.evaluation.evaluation import box_of, lines_near, measured, months, violations
from trajanon.evaluation.evidence import Evaluation
from trajanon.evaluation.publisher import Publisher, check_licence
from trajanon.files.trajectory_files import copy_rows, read_trajectories
from trajanon.release.originals import (
    Matched,
    RowsOnLines,
    line_summaries,
    lines_by_part,
    rows_on_lines,
)
from trajanon.release.people_left import drives_left
from trajanon.release.release_check import Findings
from trajanon.release.report import Report
from trajanon.trajectories.times import departure_days
from trajanon.trajectories.trajectories import ReleasedTrajectories, joined_trajectories

ROWS = 50_000
"""Rows of the sample, about; folders of more rows are sampled."""

PLACES = 10  # that are drawn, around which lines are in the sample


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
    publisher = publisher or Publisher()
    check_licence(publisher, report.attribution)
    progress("Evaluating", 0, 4, "counts")
    lines = line_summaries(released)
    rows = rows_on_lines(originals, report, lines, subjects_exact=subjects_exact)
    ends = rows.ends.take(rows.released)
    subjects = None if ends.subject is None else dense(ends.subject)
    seen = Published(
        ends.points, lines.ends, rows.line, report.k, subjects, unit=ends.unit, own_row=rows.own_row
    )
    of_all = partial(_taken, originals, released, report, rows)

    random = np.random.default_rng(seed)
    sample = of_all(near_places(lines.middles, seen.sizes, random)[rows.line])
    people = _people_drawn(seen, random)
    habits = None
    if people.any():
        habits = other_trips(published(of_all(people), report), seed=seed)

    chained = {}
    if rows.run is not None:
        chained = drives_left(seen.labels, rows.run[rows.released], subjects, report.k)
    followed = people_followed(seen, departure_days(ends))

    evaluation = measured(sample, report, seed=seed, progress=progress)
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
        publisher=publisher,
        sample=len(sample.labels),
    )


def near_places(middles: Floats, sizes: Ints, random: np.random.Generator) -> Bools:
    """Mark the lines nearest to lines that are drawn, with about `ROWS` rows in all."""
    chosen = np.zeros(len(middles), dtype=np.bool_)
    for drawn in random.choice(len(middles), min(PLACES, len(middles)), replace=False).tolist():
        most = max(ROWS // PLACES, int(sizes[drawn]))
        chosen[lines_near(middles, drawn, sizes, most)] = True
    return chosen


def _people_drawn(seen: Published, random: np.random.Generator) -> Bools:
    """Mark all rows of people who are drawn from those with several."""
    rows_of_person = np.bincount(seen.owners)
    several = np.flatnonzero(rows_of_person > 1)
    drawn = random.permutation(several)[:TRIED]
    return np.isin(seen.owners, drawn[np.cumsum(rows_of_person[drawn]) <= ROWS])


def _taken(
    originals: Path, released: Path, report: Report, rows: RowsOnLines, chosen: Bools
) -> Matched:
    """Read some of the released rows, where they were averaged, and their lines."""
    # Windows lie on their runs, of which other rows hold pieces.
    row = np.flatnonzero(rows.released)[chosen]
    beside = np.zeros(len(rows.released), dtype=np.bool_)
    beside[row] = True
    if rows.run is not None:
        beside |= np.isin(rows.run, rows.run[row])

    with scratch_folder() as scratch:
        copy = scratch / "rows.parquet"
        copy_rows(originals, beside, copy)
        trajectories = read_trajectories(copy, subjects_exact=True)
    subject = None if rows.ends.subject is None else rows.ends.subject[beside]
    trajectories = replace(trajectories, subject=subject, provenance=rows.ends.provenance)
    trajectories = trajectories.take(np.isin(np.flatnonzero(beside), row))
    if report.alignment is not None:
        trajectories = trajectories.slid(np.array(report.alignment.starts)[chosen])

    line, labels = np.unique(rows.line[chosen], return_inverse=True)
    lines = _lines_taken(released, line)
    return Matched(labels, lines.points, trajectories, rows.own_row[chosen], lines.times)


def _lines_taken(released: Path, line: Ints) -> ReleasedTrajectories:
    """Read some lines by their rising numbers among those of all parts."""
    taken = []
    first = 0
    for _, copies, lines in lines_by_part(released):
        inside = line[(line >= first) & (line < first + len(copies))]
        taken.append(lines.take(inside - first))
        first += len(copies)
    return replace(joined_trajectories(taken), provenance=taken[0].provenance)


def _with_steps(followed: Followed | None, of_sample: Followed | None) -> Followed | None:
    """Add how lines are followed one by one, among those of the sample."""
    if followed is None or of_sample is None:
        return followed
    return replace(of_sample, left=followed.left, place=followed.place, second=followed.second)
