"""Files and folders of any kind -> traces, in the order of the files."""

import logging
import multiprocessing
import os
import re
import signal
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.atomic_output import UNFINISHED
from trajanon.errors import BadInput, FileProblem
from trajanon.executors import on_cluster, results_in_order
from trajanon.extract.sources import gpx_archive, gpx_document
from trajanon.extract.sources.fixes import GPSBABEL, to_gpx
from trajanon.extract.sources.formats import FORMATS, SourceFile, format_of, read_file
from trajanon.extract.sources.geo_files import footer_of
from trajanon.extract.sources.gpx_document import Document
from trajanon.extract.sources.osm_api import joined_traces
from trajanon.extract.sources.streams import UNREADABLE, Reading, meter
from trajanon.extract.trace import Trace
from trajanon.files.report import datasheet_path, report_path
from trajanon.inputs import regular
from trajanon.progress import Notices, Progress, silent
from trajanon.trajectories import OSM_ATTRIBUTION

if TYPE_CHECKING:
    from distributed import Client

LARGE = 1 << 26
"""Bytes; a larger file, or an archive, is read here as a stream: what a process or worker
reads is held until its turn has come."""

SMALL = 1 << 17
"""Bytes; a process or worker reads files of fewer together: a task takes Dask some milliseconds."""

Item = Trace | Document

_Warning = tuple[str, str, str]
"""Kind, message, and what it is about."""

_Found = tuple[list[Item], Counter[str], list[_Warning], BadInput | FileProblem | None]
"""What a process or worker found in a file: what it holds, left out, warned of, why it ended."""


class _Kept(Notices):
    """Keeps the warnings of a process or worker for the parent, each once."""

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[_Warning, None] = {}

    def warn(self, _: logging.Logger, kind: str, message: str, about: str = "") -> None:
        self.given[kind, message, about] = None


def _pass_over(error: BadInput | FileProblem, how: Reading, kind: str = UNREADABLE) -> None:
    """Count a file that cannot be read, and warn."""
    how.counts[UNREADABLE] += 1
    how.warn(kind, f"{error}; going on without it", str(error))


def find(paths: Sequence[Path], how: Reading) -> list[SourceFile]:
    """List the files that can be read; folders are searched to their depths."""
    found: list[SourceFile] = []
    for path in paths:
        if path.is_dir():
            inside = _of_folder(path, how)
            found += [replace(file, folder=_person(file.path, path, paths)) for file in inside]
        elif file := _file(path, how):
            found.append(file)
        elif path.suffix.lower() in GPSBABEL:
            raise BadInput(f"{path} is not read here; GPSBabel turns it into GPX: {to_gpx(path)}")
        else:
            raise BadInput(
                f"{path} is of no known kind; those known are {', '.join(FORMATS)}: give it the "
                "suffix of its kind, or turn it into GPX, if GPSBabel can: "
                f"{to_gpx(path)}"
            )
    depth, different = 1, len({file.path for file in found})
    while len({file.labelled(depth).label for file in found}) < different:
        depth += 1
    how.warned.tell_others()
    return [file.labelled(depth) for file in found]


def _file(path: Path, how: Reading) -> SourceFile | None:
    """Look at a file; refuse what can only be read once, if at all. None is of no known kind."""
    try:
        stat = path.stat()
    except FileNotFoundError as error:
        raise FileProblem(f"there is no file or folder {path}; name one, or osm-api") from error
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror}") from error
    regular(path)
    kind = format_of(path, how)
    if kind is None:
        return None
    person = path.absolute().parent.name
    return SourceFile(path, path.name, kind, stat.st_size, person)


def _person(file: Path, source: Path, sources: Sequence[Path]) -> str:
    """Name the folder that is a person: each source, or each folder within the only one."""
    inner = file.relative_to(source).parts[:-1]
    return inner[0] if inner and len(sources) == 1 else source.absolute().name


