"""Archives of GPX files, zip or tar, OpenStreetMap's planet dump among them."""

import io
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx import planet
from trajanon.extract.sources.gpx.archive_members import ZIP, CutOff, Member, members
from trajanon.extract.sources.gpx.gpx_document import Document, GpxStream
from trajanon.extract.sources.gpx.gpx_files import traces_of_document
from trajanon.extract.sources.streams import DAMAGED, UNREADABLE, Reading, unpacked
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
                metadata = planet.Metadata(member.open(), "").read_beginning()
                return metadata.generator in planet.GENERATORS
            if _is_gpx(member):
                return GpxStream(unpacked(member.open()), "").read_beginning().is_from_osm
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
        self._problem: FileProblem | None = None
        self._other = ""  # the first member that is a file, but not GPX

    def traces(self) -> Iterator[Trace | Document]:
        try:
            for member in members(self._path, self._how):
                try:
                    yield from self._member(member)
                except FileProblem as error:
                    self._leave_out(error)
        except CutOff as error:
            self._stop(error)
        if not self._whole and not self._given:
            self._refuse()

    def _member(self, member: Member) -> Iterator[Trace | Document]:
        if member.regular and planet.is_metadata(member.name):
            self._learn(member)
        elif member.regular and _is_gpx(member):
            yield from self._file(member)
        else:
            self._how.counts[NOT_GPX] += 1
            if member.regular and not _is_hidden(member):
                self._other = self._other or member.name

    def _file(self, member: Member) -> Iterator[Trace | Document]:
        name, subject = f"{self._label}/{member.name}", None
        if upload := planet.recording(member.name):
            name = f"{self._label}/{upload.number}"
            subject = self.accounts.subject(upload)
        document = GpxStream(self._content(member), f"{self._path}/{member.name}")
        for found in traces_of_document(document, name, subject):
            self._given = True
            yield found
        self._whole += 1
        if not document.points and not document.is_api_answer:
            self._how.counts[EMPTY] += 1

    def _content(self, member: Member) -> io.BufferedReader:
        stream = member.open()
        try:
            return unpacked(stream)
        except DAMAGED as error:
            msg = f"{self._path}/{member.name} cannot be read ({error}): "
            raise FileProblem(msg + "download the archive again") from error

    def _learn(self, member: Member) -> None:
        metadata = planet.Metadata(member.open(), f"{self._path}/{member.name}")
        try:
            while not metadata.read_chunk():
                pass
        finally:
            self.accounts.learn(metadata)

    def _leave_out(self, error: FileProblem) -> None:
        if self._how.strict:
            raise error
        self._problem = self._problem or error
        self._how.counts[UNREADABLE] += 1
        logger.warning("left out, or used only up to the damage: %s", error)

    def _stop(self, error: CutOff) -> None:
        files = number_of(self._whole, "GPX file")
        msg = f"{self._path} is damaged or cut off after {files} ({error}): download it again"
        self._problem = FileProblem(msg)
        if self._how.strict or not (self._whole or self._given):
            raise self._problem from error
        self._how.counts[CUT_OFF] += 1
        logger.warning("%s; what comes before is used", msg)

    def _refuse(self) -> None:
        if self._problem:
            msg = f"no GPX file in {self._path} can be read: {self._problem}"
        elif self._other.lower().endswith(".kml"):
            msg = (
                f"{self._path} holds KML, {self._other}, which is not read: save it "
                "as GPX or GeoJSON"
            )
        elif self._other:
            msg = (
                f"{self._path} holds no {', '.join(_GPX)} file but {self._other}: "
                "unpack it first, and name the folder; only GPX is read from archives"
            )
        else:
            msg = f"{self._path} holds no {', '.join(_GPX)} file: name another one"
        raise FileProblem(msg)


def _is_gpx(member: Member) -> bool:
    """Tell a GPX file by its name; as in folders, hidden ones are left out."""
    return member.name.lower().endswith(_GPX) and not _is_hidden(member)


def _is_hidden(member: Member) -> bool:
    return member.name.rpartition("/")[2].startswith(".")
