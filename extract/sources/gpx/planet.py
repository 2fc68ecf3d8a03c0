"""The planet dump of OpenStreetMap's GPS traces: the account of each recording.

Its files are VISIBILITY/000/123/000123456.gpx, beside one metadata.xml that names the account of
each public and identifiable one.
"""

import logging
import re
from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trajanon.extract.sources.gpx.xml_parser import Readable, XmlParser, by_name

logger = logging.getLogger(__name__)

GENERATORS = ("OpenStreetMap gpx_dump.py", "OSM gpx_dump.py")
"""What the metadata call the maker of a dump."""

TOO_LATE = "recordings whose account came too late"
NEVER = "recordings whose account is not in the dump"

_FILE = re.compile(r"(?:.*/)?(public|trackable|identifiable)/(?:\d+/)*(\d{1,18})\.gpx")
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Recording:
    """One file of the dump."""

    number: int  # of the upload
    names_account: bool  # whether the metadata may name its account: not that of a trackable one


def recording(member: str) -> Recording | None:
    """Tell which recording a member of an archive is, if it is one of a dump."""
    found = _FILE.fullmatch(member)
    return Recording(int(found[2]), found[1] != "trackable") if found else None


def is_metadata(member: str) -> bool:
    """Tell whether a member of an archive has the name of the dump's metadata."""
    return member.rpartition("/")[2] == "metadata.xml"


class Metadata(XmlParser):
    """The accounts of a dump's recordings, as they are read from metadata.xml."""

    def __init__(self, stream: Readable, name: str) -> None:
        super().__init__(stream, name)
        self.generator = ""
        self.numbers = array("q")  # of the recordings
        self.accounts = array("q")  # of each
        self._depth = 0
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def _start(self, tag: str, attributes: list[str]) -> None:
        self._depth += 1
        self._check_depth(self._depth)
        if self._depth == 1:
            if tag != "gpxFiles":
                self._refuse(f"it begins with <{tag}>, not with <gpxFiles>")
            self.generator = by_name(attributes).get("generator", "")
        elif tag == "gpxFile":
            said = by_name(attributes)
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
        self._without = 0
        self._numbers = np.empty(0, dtype=np.int64)
        self._accounts = np.empty(0, dtype=np.int64)

    def learn(self, metadata: Metadata) -> None:
        """Take over what was read of the metadata."""
        self._known = True
        numbers = np.array(metadata.numbers, dtype=np.int64)
        order = np.argsort(numbers, kind="stable")
        self._numbers = numbers[order]
        self._accounts = np.array(metadata.accounts, dtype=np.int64)[order]

    def subject(self, recording: Recording) -> str | None:
        """Name the account that made a recording; None if it is not known."""
        if not recording.names_account:
            return None
        if not self._known:
            self._without += 1
            return None
        place = np.searchsorted(self._numbers, recording.number)
        if place == len(self._numbers) or self._numbers[place] != recording.number:
            return None
        return f"osm:uid:{self._accounts[place]}"

    def report(self, path: Path, counts: Counter[str]) -> None:
        """Say how many recordings went without the metadata, if any did."""
        if not self._without:
            return
        counts[TOO_LATE if self._known else NEVER] += self._without
        count = "1 recording counts as one person's"
        if self._without > 1:
            count = f"{self._without:,} recordings count as one person's each"
        logger.warning(
            "%s has %s: %s, even if the account has others; pack metadata.xml first",
            path,
            "its metadata.xml after recordings" if self._known else "no metadata.xml",
            count,
        )