def _of_folder(folder: Path, how: Reading) -> list[SourceFile]:
    found: list[SourceFile] = []
    problem = None
    for path in _files_below(folder, how):
        try:
            file = _file(path, how)
        except (BadInput, FileProblem) as error:
            _pass_over(error, how)
            problem = problem or error
            continue
        if file is None:
            _count_unknown(path, how)
        elif is_release(path) or is_release(path.parent):
            how.counts["releases and their counts, which are no traces"] += 1
        elif b"trajanon" not in footer_of(path):
            found.append(file)
    if found:
        return found
    if problem is not None:
        raise problem
    raise FileProblem(f"the folder {folder} holds no file of traces ({', '.join(FORMATS)})")


def _count_unknown(path: Path, how: Reading) -> None:
    """Count a file of no known kind by its suffix, and say what turns it into GPX."""
    suffix = path.suffix.lower()
    if suffix in GPSBABEL:
        msg = f"{suffix} files such as {path} are not read here; GPSBabel turns them into GPX"
        how.warn(f"files {suffix}", f"{msg}: {to_gpx(path)}")
    named = suffix if re.fullmatch(r"\.[a-z0-9]{1,8}", suffix) else "others"
    how.counts[f"files of no known kind ({named})"] += 1


def is_release(path: Path) -> bool:
    """Whether a file or folder is a release, or counts of one, as what stands beside it says."""
    return path.exists() and (report_path(path).exists() or datasheet_path(path).exists())


def _files_below(folder: Path, how: Reading) -> list[Path]:
    """List the files of a folder and of those below it, but not hidden or unfinished ones."""

    def refused(error: OSError) -> None:
        _pass_over(FileProblem(f"cannot read {error.filename}: {error.strerror}"), how)

    files = []
    for where, folders, names in os.walk(folder, onerror=refused):
        for link in (Path(where, name) for name in folders):
            if link.is_symlink() and not link.name.startswith("."):
                msg = f"{link} is a link to a folder: name the folder as a source, too"
                _pass_over(FileProblem(msg), how, "links to folders")
        hidden = (name for name in folders if name.startswith(".") or name.endswith(UNFINISHED))
        folders[:] = sorted(set(folders).difference(hidden))
        files += [Path(where, name) for name in names if not name.startswith(".")]
    return sorted(files, key=_by_number)


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Order names so that a number in them counts as a number."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part) if part.isdecimal() else -1, part) for part in parts]


def traces_of_files(
    files: Sequence[SourceFile],
    how: Reading,
    *,
    jobs: int = 1,
    client: "Client | None" = None,
    progress: Progress = silent,
) -> Iterator[tuple[int, Trace]]:
    """Read the traces of files, one file after another, each with the number of its file.

    Saved answers of the OSM API that follow each other are joined as if they came from the server;
    they have the number of their first file.
    """
    one = len(files) == 1
    title = f"Reading {files[0].label if one else f'{len(files):,} files'}"
    how = replace(how, read=meter(title, sum(file.size for file in files), progress))
    if jobs == 1 and client is None:
        contents: Iterable[Iterator[Item]] = (read_file(file, how) for file in files)
    else:
        contents = prefetched(files, how, jobs, client)
    items = _items(contents, how, len(files))
    for _, some in groupby(items, lambda item: isinstance(item[1], Document)):
        number, item = next(some)
        some = chain([(number, item)], some)
        if isinstance(item, Document):
            pages = (page for _, page in some if isinstance(page, Document))
            where = f"{files[number].label}: "
            for trace in joined_traces(pages, how.counts, where, saved=True):
                yield number, trace
        else:
            yield from ((n, trace) for n, trace in some if isinstance(trace, Trace))


def _items(
    contents: Iterable[Iterator[Item]], how: Reading, files: int
) -> Iterator[tuple[int, Item]]:
    """Number what the files hold; go on where one of several cannot be read."""
    readable = False
    problem = None
    for number, items in enumerate(contents):
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
    how.warned.tell_others()
    if problem is not None and not readable:
        raise problem


