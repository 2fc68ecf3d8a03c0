"""Archives of GPX files, zip or tar, OpenStreetMap's planet dump among them."""

import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx import planet
from trajanon.extract.sources.gpx.archive_members import ZIP, CutOff, Member, members
from trajanon.extract.sources.gpx.gpx_document import Document, GpxStream
from trajanon.extract.sources.gpx.gpx_files import traces_of_document
from trajanon.extract.sources.streams import DAMAGED, DAMAGED_ZIP, UNREADABLE, Reading, unpacked
from trajanon.extract.trace import Trace
from trajanon.words import number_of

logger = logging.getLogger(__name__)

NOT_GPX = "members that are not GPX"
EMPTY = "files without track points"
CUT_OFF = "archives cut off"

_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz")
_GPX = (".gpx", ".gpx.gz", ".gpx.bz2", ".gpx.xz")


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is a zip or tar archive, by its name or its first bytes."""
    tar = head[257:262] == b"ustar"
    return tar or name.endswith(_ARCHIVES) or head.startswith(ZIP)


def read(path: Path, label: str, how: Reading) -> Iterator[Trace | Document]:
    """Read the GPX files of an archive, in its order; the archive is read once.

    A file is one recording, as if it lay in a folder. Those of a planet dump have the number of
    their upload as name and, where the metadata came before them, their account as subject.
    """
    archive = _Archive(path, label, how)
    yield from archive.traces()
    archive.accounts.report(path, how.counts)


def from_osm(path: Path) -> bool:
    """Say whether an archive came from OpenStreetMap, by the first file of it."""
    with suppress(CutOff, *DAMAGED):
        for member in members(path, Reading()):
            if not member.regular:
                continue
            if planet.is_metadata(member.name):
                metadata = planet.Metadata(member.open().read, "").read_beginning()
                return metadata.generator in planet.GENERATORS
            if _is_gpx(member.name):
                return GpxStream(unpacked(member.open()).read, "").read_beginning().is_from_osm
    return False


class _Archive:
    """One archive while it is read."""

    def __init__(self, path: Path, label: str, how: Reading) -> None:
        self.accounts = planet.Accounts()
        self._path = path
        self._label = label
        self._how = how
        self._whole = 0  # GPX files that were read to their end
        self._given = False  # whether there was anything
        self._other = ""  # the first member that is a file, but not GPX

    def traces(self) -> Iterator[Trace | Document]:
        why = ""
        try:
            for member in members(self._path, self._how):
                try:
                    yield from self._member(member)
                except FileProblem as error:
                    if self._how.strict:
                        raise
                    why = why or f"no GPX file in {self._path} can be read: {error}"
                    self._how.counts[UNREADABLE] += 1
                    logger.warning("left out, or used only up to the damage: %s", error)
        except CutOff as error:
            files = number_of(self._whole, "GPX file")
            msg = f"{self._path} is damaged or cut off after {files} ({error}): download it again"
            if self._how.strict or not (self._whole or self._given):
                raise FileProblem(msg) from error
            self._how.counts[CUT_OFF] += 1
            logger.warning("%s; what comes before is used", msg)
        if not self._whole and not self._given:
            raise FileProblem(why or self._why_nothing())

    def _member(self, member: Member) -> Iterator[Trace | Document]:
        where = f"{self._path}/{member.name}"
        if member.regular and planet.is_metadata(member.name):
            self.accounts.learn(member.open().read, where)
        elif member.regular and _is_gpx(member.name):
            upload, subject = self.accounts.recording(member.name) or (member.name, None)
            stream = member.open()
            try:
                document = GpxStream(unpacked(stream).read, where)
            except DAMAGED_ZIP as error:
                msg = f"{where} cannot be read ({error}): download the archive again"
                raise FileProblem(msg) from error
            for found in traces_of_document(document, f"{self._label}/{upload}", subject):
                self._given = True
                yield found
            self._whole += 1
            if document.is_empty:
                self._how.counts[EMPTY] += 1
        else:
            self._how.counts[NOT_GPX] += 1
            if member.regular and not _is_hidden(member.name):
                self._other = self._other or member.name

    def _why_nothing(self) -> str:
        if self._other.lower().endswith(".kml"):
            return (
                f"{self._path} holds KML, {self._other}, which is not read: save it "
                "as GPX or GeoJSON"
            )
        if self._other:
            return (
                f"{self._path} holds no {', '.join(_GPX)} file but {self._other}: "
                "unpack it first, and name the folder; only GPX is read from archives"
            )
        return f"{self._path} holds no {', '.join(_GPX)} file: name another one"


def _is_gpx(name: str) -> bool:
    """Tell a GPX file by its name; as in folders, hidden ones are left out."""
    return name.lower().endswith(_GPX) and not _is_hidden(name)


def _is_hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")
