"""The readable kinds of files, and how to recognise them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trajanon.common.json_toml_and_regular_files import table_beside
from trajanon.extract.sources import (
    csv_and_parquet,
    fit_and_nmea,
    geopackage_and_shapefile,
    google_timeline,
    gpx,
    gpx_archive,
    json_and_geojson,
    kml_and_tcx,
    known_datasets,
)
from trajanon.extract.sources.archives import DAMAGED
from trajanon.extract.sources.column_role_names import FOLDER, TRACK, is_word
from trajanon.extract.sources.person_by_folder import of_person, outermost_folder
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

Reader = Callable[[Path, Reading], Iterator[Trace]]
LooksLike = Callable[[str, bytes], bool]
"""Judges a file by its name in lower case and its first bytes."""

_BYTES_JUDGED = 4096
_BYTES_OF_JSON_JUDGED = 1 << 20  # as other lists may come before that of points
_WITH_TRACKS = ("gpx", "gpx-archive", "kml")  # formats whose tracks have names

_MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        *(csv_and_parquet, fit_and_nmea, geopackage_and_shapefile, google_timeline),
        *(gpx, gpx_archive, json_and_geojson, kml_and_tcx, known_datasets),
    )
}
"""Modules of readers by their names, as formats_recognised.csv has them."""


class Format:
    """A kind of file: its names, beginning and content, and its reader."""

    def __init__(self, row: Mapping[str, str]) -> None:
        """Read a row of formats_recognised.csv, which names functions by their modules."""
        self.read: Reader = _function(row["reader"])
        self._suffixes = tuple(row["suffixes"].split())
        # Regular expressions of the first bytes, and of bytes that stand anywhere among them.
        self._begins = row["begins"].encode()
        self._holds = row["holds"].encode()
        self._looks_like: LooksLike | None = _function(row["looks"]) if row["looks"] else None

    def looks_like(self, name: str, head: bytes) -> bool:
        """Return whether a file is of the kind, by its name in lower case or its first bytes."""
        if name.endswith(self._suffixes):
            return True
        if self._looks_like is not None and self._looks_like(name, head):
            return True
        if not (self._begins or self._holds) or not re.match(self._begins, head, re.DOTALL):
            return False
        return re.search(self._holds, head, re.DOTALL) is not None


def _function(name: str) -> Any:
    """Return the function of a module of readers by both their names."""
    module, _, function = name.partition(".")
    return getattr(_MODULES[module], function)


FORMATS: Mapping[str, Format] = {
    row["format"]: Format(row) for row in table_beside(__file__, "formats_recognised.csv")
}
"""Kinds of files by name; a file is of the first one that it looks like."""


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


def read_file(file: SourceFile, reading: Reading) -> Iterator[Trace]:
    """Read one file by the reader of its format; perhaps its folder is the subject."""
    reading = reading.of_file(file.path, file.label)
    tables_before = reading.tables.uses.total()
    is_by_folder = reading.columns.get("subject") == FOLDER
    for trace in FORMATS[file.format].read(file.path, reading):
        # A page of the OSM API is of many people, whatever its folder.
        if not is_by_folder or trace.page:
            yield trace
            continue
        is_archive = file.format == "gpx-archive"
        folder_inside = outermost_folder(trace.name, file.label) if is_archive else ""
        yield of_person(trace, folder_inside or file.folder)

    if reading.columns.get("subject") == TRACK and file.format not in _WITH_TRACKS:
        reading.found("no tracks", format=file.format)
    asked = [f"{role}={name}" for role, name in reading.columns.items() if not is_word(role, name)]
    if asked and reading.tables.uses.total() == tables_before:
        reading.found("no columns", format=file.format, asked=",".join(asked))


def format_of(path: Path, reading: Reading) -> str | None:
    """Name the format of a file by looking at it; None if none fits."""
    name = path.name.lower()
    for suffix in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(suffix)

    head = _first_bytes(path, _BYTES_JUDGED, reading)
    format_name = next(
        (kind for kind, form in FORMATS.items() if form.looks_like(name, head)), None
    )
    if format_name is None and name.endswith(".json"):
        head = _first_bytes(path, _BYTES_OF_JSON_JUDGED, reading)
        return "json" if json_and_geojson.looks_like(name, head) else None

    # What a Parquet file is stands at its end; a user who names columns takes it for a table.
    names_columns = {"lat", "place"} & reading.columns.keys()
    is_any_table = format_name == "table" and not names_columns
    if is_any_table and b"geo" in geopackage_and_shapefile.footer_of(path):
        return "geo"
    return format_name


def _first_bytes(path: Path, size: int, reading: Reading) -> bytes:
    """Read the first bytes of a file; nothing if it is damaged, which its reader says."""
    with reading.unpacked(path) as stream:
        try:
            return stream.read(size)
        except DAMAGED:
            return b""
