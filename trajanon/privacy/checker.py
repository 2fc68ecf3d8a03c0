"""The gate before publication: whether a released file holds what was promised."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.files.release import read_as_found
from trajanon.files.released import LINE, Lines
from trajanon.partition import check_k
from trajanon.privacy.order import told_by_order


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
    groups = found.lines.groups
    sizes = np.bincount(groups)
    amiss = _not_trajectories(found.lines)
    problems = [
        *amiss,
        *_too_rare(sizes, k),
        *_ids_of_the_source(found.ids, len(groups)),
        *told_by_order(groups, None if amiss else _points(found.lines)),
        *(f"a release holds no more than lines and ids: {e}" for e in found.extras),
    ]
    return Findings(
        k=k,
        trajectories=len(groups),
        groups=len(sizes),
        smallest=int(sizes.min(initial=len(groups))),
        problems=problems,
    )


def _points(lines: Lines) -> NDArray[np.float64]:
    return lines.coordinates.reshape(len(lines), -1, 2)


def _not_trajectories(lines: Lines) -> list[str]:
    if not len(lines):
        return ["the file holds no trajectory"]
    line = lines.kinds == LINE
    problems = [
        f"{count} geometries are {kind}, not {LINE}"
        for kind, count in Counter(lines.kinds[~line].tolist()).items()
    ]
    sizes = lines.sizes[line]
    if (sizes < 2).any():
        return [*problems, "some geometries are no lines of two or more points"]
    if lines.coordinates.shape[1] > 2:
        problems.append("points have a third number: a height or a time")
    if len(sizes) and sizes.min() != sizes.max():
        problems.append("trajectories have different numbers of points")
    places = lines.coordinates[np.repeat(line, lines.sizes)]
    if not np.isfinite(places).all():
        problems.append("some coordinates are not finite numbers")
    if (np.abs(places[:, :2]) > (180.0, 90.0)).any():
        problems.append("some coordinates are not on Earth")
    return problems


def _too_rare(sizes: NDArray[np.int64], k: int) -> list[str]:
    rare = sizes[sizes < k]
    if not len(rare):
        return []
    return [
        f"{len(rare)} of {len(sizes)} different trajectories occur fewer than {k} "
        f"times (the rarest {rare.min()} times), {rare.sum()} trajectories in all"
    ]


def _ids_of_the_source(ids: Sequence[Any] | None, n: int) -> list[str]:
    """Ids 1..n along the file tell nothing; any others may come from the source."""
    if ids is None or [str(i) for i in ids] == [str(i) for i in range(1, n + 1)]:
        return []
    return [f"ids are not 1 to {n} along the file: they may be those of the source"]
