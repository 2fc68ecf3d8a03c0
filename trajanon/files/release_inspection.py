"""What is amiss in a file of a release, or a folder of its parts: from the files alone."""

import filecmp
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trajanon.common.arrays import Floats
from trajanon.common.errors import FileProblem, TrajanonError
from trajanon.common.number_text import number_of
from trajanon.files.geoparquet import write_geoparquet
from trajanon.files.release_contents import (
    LINE,
    MADE_AS_PUBLISHED,
    Lines,
    ReleaseFormat,
    Writer,
    amiss_in_counts,
)
from trajanon.files.release_formats import RELEASE_FORMATS, read_lines, release_parts
from trajanon.files.rounding_order_and_keys_of_lines import DIGITS, out_of_order, rounded
from trajanon.files.trajectory_files import part_name
from trajanon.trajectories.clock_and_time_zones import DAY_BEGINS, MINUTE, Clock
from trajanon.trajectories.distances import lengths
from trajanon.trajectories.trajectories import ReleasedTrajectories

NOTHING_ELSE = "nothing else is in the file"

_FASTEST = 1_000.0  # metres a second of a whole line


class InspectedFile(NamedTuple):
    """What is kept of a file after it was inspected."""

    path: Path
    lines: Lines | None  # all that was read, where it is needed again
    line_count: int
    # 128 bits of each row, equal where lines are equal as written; of each line if some are odd.
    keys: NDArray[np.bytes_]
    problems: list[str]
    claim: str = ""  # the claim about the rest of the file, beside its lines
    ends: Floats | None = None  # the first and last line, (2, m, 2 or 3), if none is odd
    clock: str | None = None  # what times count from, if the file says so in a known sentence
    counted: bool = False  # whether lines have counts


def inspected(release: Path, *, keep: bool) -> tuple[list[InspectedFile], list[str]]:
    """Inspect a file or a folder; keep its lines if they are wanted; and report all problems."""
    if release.is_dir():
        return _inspected_folder(release, keep=keep)
    file = _inspected_file(release, keep=keep)
    return [file], file.problems


def _inspected_folder(folder: Path, *, keep: bool) -> tuple[list[InspectedFile], list[str]]:
    """Inspect the parts of a folder, one in memory at a time, and whether they go together."""
    parts = release_parts(folder)
    strangers = sorted({path.name for path in folder.iterdir()} - {path.name for path in parts})
    problems = [f"{name!r} is not a part of a release" for name in strangers]
    for number, path in enumerate(parts):
        if path.name != part_name(number):
            problems.append(
                f"{path.name!r} stands where {part_name(number)!r} should: parts are numbered "
                "without gaps, so one is missing, or was renamed"
            )
            break

    files: list[InspectedFile] = []
    first = 1  # ids of lines go on from part to part
    for path in parts:
        if path.is_symlink():
            problems.append(f"{path.name!r} is a link and no file: put the file in its place")
        file = _inspected_file(path, partial(write_geoparquet, first=first), keep=keep)
        problems += [f"{path.name}: {problem}" for problem in file.problems]
        files.append(file)
        first += file.line_count
    return files, problems + _at_odds(files)


def _inspected_file(path: Path, write: Writer | None = None, *, keep: bool) -> InspectedFile:
    """Read a file and look for what a release may not hold."""
    lines = read_lines(path)
    line_keys = _line_keys(lines)
    problems = _not_trajectories(lines)
    if problems:
        return InspectedFile(path, lines if keep else None, len(lines), line_keys, problems)

    problems = _too_fine(lines)
    faults, times_are_impossible = _faulty_times(lines)
    problems += faults

    # Impossible times are not written again for the comparison.
    claim = ""
    rewritten = replace(lines, times=None, clock=None) if times_are_impossible else lines
    if not (times_are_impossible and RELEASE_FORMATS[path.suffix.lower()].only_timed):
        differences, claim = compare_with_rewrite(path, rewritten, write)
        problems += differences
    problems += _unsorted(rewritten)

    ends = rewritten.places[[0, -1], :, ::-1]
    if rewritten.times is not None:
        ends = np.dstack([ends, rewritten.times[[0, -1]]])
    return InspectedFile(
        path=path,
        lines=lines if keep else None,
        line_count=len(lines),
        keys=line_keys[lines.of_rows],
        problems=problems,
        claim=claim,
        ends=ends,
        clock=rewritten.clock,
        counted=lines.counts is not None,
    )


def _at_odds(files: Sequence[InspectedFile]) -> list[str]:
    """Report parts that do not belong together."""
    problems = []
    ends = [file.ends for file in files if file.ends is not None]  # of each part
    if len({of_part.shape[1] for of_part in ends}) > 1:
        problems.append("parts have trajectories of different numbers of points")
    if len({file.clock for file in files if file.ends is not None}) > 1:
        problems.append("parts have times that count from different hours, or some have none")

    if len({of_part.shape for of_part in ends}) == 1:
        # Each part is sorted by itself: so are all, if their first and last lines are.
        all_ends = np.concatenate(ends)
        times = all_ends[..., 2] if all_ends.shape[2] > 2 else None
        if out_of_order(all_ends[..., :2], times):
            problems.append(
                "parts are not sorted by their coordinates: run trajanon anonymize again"
            )
    return problems


def _line_keys(lines: Lines) -> NDArray[np.bytes_]:
    """Compute 128 bits of each line, equal where lines are equal as written, (n,)."""
    keys = (hashlib.blake2b(lines.key(row), digest_size=16).digest() for row in range(len(lines)))
    return np.frombuffer(b"".join(keys), dtype="S16")


