"""The planet dump of OpenStreetMap's GPS traces: the account of each recording.

Its files are VISIBILITY/000/123/000123456.gpx, beside one metadata.xml that names the account of
each public and identifiable one.
"""

import logging
import re
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np

from trajanon.extract.sources.gpx.xml_parser import XmlParser, by_name
from trajanon.extract.sources.streams import Reading

logger = logging.getLogger(__name__)

GENERATORS = ("OpenStreetMap gpx_dump.py", "OSM gpx_dump.py")  # how metadata name who made them

TOO_LATE = "recordings whose account came too late"
NEVER = "recordings whose account is not in the dump"

_FILE = re.compile(r"(?:.*/)?(public|trackable|identifiable)/(?:\d+/)*(\d{1,18})\.gpx")
_NUMBER = re.compile(r"[0-9]{1,18}")


def is_metadata(member: str) -> bool:
    """Tell whether a member of an archive has the name of the dump's metadata."""
    return member.rpartition("/")[2] == "metadata.xml"


class Metadata(XmlParser):
    """The accounts of a dump's recordings, as they are read from metadata.xml."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self.generator = ""
        self.numbers, self.accounts = array("q"), array("q")  # recordings, and the account of each
        self._depth = 0
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def _start(self, tag: str, attributes: list[str]) -> None:
        self._depth += 1
        self._check_depth(self._depth)
        said = by_name(attributes)
        if self._depth == 1:
            if tag != "gpxFiles":
                self._refuse(f"it begins with <{tag}>, not with <gpxFiles>")
            self.generator = said.get("generator", "")
        elif tag == "gpxFile":
            number, account = said.get("id", ""), said.get("uid", "")
            if _NUMBER.fullmatch(number) and _NUMBER.fullmatch(account):
                self.numbers.append(int(number))
                self.accounts.append(int(account))

    def _end(self, _: str) -> None:
        self._depth -= 1


class Accounts:
    """The account of each recording, where the metadata came before it."""

    def __init__(self) -> None:
        self._known = False
        self._without = 0  # recordings that came before the metadata
        self._numbers = self._accounts = np.empty(0, dtype=np.int64)

    def learn(self, read: Callable[[int], bytes], name: str) -> None:
        """Read the metadata; where they are damaged, take over what comes before."""
        metadata = Metadata(read, name)
        try:
            while not metadata.read_chunk():
                pass
        finally:
            self._known = True
            numbers = np.array(metadata.numbers, dtype=np.int64)
            order = np.argsort(numbers, kind="stable")
            self._numbers = numbers[order]
            self._accounts = np.array(metadata.accounts, dtype=np.int64)[order]

    def recording(self, member: str) -> tuple[int, str | None] | None:
        """Give the number and, if it is known, the account of a file of the dump."""
        found = _FILE.fullmatch(member)
        if found is None:
            return None
        number, account = int(found[2]), None
        if found[1] != "trackable":  # which name no account
            self._without += not self._known
            place = np.searchsorted(self._numbers, number)
            if number in self._numbers[place : place + 1]:
                account = f"osm:uid:{self._accounts[place]}"
        return number, account

    def report(self, path: Path, how: Reading) -> None:
        """Say how many recordings went without the metadata, if any did."""
        if not self._without:
            return
        how.counts[TOO_LATE if self._known else NEVER] += self._without
        count = "1 recording counts as one person's"
        if self._without > 1:
            count = f"{self._without:,} recordings count as one person's each"
        has = "its metadata.xml after recordings" if self._known else "no metadata.xml"
        msg = f"{path} has {has}: {count}, even if the account has others; pack metadata.xml first"
        how.warn(logger, "accounts", msg, str(path))
