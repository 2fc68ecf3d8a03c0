"""The check of a release before publication, by its file alone, or with what the holder has.

What the file alone shows is found by ``files/release_inspection.py``.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from trajanon.common.arrays import Ints, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.object_stores import fetched, is_url
from trajanon.files.release_formats import read_release, release_of
from trajanon.files.release_inspection import NOTHING_ELSE, inspected
from trajanon.grouping.k_promise import broken_promises, check_k
from trajanon.release.originals import line_summaries, rows_on_lines
from trajanon.release.release import Release, on_disk
from trajanon.release.releases_taken_together import lines_for_holder, problems_together
from trajanon.release.report import Report
from trajanon.release.verdict import groups_below_k
from trajanon.release.verdict_sentences import clause_of
from trajanon.trajectories.provenance import Source
from trajanon.trajectories.subjects import Nameless
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories, TrajectoryRows

_NO_SUBJECTS = (
    "these trajectories name no subjects, so people cannot be counted: check the release alone"
)

ReleaseOrPath = str | os.PathLike[str] | Release


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
        subjects stand behind each, counted in the originals; ``recordings`` where nobody is named.
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
    release: ReleaseOrPath,
    k: SupportsIndex,
    *,
    trajectories: Trajectories | None = None,
    against: ReleaseOrPath | Sequence[ReleaseOrPath] | None = None,
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
        An earlier release of the same trajectories, with its report beside it, or several.
        Trajectories that are on the same lines in all these releases, or left out of the same, must
        be of k different subjects. It needs the originals.

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
    if trajectories is not None and not isinstance(trajectories, TrajectoryRows):
        kind = type(trajectories).__name__
        raise BadInput(f"`trajectories` must be what read_trajectories returns, not {kind}")
    earlier_releases = () if against is None else against
    if isinstance(earlier_releases, str | os.PathLike | Release):
        earlier_releases = [earlier_releases]

    least = check_k(k)
    with ExitStack() as stack:
        path = _path_of(release, stack)
        earlier_paths = [_path_of(earlier, stack) for earlier in earlier_releases]
        return _checked(path, least, trajectories, earlier_paths)


def _path_of(release: ReleaseOrPath, stack: ExitStack) -> Path:
    """Find where a release stands, or write it to a path for as long as the stack is open."""
    if isinstance(release, Release):
        return stack.enter_context(on_disk(release))
    if isinstance(release, str) and is_url(release):
        return stack.enter_context(fetched(release))
    if not isinstance(release, str | os.PathLike):
        kind = type(release).__name__
        raise BadInput(f"check takes a path, or what trajanon.anonymize gave, not {kind}")
    return Path(release)


def _checked(
    release: Path, k: int, trajectories: Trajectories | None, earlier: Sequence[Path]
) -> Findings:
    """Inspect the files of a release, and count how often each line is in them."""
    if earlier and trajectories is None:
        raise BadInput("`against` needs `trajectories`: the originals of these releases")

    # Lines are kept only to be compared with originals: their keys are enough to count them.
    files, problems = inspected(release, keep=trajectories is not None)
    # Hashes of rows as written, which are equal for equal lines.
    keys = np.concatenate([file.keys for file in files])
    sizes = np.unique(keys, return_counts=True)[1]

    if trajectories is not None:
        lines_read = ((file.path, file.lines) for file in files if file.lines is not None)
        rows = release_of(lines_read)
        problems += _problems_for_holder(release, rows, k, trajectories, earlier)

    return Findings(
        k=k,
        trajectories=len(keys),
        groups=len(sizes),
        smallest=int(sizes.min(initial=len(keys))),  # 0 if there are no lines
        problems=[*problems, *_too_rare(sizes, k)],
        # The claim of the first file that holds more than lines, if there is one, is that of all.
        claim=max((file.claim for file in files), key=lambda claim: claim != NOTHING_ELSE),
        answered="rows" if trajectories is None else counted_in(trajectories.origin.source),
        counted=any(file.counted for file in files),
    )


def _too_rare(sizes: Ints, k: int) -> list[str]:
    """Report the lines that fewer than k rows have; ``sizes`` are the rows of each, (l,)."""
    rare = sizes[sizes < k]
    if not len(rare):
        return []
    lines = number_of(len(sizes), "different trajectory", "different trajectories")
    rows = number_of(rare.sum(), "trajectory", "trajectories")
    return [
        f"{len(rare)} of {lines} occur fewer than {k} times (the rarest "
        f"{number_of(rare.min(), 'time')}), {rows} in all"
    ]


def counted_in(source: Source) -> str:
    """Return what subjects are: people, or recordings where the source names nobody."""
    return "people" if source.names_people else "recordings"


def check_folders(
    release: Path, k: int, originals: Path, report: Report, *, subjects_exact: bool
) -> tuple[Findings, Nameless]:
    """Check folders as `trajanon.check` does with originals, which are read part by part.

    Also return how many recordings have no name.
    """
    findings = check(release, k)
    # Of each original its first and last point are read, with its subject.
    on_lines = rows_on_lines(
        originals, report, line_summaries(release), subjects_exact=subjects_exact
    )
    if on_lines.ends.subject is None:
        raise BadInput(_NO_SUBJECTS)
    subjects = renumbered(on_lines.ends.subject[on_lines.released])
    problems = [*findings.problems, *_too_few_people(renumbered(on_lines.line), subjects, k)]
    source = on_lines.ends.origin.source
    return replace(findings, problems=problems, answered=counted_in(source)), source.unnamed


def _problems_for_holder(
    path: Path,
    release: ReleasedTrajectories,
    k: int,
    trajectories: Trajectories,
    against: Sequence[Path],
) -> list[str]:
    """Count the subjects on each line of a release, and compare it with earlier ones."""
    if trajectories.subject is None:
        raise BadInput(_NO_SUBJECTS)
    subjects = renumbered(trajectories.subject)
    lines = lines_for_holder(path, release, trajectories)
    is_released = lines.labels >= 0
    problems = _too_few_people(lines.labels[is_released], subjects[is_released], k)
    earlier = [
        lines_for_holder(earlier_path, read_release(earlier_path), trajectories)
        for earlier_path in against
    ]
    return [*problems, *problems_together(lines, earlier, k, subjects)]


def _too_few_people(lines: Ints, subjects: Ints, k: int) -> list[str]:
    """Report how many lines stand for fewer than k different subjects.

    Both are numbers of each released trajectory, (n,).
    """
    with_few_people = broken_promises(lines, subjects, k)
    if not with_few_people:
        return []
    sizes = np.bincount(lines)
    with_few_trajectories = int((sizes < k).sum())
    finding = groups_below_k(
        k, "trajectory", len(sizes), trajectories=with_few_trajectories, people=with_few_people
    )
    return [clause_of(finding)] if finding else []
