"""What an attack on a release achieves, beside what k-anonymity promises."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput
from trajanon.partition import check_k

_ROUNDING = 1e-9  # a chance that exceeds 1/k by less is 1/k


@dataclass(frozen=True, eq=False)
class Attack:
    """How well an adversary finds his targets.

    He arrives at some rows of what was published that he cannot tell apart, and picks
    one at random. His chance is the share of these rows that are of his target's
    subject; it is 0 if the target's are not among them. Where no subjects are given,
    each trajectory is its own subject.

    Attributes
    ----------
    name
        Of the attack.
    knows
        What the adversary knows, in words.
    against
        ``release``, or ``originals`` for what publishing these would give away.
    k
        The group size promised.
    rates
        For each target, the chance that the row picked is of its subject, (t,): the
        mean over all that the adversary may happen to know of it.
    worst
        The same for what betrays the target most, (t,).
    line_rates
        The chance that the row picked lies on the line of the target's own group,
        (t,): he then knows about where the target went, and not which row it is.
    targets, groups, subjects
        The trajectory attacked, its group, and its subject, (t,).
    sampled
        Whether only some of what he may know was tried: ``worst`` is then no more than
        the worst seen.
    """

    name: str
    knows: str
    against: str
    k: int
    rates: NDArray[np.float64]
    worst: NDArray[np.float64]
    line_rates: NDArray[np.float64]
    targets: NDArray[np.int64]
    groups: NDArray[np.int64]
    subjects: NDArray[np.int64]
    sampled: bool = False

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
    def above(self) -> NDArray[np.bool_]:
        """Whether the worst chance against each target is above 1/k, (t,)."""
        return self.worst > self.baseline + _ROUNDING

    @property
    def exposed(self) -> float:
        """Share of the targets whose worst chance is above 1/k."""
        return _mean(self.above.astype(np.float64))

    @cached_property
    def subject_numbers(self) -> NDArray[np.int64]:
        """The different subjects among the targets, (s,), rising."""
        return np.unique(self.subjects)

    @cached_property
    def subject_rates(self) -> NDArray[np.float64]:
        """Mean chance over the targets of each subject, (s,)."""
        where = np.searchsorted(self.subject_numbers, self.subjects)
        total = np.bincount(where, self.rates, len(self.subject_numbers))
        mean: NDArray[np.float64] = total / np.bincount(where)
        return mean

    @cached_property
    def subject_worst(self) -> NDArray[np.float64]:
        """Highest chance against any target of each subject, (s,)."""
        where = np.searchsorted(self.subject_numbers, self.subjects)
        highest = np.zeros(len(self.subject_numbers))
        np.maximum.at(highest, where, self.worst)
        return highest

    @property
    def at_fault(self) -> NDArray[np.int64]:
        """Groups with a target whose worst chance is above 1/k; none in originals."""
        if self.against != "release":
            return np.empty(0, dtype=np.int64)
        return np.unique(self.groups[self.above])

    @property
    def words(self) -> str:
        """What came out, in a few sentences."""
        if len(self.targets) == 0:
            return f"Who knows {self.knows} has no target here."
        published = "the release" if self.against == "release" else "the originals"
        worst = "the worst seen" if self.sampled else "at worst"
        said = (
            f"Who knows {self.knows} and picks among the rows of {published} that fit "
            f"finds the target's in {_percent(self.expected)} of all cases on average, "
            f"{worst} in {_percent(self.worst_case)}; 1/k is {_percent(self.baseline)}."
        )
        if not self.above.any():
            return f"{said} No target is above 1/k."
        said = f"{said} {int(self.above.sum())} of {len(self.targets)} targets "
        if self.against != "release":
            return f"{said}are above 1/k at worst."
        return f"{said}are above 1/k at worst, in {len(self.at_fault)} groups."

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


@dataclass(frozen=True, eq=False)
class Published:
    """Lines as published, and what the holder knows of them.

    Attributes
    ----------
    against
        ``release`` or ``originals``.
    points
        The originals, (n, p, 2), latitude and longitude in degrees.
    lines
        What is published, (g, p, 2); each once for every row of its group.
    labels
        The line that stands for each original, (n,), 0..g-1.
    subjects
        Whose each original is, (n,).
    k
        The group size promised.

    Raises
    ------
    BadInput
        If shapes do not agree, a coordinate is not finite, a group has no member, or
        k is less than 2.
    """

    against: str
    points: NDArray[np.float64]
    lines: NDArray[np.float64]
    labels: NDArray[np.int64]
    subjects: NDArray[np.int64]
    k: int

    def __post_init__(self) -> None:
        check_k(self.k)
        check_groups(self.points, self.lines, self.labels)
        if self.subjects.shape != (len(self.points),):
            msg = (
                f"subjects must be one number for each of the {len(self.points)} "
                f"trajectories; got shape {self.subjects.shape}"
            )
            raise BadInput(msg)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Rows of each line, (g,)."""
        return np.bincount(self.labels)

    @classmethod
    def release(
        cls,
        points: NDArray[np.float64],
        lines: NDArray[np.float64],
        labels: NDArray[np.int64],
        k: int,
        subjects: NDArray[np.int64] | None,
    ) -> "Published":
        """Take a release; without subjects, each trajectory is of its own."""
        own = np.arange(len(points)) if subjects is None else subjects
        return cls("release", points, lines, labels, own, k)

    @classmethod
    def originals(
        cls, points: NDArray[np.float64], k: int, subjects: NDArray[np.int64] | None
    ) -> "Published":
        """Take the originals as if they were published: each a group of one."""
        own = np.arange(len(points))
        return cls(
            "originals", points, points, own, own if subjects is None else subjects, k
        )

    def attack(
        self,
        name: str,
        knows: str,
        told: NDArray[np.float64],
        targets: NDArray[np.int64] | None = None,
        sampled: bool = False,
    ) -> Attack:
        """Sum up an attack.

        ``told`` holds the mean chance of a row of the subject, that of the own line,
        and the highest of the first, (t, 3), of all trajectories or some targets.
        """
        rows = np.arange(len(self.points)) if targets is None else targets
        rates, line_rates, worst = told.T
        return Attack(
            name=name,
            knows=knows,
            against=self.against,
            k=self.k,
            rates=rates,
            worst=worst,
            line_rates=line_rates,
            targets=rows,
            groups=self.labels[rows],
            subjects=self.subjects[rows],
            sampled=sampled,
        )


