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
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trajanon.common.columns_read import TablesRead
from trajanon.common.errors import BadInput, FileProblem, TrajanonWarning
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.progress import Notices, Progress, silent
from trajanon.common.threads_and_dask import on_cluster, results_in_order
from trajanon.extract.sources.formats_recognised import FORMATS, SourceFile, format_of, read_file
from trajanon.extract.sources.geopackage_and_shapefile import footer_of
from trajanon.extract.sources.osm_api_download import joined_traces
from trajanon.extract.sources.person_by_folder import folder_of_person
from trajanon.extract.sources.reader_sentences import refusal_of
from trajanon.extract.sources.reading import Reading, meter
from trajanon.extract.trace import Trace
from trajanon.release.report_files import is_release

if TYPE_CHECKING:
    from distributed import Client

LARGE = 1 << 26  # bytes; larger files, and archives, are read here as streams, and never held whole


class _FileRead(NamedTuple):
    """What a process or worker read of a file, and found in it."""

    traces: list[Trace]
    counts: Counter[str]  # what was left out
    tables: TablesRead
    warnings: list[TrajanonWarning]
    problem: BadInput | FileProblem | None  # what ended the reading


def files_of(paths: Sequence[Path], reading: Reading) -> list[SourceFile]:
    """List the files that can be read; folders are searched to their depths."""
    listed: list[SourceFile] = []
    for path in paths:
        if path.is_dir():
            files = _files_of_folder(path, reading)
            listed += [
                replace(file, folder=folder_of_person(file.path, path, paths)) for file in files
            ]
        elif file := _source_file(path, reading):
            listed.append(file)
        else:
            raise refusal_of("no known kind", path=path, kinds=", ".join(FORMATS))

    # Labels have as many folders as tell all files apart.
    depth = 1
    different = len({file.path for file in listed})
    while len({file.labelled(depth).label for file in listed}) < different:
        depth += 1
    reading.warned.warn_of_hidden()
    return [file.labelled(depth) for file in listed]


def _source_file(path: Path, reading: Reading) -> SourceFile | None:
    """Look at a file; return None if it is of no known kind. Refuse pipes and devices."""
    try:
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise FileProblem(f"there is no file or folder {path}: look at its name") from error
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror}") from error
    kind = format_of(regular(path), reading)
    folder = path.absolute().parent.name
    return SourceFile(path, path.name, kind, size, folder) if kind else None


def _files_of_folder(folder: Path, reading: Reading) -> list[SourceFile]:
    """List the files of a folder that can be read, and count the others."""
    listed: list[SourceFile] = []
    first_problem = None
    for path in _files_below(folder, reading):
        try:
            file = _source_file(path, reading)
        except (BadInput, FileProblem) as error:
            reading.leave_out(error, 0)
            first_problem = first_problem or error
            continue
        if file is None:
            suffix = path.suffix.lower()
            kind = suffix if re.fullmatch(r"\.[a-z0-9]{1,8}", suffix) else "others"
            reading.counts[f"files of no known kind ({kind})"] += 1
        elif is_release(path) or is_release(path.parent):
            reading.counts["releases and their counts, which are no traces"] += 1
        elif b"trajanon" in footer_of(path):  # of a Parquet file that extract wrote
            reading.counts["files of trajectories, which are no traces"] += 1
        else:
            listed.append(file)
    if not listed:
        nothing = f"the folder {folder} holds no file of traces ({', '.join(FORMATS)})"
        raise first_problem or FileProblem(nothing)
    return listed


def _files_below(folder: Path, reading: Reading) -> list[Path]:
    """List the files of a folder and of those below it, but not hidden ones."""

    def leave_out_folder(error: OSError) -> None:
        reading.leave_out(FileProblem(f"cannot read {error.filename}: {error.strerror}"), 0)

    files = []
    for parent, folders, names in os.walk(folder, onerror=leave_out_folder):
        # What stays in the list is walked through next.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for link in (Path(parent, name) for name in folders):
            if link.is_symlink():
                reading.found("links to folders", 1, path=link)
        files += [Path(parent, name) for name in names if not name.startswith(".")]
    return sorted(files, key=_with_numbers)


