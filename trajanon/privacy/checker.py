"""The gate before publication: whether a released file holds what was promised."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import pdtrc

from trajanon.files.release import read_as_found
from trajanon.files.released import Line
from trajanon.partition import check_k

_CHANCE = 1e-6
"""A file is called sorted if chance would order it so less often than this."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What the checker saw.

    Attributes
    ----------
    k
        The group size checked against.
    trajectories
        Trajectories in the file.
    groups
        Different trajectories among them.
    smallest
        How often the rarest trajectory occurs; 0 in an empty file.
    problems
        What is wrong, a sentence each; empty if the release holds.
    """

    k: int
    trajectories: int
    groups: int
    smallest: int
    problems: Sequence[str]

    @property
    def holds(self) -> bool:
        """Whether every trajectory occurs k times and nothing else is in the file."""
        return not self.problems


def check(release_path: str | os.PathLike[str], k: int) -> Findings:
    """Check a released file, from the file alone.

    Each trajectory, in the coordinates as written, must occur at least k times, and
    the file may hold nothing that a release may not: columns, times, ids or metadata
    of the source, or trajectories in the order of their groups.

    That k different *people* stand behind each group cannot be seen in a release; the
    holder's report says so.

    Parameters
    ----------
    release_path
        A release in any of the formats that `trajanon.anonymize` writes.
    k
        The group size promised, at least 2.

    Returns
    -------
    Findings
        With ``problems`` empty if the release holds.

    Raises
    ------
    BadInput
        If k is less than 2, or the file's suffix is not that of a format.
    FileProblem
        If the file cannot be read.
    """
    check_k(k)
    found = read_as_found(Path(release_path))
    keys = [line.key for line in found.lines]
    sizes = Counter(keys)
    problems = [
        *_not_trajectories(found.lines),
        *_too_rare(sizes, k),
        *_ids_of_the_source(found.ids, len(keys)),
        *_sorted_by_group(keys, sizes),
        *(f"a release holds no more than lines and ids: {e}" for e in found.extras),
    ]
    return Findings(
        k=k,
        trajectories=len(keys),
        groups=len(sizes),
        smallest=min(sizes.values(), default=0),
        problems=problems,
    )


def _not_trajectories(lines: Sequence[Line]) -> list[str]:
    if not lines:
        return ["the file holds no trajectory"]
    problems = []
    kinds = Counter(line.kind for line in lines if line.kind != "LineString")
    problems += [
        f"{count} geometries are {kind}, not LineString"
        for kind, count in kinds.items()
    ]
    lines = [line for line in lines if line.kind == "LineString"]
    if any(line.coordinates.ndim != 2 or len(line.coordinates) < 2 for line in lines):
        return [*problems, "some geometries are no lines of two or more points"]
    if any(line.coordinates.shape[1] > 2 for line in lines):
        problems.append("points have a third number: a height or a time")
    if len({len(line.coordinates) for line in lines}) > 1:
        problems.append("trajectories have different numbers of points")
    if any(not np.isfinite(line.coordinates).all() for line in lines):
        problems.append("some coordinates are not finite numbers")
    if any((np.abs(line.coordinates[:, :2]) > (180.0, 90.0)).any() for line in lines):
        problems.append("some coordinates are not on Earth")
    return problems


def _too_rare(sizes: Counter[bytes], k: int) -> list[str]:
    rare = [size for size in sizes.values() if size < k]
    if not rare:
        return []
    return [
        f"{len(rare)} of {len(sizes)} different trajectories occur fewer than {k} "
        f"times (the rarest {min(rare)} times), {sum(rare)} trajectories in all"
    ]


def _ids_of_the_source(ids: Sequence[Any] | None, n: int) -> list[str]:
    """Ids 1..n along the file tell nothing; any others may come from the source."""
    if ids is None or [str(i) for i in ids] == [str(i) for i in range(1, n + 1)]:
        return []
    return [f"ids are not 1 to {n} along the file: they may be those of the source"]


def _sorted_by_group(keys: Sequence[bytes], sizes: Counter[bytes]) -> list[str]:
    """Compare equal neighbours in the file with what a shuffled file would have.

    In a random order the number of neighbouring rows that are equal is nearly Poisson
    distributed with mean sum s (s - 1) / n over the group sizes s.
    """
    if len(sizes) < 2:
        return []
    n = len(keys)
    equal = sum(keys[i] == keys[i + 1] for i in range(n - 1))
    expected = sum(size * (size - 1) for size in sizes.values()) / n
    if equal == 0 or pdtrc(equal - 1, expected) >= _CHANCE:
        return []
    return [
        f"trajectories stand in the order of their groups: {equal} neighbours in the "
        f"file are equal, about {expected:.0f} would be by chance; shuffle it"
    ]
