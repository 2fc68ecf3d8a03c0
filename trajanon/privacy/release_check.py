"""The check of a release before publication."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.files.geoparquet import write_geoparquet
from trajanon.files.release_formats import (
    NOTHING_ELSE,
    RELEASE_FORMATS,
    Compared,
    compared,
    read_as_found,
    release_of,
    release_parts,
)
from trajanon.files.release_lines import Lines, Writer, out_of_order
from trajanon.partition import check_k
from trajanon.privacy.findings import (
    Findings,
    amiss_in_times,
    not_trajectories,
    too_fine,
    too_fine_times,
    too_rare,
    unsorted,
)
from trajanon.privacy.originals import with_originals
from trajanon.release import Release, on_disk
from trajanon.trajectories import Trajectories

Earlier = str | os.PathLike[str] | Release


def check(
    release: str | os.PathLike[str] | Release,
    k: int,
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
        A release in any of the formats that `trajanon.anonymize` writes, or a folder of parts as
        `trajanon.anonymize_parts` does; or what `trajanon.anonymize` gave, which is checked as it
        would be written.
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
    if isinstance(release, Release):
        with on_disk(release) as path:
            return check(path, k, trajectories=trajectories, against=against)
    with ExitStack() as stack:
        given = [against] if isinstance(against, str | os.PathLike | Release) else against or ()
        earlier = [
            stack.enter_context(on_disk(one)) if isinstance(one, Release) else Path(one)
            for one in given
        ]
        return _checked(Path(release), k, trajectories, earlier)


def _checked(
    release: Path, k: int, trajectories: Trajectories | None, earlier: Sequence[Path]
) -> Findings:
    check_k(k)
    if earlier and trajectories is None:
        raise BadInput("`against` needs `trajectories`: the originals of these releases")
    if release.is_dir():
        files, problems = _parts(release, keep=trajectories is not None)
    else:
        files = [_inspected(release, keep=trajectories is not None)]
        problems = files[0].problems
    keys = np.concatenate([file.keys for file in files])
    sizes = np.unique(keys, return_counts=True)[1]
    if trajectories is not None:
        read = ((file.path, file.found) for file in files if file.found is not None)
        problems += with_originals(release, release_of(read), k, trajectories, earlier)
    return Findings(
        k=k,
        trajectories=len(keys),
        groups=len(sizes),
        smallest=int(sizes.min(initial=len(keys))),
        problems=[*problems, *too_rare(sizes, k)],
        claim=max((file.claim for file in files), key=lambda claim: claim != NOTHING_ELSE),
        answered="rows" if trajectories is None else "people",
        counted=any(file.counted for file in files),
    )


class _Inspected(NamedTuple):
    """What is kept of a file after it was read."""

    path: Path
    found: Lines | None  # all that was read, where more is asked of it
    problems: list[str]
    claim: str  # the claim about the rest of the file, beside its lines
    keys: NDArray[np.bytes_]  # 128 bits of each row, equal where lines are equal as written
    width: int  # points of a trajectory; 0 where some are no trajectories
    ends: Floats  # latitude, longitude and perhaps times of the first and the last line
    clock: str | None  # what times count from, if the file says so in a known sentence
    lines: int  # that stand in the file
    counted: bool  # whether these have counts


def _inspected(path: Path, write: Writer | None = None, *, keep: bool) -> _Inspected:
    found = read_as_found(path)
    keys, kept = _keys(found), found if keep else None
    if problems := not_trajectories(found):
        nothing = np.empty((0, 2, 2))
        return _Inspected(path, kept, problems, "", keys, 0, nothing, None, len(found), False)
    problems = [*too_fine(found), *too_fine_times(found)]
    if amiss := amiss_in_times(found):
        problems += amiss
        found = replace(found, times=None, clock=None)
    # Faulty times are not written again for the comparison.
    needed = amiss and RELEASE_FORMATS[path.suffix.lower()].only_timed
    beside = Compared([], "") if needed else compared(path, found, write)
    problems += [*beside.differences, *unsorted(found)]
    ends, times = found.places[[0, -1], :, ::-1], found.times
    if times is not None:
        ends = np.dstack([ends, times[[0, -1]]])
    rows, counted = keys[found.of_rows], found.counts is not None
    width, n = ends.shape[1], len(found)
    return _Inspected(
        path, kept, problems, beside.claim, rows, width, ends, found.clock, n, counted
    )


def _parts(folder: Path, *, keep: bool) -> tuple[list[_Inspected], list[str]]:
    """Inspect a folder of parts, one of them in memory at a time.

    A trajectory may occur in several parts: it is counted in all of them.
    """
    parts = release_parts(folder)
    files: list[_Inspected] = []
    problems: list[str] = []
    first = 1
    for path in sorted(folder.iterdir()):
        if path not in parts:
            problems.append(f"{path.name!r} is no part of a release")
            continue
        file = _inspected(path, partial(write_geoparquet, first=first), keep=keep)
        problems += [f"{path.name}: {problem}" for problem in file.problems]
        files.append(file)
        first += file.lines
    if len({file.width for file in files if file.width}) > 1:
        problems.append("parts have trajectories of different numbers of points")
    if len({file.clock for file in files if file.width}) > 1:
        problems.append("parts have times that count from different hours, or some have none")
    if len({file.ends.shape for file in files}) == 1:
        ends = np.concatenate([file.ends for file in files])
        if out_of_order(ends[..., :2], ends[..., 2] if ends.shape[2] > 2 else None):
            problems.append(
                "parts are not sorted by their coordinates: run trajanon anonymize again"
            )
    return files, problems


def _keys(found: Lines) -> NDArray[np.bytes_]:
    """128 bits for each line, equal where lines are equal as written, (n,)."""
    groups = found.groups
    _, first = np.unique(groups, return_index=True)
    keys = map(found.key, first.tolist())
    words = b"".join(hashlib.blake2b(key, digest_size=16).digest() for key in keys)
    return np.frombuffer(words, dtype="S16")[groups]
