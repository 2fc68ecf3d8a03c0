"""Track points as nearly everybody writes them, read by a regular expression, not by a parser.

Only points that the parser reads in the same way: in ASCII, without attributes but lat and lon, and
without comments, references or CDATA. All others stay for the parser.
"""

import re
from itertools import count
from typing import NamedTuple

WINDOW = 1 << 14  # bytes to look at, at once, as what is no point at their end is copied

_BLANKS = r"[ \t\r\n]*+"
_TEXT = r"[ \t\r\n!-%'-;=?-~]*+"  # all of ASCII but &, < and >
_NAME = r"(?!trkpt>)[A-Za-z_][-.:\w]*+"  # no point in a point
_DEGREES = r"[-+.0-9eE]*+"
_TIME = r"[-+:.0-9TZ]{0,99}+"

_numbers = count()


def _elements(depth: int, but: str = "") -> str:
    """Match elements without attributes, that deep in each other, and the texts behind them."""
    name = f"name{next(_numbers)}"
    inside = _elements(depth - 1) if depth > 1 else ""
    return f"(?:<{but}(?P<{name}>{_NAME})>{_TEXT}{inside}</(?P={name})>{_TEXT})*+"


_POINT = (
    f'{_BLANKS}<trkpt lat="(?P<lat>{_DEGREES})" lon="(?P<lon>{_DEGREES})">{_TEXT}'
    f"{_elements(3, but='(?!time>)')}"  # Garmin's extensions are that deep
    f"(?:<time>(?P<time>{_TIME})</time>{_TEXT}{_elements(3)})?+</trkpt>"
)
# What is no point takes all the rest with it, so that there are no gaps between those found.
_POINTS = re.compile(f"{_POINT}|(?P<rest>(?s:.)+)", re.ASCII)
_LAT, _LON, _MOMENT, _REST = (
    _POINTS.groupindex[name] - 1 for name in ("lat", "lon", "time", "rest")
)


class Run(NamedTuple):
    """Points that follow each other, as they are written."""

    lat: list[str]
    lon: list[str]
    time: list[str | None]
    length: int  # bytes


def run_of_points(text: bytes) -> Run | None:
    """Read the points that a text begins with; None if there is none."""
    found = _POINTS.findall(text.decode("latin-1"))  # a letter a byte
    rest = found.pop()[_REST] if found and found[-1][_REST] else ""
    if not found:
        return None
    return Run(
        [point[_LAT] for point in found],
        [point[_LON] for point in found],
        [point[_MOMENT] or None for point in found],
        len(text) - len(rest),
    )
