"""The check of a release before publication."""

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.remote_folder import fetched, is_url
from trajanon.files.geoparquet import write_geoparquet
from trajanon.files.release_contents import (
    DIGITS,
    LINE,
    Lines,
    Writer,
    amiss_in_counts,
    out_of_order,
    rounded,
)
from trajanon.files.release_formats import (
    NOTHING_ELSE,
    RELEASE_FORMATS,
    Comparison,
    compare_with_rewrite,
    read_lines,
    release_of,
    release_parts,
)
from trajanon.files.trajectory_files import part_name
from trajanon.grouping.k_promise import check_k
from trajanon.release.release import Release, on_disk
from trajanon.release.verdict_words import MADE_AS_PUBLISHED
from trajanon.trajectories.distances import lengths
from trajanon.trajectories.times import BEGINS, MINUTE, Clock
from trajanon.trajectories.trajectories import Trajectories

_FASTEST = 1_000.0  # metres a second of a whole line

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
    if isinstance(release, Release):
        with on_disk(release) as path:
            return check(path, k, trajectories=trajectories, against=against)
    if isinstance(release, str) and is_url(release):
        with fetched(release) as path:
            return check(path, k, trajectories=trajectories, against=against)
    with ExitStack() as stack:
        releases = against or ()
        if isinstance(releases, str | os.PathLike | Release):
            releases = [releases]
        earlier = [
            stack.enter_context(on_disk(other)) if isinstance(other, Release) else Path(other)
            for other in releases
        ]
        return _checked(Path(release), check_k(k), trajectories, earlier)


def _checked(
    release: Path, k: int, trajectories: Trajectories | None, earlier: Sequence[Path]
) -> Findings:
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
        from trajanon.release.originals import with_originals  # loads attacks

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
    found: Lines | None  # all that was read, where it is needed again
    problems: list[str]
    keys: NDArray[np.bytes_]  # 128 bits of each row, equal where lines are equal as written
    lines: int  # that stand in the file
    claim: str = ""  # the claim about the rest of the file, beside its lines
    width: int = 0  # points of a trajectory; 0 where the file holds something else
    ends: Floats = np.empty((0, 2, 2))  # places and perhaps times of the first and the last line
    clock: str | None = None  # what times count from, if the file says so in a known sentence
    counted: bool = False  # whether lines have counts


def _inspected(path: Path, write: Writer | None = None, *, keep: bool) -> _Inspected:
    """Read a file and look for what a release may not hold; keep its lines if they are wanted."""
    lines = read_lines(path)
    inspected = _Inspected(path, lines if keep else None, [], _keys(lines), len(lines))
    problems = not_trajectories(lines)
    if problems:
        return inspected._replace(problems=problems)

    problems = [*too_fine(lines), *too_fine_times(lines)]
    faulty_times = amiss_in_times(lines)
    if faulty_times:
        problems += faulty_times
        lines = replace(lines, times=None, clock=None)

    # Faulty times are not written again for the comparison.
    comparison = Comparison([], "")
    if not (faulty_times and RELEASE_FORMATS[path.suffix.lower()].only_timed):
        comparison = compare_with_rewrite(path, lines, write)
    problems += [*comparison.differences, *unsorted(lines)]

    ends = lines.places[[0, -1], :, ::-1]
    if lines.times is not None:
        ends = np.dstack([ends, lines.times[[0, -1]]])
    return inspected._replace(
        problems=problems,
        claim=comparison.claim,
        keys=inspected.keys[lines.of_rows],
        width=ends.shape[1],
        ends=ends,
        clock=lines.clock,
        counted=lines.counts is not None,
    )


def _parts(folder: Path, *, keep: bool) -> tuple[list[_Inspected], list[str]]:
    """Inspect a folder of parts, one in memory at a time; trajectories count across all of them."""
    parts = release_parts(folder)
    strangers = sorted({path.name for path in folder.iterdir()} - {path.name for path in parts})
    problems = [f"{name!r} is no part of a release" for name in strangers]
    for number, path in enumerate(parts):
        if path.name != part_name(number):
            problems.append(
                f"{path.name!r} stands where {part_name(number)!r} should: parts are numbered "
                "without gaps, so one is missing, or was renamed"
            )
            break

    files: list[_Inspected] = []
    first = 1
    for path in parts:
        if path.is_symlink():
            problems.append(f"{path.name!r} is a link and no file: put the file in its place")
        file = _inspected(path, partial(write_geoparquet, first=first), keep=keep)
        problems += [f"{path.name}: {problem}" for problem in file.problems]
        files.append(file)
        first += file.lines
    return files, problems + _at_odds(files)


def _at_odds(files: Sequence[_Inspected]) -> list[str]:
    """Report parts that do not belong together."""
    problems = []
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
    return problems


