"""Who is left to those who follow a drive, a day or a person: how few are on all its lines."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from trajanon.common.arrays import Ints, dense
from trajanon.common.number_text import number_of
from trajanon.files.release_contents import line_keys
from trajanon.release.report import Chains, Persons
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.trajectories.days import cells_of
from trajanon.trajectories.times import departure_days


class Left(NamedTuple):
    """How few subjects are on all lines of each drive, day or person."""

    several: int  # of these, on several lines
    below: int  # with fewer than k subjects on all of them
    alone: int  # with one


def few_left(left: Mapping[str, Left], k: int) -> str:
    """Write on how many lines few subjects are left, a sentence without its end."""
    (plural, on_several), *of_days = left.items()
    noun, whom = ("drive", "subjects") if plural == "drives" else ("person", "people")
    sentence = (
        f"Anyone who knows all lines of a {noun} is left with fewer than {k} {whom} in "
        f"{on_several.below:,} of {number_of(on_several.several, noun, plural)} on several lines, "
        f"and with one alone in {on_several.alone:,}"
    )
    for _, days in of_days:
        if days.several:
            sentence += (
                f"; on one day, in {days.below:,} of {number_of(days.several, 'day')} and in "
                f"{days.alone:,}"
            )
    return sentence


def counts_of(left: Mapping[str, Left]) -> dict[str, int]:
    """Return all counts, ready for JSON, by the name of what is counted."""
    counts = dict[str, int]()
    for name, counted in left.items():
        counts[name] = counted.several
        counts[f"{name}_below"] = counted.below
        counts[f"{name}_alone"] = counted.alone
    return counts


def left_on(cells: Ints, labels: Ints, subjects: Ints, k: int) -> Left:
    """Count the subjects who are on all lines of each cell: a drive, a day or a person, (n,)."""
    cell, line = np.unique(np.column_stack([cells, labels]), axis=0).T
    _, lines = np.unique(cell, return_counts=True)
    on_several = np.repeat(lines > 1, lines)
    if not on_several.any():
        return Left(0, 0, 0)

    lines_of = _marked(dense(cell[on_several]), line[on_several])
    people_of = _marked(labels, dense(subjects))
    lines_of.resize(lines_of.shape[0], people_of.shape[0])
    common = (lines_of @ people_of).tocoo()

    on_all = common.row[common.data == lines[lines > 1][common.row]]
    people = np.bincount(on_all, minlength=lines_of.shape[0])
    return Left(len(people), int((people < k).sum()), int((people == 1).sum()))


def _marked(row: Ints, column: Ints) -> csr_array:
    """Return a sparse matrix with 1 where a row and a column meet, however often."""
    marks = csr_array((np.ones(len(row), np.int64), (row, column)))
    marks.sum_duplicates()
    marks.data[:] = 1
    return marks


def drives_left(labels: Ints, run: Ints, subjects: Ints | None, k: int) -> dict[str, Left]:
    """Count the subjects on all lines of each drive; nothing if no drive is on two lines.

    A drive is a run. Where subjects are not known, each drive counts as one.
    """
    left = left_on(run, labels, run if subjects is None else subjects, k)
    return {"drives": left} if left.several else {}


def people_left(labels: Ints, subjects: Ints, days: Ints | None, k: int) -> dict[str, Left]:
    """Count the subjects on all lines of each person, and of each of their days."""
    left = {"people": left_on(subjects, labels, subjects, k)}
    if days is not None:
        left["days"] = left_on(cells_of(subjects, days), labels, subjects, k)
    return left


def drives_and_people_followed(
    groups: TrajectoryGroups, k: int
) -> tuple[Chains | None, Persons | None]:
    """Count the drives, and the people, whose lines together leave fewer than k subjects.

    The first is None if no drive is on two lines, the second if subjects are not known.
    """
    trajectories = groups.trajectories
    subjects = trajectories.subject

    # Several groups may have equal lines: nobody can tell these groups apart in the release.
    line_of_group = dense(line_keys(groups.released, groups.released_times))
    line_of_trajectory = line_of_group[groups.partition.labels]

    drives = {}
    if trajectories.tracks is not None:
        drives = drives_left(line_of_trajectory, trajectories.tracks.run, subjects, k)
    chains = Chains(**counts_of(drives)) if drives else None
    if subjects is None:
        return chains, None

    days = departure_days(trajectories)
    people = people_left(line_of_trajectory, subjects, days, k)
    return chains, Persons(**counts_of(people))
