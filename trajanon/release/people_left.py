"""Who is left: how few people are on all lines of a drive, a day or a person."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from trajanon.common.arrays import Ints, dense
from trajanon.common.number_text import number_of
from trajanon.trajectories.tracks import Tracks


class Left(NamedTuple):
    """How few subjects are on all lines of each drive, day or person."""

    several: int  # of these, on several lines
    below: int  # with fewer than k subjects on all of them
    alone: int  # with one

    def account(self, name: str) -> dict[str, int]:
        """Ready for JSON, by the name of what is counted."""
        return {name: self.several, f"{name}_below": self.below, f"{name}_alone": self.alone}


def few_left(left: Mapping[str, Left], k: int) -> str:
    """Say on how many lines few subjects are left, a sentence without its end."""
    (what, most), *more = left.items()
    one, whom = ("drive", "subjects") if what == "drives" else ("person", "people")
    said = (
        f"Anyone who knows all lines of a {one} is left with fewer than {k} {whom} in "
        f"{most.below:,} of {number_of(most.several, one, what)} on several lines, and with one "
        f"alone in {most.alone:,}"
    )
    for days in (days for _, days in more if days.several):
        said += (
            f"; on one day, in {days.below:,} of {number_of(days.several, 'day')} and in "
            f"{days.alone:,}"
        )
    return said


def counts_of(left: Mapping[str, Left]) -> dict[str, int]:
    """Give all counts, ready for JSON."""
    return {key: n for name, one in left.items() for key, n in one.account(name).items()}


def left_on(cells: Ints, labels: Ints, subjects: Ints, k: int) -> Left:
    """Count the subjects who are on all lines of each cell: a drive, a day or a person, (n,)."""
    cell, line = np.unique(np.column_stack([cells, labels]), axis=0).T
    _, lines = np.unique(cell, return_counts=True)
    several = np.repeat(lines > 1, lines)
    if not several.any():
        return Left(0, 0, 0)
    on, held = _marked(dense(cell[several]), line[several]), _marked(labels, dense(subjects))
    on.resize(on.shape[0], held.shape[0])
    common = (on @ held).tocoo()
    on_all = common.row[common.data == lines[lines > 1][common.row]]
    people = np.bincount(on_all, minlength=on.shape[0])
    return Left(len(people), int((people < k).sum()), int((people == 1).sum()))


def _marked(row: Ints, column: Ints) -> csr_array:
    marks = csr_array((np.ones(len(row), np.int64), (row, column)))
    marks.sum_duplicates()
    marks.data[:] = 1
    return marks


def drives_left(
    labels: Ints, tracks: Tracks | None, subjects: Ints | None, k: int
) -> dict[str, Left]:
    """Count the subjects on all lines of each drive; nothing if no drive is on two lines.

    Where subjects are not known, each drive counts as one.
    """
    if tracks is None:
        return {}
    left = left_on(tracks.run, labels, tracks.run if subjects is None else subjects, k)
    return {"drives": left} if left.several else {}


def people_left(labels: Ints, subjects: Ints, days: Ints | None, k: int) -> dict[str, Left]:
    """Count the subjects on all lines of each person, and of each of their days."""
    left = {"people": left_on(subjects, labels, subjects, k)}
    if days is not None:
        left["days"] = left_on(cells_of(subjects, days), labels, subjects, k)
    return left


def cells_of(subjects: Ints, days: Ints) -> Ints:
    """Number each day of each subject, (n,)."""
    pairs = np.column_stack([subjects, days])
    return np.asarray(np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1))