def _not_trajectories(lines: Lines) -> list[str]:
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
        return [*problems, "some geometries are not lines of two or more points"]
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


def _too_fine(lines: Lines) -> list[str]:
    """Report lines that are plain means, or have more decimals than a release may have."""
    if lines.as_published:
        return [MADE_AS_PUBLISHED]
    if (rounded(lines.coordinates) == lines.coordinates).all():
        return []
    return [
        f"a coordinate has more than the {DIGITS} decimals that a release may have: each "
        "one more helps to tell who is in a group"
    ]


def _unsorted(lines: Lines) -> list[str]:
    """Report lines that are not in the order of a release, so that theirs may tell something."""
    if not out_of_order(lines.places[:, :, 1::-1], lines.times):
        return []
    return [
        "trajectories are not sorted by their coordinates, so their order may identify people: "
        "run trajanon anonymize again"
    ]


def _faulty_times(lines: Lines) -> tuple[list[str], bool]:
    """Report what is amiss in the times of lines; and whether no release has such times."""
    times = lines.times
    sentence = lines.clock
    clock = Clock.parsed(sentence)
    if times is None and sentence is None:
        return [], False
    if times is None:
        return ["the file describes its times, but has none"], True
    if sentence is None:
        return ["trajectories have times, but the file does not say what these count from"], True
    if clock is None:
        return [f"an unknown sentence on times {sentence[:40]!r}"], True

    timed = ~np.isnan(times[:, 0])  # the others had something else than a time for each point
    departures = times[timed, 0]
    first, last = clock.rounded(DAY_BEGINS + np.array([0.0, clock.period]))
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
    impossible = [
        f"{faulty.sum()} of {_trajectories(len(times))} {fault}"
        for faulty, fault in faults
        if faulty.any()
    ]
    return [*_too_fine_times(times, clock), *impossible], bool(impossible)


def _too_fine_times(times: Floats, clock: Clock) -> list[str]:
    """Count the lines with times finer than they claim to be."""
    if clock.step < MINUTE:
        return [f"times are rounded to {clock.step} s, and those of a release to a minute at least"]
    fine = (clock.rounded(times) != times).any(axis=1) & ~np.isnan(times[:, 0])
    if not fine.any():
        return []
    return [
        f"{fine.sum()} of {_trajectories(len(fine))} have a time that is finer than the "
        f"{clock.step} s they claim"
    ]


def _trajectories(number: int) -> str:
    return number_of(number, "trajectory", "trajectories")


class Comparison(NamedTuple):
    """Differences of a file from its rewrite, and what can be claimed if there are none."""

    differences: list[str]
    claim: str


def compare_with_rewrite(path: Path, lines: Lines, write: Writer | None = None) -> Comparison:
    """Write the lines of a file again, and compare the two files: what differs is not of a release.

    `write` is what writes a file of this format, unless it is the writer of its suffix.
    """
    release_format = RELEASE_FORMATS[path.suffix.lower()]
    points = lines.places[:, :, ::-1] + 0.0  # a release has one zero: -0.0 differs
    provenance = lines.provenance | ({"counted": "subjects"} if lines.people else {})
    row_per_line = ReleasedTrajectories(points, provenance=provenance, times=lines.times)
    release = row_per_line.take(lines.of_rows)

    try:
        with TemporaryDirectory() as folder:
            rewrite = Path(folder) / f"anew{path.suffix}"
            (write or release_format.write)(rewrite, release)
            if filecmp.cmp(path, rewrite, shallow=False):
                return Comparison([], NOTHING_ELSE)
            return _compare_contents(path, rewrite, release_format)
    except TrajanonError:  # some are OSErrors, but have a sentence of their own
        raise
    except OSError as error:
        raise FileProblem(
            f"cannot write the lines of {path} anew, to compare: "
            f"{error.strerror or error}; TMPDIR names a folder with room"
        ) from error


def _compare_contents(path: Path, rewrite: Path, release_format: ReleaseFormat) -> Comparison:
    """Compare what can be read in two files whose bytes differ."""
    if release_format.contents is None:
        return Comparison([_first_difference(path, rewrite)], "")

    try:
        library, contents = release_format.contents(path)
        our_library, our_contents = release_format.contents(rewrite)
    except (ValueError, pa.ArrowException, sqlite3.Error) as error:
        raise FileProblem(
            f"cannot read all of {path}: write the release again with trajanon anonymize"
        ) from error

    names = sorted({*contents, *our_contents})
    different = [name for name in names if contents.get(name) != our_contents.get(name)]
    if different:
        return Comparison([f"{name} is not as trajanon writes it" for name in different], "")

    # One version of a library writes the same bytes; only another version may write others.
    if library == our_library:
        return Comparison([_first_difference(path, rewrite)], "")
    claim = (
        "all readable content of the file is that of a release; its unused bytes "
        f"could not be compared: {library!r} wrote it, and this is {our_library!r}"
    )
    return Comparison([], claim)


def _first_difference(path: Path, rewrite: Path) -> str:
    """Write where two files begin to differ, with the text of both from there on."""
    written = path.read_bytes()
    rewritten = rewrite.read_bytes()
    shorter = min(len(written), len(rewritten))
    file_bytes = np.frombuffer(written, np.uint8, shorter)
    differs = file_bytes != np.frombuffer(rewritten, np.uint8, shorter)

    # A file may also be the beginning of the other.
    first = int(differs.argmax()) if differs.any() else shorter
    found, expected = (
        data[first : first + 40].decode("utf-8", "backslashreplace")
        for data in (written, rewritten)
    )
    line = 1 + written.count(b"\n", 0, first)
    return f"byte {first + 1:,} (line {line:,}) has {found!r} where trajanon writes {expected!r}"
