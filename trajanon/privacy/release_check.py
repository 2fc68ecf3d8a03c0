"""The check of a release before publication: whether the file keeps the promise."""

import os
from pathlib import Path

import numpy as np

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.files.comparison import Compared, compared
from trajanon.files.release import read_as_found, read_release
from trajanon.files.release_lines import DIGITS, Lines
from trajanon.files.report import all_labels_in, all_lines_in, read_report, released_of, report_path
from trajanon.partition import check_k, dense
from trajanon.privacy.findings import Findings, not_trajectories, too_fine, too_rare
from trajanon.privacy.intersection import intersect_releases, too_few_subjects
from trajanon.privacy.order import find_order
from trajanon.privacy.originals import matched
from trajanon.privacy.parts_check import check_parts
from trajanon.privacy.source_order import by_line, find_source_order
from trajanon.releases import Release, written
from trajanon.settings import ReleaseSettings
from trajanon.trajectories import Trajectories


def check(
    release: str | os.PathLike[str] | Release,
    k: int,
    *,
    trajectories: Trajectories | None = None,
    against: str | os.PathLike[str] | Release | None = None,
    digits: int = DIGITS,
) -> Findings:
    """Check a released file: from the file alone, unless the holder gives more.

    Each trajectory, in the coordinates as written, must occur at least k times, and the file may
    hold nothing that a release may not: columns, times, ids or metadata of the source, or
    trajectories in the order of their groups or of the source. A file in the order of a source that
    itself shows no order looks shuffled, unless the originals are given.

    A release does not show whether k different *people* stand behind each group, nor what two
    releases of the same data reveal together. With the holder's report beside each release, both
    can be counted.

    Parameters
    ----------
    release
        A release in any of the formats that `trajanon.anonymize` writes, or a folder of parts as
        `trajanon.anonymize_parts` does; or what `trajanon.anonymize` gave, which is checked as it
        would be written.
    k
        The group size promised, at least 2.
    trajectories
        The originals, if the holder checks: their subjects are counted in each group, and their
        order is compared with that of the release.
    against
        An earlier release of the same trajectories, in the same order, with its report beside it:
        groups of both must have k trajectories in common, of k different subjects if the originals
        are given; and so must a group of one have with what the other left out.
    digits
        Decimals of a degree that the release claims to have at most.

    Returns
    -------
    Findings
        With ``problems`` empty if the release holds.

    Raises
    ------
    BadInput
        If k is less than 2, digits are not 4 to 7, the file's suffix is not that of a format, or
        releases, reports and originals do not belong together.
    FileProblem
        If a file cannot be read, or a report that is needed is not there.
    """
    if isinstance(release, Release):
        with written(release) as path:
            return check(path, k, trajectories=trajectories, against=against, digits=digits)
    if isinstance(against, Release):
        with written(against) as path:
            return check(release, k, trajectories=trajectories, against=path, digits=digits)
    check_k(k)
    ReleaseSettings(digits=digits)
    release = Path(release)
    if release.is_dir():
        if trajectories is not None or against is not None:
            msg = (
                f"{release} is a release in parts, which has no list of groups: it can "
                "be checked by itself only"
            )
            raise BadInput(msg)
        return check_parts(release, k, digits)
    found = read_as_found(release)
    groups = found.groups
    sizes = np.bincount(groups)
    amiss = not_trajectories(found)
    problems = [
        *(amiss or too_fine(found, digits)),
        *_of_the_holder(release, found, k, trajectories, against),
        *too_rare(sizes, k),
        *find_order(groups, None if amiss else found.places),
    ]
    beside = Compared([], "") if amiss else compared(release, found)
    problems += beside.differences
    return Findings(
        k=k,
        trajectories=len(groups),
        groups=len(sizes),
        smallest=int(sizes.min(initial=len(groups))),
        problems=problems,
        claim=beside.claim,
        answered="rows" if trajectories is None else "people",
    )


def _of_the_holder(
    release: Path,
    lines: Lines,
    k: int,
    trajectories: Trajectories | None,
    against: str | os.PathLike[str] | None,
) -> list[str]:
    """Count what the holder's files show, where they are given."""
    if trajectories is not None:
        return _with_originals(release, k, trajectories, against)
    if against is None:
        return []
    labels = _labels(release, lines)
    earlier = _labels(Path(against), read_as_found(Path(against)))
    if len(earlier) != len(labels):
        msg = (
            f"{against} was made of {len(earlier)} trajectories and {release} of "
            f"{len(labels)}: what the two tell together can be counted only if "
            "both are of the same trajectories"
        )
        raise BadInput(msg)
    return intersect_releases(labels, earlier, k)


def _with_originals(
    release: Path, k: int, trajectories: Trajectories, against: str | os.PathLike[str] | None
) -> list[str]:
    """Count subjects, and compare with the order of the originals."""
    if trajectories.subject is None:
        msg = "these trajectories name no subjects, so none can be counted: check the release alone"
        raise BadInput(msg)
    subjects = dense(trajectories.subject)
    rows, lines = _held(release, trajectories)
    kept = lines >= 0
    problems = [
        *too_few_subjects(lines[kept], subjects[kept], k),
        *find_source_order(rows, lines[kept]),
    ]
    if against is not None:
        _, earlier = _held(Path(against), trajectories)
        problems += intersect_releases(lines, earlier, k, subjects)
    return problems


def _held(release: Path, trajectories: Trajectories) -> tuple[Ints, Ints]:
    """Find the line of each row of a release, and that of each original; -1: left out."""
    report, points = read_report(release), read_release(release).points
    try:
        found = matched(released_of(trajectories, report), points, report)
    except BadInput as error:
        msg = f"{release}: {error}"
        raise BadInput(msg) from error
    labels = all_labels_in(report)
    lines = np.full_like(labels, -1)
    rows, lines[labels >= 0] = by_line(points, found.lines, found.labels)
    return rows, lines


def _labels(release: Path, lines: Lines) -> Ints:
    """Take lines from a report, if it is that of a release with such lines."""
    labels = all_lines_in(read_report(release))
    reported, found = np.bincount(labels[labels >= 0]), np.bincount(lines.groups)
    if not np.array_equal(np.sort(reported[reported > 0]), np.sort(found)):
        msg = (
            f"{report_path(release)} is not the report of {release}: their lines occur "
            "with different frequencies; run trajanon anonymize again"
        )
        raise BadInput(msg)
    return labels
