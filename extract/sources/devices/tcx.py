"""TCX (Garmin's Training Center XML): activities -> traces."""

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from trajanon.extract.sources.devices.fixes import PLANNED, moment, number, traces_of_fixes
from trajanon.extract.sources.devices.xml_fixes import XmlFixes
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

logger = logging.getLogger(__name__)

PLACELESS = "track points without a position"

_ROOT = re.compile(rb"<(\w+:)?TrainingCenterDatabase[\s>]")
_FIELDS = {"Time", "LatitudeDegrees", "LongitudeDegrees"}


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is TCX, by its name or by its first element."""
    return name.endswith(".tcx") or _ROOT.search(head) is not None


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a TCX file: each activity, with all its laps, is a piece of one recording."""
    with how.unpacked(path) as stream:
        yield from traces_of_fixes(_Activities(stream.read, str(path), how), label, how)


class _Activities(XmlFixes):
    kind, root = "TCX", "TrainingCenterDatabase"

    def __init__(self, read: Callable[[int], bytes], name: str, how: Reading) -> None:
        super().__init__(read, name)
        self._how = how
        self._point: dict[str, str] = {}

    def _begun(self, tag: str) -> None:
        if tag == "Trackpoint":
            self._point = {}

    def _ended(self, tag: str, text: str) -> None:
        if tag in _FIELDS:
            self._point[tag] = text
        elif tag == "Activity":
            self._found.append(None)
        elif tag == "Trackpoint" and "Course" in self._path:
            self._how.counts[PLANNED] += 1
            msg = f"{self._name} holds courses, which nobody recorded: they are left out"
            self._how.warn(logger, PLANNED, msg)
        elif tag == "Trackpoint" and {"LatitudeDegrees", "LongitudeDegrees"} <= self._point.keys():
            lat, lon = (
                number(self._point["LatitudeDegrees"]),
                number(self._point["LongitudeDegrees"]),
            )
            self._found.append((lat, lon, moment(self._point.get("Time"))))
        elif tag == "Trackpoint":
            self._how.counts[PLACELESS] += 1
