"""The check of a release before publication."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from trajanon.common.arrays import Ints, dense
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.object_stores import fetched, is_url
from trajanon.files.release_formats import release_of
from trajanon.files.release_inspection import NOTHING_ELSE, inspected
from trajanon.grouping.k_promise import check_k
from trajanon.release.originals import (
    NO_SUBJECTS,
    released_lines,
    rows_on_lines,
    too_few_people,
    with_originals,
)
from trajanon.release.release import Release, on_disk
from trajanon.release.report import Report
from trajanon.trajectories.subjects import Nameless
from trajanon.trajectories.trajectories import Trajectories

Earlier = str | os.PathLike[str] | Release


@dataclass(frozen=True, slots=True)
class Findings:
    """What the checker saw.

    Attributes
    ----------
    k
        The group size checked against.
    trajectories
        Trajectories in the file; where each line has a count, as many as all counts add up to.
    groups
        Different trajectories among them.
    smallest
        How often the rarest trajectory occurs; 0 in an empty file.
    problems
        What is wrong, a sentence each; empty if the release holds.
    claim
        The claim about the rest of the file, beside its lines, if the release holds.
    answered
        ``rows``: whether each trajectory occurs k times. ``people``: also whether k different
        subjects stand behind each, counted in the originals.
    counted
        Whether each line stands in the file once, with a count of its rows.

    Examples
    --------
    Two people go along each of two roads. That is enough for k = 2, and too few for k = 3:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> findings = trajanon.check(release, k=2)
    >>> findings.holds, findings.claim
    (True, 'nothing else is in the file')
    >>> findings.trajectories, findings.groups, findings.smallest
    (4, 2, 2)
    >>> if findings:
    ...     print("publish it")
    publish it
    >>> trajanon.check(release, k=3).problems[0].partition(" (")[0]
    '2 of 2 different trajectories occur fewer than 3 times'
    """

    k: int
    trajectories: int
    groups: int
    smallest: int
    problems: Sequence[str]
    claim: str = ""
    answered: str = "rows"
    counted: bool = False

    @property
    def holds(self) -> bool:
        """Return whether k stand behind each, as answered, and nothing else is in the file."""
        return not self.problems

    def __bool__(self) -> bool:
        """Return whether it holds."""
        return self.holds


def check(
    release: str | os.PathLike[str] | Release,
    k: SupportsIndex,
    *,
    trajectories: Trajectories | None = None,
    against: Earlier | Sequence[Earlier] | None = None,
) -> Findings:
    """Check a released file: from the file alone, unless the holder gives more.

    Each trajectory, in the coordinates and times as written, must occur at least k times, or have a
    count of at least k, and the file may hold nothing that a release may not: columns, ids or
    metadata of the source, times without the sentence that explains them, or trajectories in
    another order than that of their coordinates.

    A release does not show whether k different *people* stand behind each group, nor what two
    releases of the same data reveal together. With the holder's report beside each release, both
    can be counted.

    Parameters
    ----------
    release
        A release in any of the formats that `trajanon.anonymize` writes, by its path or a URL that
        fsspec opens, or a folder of parts as `trajanon.anonymize_parts` does; or what
        `trajanon.anonymize` gave, which is checked as it would be written.
    k
        The group size promised, at least 2.
    trajectories
        The originals, if the holder checks: their subjects are counted in each group.
    against
        An earlier release of the same trajectories, with its report beside it, or several: groups
        of all must have k different subjects in common, and so must a group of one have with what
        the others left out. It needs the originals.

    Returns
    -------
    Findings
        With ``problems`` empty if the release holds.

    Raises
    ------
    BadInput
        If k is less than 2, the file's suffix is not that of a format, or
        releases, reports and originals do not belong together.
    FileProblem
        If a file cannot be read, or a report that is needed is not there.

    Examples
    --------
    Two people along each of two roads are enough for k = 2, and too few for k = 3:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajanon.anonymize(trajanon.Trajectories(points), k=2).write("anonymized.parquet")
    >>> [trajanon.check("anonymized.parquet", k).holds for k in (2, 3)]
    [True, False]
    """
    releases = against or ()
    if isinstance(releases, str | os.PathLike | Release):
        releases = [releases]

    number = check_k(k)
    with ExitStack() as stack:
        path = _on_disk(release, stack)
        earlier = [_on_disk(other, stack) for other in releases]
        return _checked(path, number, trajectories, earlier)


def _on_disk(release: Earlier, stack: ExitStack) -> Path:
    """Find where a release stands, or put it there for as long as the stack is open."""
    if isinstance(release, Release):
        return stack.enter_context(on_disk(release))
    if isinstance(release, str) and is_url(release):
        return stack.enter_context(fetched(release))
    return Path(release)


def _checked(
    release: Path, k: int, trajectories: Trajectories | None, earlier: Sequence[Path]
) -> Findings:
    """Inspect the files of a release, and count how often each line is in them."""
    if earlier and trajectories is None:
        raise BadInput("`against` needs `trajectories`: the originals of these releases")

    # Lines are kept only to be compared with originals: their keys are enough to count them.
    files, problems = inspected(release, keep=trajectories is not None)
    keys = np.concatenate([file.keys for file in files])
    sizes = np.unique(keys, return_counts=True)[1]

    if trajectories is not None:
        read = ((file.path, file.lines) for file in files if file.lines is not None)
        problems += with_originals(release, release_of(read), k, trajectories, earlier)

    return Findings(
        k=k,
        trajectories=len(keys),
        groups=len(sizes),
        smallest=int(sizes.min(initial=len(keys))),
        problems=[*problems, *_too_rare(sizes, k)],
        # A file that holds more than lines speaks for all.
        claim=max((file.claim for file in files), key=lambda claim: claim != NOTHING_ELSE),
        answered="rows" if trajectories is None else "people",
        counted=any(file.counted for file in files),
    )


def _too_rare(sizes: Ints, k: int) -> list[str]:
    """Count the trajectories that occur fewer than k times."""
    rare = sizes[sizes < k]
    if not len(rare):
        return []
    different = number_of(len(sizes), "different trajectory", "different trajectories")
    rare_ones = number_of(rare.sum(), "trajectory", "trajectories")
    return [
        f"{len(rare)} of {different} occur fewer than {k} times (the rarest "
        f"{number_of(rare.min(), 'time')}), {rare_ones} in all"
    ]


def check_folders(
    release: Path, k: int, originals: Path, report: Report, *, subjects_exact: bool
) -> tuple[Findings, Nameless]:
    """Check a release as `trajanon.check` does, and count the subjects behind each line.

    Also returns how many recordings have no name.
    """
    findings = check(release, k)
    rows = rows_on_lines(originals, report, released_lines(release), subjects_exact=subjects_exact)
    if rows.ends.subject is None:
        raise BadInput(NO_SUBJECTS)
    subjects = dense(rows.ends.subject[rows.released])
    faults = too_few_people(dense(rows.line), subjects, k)
    findings = replace(findings, problems=[*findings.problems, *faults], answered="people")
    return findings, rows.ends.origin.source.unnamed