def check_groups(
    points: NDArray[np.float64],
    lines: NDArray[np.float64],
    labels: NDArray[np.int64],
) -> None:
    """Refuse originals, lines and labels that do not belong together.

    Raises
    ------
    BadInput
        If shapes do not agree, a coordinate is not finite, or a group has no member.
    """
    if points.ndim != 3 or points.shape[1] < 1 or points.shape[2] != 2:
        msg = (
            "points must have shape (trajectories, points, 2) as lat, lon; "
            f"got {points.shape}"
        )
        raise BadInput(msg)
    if len(points) == 0:
        msg = "there are no trajectories to attack; give at least one"
        raise BadInput(msg)
    if lines.ndim != 3 or lines.shape[1:] != points.shape[1:]:
        msg = (
            f"released lines must have shape (groups, {points.shape[1]}, 2), as the "
            f"originals have; got {lines.shape}"
        )
        raise BadInput(msg)
    if not (np.isfinite(points).all() and np.isfinite(lines).all()):
        msg = "points and released lines must be finite numbers; drop those that are not"
        raise BadInput(msg)
    if labels.shape != (len(points),):
        msg = (
            f"labels must be one group for each of the {len(points)} trajectories; "
            f"got shape {labels.shape}"
        )
        raise BadInput(msg)
    if labels.min() < 0 or len(np.bincount(labels)) != len(lines):
        msg = (
            f"labels must number the {len(lines)} released lines from 0; they reach "
            f"from {labels.min()} to {labels.max()}"
        )
        raise BadInput(msg)
    if not np.bincount(labels).all():
        empty = int(np.argmin(np.bincount(labels)))
        msg = f"group {empty} has no trajectory; number groups without gaps"
        raise BadInput(msg)


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
