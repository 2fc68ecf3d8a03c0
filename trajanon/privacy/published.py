"""What an adversary sees, and what the holder knows of it."""

from dataclasses import dataclass

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.partition import check_k
from trajanon.privacy.attack import Attack


@dataclass(frozen=True, eq=False)
class Published:
    """Lines as published, and what the holder knows of them."""

    against: str  # ``release`` or ``originals``
    points: Floats  # the originals, (n, p, 2), latitude and longitude in degrees
    lines: Floats  # what is published, (g, p, 2); each once for every row of its group
    labels: Ints  # the line that stands for each original, (n,), 0..g-1
    subjects: Ints  # whose each original is, (n,)
    k: int  # the group size promised

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
    def sizes(self) -> Ints:
        """Rows of each line, (g,)."""
        return np.bincount(self.labels)

    @classmethod
    def release(
        cls, points: Floats, lines: Floats, labels: Ints, k: int, subjects: Ints | None
    ) -> "Published":
        """Take a release; without subjects, each trajectory is of its own."""
        own = np.arange(len(points)) if subjects is None else subjects
        return cls("release", points, lines, labels, own, k)

    @classmethod
    def originals(cls, points: Floats, k: int, subjects: Ints | None) -> "Published":
        """Take the originals as if they were published: each a group of one."""
        own = np.arange(len(points))
        return cls("originals", points, points, own, own if subjects is None else subjects, k)

    def attack(
        self,
        name: str,
        knows: str,
        told: Floats,
        targets: Ints | None = None,
        sampled: bool = False,
    ) -> Attack:
        """Sum up an attack.

        ``told`` holds the mean chance of a row of the subject, that of the own line, and the
        highest of the first, (t, 3), of all trajectories or some targets.
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


def check_groups(points: Floats, lines: Floats, labels: Ints) -> None:
    """Refuse originals, lines and labels that do not belong together."""
    if points.ndim != 3 or points.shape[1] < 1 or points.shape[2] != 2:
        msg = f"points must have shape (trajectories, points, 2) as lat, lon; got {points.shape}"
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