def prefetched(
    files: Sequence[SourceFile], how: Reading, jobs: int, client: "Client | None" = None
) -> Iterator[Iterator[Item]]:
    """Give the contents of each file; others are read meanwhile."""
    elsewhere = (
        (file, replace(how, counts=Counter(), read=_silent, warned=_Kept()))
        for file in files
        if not _read_here(file)
    )
    if client is None:
        reading = _by_processes(jobs, elsewhere)
    else:
        # Workers may stand in other folders.
        in_full = ((replace(file, path=file.path.absolute()), how) for file, how in elsewhere)
        tasks = on_cluster(client, _on_worker, _together(in_full))
        reading = (found for some in tasks for found in some)
    with closing(reading):
        for file in files:
            yield read_file(file, how) if _read_here(file) else _given(next(reading), file, how)


def _read_here(file: SourceFile) -> bool:
    """Tell whether a file is too large to be held whole."""
    return file.size > LARGE or file.format == "gpx-archive"


def _by_processes(
    jobs: int, given: Iterable[tuple[SourceFile, Reading]]
) -> Generator[_Found, None, None]:
    context = multiprocessing.get_context("spawn")
    ctrl_c_is_for_the_parent = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(jobs, context, signal.signal, ctrl_c_is_for_the_parent) as pool:
        try:
            tasks = _together(given)
            for some in results_in_order(
                lambda task: pool.submit(_all, task).result, tasks, 2 * jobs
            ):
                yield from some
        except BrokenProcessPool as error:
            raise FileProblem(
                "a reading process was ended: if memory ran out, lower `jobs`"
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _given(found: _Found, file: SourceFile, how: Reading) -> Iterator[Item]:
    items, counts, warnings, problem = found
    how.counts.update(counts)
    how.read(file.size)
    for warning in warnings:
        how.warn(*warning)
    yield from items
    if problem is not None:
        raise problem


def _together(
    given: Iterable[tuple[SourceFile, Reading]],
) -> Iterator[list[tuple[SourceFile, Reading]]]:
    some: list[tuple[SourceFile, Reading]] = []
    size = 0
    for file, how in given:
        size += file.size
        if some and size > SMALL:
            yield some
            some, size = [], file.size
        some.append((file, how))
    if some:
        yield some


def _on_worker(given: Sequence[tuple[SourceFile, Reading]]) -> list[_Found]:
    """Read files on a worker of a cluster; one that it lacks must not be left out."""
    for file, _ in given:
        try:
            with file.path.open("rb") as stream:
                seen = os.fstat(stream.fileno()).st_size == file.size
        except OSError:
            seen = False
        if not seen:
            raise FileProblem(
                f"a worker cannot read {file.path} as it was found here: all workers must see the "
                "files under the same names"
            )
    return _all(given)


def _all(given: Sequence[tuple[SourceFile, Reading]]) -> list[_Found]:
    return [_whole(*one) for one in given]


def _whole(file: SourceFile, how: Reading) -> _Found:
    """Read a file in another process, up to what ends the reading."""
    items: list[Item] = []
    problem = None
    try:
        items.extend(read_file(file, how))
    except (BadInput, FileProblem) as error:
        problem = error
    warnings = how.warned.given if isinstance(how.warned, _Kept) else ()
    return items, how.counts, list(warnings), problem


def _silent(size: int) -> None:
    """Report no progress: the parent counts the file as a whole."""


def attribution(files: Iterable[SourceFile]) -> str | None:
    """Give the line that must go with these files, if one came from OpenStreetMap."""
    asked = {"gpx": gpx_document.from_osm, "gpx-archive": gpx_archive.from_osm}
    found = (file for file in files if file.format in asked)
    return OSM_ATTRIBUTION if any(asked[file.format](file.path) for file in found) else None
