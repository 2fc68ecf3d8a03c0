"""Archives of GPX files, zip or tar, OpenStreetMap's planet dump among them."""

import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx import planet
from trajanon.extract.sources.gpx.archive_members import ZIP, CutOff, members
from trajanon.extract.sources.gpx.gpx_document import Document, GpxStream
from trajanon.extract.sources.gpx.gpx_files import traces_of_document
from trajanon.extract.sources.streams import DAMAGED, UNREADABLE, Reading
from trajanon.extract.trace import Trace
from trajanon.number_text import number_of

logger = logging.getLogger(__name__)

NOT_GPX = "members that are not GPX"
EMPTY = "files without track points"
CUT_OFF = "archives cut off"

_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz")
_GPX = (".gpx", ".gpx.gz", ".gpx.bz2", ".gpx.xz")


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is a zip or tar archive, by its name or its first bytes; KMZ is not."""
    tar = head[257:262] == b"ustar"
    return tar or name.endswith(_ARCHIVES) or (head.startswith(ZIP) and not name.endswith(".kmz"))


def read(path: Path, label: str, how: Reading) -> Iterator[Trace | Document]:
    """Read the GPX files of an archive, in its order; the archive is read once.

    A file is one recording, as if it lay in a folder. Those of a planet dump have the number of
    their upload as name and, where the metadata came before them, their account as subject.
    """
    accounts = planet.Accounts()
    whole, given = 0, False  # files that were read to their end; whether there was anything
    other = why = ""  # the first member that is a file, but not GPX; the first problem
    try:
        for name, opened in members(path, how):
            where = f"{path}/{name}"
            try:
                if opened and planet.is_metadata(name):
                    accounts.learn(opened().read, where)
                elif opened and _is_gpx(name):
                    upload, subject = accounts.recording(name) or (name, None)
                    document = GpxStream(opened().read, where)
                    for found in traces_of_document(document, f"{label}/{upload}", subject):
                        given = True
                        yield found
                    whole += 1
                    if document.is_empty:
                        how.counts[EMPTY] += 1
                else:
                    how.counts[NOT_GPX] += 1
                    if opened and not _is_hidden(name):
                        other = other or name
            except FileProblem as error:
                why = why or f"no GPX file in {path} can be read: {error}"
                how.counts[UNREADABLE] += 1
                msg = f"left out, or used only up to the damage: {error}"
                how.warn(logger, "members", msg, str(error))
    except CutOff as error:
        files = number_of(whole, "GPX file")
        msg = f"{path} is damaged or cut off after {files} ({error}): download it again"
        if not (whole or given):
            raise FileProblem(msg) from error
        how.counts[CUT_OFF] += 1
        how.warn(logger, CUT_OFF, f"{msg}; what comes before is used", msg)
    if not whole and not given:
        raise FileProblem(why or _why_nothing(path, other))
    accounts.report(path, how)


def _why_nothing(path: Path, other: str) -> str:
    if other.lower().endswith(".kml"):
        return f"{path} holds KML, {other}: give it the suffix .kmz, or unpack it"
    if other:
        return (
            f"{path} holds no {', '.join(_GPX)} file but {other}: unpack it first, and name the "
            "folder; only GPX is read from archives"
        )
    return f"{path} holds no {', '.join(_GPX)} file: name another one"


def from_osm(path: Path) -> bool:
    """Say whether an archive came from OpenStreetMap, by the first file of it."""
    with suppress(CutOff, *DAMAGED):
        for name, opened in members(path, Reading()):
            if opened and planet.is_metadata(name):
                metadata = planet.Metadata(opened().read, "").read_beginning()
                return metadata.generator in planet.GENERATORS
            if opened and _is_gpx(name):
                return GpxStream(opened().read, "").read_beginning().is_from_osm
    return False


def _is_gpx(name: str) -> bool:
    """Tell a GPX file by its name; as in folders, hidden ones are left out."""
    return name.lower().endswith(_GPX) and not _is_hidden(name)


def _is_hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")
