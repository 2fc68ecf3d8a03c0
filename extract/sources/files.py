"""Files and folders of any kind -> traces, in the order of the files."""

import multiprocessing
import os
import re
import signal
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.common.columns_read import TablesRead
from trajanon.common.errors import BadInput, FileProblem, TrajanonWarning
from trajanon.common.inputs import regular
from trajanon.common.progress import Notices, Progress, silent
from trajanon.common.workers import on_cluster, results_in_order
from trajanon.extract.sources.formats import FORMATS, SourceFile, format_of, read_file
from trajanon.extract.sources.geo_files import footer_of
from trajanon.extract.sources.gpx_document import ApiPage, points_of
from trajanon.extract.sources.osm_api import joined_traces
from trajanon.extract.sources.reading import Reading, meter
from trajanon.extract.trace import Trace
from trajanon.release.report import datasheet_path, report_path

if TYPE_CHECKING:
    from distributed import Client

LARGE = 1 << 26  # bytes; larger files, and archives, are read here as streams, and never held whole

Item = Trace | ApiPage
# What a process or worker read: what a file holds, left out, of columns, warned of, why it ended.
_Whole = tuple[
    list[Item], Counter[str], TablesRead, list[TrajanonWarning], BadInput | FileProblem | None
]


def find(paths: Sequence[Path], reading: Reading) -> list[SourceFile]:
    """List the files that can be read; folders are searched to their depths."""
    found: list[SourceFile] = []
    for path in paths:
        if path.is_dir():
            files = _of_folder(path, reading)
            found += [replace(file, folder=_person(file.path, path, paths)) for file in files]
        elif file := _file(path, reading):
            found.append(file)
        else:
            kinds = f"those known are {', '.join(FORMATS)}"
            way_out = "give it the suffix of its kind, or convert it to GPX with GPSBabel"
            raise BadInput(f"{path} is of no known kind; {kinds}: {way_out}")

    # Labels have as many folders as tell all files apart.
    depth = 1
    different = len({file.path for file in found})
    while len({file.labelled(depth).label for file in found}) < different:
        depth += 1
    reading.warned.tell_others()
    return [file.labelled(depth) for file in found]


def _file(path: Path, reading: Reading) -> SourceFile | None:
    """Look at a file; refuse what can only be read once, if at all. None is of no known kind."""
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise FileProblem(f"there is no file or folder {path}; name one, or osm-api") from error
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror}") from error
    kind = format_of(regular(path), reading)
    folder = path.absolute().parent.name
    return SourceFile(path, path.name, kind, size, folder) if kind else None


def _person(file: Path, source: Path, sources: Sequence[Path]) -> str:
    """Name the folder that is a person: each source, or each folder within the only one."""
    inner = file.relative_to(source).parts[:-1]
    return inner[0] if inner and len(sources) == 1 else source.absolute().name


def _of_folder(folder: Path, reading: Reading) -> list[SourceFile]:
    found: list[SourceFile] = []
    problem = None
    for path in _files_below(folder, reading):
        try:
            file = _file(path, reading)
        except (BadInput, FileProblem) as error:
            reading.leave_out(error, 0)
            problem = problem or error
            continue
        if file is None:
            suffix = path.suffix.lower()
            named = suffix if re.fullmatch(r"\.[a-z0-9]{1,8}", suffix) else "others"
            reading.counts[f"files of no known kind ({named})"] += 1
        elif is_release(path) or is_release(path.parent):
            reading.counts["releases and their counts, which are no traces"] += 1
        elif b"trajanon" not in footer_of(path):
            found.append(file)
    if not found:
        nothing = f"the folder {folder} holds no file of traces ({', '.join(FORMATS)})"
        raise problem or FileProblem(nothing)
    return found


def is_release(path: Path) -> bool:
    """Return whether a file or folder is a release, or counts of one, by what is beside it."""
    return path.exists() and (report_path(path).exists() or datasheet_path(path).exists())


