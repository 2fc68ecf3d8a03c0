"""Files and folders of any kind -> traces, in the order of the files."""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import starmap
from pathlib import Path

from trajanon.drafts import UNFINISHED
from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.formats import FORMATS, SourceFile, format_of, read_file
from trajanon.extract.sources.geo.geo_files import is_our_own
from trajanon.extract.sources.gpx import gpx_archive, gpx_files
from trajanon.extract.sources.gpx.gpx_document import Document
from trajanon.extract.sources.osm.trackpoints import Joiner
from trajanon.extract.sources.prefetch import Item, prefetched
from trajanon.extract.sources.source import LeftOut, NumberedTraces
from trajanon.extract.sources.streams import UNREADABLE, Reading, meter
from trajanon.extract.trace import Trace
from trajanon.inputs import regular
from trajanon.progress import Progress, silent
from trajanon.trajectories import OSM_ATTRIBUTION

logger = logging.getLogger(__name__)


_Found = tuple[Path, str, os.stat_result]
"""A file, its format, and what the system says of it."""


def find(paths: Sequence[Path], how: Reading, format_name: str | None = None) -> list[SourceFile]:
    """List the files that can be read; folders are searched to their depths."""
    if format_name not in (None, *FORMATS):
        msg = f"there is no format {format_name!r}: `format` is one of {', '.join(FORMATS)}"
        raise BadInput(msg)
    found: list[_Found] = []
    for path in paths:
        if path.is_dir():
            found += _of_folder(path, how, format_name)
            continue
        stat = _stat(path)
        kind = format_name or format_of(path, how)
        if kind is None:
            msg = (
                f"{path} is of no known kind; the formats are {', '.join(FORMATS)}: "
                "name one with `format`"
            )
            raise BadInput(msg)
        found.append((path, kind, stat))
    labels = _labels([path for path, *_ in found])
    return [
        SourceFile(path, label, kind, stat.st_size, stat.st_mtime_ns)
        for (path, kind, stat), label in zip(found, labels, strict=True)
    ]


def _stat(path: Path) -> os.stat_result:
    """Look at a file; refuse what can only be read once, if at all."""
    try:
        stat = path.stat()
    except FileNotFoundError as error:
        msg = f"there is no {path}; name a file, a folder, or osm-api"
        raise FileProblem(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}"
        raise FileProblem(msg) from error
    regular(path)
    return stat


def _of_folder(folder: Path, how: Reading, format_name: str | None) -> list[_Found]:
    found: list[_Found] = []
    problem = None
    for path in _files_below(folder, how):
        try:
            stat = _stat(path)
            kind = format_of(path, how)
        except (BadInput, FileProblem) as error:
            _pass_over(error, how)
            problem = problem or error
            continue
        if kind is None or (format_name is not None and kind != format_name):
            how.counts["files of no known kind"] += 1
        elif path.with_name(f"{path.stem}.report.json").exists():  # `trajanon anonymize` wrote it
            how.counts["releases, which are nobody's traces"] += 1
        elif not is_our_own(path):
            found.append((path, kind, stat))
    if found:
        return found
    if problem is not None:
        raise problem
    what = f"file of the format {format_name}" if format_name else "file of traces"
    msg = f"the folder {folder} holds no {what} ({', '.join(FORMATS)})"
    raise FileProblem(msg)


def _pass_over(error: BadInput | FileProblem, how: Reading) -> None:
    """Go on without a file, unless all are wanted; say so, and count it."""
    if how.strict:
        raise error
    how.counts[UNREADABLE] += 1
    logger.warning("%s; going on without it", error)


def _files_below(folder: Path, how: Reading) -> list[Path]:
    """List the files of a folder and of those below it, but not hidden or unfinished ones."""

    def refused(error: OSError) -> None:
        problem = FileProblem(f"cannot read {error.filename}: {error.strerror}")
        _pass_over(problem, how)

    files = []
    for where, folders, names in os.walk(folder, onerror=refused):
        for link in (Path(where, name) for name in folders):
            if link.is_symlink() and not link.name.startswith("."):
                msg = f"{link} is a link to a folder: name the folder as a source, too"
                _pass_over(FileProblem(msg), how)
        hidden = (name for name in folders if name.startswith(".") or name.endswith(UNFINISHED))
        folders[:] = sorted(set(folders).difference(hidden))
        files += [Path(where, name) for name in names if not name.startswith(".")]
    return sorted(files, key=_by_number)


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Order names so that a number in them counts as a number."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]


def _labels(paths: Sequence[Path]) -> list[str]:
    """Name each file by as many of its last folders as make all names differ."""
    depth = 1
    labels = [path.name for path in paths]
    while len(set(labels)) < len(set(paths)):
        depth += 1
        labels = ["/".join(path.parts[-depth:]) for path in paths]
    return labels


def traces_of_files(
    files: Sequence[SourceFile], how: Reading, *, jobs: int = 1, progress: Progress = silent
) -> NumberedTraces:
    """Read the traces of files, one file after another, from any of them on.

    Saved answers of the OSM API that follow each other are joined as if they came from the server;
    they have the number of their first file.
    """

    def traces(begin: int, left_out: LeftOut) -> Iterator[tuple[int, Trace]]:
        sizes = [file.size for file in files]
        one = len(files) == 1
        title = f"Reading {files[0].label if one else f'{len(files):,} files'}"
        read = meter(title, sum(sizes[:begin]), sum(sizes), progress)
        readings = [
            (file, replace(how, counts=left_out(number), read=read))
            for number, file in enumerate(files[begin:], start=begin)
        ]
        joiner, first = None, begin
        for number, item in _items(readings, jobs, len(files)):
            if isinstance(item, Document):
                if joiner is None:
                    first = begin + number
                    joiner = Joiner(left_out(first), f"{files[first].label}: ")
                yield from ((first, trace) for trace in joiner.add(item))
                continue
            if joiner is not None:
                yield from ((first, trace) for trace in joiner.rest())
                joiner = None
            yield begin + number, item
        if joiner is not None:
            yield from ((first, trace) for trace in joiner.rest())

    return traces


def _items(
    readings: Sequence[tuple[SourceFile, Reading]], jobs: int, files: int
) -> Iterator[tuple[int, Item]]:
    """Number what the files hold; go on where one of several cannot be read."""
    readable = len(readings) < files  # those before were, or it would have ended
    problem = None
    contents = prefetched(readings, jobs) if jobs > 1 else starmap(read_file, readings)
    for number, items in enumerate(contents):
        how = readings[number][1]
        try:
            for item in items:
                readable = True
                yield number, item
            readable = True
        except (BadInput, FileProblem) as error:
            if files == 1:
                raise
            _pass_over(error, how)
            problem = problem or error
    if problem is not None and not readable:
        raise problem


def attribution(files: Iterable[SourceFile]) -> str | None:
    """Give the line that must go with these files, if one came from OpenStreetMap."""
    asked = {"gpx": gpx_files.from_osm, "gpx-archive": gpx_archive.from_osm}
    found = (file for file in files if file.format in asked)
    return OSM_ATTRIBUTION if any(asked[file.format](file.path) for file in found) else None
