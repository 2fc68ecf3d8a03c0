"""The readable kinds of files, and how to recognise them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from trajanon.extract.sources import (
    collections,
    devices,
    geo_files,
    gpx_document,
    phones,
    source_tables,
)
from trajanon.extract.sources.columns import FOLDER, TRACK, is_word
from trajanon.extract.sources.gpx_document import ApiPage
from trajanon.extract.sources.streams import DAMAGED, ZIP, Reading
from trajanon.extract.trace import Trace
from trajanon.subjects import spelled

_HEAD = 4096
_BY_TRACK = ("gpx", "gpx-archive", "kml")


class Format(NamedTuple):
    """A kind of file: its names, beginning and content, and its reader."""

    read: Callable[[Path, str, Reading], Iterator[Trace | ApiPage]]
    suffixes: tuple[str, ...] = ()
    begins: bytes = b""  # a regular expression of the first bytes
    holds: bytes = b""  # another one, of bytes that stand anywhere among them
    is_one: Callable[[str, bytes], bool] = lambda name, head: False

    def looks_like(self, name: str, head: bytes) -> bool:
        """Say whether a file is of the kind, by its name in lower case or its first bytes."""
        if name.endswith(self.suffixes) or self.is_one(name, head):
            return True
        begins = re.match(self.begins, head, re.DOTALL)
        return bool((self.begins or self.holds) and begins and re.search(self.holds, head, re.S))


_MARK = rb"(\xef\xbb\xbf)?"  # of the order of bytes
_JSON = rb"[\xef\xbb\xbf \t\r\n]*\{"

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
    "mds": Format(geo_files.read_mds, begins=_MARK + rb"\s*\{", holds=rb'"trips"\s*:\s*\['),
    "mf-json": Format(
        geo_files.read_mf_json,
        (".mfjson",),
        _JSON,
        rb'"(temporalGeometry|datetimes)"\s*:|"type"\s*:\s*"Moving',
    ),
    "geo": Format(
        geo_files.read,
        (".geojson", ".geojsonl", ".geojsons", ".geojsonseq", ".gpkg", ".shp", ".fgb"),
        rb"\x1e?" + _JSON,  # where features are separated by records
        rb'"type"\s*:\s*"(Feature|FeatureCollection|GeometryCollection'
        rb'|(Multi)?(Point|LineString))"',
        # FlatGeobuf, and SQLite that is a GeoPackage.
        lambda name, head: re.match(rb"fgb\x03|SQLite format 3\0.{52}GP", head, re.S) is not None,
    ),
    "json": Format(phones.read_points, is_one=phones.looks_like_points),
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


def read_file(file: SourceFile, how: Reading) -> Iterator[Trace | ApiPage]:
    """Read one file by the reader of its format; perhaps its folder is the subject."""
    by_folder = how.columns.get("subject") == FOLDER
    for found in FORMATS[file.format].read(file.path, file.label, how):
        if by_folder and isinstance(found, Trace):
            name = file.folder
            if file.format == "gpx-archive":  # or the outermost folder in it
                inside = found.name.removeprefix(f"{file.label}/").rpartition("/")[0]
                name = inside.partition("/")[0] or name
            found = replace(found, subject=spelled(name) or None, spellings=())
        yield found
    if how.columns.get("subject") == TRACK and file.format not in _BY_TRACK:
        msg = f"{file.label} has no tracks with names ({file.format}): subject=track is not used"
        how.warn(f"no tracks {file.format}", f"{msg} for it")
    asked = [f"{role}={name}" for role, name in how.columns.items() if not is_word(role, name)]
    if asked and not how.tables.uses:
        msg = f"{file.label} has no columns ({file.format}): `columns` {','.join(asked)} is not "
        way_out = "used for it; subject=folder takes each folder for a person"
        how.warn(f"no columns {file.format}", msg + way_out)


def format_of(path: Path, how: Reading) -> str | None:
    """Name the format of a file by looking at it; None if none fits."""
    with how.unpacked(path) as stream:
        try:
            head = stream.read(_HEAD)
        except DAMAGED:
            head = b""  # what is wrong with it, its reader says
    name = path.name.lower()
    for suffix in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(suffix)
    found = next((one for one, kind in FORMATS.items() if kind.looks_like(name, head)), None)
    asked = {"lat", "place"} & how.columns.keys()
    if found == "table" and not asked and b"geo" in geo_files.footer_of(path):
        return "geo"  # what a Parquet file is stands at its end
    return found
