"""The gate before publication: whether a released file holds what was promised."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput
from trajanon.files.release import read_as_found, read_release
from trajanon.files.released import LINE, Lines
from trajanon.files.report import labels_in, read_report, report_path
from trajanon.partition import check_k, number_subjects
from trajanon.privacy.belonging import belonging
from trajanon.privacy.holder import told_by_both, too_few_subjects
from trajanon.privacy.order import told_by_order
from trajanon.trajectories import Trajectories


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


def check(
    release_path: str | os.PathLike[str],
    k: int,
    *,
    trajectories: Trajectories | None = None,
    against: str | os.PathLike[str] | None = None,
) -> Findings:
    """Check a released file: from the file alone, unless the holder gives more.

    Each trajectory, in the coordinates as written, must occur at least k times, and
    the file may hold nothing that a release may not: columns, times, ids or metadata
    of the source, or trajectories in the order of their groups or of the source, as far
    as an order can be seen: a file in the order of a source that had none looks
    shuffled.

    That k different *people* stand behind each group cannot be seen in a release, nor
    what two releases of the same data tell together. With the holder's report beside
    each release, both can be counted.

    Parameters
    ----------
    release_path
        A release in any of the formats that `trajanon.anonymize` writes; or a folder of
        parts, which are read together, into memory.
    k
        The group size promised, at least 2.
    trajectories
        The originals, if the holder checks: their subjects are counted in each group.
    against
        An earlier release of the same trajectories, in the same order, with its report
        beside it: groups of both must have k trajectories in common, of k different
        subjects if the originals are given.

    Returns
    -------
    Findings
        With ``problems`` empty if the release holds.

    Raises
    ------
    BadInput
        If k is less than 2, the file's suffix is not that of a format, or releases,
        reports and originals do not belong together.
    FileProblem
        If a file cannot be read, or a report that is needed is not there.
    """
    check_k(k)
    found = read_as_found(Path(release_path))
    groups = found.lines.groups
    sizes = np.bincount(groups)
    amiss = _not_trajectories(found.lines)
    problems = [
        *amiss,
        *_of_the_holder(Path(release_path), found.lines, k, trajectories, against),
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


def _of_the_holder(
    release: Path,
    lines: Lines,
    k: int,
    trajectories: Trajectories | None,
    against: str | os.PathLike[str] | None,
) -> list[str]:
    """Count with the holder's files, where they are given."""
    if trajectories is None and against is None:
        return []
    labels, subjects = _labels(release, lines), None
    problems = []
    if trajectories is not None:
        if trajectories.subject is None:
            msg = (
                "these trajectories name no subjects, so none can be counted: check "
                "the release alone"
            )
            raise BadInput(msg)
        belonging(trajectories, read_release(release).points, read_report(release))
        subjects = number_subjects(trajectories.subject)
        problems += too_few_subjects(labels, subjects, k)
    if against is not None:
        earlier = _labels(Path(against), read_as_found(Path(against)).lines)
        if len(earlier) != len(labels):
            msg = (
                f"{against} was made of {len(earlier)} trajectories and {release} of "
                f"{len(labels)}: what the two tell together can be counted only if "
                "both are of the same trajectories"
            )
            raise BadInput(msg)
        problems += told_by_both(labels, earlier, k, subjects)
    return problems


def _labels(release: Path, lines: Lines) -> NDArray[np.int64]:
    """Take groups from a report, if it is that of a release with such groups."""
    labels = labels_in(read_report(release))
    sizes = np.sort(np.bincount(lines.groups))
    if not np.array_equal(np.sort(np.bincount(labels)), sizes):
        msg = (
            f"{report_path(release)} is not the report of {release}: their groups have "
            "other sizes; run trajanon anonymize again"
        )
        raise BadInput(msg)
    return labels


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
    places = lines.coordinates
    if not line.all():
        places = places[np.repeat(line, lines.sizes)]
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