def _files_below(folder: Path, reading: Reading) -> list[Path]:
    """List the files of a folder and of those below it, but not hidden ones."""

    def refused(error: OSError) -> None:
        reading.leave_out(FileProblem(f"cannot read {error.filename}: {error.strerror}"), 0)

    files = []
    for where, folders, names in os.walk(folder, onerror=refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for link in (Path(where, name) for name in folders):
            if link.is_symlink():
                msg = f"{link} is a link to a folder: name the folder as a source, too"
                reading.leave_out(FileProblem(msg), 0, "links to folders")
        files += [Path(where, name) for name in names if not name.startswith(".")]
    return sorted(files, key=_by_number)


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Order names so that a number in them counts as a number."""
    return [(int(x) if x.isdecimal() else -1, x) for x in re.split(r"(\d+)", str(path))]


def traces_of_files(
    files: Sequence[SourceFile],
    reading: Reading,
    *,
    jobs: int = 1,
    client: "Client | None" = None,
    progress: Progress = silent,
) -> Iterator[tuple[int, Trace]]:
    """Read traces, each with the number of its file, of pages that of the first."""
    title = f"Reading {files[0].label if len(files) == 1 else f'{len(files):,} files'}"
    reading = replace(reading, read=meter(title, sum(file.size for file in files), progress))
    contents: Iterable[Iterator[Item]] = (read_file(file, reading) for file in files)
    if jobs > 1 or client is not None:
        contents = prefetched(files, reading, jobs, client)

    items = _items(contents, reading, len(files))
    for is_page, alike in groupby(items, lambda item: isinstance(item[1], list)):
        if is_page:
            number, first = next(alike)
            pages = (page for _, page in chain([(number, first)], alike) if isinstance(page, list))
            of_first = replace(reading, label=f"{files[number].label}: ")
            for trace in joined_traces(pages, of_first, saved=True):
                yield number, trace
        else:
            yield from ((number, trace) for number, trace in alike if isinstance(trace, Trace))


def _items(
    contents: Iterable[Iterator[Item]], reading: Reading, files: int
) -> Iterator[tuple[int, Item]]:
    """Number what the files hold; of a damaged one that is what comes before its damage.

    A file that cannot be read at all is left out, unless it is the only one.
    """
    readable = False
    problem = None
    for number, items in enumerate(contents):
        used = 0  # points of this file
        try:
            for item in items:
                used += points_of(item)
                readable = True
                yield number, item
            readable = True
        except (BadInput, FileProblem) as error:
            if files == 1 and not (used and isinstance(error, FileProblem)):
                raise
            reading.leave_out(error, used)
            problem = problem or error
    reading.tell_rest()
    if problem is not None and not readable:
        raise problem


def prefetched(
    files: Sequence[SourceFile], reading: Reading, jobs: int, client: "Client | None" = None
) -> Iterator[Iterator[Item]]:
    """Return the contents of each file; others are read meanwhile by processes or workers."""
    small = [file for file in files if not _is_large(file)]
    alike = Reading(
        columns=reading.columns, subjects_exact=reading.subjects_exact, timed=reading.timed
    )
    task = partial(_read_whole, alike=alike, on_worker=client is not None)
    with ExitStack() as ending:
        if client is None:
            ctrl_c_is_for_the_parent = (signal.SIGINT, signal.SIG_IGN)
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(jobs, context, signal.signal, ctrl_c_is_for_the_parent)
            ending.callback(pool.shutdown, wait=False, cancel_futures=True)
            results = results_in_order(lambda file: pool.submit(task, file).result, small, 2 * jobs)
        else:
            # Workers may stand in other folders.
            absolute = (replace(file, path=file.path.absolute()) for file in small)
            results = on_cluster(client, task, absolute)
        ending.callback(results.close)
        for file in files:
            try:
                if _is_large(file):
                    yield read_file(file, reading)
                else:
                    yield _given(next(results), file, reading)
            except BrokenProcessPool as error:
                why = "a reading process was killed: if memory ran out, lower `jobs`"
                raise FileProblem(why) from error


def _is_large(file: SourceFile) -> bool:
    return file.size > LARGE or file.format == "gpx-archive"


def _given(whole: _Whole, file: SourceFile, reading: Reading) -> Iterator[Item]:
    items, counts, tables, given_warnings, problem = whole
    reading.counts.update(counts)
    reading.tables.update(tables)
    reading.read(file.size)
    for warning in given_warnings:
        reading.warned.warn(warning)
    yield from items
    if problem is not None:
        raise problem


def _read_whole(file: SourceFile, alike: Reading, *, on_worker: bool) -> _Whole:
    """Read a file in another process, up to what ends the reading."""
    there = os.access(file.path, os.R_OK) and file.path.stat().st_size == file.size
    if on_worker and not there:  # it must not be left out
        why = "all workers must see the files under the same names"
        raise FileProblem(f"a worker cannot read {file.path} as it was found here: {why}")

    items: list[Item] = []
    problem = None
    warned = Notices(shows_all=True)
    reading = replace(alike, counts=Counter(), tables=TablesRead(), warned=warned)
    with warnings.catch_warnings(record=True, action="always") as given:
        try:
            items.extend(read_file(file, reading))
        except (BadInput, FileProblem) as error:
            problem = error
    given_warnings = [one.message for one in given if isinstance(one.message, TrajanonWarning)]
    return items, reading.counts, reading.tables, given_warnings, problem