def _with_numbers(path: Path) -> list[tuple[int, str]]:
    """Return a key by which a number in a name counts as a number."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]


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
    bytes_in_all = sum(file.size for file in files)
    reading = replace(reading, report_bytes=meter(title, bytes_in_all, progress))
    contents: Iterable[Iterator[Trace]] = (read_file(file, reading) for file in files)
    if jobs > 1 or client is not None:
        contents = read_ahead(files, reading, jobs, client)

    # Pages that follow one another are joined, as are those of a server.
    numbered = _numbered_traces(contents, reading, len(files))
    for are_of_pages, run in groupby(numbered, lambda numbered_trace: numbered_trace[1].page != ""):
        if not are_of_pages:
            yield from run
            continue

        first = next(run)
        first_file, _ = first
        segments = (segment for _, segment in chain([first], run))
        pages = (list(page) for _, page in groupby(segments, attrgetter("page")))
        of_first = replace(reading, label=f"{files[first_file].label}: ")
        for trace in joined_traces(pages, of_first, saved=True):
            yield first_file, trace


def _numbered_traces(
    contents: Iterable[Iterator[Trace]], reading: Reading, files: int
) -> Iterator[tuple[int, Trace]]:
    """Number what the files hold; of a damaged one that is what comes before its damage.

    A file that cannot be read at all is left out, unless it is the only one.
    """
    any_readable = False
    first_problem = None
    for number, traces in enumerate(contents):
        points_used = 0  # of this file
        try:
            for trace in traces:
                points_used += len(trace)
                any_readable = True
                yield number, trace
            any_readable = True
        except (BadInput, FileProblem) as error:
            if files == 1 and not (points_used and isinstance(error, FileProblem)):
                raise
            reading.leave_out(error, points_used)
            first_problem = first_problem or error
    reading.warn_at_the_end()
    if first_problem is not None and not any_readable:
        raise first_problem


def read_ahead(
    files: Sequence[SourceFile], reading: Reading, jobs: int, client: "Client | None" = None
) -> Iterator[Iterator[Trace]]:
    """Return the contents of each file; others are read meanwhile by processes or workers."""
    small = [file for file in files if not _is_large(file)]
    settings = Reading(
        columns=reading.columns, subjects_exact=reading.subjects_exact, timed=reading.timed
    )
    task = partial(_read_whole, settings=settings, on_worker=client is not None)
    with ExitStack() as at_the_end:
        if client is None:
            ctrl_c_is_for_the_parent = (signal.SIGINT, signal.SIG_IGN)
            context = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(jobs, context, signal.signal, ctrl_c_is_for_the_parent)
            at_the_end.callback(pool.shutdown, wait=False, cancel_futures=True)
            # Beside those that are read as many wait, so that no process does.
            results = results_in_order(lambda file: pool.submit(task, file).result, small, 2 * jobs)
        else:
            # Workers may stand in other folders.
            absolute = (replace(file, path=file.path.absolute()) for file in small)
            results = on_cluster(client, task, absolute)
        at_the_end.callback(results.close)

        for file in files:
            try:
                if _is_large(file):
                    yield read_file(file, reading)
                else:
                    yield _reported(next(results), file, reading)
            except BrokenProcessPool as error:
                why = "a reading process was killed: if memory ran out, lower `jobs`"
                raise FileProblem(why) from error


def _is_large(file: SourceFile) -> bool:
    """Return whether a file is read as a stream, and never held whole."""
    return file.size > LARGE or file.format == "gpx-archive"


def _reported(file_read: _FileRead, file: SourceFile, reading: Reading) -> Iterator[Trace]:
    """Return what another process read of a file, and report what it found."""
    reading.counts.update(file_read.counts)
    reading.tables.update(file_read.tables)
    reading.report_bytes(file.size)
    for warning in file_read.warnings:
        reading.warned.warn(warning)
    yield from file_read.traces
    if file_read.problem is not None:
        raise file_read.problem


def _read_whole(file: SourceFile, settings: Reading, *, on_worker: bool) -> _FileRead:
    """Read a file in another process, up to what ends the reading."""
    is_there = os.access(file.path, os.R_OK) and file.path.stat().st_size == file.size
    if on_worker and not is_there:  # it must not be left out
        why = "all workers must see the files under the same names"
        raise FileProblem(f"a worker cannot read {file.path} as it was found here: {why}")

    traces: list[Trace] = []
    problem = None
    warned = Notices(shows_all=True)
    reading = replace(settings, counts=Counter(), tables=TablesRead(), warned=warned)
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            traces.extend(read_file(file, reading))
        except (BadInput, FileProblem) as error:
            problem = error
    ours = [entry.message for entry in caught if isinstance(entry.message, TrajanonWarning)]
    return _FileRead(traces, reading.counts, reading.tables, ours, problem)
