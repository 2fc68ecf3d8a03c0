"""Rows of a release: how many each line has."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trajanon.arrays import Bools, Ints
from trajanon.partition import first_of_each


def way_of(asked: str, *, by_subjects: bool) -> str:
    """What has a row each: trajectories, where k does not count subjects."""
    return "trajectories" if asked == "subjects" and not by_subjects else asked


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a release: of each line one for each different subject, or each trajectory."""

    asked: str  # subjects, trajectories or lines
    line: Ints  # the line as written that stands for each trajectory, (n,), numbered 0..g-1
    subject: Ints | None  # of each trajectory, (n,); None: k counts trajectories

    @property
    def way(self) -> str:
        """What has a row each."""
        return way_of(self.asked, by_subjects=self.subject is not None)

    @cached_property
    def of_subjects(self) -> Bools:
        """Whether a trajectory is the first of its subject on its line, (n,)."""
        if self.subject is None:
            return np.ones(len(self.line), dtype=np.bool_)
        return first_of_each(self.line, self.subject)

    @property
    def own(self) -> Bools:
        """Whether a trajectory has a row of its own, (n,); else its subject has one there."""
        return np.ones_like(self.of_subjects) if self.way == "trajectories" else self.of_subjects

    @property
    def account(self) -> dict[str, Any]:
        """How many rows each way has, and the trajectories without one, ready for JSON."""
        return {
            "way": self.way,
            "trajectories": len(self.line),
            "subjects": None if self.subject is None else int(self.of_subjects.sum()),
            "lines": int(self.line.max()) + 1,
            "without": np.flatnonzero(~self.own).tolist(),
        }
