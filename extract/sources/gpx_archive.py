"""Archives of GPX files, zip or tar, OpenStreetMap's planet dump among them.

The files of the dump are VISIBILITY/000/123/000123456.gpx, beside one metadata.xml that names the
account of each public and identifiable one.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx_document import Document, GpxStream, XmlStream, traces_of_document
from trajanon.extract.sources.streams import DAMAGED, UNREADABLE, CutOff, Reading, members
from trajanon.extract.sources.trace_pieces import EMPTY
from trajanon.extract.trace import Trace
from trajanon.number_text import number_of

NOT_GPX = "members that are not GPX"
CUT_OFF = "archives cut off"
NAMELESS = "recordings whose account is not in the dump, or came too late"

_GPX = (".gpx", ".gpx.gz", ".gpx.bz2", ".gpx.xz")

_GENERATORS = ("OpenStreetMap gpx_dump.py", "OSM gpx_dump.py")  # how metadata name who made them
_FILE = re.compile(r"(?:.*/)?(public|trackable|identifiable)/(?:\d+/)*(\d{1,18})\.gpx")
_NUMBER = re.compile(r"[0-9]{1,18}")


def read(path: Path, label: str, how: Reading) -> Iterator[Trace | Document]:
    """Read the GPX files of an archive, those of a planet dump with their accounts as subjects."""
    accounts = Accounts()
    whole, given = 0, False  # files that were read to their end; whether there was anything
    other = why = ""  # the first member that is a file, but not GPX; the first problem
    try:
        for name, opened in members(path, how):
            where = f"{path}/{name}"
            try:
                if opened and _is_metadata(name):
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
                how.warn("members", msg, str(error))
    except CutOff as error:
        files = number_of(whole, "GPX file")
        msg = f"{path} is damaged or cut off after {files} ({error}): download it again"
        if not (whole or given):
            raise FileProblem(msg) from error
        how.counts[CUT_OFF] += 1
        how.warn(CUT_OFF, f"{msg}; what comes before is used", msg)
    if not whole and not given:
        but = f" but {other}: unpack it first, and name the folder, or .kmz if it is KML"
        nothing = f"{path} holds no {', '.join(_GPX)} file{but if other else ''}"
        raise FileProblem(why or f"{nothing}; only GPX is read from archives")
    if accounts.without:
        how.counts[NAMELESS] += accounts.without
        msg = (
            f"{path} has no metadata.xml before its recordings: {accounts.without:,} count as "
            "different people's, even if one account has several; pack metadata.xml first"
        )
        how.warn("accounts", msg, str(path))


def from_osm(path: Path) -> bool:
    """Say whether an archive came from OpenStreetMap, by the first file of it."""
    with suppress(CutOff, *DAMAGED):
        for name, opened in members(path, Reading()):
            if opened and _is_metadata(name):
                return _Metadata(opened().read, "").read_beginning().generator in _GENERATORS
            if opened and _is_gpx(name):
                return GpxStream(opened().read, "").read_beginning().is_from_osm
    return False


def _is_gpx(name: str) -> bool:
    """Tell a GPX file by its name; as in folders, hidden ones are left out."""
    return name.lower().endswith(_GPX) and not _is_hidden(name)


def _is_hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")


def _is_metadata(name: str) -> bool:
    return name.rpartition("/")[2] == "metadata.xml"


class _Metadata(XmlStream):
    """The accounts of a dump's recordings, as they are read from metadata.xml."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self.generator = ""
        self.accounts: dict[int, int] = {}  # of each recording

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "gpxFiles":
            self.generator = attributes.get("generator", "")
        elif tag == "gpxFile":
            number, account = attributes.get("id", ""), attributes.get("uid", "")
            if _NUMBER.fullmatch(number) and _NUMBER.fullmatch(account):
                self.accounts[int(number)] = int(account)


class Accounts:
    """The account of each recording of the dump, where the metadata came before it."""

    def __init__(self) -> None:
        self.without = 0  # recordings that came before the metadata
        self._known: dict[int, int] | None = None

    def learn(self, read: Callable[[int], bytes], name: str) -> None:
        """Read the metadata; where they are damaged, take over what comes before."""
        metadata = _Metadata(read, name)
        self._known = metadata.accounts
        list(metadata)

    def recording(self, member: str) -> tuple[int, str | None] | None:
        """Give the number and, if it is known, the account of a file of the dump."""
        found = _FILE.fullmatch(member)
        if found is None:
            return None
        number, account = int(found[2]), None
        if found[1] != "trackable":  # which name no account
            self.without += self._known is None
            account = (self._known or {}).get(number)
        return number, None if account is None else f"osm:uid:{account}"
