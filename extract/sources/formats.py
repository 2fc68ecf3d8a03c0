"""The kinds of files that can be read, and which of them a file is."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from trajanon.extract.sources import mds_trips
from trajanon.extract.sources.collections import COLLECTIONS, Collection
from trajanon.extract.sources.devices import fit, google, json_points, kml, nmea, tcx
from trajanon.extract.sources.geo import geo_files, moving_features, placed_tables
from trajanon.extract.sources.geo.geo_parquet import is_geoparquet
from trajanon.extract.sources.gpx import gpx_archive, gpx_files
from trajanon.extract.sources.gpx.gpx_document import Document
from trajanon.extract.sources.streams import COLUMNS, DAMAGED, Reading
from trajanon.extract.sources.tables import table_files
from trajanon.extract.sources.tables.columns import FILE, FOLDER
from trajanon.extract.trace import Trace
from trajanon.subjects import spelled

logger = logging.getLogger(__name__)

PACKED = (".gz", ".bz2", ".xz")  # suffixes of packed files, beside the suffix of what is in them
_HEAD = 4096

FORMATS: Mapping[str, ModuleType | Collection] = {
    "gpx-archive": gpx_archive,
    "gpx": gpx_files,
    "kml": kml,
    "tcx": tcx,
    "fit": fit,
    "nmea": nmea,
    "google": google,
    **COLLECTIONS,
    "mds": mds_trips,
    "mf-json": moving_features,
    "geo": geo_files,
    "json": json_points,
    "places": placed_tables,
    "table": table_files,
}
"""Readers by name of the format; a file is of the first one that it looks like.

In each, `looks_like(name, head)` tells whether a file is of the kind, and `read(path, label, how)`
gives its traces; an answer of the OSM API stays a document.
"""


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


def read_file(file: SourceFile, how: Reading) -> Iterator[Trace | Document]:
    """Read one file by the reader of its format; perhaps its folder is the subject."""
    by_folder = how.columns.get("subject") == FOLDER
    for found in FORMATS[file.format].read(file.path, file.label, how):
        if by_folder and isinstance(found, Trace):
            name = _folder_in_archive(found.name, file) or file.folder
            found = replace(found, subject=spelled(name) or None, spellings=())
        yield found
    asked = [f"{role}={name}" for role, name in how.columns.items() if name not in (FILE, FOLDER)]
    if asked and not any(what.startswith(COLUMNS) for what in how.counts):
        msg = (
            f"{file.label} has no columns ({file.format}): `columns` {','.join(asked)} is not used "
            "for it; subject=folder takes each folder for a person"
        )
        how.warn(logger, f"no columns {file.format}", msg)


def _folder_in_archive(name: str, file: SourceFile) -> str:
    """Name the outermost folder of a member of an archive; empty if there is none."""
    if file.format != "gpx-archive":
        return ""
    return name.removeprefix(f"{file.label}/").rpartition("/")[0].partition("/")[0]


def format_of(path: Path, how: Reading) -> str | None:
    """Name the format of a file by looking at it; None if none fits."""
    with how.unpacked(path) as stream:
        try:
            head = stream.read(_HEAD)
        except DAMAGED:
            head = b""  # what is wrong with it, its reader says
    name = path.name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    fits = (title for title, kind in FORMATS.items() if kind.looks_like(name, head))
    found = next(fits, None)
    if found in ("table", "places") and "lat" not in how.columns:
        if "place" in how.columns:
            return "places"
        if is_geoparquet(path):
            return "geo"  # what a Parquet file is stands at its end
        if head.startswith(b"PAR1") and placed_tables.is_in_parquet(path):
            return "places"
    return found