def _keys(lines: Lines) -> NDArray[np.bytes_]:
    """Compute 128 bits for each line, equal where lines are equal as written, (n,)."""
    groups = lines.groups
    _, first = np.unique(groups, return_index=True)
    keys = map(lines.key, first.tolist())
    words = b"".join(hashlib.blake2b(key, digest_size=16).digest() for key in keys)
    return np.frombuffer(words, dtype="S16")[groups]


def not_trajectories(lines: Lines) -> list[str]:
    """Name faults: other geometries than lines on Earth, or different numbers of points."""
    if not len(lines):
        return ["the file holds no trajectory"]
    faulty_counts = amiss_in_counts(lines)
    if faulty_counts:
        return faulty_counts

    is_line = lines.kinds == LINE
    problems = [
        f"{number_of(count, 'geometry is', 'geometries are')} {kind}, not {LINE}"
        for kind, count in Counter(lines.kinds[~is_line].tolist()).items()
    ]
    sizes = lines.sizes[is_line]
    if (sizes < 2).any():
        return [*problems, "some geometries are no lines of two or more points"]
    if lines.coordinates.shape[1] > 2:
        problems.append("points have a third number: a height or a time")
    if len(sizes) and sizes.min() != sizes.max():
        problems.append("trajectories have different numbers of points")

    places = lines.coordinates
    if not is_line.all():
        places = places[np.repeat(is_line, lines.sizes)]
    if not np.isfinite(places).all():
        problems.append("some coordinates are not finite numbers")
    if (np.abs(places[:, :2]) > (180.0, 90.0)).any():
        problems.append("some coordinates are not on Earth")
    return problems


def too_fine(lines: Lines) -> list[str]:
    """Report lines that are plain means, or have more decimals than a release may have."""
    if lines.as_published:
        return [MADE_AS_PUBLISHED]
    if (rounded(lines.coordinates) == lines.coordinates).all():
        return []
    return [
        f"a coordinate has more than the {DIGITS} decimals that a release may have: each "
        "one more helps to tell who is in a group"
    ]


def unsorted(lines: Lines) -> list[str]:
    """Report lines that are not in the order of a release, so that theirs may tell something."""
    if not out_of_order(lines.places[:, :, 1::-1], lines.times):
        return []
    return [
        "trajectories are not sorted by their coordinates, so their order may identify people: "
        "run trajanon anonymize again"
    ]


def amiss_in_times(lines: Lines) -> list[str]:
    """Report why the times of lines cannot be interpreted, or why no release has such times."""
    times = lines.times
    sentence = lines.clock
    clock = Clock.parsed(sentence)
    if times is None:
        return [] if sentence is None else ["the file says what its times are, and it has none"]
    if clock is None:
        if sentence is None:
            return ["trajectories have times, and the file does not say what these count from"]
        return [f"an unknown sentence on times {sentence[:40]!r}"]

    timed = ~np.isnan(times[:, 0])
    departures = times[timed, 0]
    first, last = clock.rounded(BEGINS + np.array([0.0, clock.round]))
    outside = (clock.times != "date") & ((departures < first) | (departures > last))
    back = (np.diff(times[timed], axis=1) < 0.0).any(axis=1)

    metres = lengths(lines.places[timed][:, :, 1::-1])
    seconds = times[timed, -1] - times[timed, 0] + clock.step  # as they are rounded
    fast = metres > _FASTEST * np.maximum(seconds, clock.step)
    faults = (
        (~timed, "do not have a time at each of their points, and others do"),
        (outside, f"depart before or after the {clock.times[3:]} from which their times count"),
        (back, "have times that run back"),
        (fast, "are faster than anything on Earth moves"),
    )
    return [
        f"{faulty.sum()} of {_trajectories(len(times))} {fault}"
        for faulty, fault in faults
        if faulty.any()
    ]


def too_fine_times(lines: Lines) -> list[str]:
    """Count the lines with times finer than they claim to be."""
    clock = Clock.parsed(lines.clock)
    if lines.times is None or clock is None:
        return []
    if clock.step < MINUTE:
        return [f"times are rounded to {clock.step} s, and those of a release to a minute at least"]
    fine = (clock.rounded(lines.times) != lines.times).any(axis=1) & ~np.isnan(lines.times[:, 0])
    if not fine.any():
        return []
    return [
        f"{fine.sum()} of {_trajectories(len(fine))} have a time that is finer than the "
        f"{clock.step} s they claim"
    ]


def too_rare(sizes: Ints, k: int) -> list[str]:
    """Count the trajectories that occur fewer than k times."""
    rare = sizes[sizes < k]
    if not len(rare):
        return []
    different = number_of(len(sizes), "different trajectory", "different trajectories")
    return [
        f"{len(rare)} of {different} occur fewer than {k} times (the rarest "
        f"{number_of(rare.min(), 'time')}), {_trajectories(rare.sum())} in all"
    ]


def _trajectories(number: int) -> str:
    return number_of(number, "trajectory", "trajectories")
