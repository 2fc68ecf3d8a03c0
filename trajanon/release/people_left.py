"""Who is left: how few people are on all lines of a drive, a day or a person."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from trajanon.common.arrays import Ints, dense
from trajanon.common.number_text import number_of


class Left(NamedTuple):
    """How few subjects are on all lines of each drive, day or person."""

    several: int  # of these, on several lines
    below: int  # with fewer than k subjects on all of them
    alone: int  # with one

    def account(self, name: str) -> dict[str, int]:
        """Return what JSON holds, by the name of what is counted."""
        return {name: self.several, f"{name}_below": self.below, f"{name}_alone": self.alone}


def few_left(left: Mapping[str, Left], k: int) -> str:
    """Write on how many lines few subjects are left, a sentence without its end."""
    (counted, on_several), *of_days = left.items()
    one, whom = ("drive", "subjects") if counted == "drives" else ("person", "people")
    sentence = (
        f"Anyone who knows all lines of a {one} is left with fewer than {k} {whom} in "
        f"{on_several.below:,} of {number_of(on_several.several, one, counted)} on several lines, "
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
    """Return all counts, ready for JSON."""
    return {
        key: count for name, counts in left.items() for key, count in counts.account(name).items()
    }


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


def cells_of(subjects: Ints, days: Ints) -> Ints:
    """Number each day of each subject, (n,)."""
    pairs = np.column_stack([subjects, days])
    return np.asarray(np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1))
