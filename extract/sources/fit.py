"""FIT, the files of watches and bicycle computers -> traces."""

import io
import struct
from collections.abc import Iterator
from math import nan
from pathlib import Path

import fitdecode

from trajanon.errors import FileProblem
from trajanon.extract.sources.fixes import PLACELESS, PLANNED, Fix, to_gpx, traces_of_fixes
from trajanon.extract.sources.streams import DAMAGED, Reading
from trajanon.extract.trace import Trace

_SEMICIRCLES = 2.0**31 / 180.0  # to a degree
_EPOCH = 631_065_600  # 1989-12-31T00:00:00Z, in seconds since 1970
_CLOCK_NOT_SET = 0x10000000  # smaller times count from when the device was switched on
_COURSE = 6  # the type of a file of a planned way

_BROKEN = (
    *(fitdecode.FitError, struct.error, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, TypeError, ValueError),
)
"""What the decoder raises where bytes make no sense."""


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a FIT file as one recording; of several that are chained, each is a piece."""
    with how.unpacked(path) as stream:
        yield from traces_of_fixes(_fixes(stream, path, how), label, how)


def _fixes(stream: io.BufferedReader, path: Path, how: Reading) -> Iterator[Fix | None]:
    """Give the places of the records, decoded up to the first bytes that make no sense."""
    try:
        yield from _decoded(stream, path, how)
    except (*DAMAGED, fitdecode.FitEOFError) as error:
        raise FileProblem(f"{path} is cut off ({error}): {_way_out(path)}") from error
    except _BROKEN as error:
        why = " ".join(str(error).split())[:100] or "its bytes make no sense"
        raise FileProblem(f"{path} is no FIT, or damaged ({why}): {_way_out(path)}") from error


def _way_out(path: Path) -> str:
    return f"copy it again, or recover what is whole: {to_gpx(path, 'garmin_fit,recoverymode=1')}"


def _decoded(stream: io.BufferedReader, path: Path, how: Reading) -> Iterator[Fix | None]:
    if not stream.peek(1):
        raise fitdecode.FitError("it is empty")
    course = False
    for frame in fitdecode.FitReader(
        stream,
        processor=None,
        check_crc=fitdecode.CrcCheck.RAISE,
        error_handling=fitdecode.ErrorHandling.IGNORE,
    ):
        if frame.frame_type == fitdecode.FIT_FRAME_HEADER:
            course = False
            yield None
        elif frame.frame_type != fitdecode.FIT_FRAME_DATA:
            continue
        elif frame.name == "file_id":
            course = frame.get_raw_value("type", fallback=None) == _COURSE
        elif frame.name == "record" and course:
            how.counts[PLANNED] += 1
            how.warn(PLANNED, f"{path} is a course, which nobody recorded: it is left out")
        elif frame.name == "record" and (fix := _fix(frame)):
            yield fix
        elif frame.name == "record":
            how.counts[PLACELESS] += 1


def _fix(record: fitdecode.FitDataMessage) -> Fix | None:
    names = ("position_lat", "position_long", "timestamp")
    lat, lon, time = (record.get_raw_value(name, fallback=None) for name in names)
    if not (isinstance(lat, int) and isinstance(lon, int)):
        return None
    dated = isinstance(time, int) and time >= _CLOCK_NOT_SET
    return lat / _SEMICIRCLES, lon / _SEMICIRCLES, float(time + _EPOCH) if dated else nan
