"""What an attack on a release achieves, beside what k-anonymity promises."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trajanon.arrays import Bools, Floats, Ints

_ROUNDING = 1e-9  # a chance that exceeds 1/k by less is 1/k


@dataclass(frozen=True, eq=False)
class Attack:
    """How well an adversary finds his targets.

    He arrives at some rows of what was published that he cannot tell apart, and picks one at
    random.
    """

    name: str  # of the attack
    knows: str  # what the adversary knows, in words
    against: str  # ``release``, or ``originals`` for what publishing these would give away
    k: int  # the group size promised
    rates: Floats  # for each target, the chance that the row picked is of its subject, (t,)
    worst: Floats  # the same for what betrays the target most, (t,)
    line_rates: Floats  # the chance that the row picked lies on the line of the target's own group
    targets: Ints  # the trajectory attacked, its group, and its subject, (t,)
    groups: Ints  # the trajectory attacked, its group, and its subject, (t,)
    subjects: Ints  # the trajectory attacked, its group, and its subject, (t,)
    sampled: bool = False  # whether only some of what he may know was tried

    @property
    def baseline(self) -> float:
        """The chance in a group of k rows of different subjects: 1/k."""
        return 1.0 / self.k

    @property
    def expected(self) -> float:
        """Mean chance over the targets; 0 without targets."""
        return _mean(self.rates)

    @property
    def worst_case(self) -> float:
        """Highest chance against any target; 0 without targets."""
        return float(self.worst.max(initial=0.0))

    @property
    def line_found(self) -> float:
        """Mean chance that the row picked lies on the line of the target's group."""
        return _mean(self.line_rates)

    @property
    def above(self) -> Bools:
        """Whether the worst chance against each target is above 1/k, (t,)."""
        return self.worst > self.baseline + _ROUNDING

    @property
    def exposed(self) -> float:
        """Share of the targets whose worst chance is above 1/k."""
        return _mean(self.above.astype(np.float64))

    @cached_property
    def subject_numbers(self) -> Ints:
        """The different subjects among the targets, (s,), rising."""
        return np.unique(self.subjects)

    @cached_property
    def subject_rates(self) -> Floats:
        """Mean chance over the targets of each subject, (s,)."""
        where = np.searchsorted(self.subject_numbers, self.subjects)
        total = np.bincount(where, self.rates, len(self.subject_numbers))
        mean: Floats = total / np.bincount(where)
        return mean

    @cached_property
    def subject_worst(self) -> Floats:
        """Highest chance against any target of each subject, (s,)."""
        where = np.searchsorted(self.subject_numbers, self.subjects)
        highest = np.zeros(len(self.subject_numbers))
        np.maximum.at(highest, where, self.worst)
        return highest

    @property
    def at_fault(self) -> Ints:
        """Groups with a target whose worst chance is above 1/k; none in originals."""
        if self.against != "release":
            return np.empty(0, dtype=np.int64)
        return np.unique(self.groups[self.above])

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single trajectories."""
        above = self.subject_worst > self.baseline + _ROUNDING
        return {
            "name": self.name,
            "knows": self.knows,
            "against": self.against,
            "k": self.k,
            "targets": len(self.targets),
            "subjects": len(self.subject_numbers),
            "expected": self.expected,
            "worst_case": self.worst_case,
            "baseline": self.baseline,
            "line_found": self.line_found,
            "exposed": self.exposed,
            "subjects_exposed": int(above.sum()),
            "groups_at_fault": len(self.at_fault),
            "sampled": self.sampled,
        }


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
