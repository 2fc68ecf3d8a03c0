"""The readable kinds of files, and how to recognise them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from trajanon.common.inputs import rows_beside
from trajanon.extract.sources import (
    collections,
    devices,
    geo_files,
    google_timeline,
    gpx_document,
    json_documents,
    kml_and_tcx,
    source_tables,
)
from trajanon.extract.sources.archives import DAMAGED
from trajanon.extract.sources.column_roles import FOLDER, TRACK, is_word
from trajanon.extract.sources.gpx_document import ApiPage
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace
from trajanon.trajectories.person_names import spelled

_HEAD, _HEAD_OF_JSON = 4096, 1 << 20  # bytes
_BY_TRACK = ("gpx", "gpx-archive", "kml")

_MODULES = (
    *(collections, devices, geo_files, google_timeline, gpx_document, json_documents),
    *(kml_and_tcx, source_tables),
)


def _function(name: str) -> Callable[..., Any]:
    """Find a function of a module of readers by both their names."""
    module_name, _, function = name.partition(".")
    module = next(module for module in _MODULES if module.__name__.endswith(f".{module_name}"))
    return cast(Callable[..., Any], getattr(module, function))


class Format:
    """A kind of file: its names, beginning and content, and its reader."""

    def __init__(self, row: Mapping[str, str]) -> None:
        self.read: Callable[[Path, Reading], Iterator[Trace | ApiPage]] = _function(row["reader"])
        self._suffixes = tuple(row["suffixes"].split())
        # Regular expressions of the first bytes, and of bytes that stand anywhere among them.
        self._begins = row["begins"].encode()
        self._holds = row["holds"].encode()
        self._looks = _function(row["looks"]) if row["looks"] else lambda name, head: False

    def looks_like(self, name: str, head: bytes) -> bool:
        """Return whether a file is of the kind, by its name in lower case or its first bytes."""
        if name.endswith(self._suffixes) or self._looks(name, head):
            return True
        begins = re.match(self._begins, head, re.DOTALL)
        return bool((self._begins or self._holds) and begins and re.search(self._holds, head, re.S))


FORMATS: Mapping[str, Format] = {
    row["format"]: Format(row) for row in rows_beside(__file__, "formats.csv")
}
"""By name; a file is of the first one that it looks like."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read."""

    path: Path  # where it is
    label: str  # its name, or the last of its path
    format: str  # one of `FORMATS`
    size: int  # bytes, when it was found
    folder: str = ""  # the folder that is the person, if folders are people

    def labelled(self, depth: int) -> "SourceFile":
        """Label it by its name and the last of its folders, `depth` names in all."""
        return replace(self, label="/".join(self.path.parts[-depth:]))


def read_file(file: SourceFile, reading: Reading) -> Iterator[Trace | ApiPage]:
    """Read one file by the reader of its format; perhaps its folder is the subject."""
    reading = reading.of_file(file.path, file.label)
    by_folder = reading.columns.get("subject") == FOLDER
    for read in FORMATS[file.format].read(file.path, reading):
        if by_folder and isinstance(read, Trace):
            read = _of_its_folder(read, file)
        yield read

    if reading.columns.get("subject") == TRACK and file.format not in _BY_TRACK:
        reading.found("no tracks", format=file.format)
    asked = [f"{role}={name}" for role, name in reading.columns.items() if not is_word(role, name)]
    if asked and not reading.tables.uses:
        reading.found("no columns", format=file.format, asked=",".join(asked))


def _of_its_folder(trace: Trace, file: SourceFile) -> Trace:
    """Make the folder around a file its person; in an archive the outermost one in it."""
    name = file.folder
    if file.format == "gpx-archive":
        inside = trace.name.removeprefix(f"{file.label}/").rpartition("/")[0]
        name = inside.partition("/")[0] or name
    return replace(trace, subject=spelled(name) or None, spellings=())


def _head_of(path: Path, size: int, reading: Reading) -> bytes:
    """Read the first bytes of a file; nothing if it is damaged, which its reader says."""
    with reading.unpacked(path) as stream:
        try:
            return stream.read(size)
        except DAMAGED:
            return b""


def format_of(path: Path, reading: Reading) -> str | None:
    """Name the format of a file by looking at it; None if none fits."""
    name = path.name.lower()
    for suffix in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(suffix)
    head = _head_of(path, _HEAD, reading)
    found = next((kind for kind, form in FORMATS.items() if form.looks_like(name, head)), None)
    if found is None and name.endswith(".json"):  # other lists may come before that of points
        looks = json_documents.looks_like(name, _head_of(path, _HEAD_OF_JSON, reading))
        return "json" if looks else None
    asked = {"lat", "place"} & reading.columns.keys()
    if found == "table" and not asked and b"geo" in geo_files.footer_of(path):
        return "geo"  # what a Parquet file is stands at its end
    return found
