"""What an adversary sees, and what the holder knows of it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.partition import check_k


@dataclass(frozen=True, eq=False)
class Published:
    """Lines as published, and what the holder knows of them.

    Attributes
    ----------
    points
        The originals, (n, p, 2), latitude and longitude in degrees.
    lines
        What is published, (g, p, 2); each once for every row of its group.
    labels
        The line that stands for each original, (n,), 0..g-1.
    k
        The group size promised.
    subjects
        The subject of each original, (n,); None: each original has a subject of its own.
    against
        ``release`` or ``originals``.

    Raises
    ------
    BadInput
        If shapes do not agree, a coordinate is not finite, a group has no member, or k is less than
        2.
    """

    points: Floats
    lines: Floats
    labels: Ints
    k: int
    subjects: Ints | None = None
    against: str = "release"

    def __post_init__(self) -> None:
        check_k(self.k)
        shape, g = self.points.shape, len(self.lines)
        msg = ""
        if len(shape) != 3 or shape[1] < 1 or shape[2] != 2:
            msg = f"points must have shape (trajectories, points, 2) as lat, lon; got {shape}"
        elif shape[0] == 0:
            msg = "there are no trajectories to attack; give at least one"
        elif self.lines.ndim != 3 or self.lines.shape[1:] != shape[1:]:
            msg = (
                f"released lines must have shape (groups, {shape[1]}, 2), as the originals have; "
                f"got {self.lines.shape}"
            )
        elif not (np.isfinite(self.points).all() and np.isfinite(self.lines).all()):
            msg = "points and released lines must be finite numbers; drop those that are not"
        elif self.labels.shape != shape[:1]:
            msg = (
                f"labels must be one group for each of the {shape[0]} trajectories; "
                f"got shape {self.labels.shape}"
            )
        elif self.labels.min() < 0 or self.labels.max() != g - 1:
            msg = (
                f"labels must number the {g} released lines from 0; they reach "
                f"from {self.labels.min()} to {self.labels.max()}"
            )
        elif not self.sizes.all():
            msg = f"group {np.argmin(self.sizes)} has no trajectory; number groups without gaps"
        elif self.owners.shape != shape[:1]:
            msg = (
                f"subjects must be one number for each of the {shape[0]} trajectories; "
                f"got shape {self.owners.shape}"
            )
        if msg:
            raise BadInput(msg)

    @cached_property
    def sizes(self) -> Ints:
        """Rows of each line, (g,)."""
        return np.bincount(self.labels)

    @property
    def owners(self) -> Ints:
        """The subject that each original counts for, (n,)."""
        return np.arange(len(self.points)) if self.subjects is None else self.subjects

    @property
    def originals(self) -> "Published":
        """The originals as if they were published: each a group of one."""
        own = np.arange(len(self.points))
        return replace(self, lines=self.points, labels=own, against="originals")
