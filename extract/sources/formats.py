"""The readable kinds of files, and how to recognise them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract.sources import (
    collections,
    devices,
    geo_files,
    gpx_document,
    json_documents,
    phones,
    source_tables,
)
from trajanon.extract.sources.calendars import with_true_years
from trajanon.extract.sources.column_roles import FOLDER, TRACK, is_word
from trajanon.extract.sources.gpx_document import ApiPage
from trajanon.extract.sources.streams import DAMAGED, ZIP, Reading
from trajanon.extract.trace import Trace
from trajanon.trajectories.person_names import spelled

_HEAD, _HEAD_OF_JSON = 4096, 1 << 20  # bytes
_owner = attrgetter("name", "subject")  # what the pieces of a recording share

_BY_TRACK = ("gpx", "gpx-archive", "kml")
_GATHERED = 50_000  # points, by which the times of recordings are checked together


class Format(NamedTuple):
    """A kind of file: its names, beginning and content, and its reader."""

    read: Callable[[Path, Reading], Iterator[Trace | ApiPage]]
    suffixes: tuple[str, ...] = ()
    begins: bytes = b""  # a regular expression of the first bytes
    holds: bytes = b""  # another one, of bytes that stand anywhere among them
    is_one: Callable[[str, bytes], bool] = lambda name, head: False

    def looks_like(self, name: str, head: bytes) -> bool:
        """Return whether a file is of the kind, by its name in lower case or its first bytes."""
        if name.endswith(self.suffixes) or self.is_one(name, head):
            return True
        begins = re.match(self.begins, head, re.DOTALL)
        return bool((self.begins or self.holds) and begins and re.search(self.holds, head, re.S))


_MARK = rb"(\xef\xbb\xbf)?"  # of the order of bytes

FORMATS: Mapping[str, Format] = {  # a file is of the first one that it looks like
    "gpx-archive": Format(
        gpx_document.read_archive,
        (".zip", ".tar", ".tgz", ".tbz2", ".txz"),
        rb".{257}ustar",
        is_one=lambda name, head: head.startswith(ZIP) and not name.endswith(".kmz"),
    ),
    "gpx": Format(gpx_document.read, (".gpx",), is_one=gpx_document.looks_like),
    "kml": Format(devices.read_kml, (".kml", ".kmz"), holds=rb"<(\w+:)?kml[\s>]"),
    "tcx": Format(devices.read_tcx, (".tcx",), holds=rb"<(\w+:)?TrainingCenterDatabase[\s>]"),
    "fit": Format(devices.read_fit, (".fit",), rb".{8}\.FIT"),
    "nmea": Format(
        devices.read_nmea,
        (".nmea",),
        holds=rb"(?m)^[^$\n\"']{0,40}\$G[A-Z](RMC|GGA|GLL|GSA|GSV|VTG|ZDA|GNS|TXT),",
    ),
    "google": Format(
        phones.read_google,
        begins=_MARK + rb'\s*(\{\s*"(timelineObjects|semanticSegments|rawSignals)"\s*:'
        rb'|\{\s*"locations"\s*:.*"(latitudeE7|timestampMs)"\s*:'
        rb'|\[\s*\{.*"(timelinePath|topCandidate|timelineMemory)"\s*:)',
    ),
    "geolife": Format(collections.read_geolife, begins=rb"Geolife trajectory"),
    "cabspotting": Format(
        collections.read_cabspotting, begins=rb"-?\d+\.\d+ -?\d+\.\d+ [01] \d{9,10}(\s|\Z)"
    ),
    "porto": Format(collections.read_porto, is_one=collections.looks_like_porto),
    "tdrive": Format(
        collections.read_tdrive,
        begins=rb"\d+,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,-?\d+(\.\d+)?,-?\d+(\.\d+)?(\s|\Z)",
        is_one=lambda name, head: not head and re.fullmatch(r"\d+\.txt", name) is not None,
    ),
    "openbikesensor": Format(
        collections.read_openbikesensor,
        begins=_MARK + rb"([^\r\n]{0,2000}OBSDataFormat|Date;Time;[^\r\n]*;[iI]nsidePrivacyArea)",
    ),
    "simra": Format(collections.read_simra, begins=rb"\d+#\d+[#\d]*\s+key,lat,lon,ts,"),
    "mds": Format(json_documents.read_mds, begins=_MARK + rb"\s*\{", holds=rb'"trips"\s*:\s*\['),
    "geo": Format(
        geo_files.read,
        (".gpkg", ".shp", ".fgb"),
        rb"fgb\x03|SQLite format 3\0.{52}GP",  # FlatGeobuf, and SQLite that is a GeoPackage
    ),
    "json": Format(
        json_documents.read,
        (".geojson", ".geojsonl", ".geojsons", ".geojsonseq", ".mfjson"),
        is_one=json_documents.looks_like,
    ),
    "table": Format(source_tables.read, is_one=source_tables.looks_like),
}


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
    for read in _gathered(FORMATS[file.format].read(file.path, reading)):
        if isinstance(read, list):
            yield read
            continue
        for trace in with_true_years(read, reading):
            yield _of_its_folder(trace, file) if by_folder else trace

    if reading.columns.get("subject") == TRACK and file.format not in _BY_TRACK:
        has = f"has no tracks with names ({file.format}): subject=track is not used for it"
        reading.warn_of_file(f"no tracks {file.format}", has, once=True)
    asked = [f"{role}={name}" for role, name in reading.columns.items() if not is_word(role, name)]
    if asked and not reading.tables.uses:
        has = f"has no columns ({file.format}): `columns` {','.join(asked)} is not used for it"
        way_out = "subject=folder takes each folder for a person"
        reading.warn_of_file(f"no columns {file.format}", f"{has}; {way_out}", once=True)


def _gathered(traces: Iterable[Trace | ApiPage]) -> Iterator[tuple[Trace, ...] | ApiPage]:
    """Gather whole recordings, many at once; also one in which the reading ends."""
    gathered = list[Trace]()
    points = 0
    try:
        for read in traces:
            if isinstance(read, list):
                yield read
                continue
            if points >= _GATHERED and _owner(read) != _owner(gathered[-1]):
                yield tuple(gathered)
                gathered = []
                points = 0
            gathered.append(read)
            points += len(read)
    except (BadInput, FileProblem):
        yield tuple(gathered)
        raise
    yield tuple(gathered)


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
