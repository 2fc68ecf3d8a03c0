"""Evaluation of folders too large for memory: counts of all rows, and the rest on a sample.

The sample has whole lines, with all rows behind them, near places that are drawn by a fixed seed:
among them rows are as close as in the whole. Persons are counted with all of their lines.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.common.object_stores import scratch_folder
from trajanon.common.progress import Progress, silent
from trajanon.evaluation.attacks.attack import Guessed
from trajanon.evaluation.attacks.other_trips import other_trips
from trajanon.evaluation.attacks.published_lines import Published, published
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import TARGETS_TRIED
from trajanon.evaluation.evaluation import Counted, box_of, lines_near, measured
from trajanon.evaluation.evidence import Evaluation
from trajanon.evaluation.publisher_and_licence import Publisher, check_licence
from trajanon.files.trajectory_files import copy_rows, read_trajectories
from trajanon.release.originals import (
    LineSummaries,
    Matched,
    RowsOnLines,
    line_summaries,
    lines_by_part,
    rows_on_lines,
)
from trajanon.release.people_left import drive_of_each
from trajanon.release.release_check import Findings
from trajanon.release.report import Report
from trajanon.trajectories.trajectories import (
    ReleasedTrajectories,
    Trajectories,
    joined_trajectories,
)

SAMPLED_ORIGINALS = 50_000
"""Folders with more originals are sampled, down to about so many.

As many are read again for the guesses by other trips: all those of some people.
"""

PLACES = 10
"""Places that are drawn: the lines around them are in the sample."""


def evaluate_large(
    originals: Path,
    released: Path,
    report: Report,
    findings: Findings,
    *,
    subjects_exact: bool,
    publisher: Publisher | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Measure as `evaluate` does: what is counted of all rows, what is attacked of a sample."""
    publisher = publisher or Publisher()
    check_licence(publisher, report.attribution)
    progress("Evaluating", 0, 4, "counts")
    lines = line_summaries(released)
    rows = rows_on_lines(originals, report, lines, subjects_exact=subjects_exact)
    # Of these, `ends`, `run` and `released` are of all originals, `line` and `own_row` of those
    # that are in the release.
    ends = rows.ends.take(rows.released)  # the first and last point of each
    ends_published = _ends_published(ends, lines, rows, report.k)
    drives = drive_of_each(ends) if rows.run is None else rows.run[rows.released]
    read_rows = partial(_read_rows, originals, released, report, rows)

    random = np.random.default_rng(0)
    is_sampled = lines_near_places(lines.middles, ends_published.group_sizes, random)[rows.line]
    sample = read_rows(is_sampled)
    evaluation = measured(
        Counted(ends, ends_published, drives),
        sample.slid,
        published(sample, report),
        report,
        habits=_guesses_by_other_trips(ends_published, report, read_rows, random),
        seed=0,
        progress=progress,
    )
    return replace(
        evaluation,
        file=released.name,
        area=box_of(lines.corners),
        problems=findings.problems,
        loss=report.information_loss,
        publisher=publisher,
        sample=len(sample.labels),
    )


def _ends_published(
    ends: Trajectories, lines: LineSummaries, rows: RowsOnLines, k: int
) -> Published:
    """Return the lines and the originals behind them, of each the two ends alone.

    They are enough for all that is counted.
    """
    return Published(
        points=ends.points,
        lines=lines.ends,
        labels=rows.line,
        k=k,
        subjects=None if ends.subject is None else renumbered(ends.subject),
        nameless=ends.nameless,
        unit=ends.unit,
        own_row=rows.own_row,
    )


def lines_near_places(middles: Floats, group_sizes: Ints, random: np.random.Generator) -> Bools:
    """Mark the lines nearest to lines that are drawn, with about `SAMPLED_ORIGINALS` in all, (g,).

    A line that is drawn is always in, however many originals it has.
    """
    is_near = np.zeros(len(middles), dtype=np.bool_)
    for drawn in random.choice(len(middles), min(PLACES, len(middles)), replace=False).tolist():
        most_rows = max(SAMPLED_ORIGINALS // PLACES, int(group_sizes[drawn]))
        is_near[lines_near(middles, drawn, group_sizes, most_rows)] = True
    return is_near


def _guesses_by_other_trips(
    ends_published: Published,
    report: Report,
    read_rows: Callable[[Bools], Matched],
    random: np.random.Generator,
) -> Guessed | None:
    """Guess trips by others of the same person, of people who are drawn from those with several.

    None if nobody has several.
    """
    rows_of_person = np.bincount(ends_published.owners)
    several = np.flatnonzero(rows_of_person > 1)
    if not len(several):
        return None

    # All rows of a person are read, or none: whoever has too many is left out, but not the person
    # with the fewest. The others are taken, in the order in which they are drawn, up to the limit.
    most_rows = max(SAMPLED_ORIGINALS, int(rows_of_person[several].min()))
    drawn = random.permutation(several[rows_of_person[several] <= most_rows])[:TARGETS_TRIED]
    chosen = drawn[np.cumsum(rows_of_person[drawn]) <= most_rows]
    return other_trips(published(read_rows(np.isin(ends_published.owners, chosen)), report))


def _read_rows(
    originals: Path, released: Path, report: Report, rows: RowsOnLines, is_wanted: Bools
) -> Matched:
    """Read the wanted ones of the released originals, (r,), where they slid to, with their lines.

    ``rows`` is of all rows of the originals, of which not all were released.
    """
    # Windows lie on their runs, of which other rows hold pieces: these are read, and then dropped.
    row_number = np.flatnonzero(rows.released)[is_wanted]
    is_read = np.zeros(len(rows.released), dtype=np.bool_)
    is_read[row_number] = True
    if rows.run is not None:
        is_read |= np.isin(rows.run, rows.run[row_number])

    with scratch_folder() as scratch:
        copy = scratch / "rows.parquet"
        copy_rows(originals, is_read, copy)
        # Subjects were found over all originals, as was asked for: these take the place of those
        # that are found here.
        trajectories = read_trajectories(copy, subjects_exact=True)
    subject = None if rows.ends.subject is None else rows.ends.subject[is_read]
    trajectories = replace(trajectories, subject=subject, provenance=rows.ends.provenance)

    trajectories = trajectories.take(np.isin(np.flatnonzero(is_read), row_number))
    if report.alignment is not None:
        trajectories = trajectories.slid(np.array(report.alignment.starts)[is_wanted])

    line_numbers, labels = np.unique(rows.line[is_wanted], return_inverse=True)
    lines = _read_lines(released, line_numbers)
    own_row = rows.own_row[is_wanted]
    return Matched(labels, lines.points, slid=trajectories, own_row=own_row, times=lines.times)


def _read_lines(released: Path, line_numbers: Ints) -> ReleasedTrajectories:
    """Read lines by their rising numbers among those of all parts."""
    wanted = []
    first = 0  # number of the first line of a part
    for _, copies, lines in lines_by_part(released):
        in_part = line_numbers[(line_numbers >= first) & (line_numbers < first + len(copies))]
        wanted.append(lines.take(in_part - first))
        first += len(copies)
    return replace(joined_trajectories(wanted), provenance=wanted[0].provenance)
