"""What receivers and watches write: FIT, and NMEA 0183."""

import re
import struct
from collections.abc import Iterator
from math import nan
from pathlib import Path

import fitdecode
import pynmea2

from trajanon.common.errors import FileProblem
from trajanon.extract.sources.archives import DAMAGED, Stream
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.trace_pieces import PLANNED, Fix, traces_of_fixes
from trajanon.extract.trace import Trace

VOID = "sentences without a valid fix"
UNREAD = "sentences that cannot be read, or with a wrong checksum"

_SEMICIRCLES = 2.0**31 / 180.0  # to a degree
_EPOCH = 631_065_600  # 1989-12-31T00:00:00Z, in seconds since 1970
_CLOCK_NOT_SET = 0x10000000  # smaller times count from when the device was switched on
_COURSE = 6  # the type of a file of a planned way

_BROKEN = (
    *(fitdecode.FitError, struct.error, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, TypeError, ValueError),
)
"""What the decoder raises where bytes make no sense."""

_SENTENCE = re.compile(rb"\$[A-Z]{2}RMC,[^\r\n]*")
_LONGEST = 1 << 12  # bytes of a line


def read_fit(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a FIT file as one recording; of several that are chained, each is a piece."""
    with reading.unpacked(path) as stream:
        yield from traces_of_fixes(_decoded(stream, path, reading), reading)


def _decoded(stream: Stream, path: Path, reading: Reading) -> Iterator[Fix | None]:
    """Return the places of the records, up to the first bytes that make no sense."""
    course = False
    try:
        if not stream.peek(1):
            raise fitdecode.FitError("it is empty")
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
                reading.found(PLANNED, 1)
            elif frame.name == "record" and (fix := _fix(frame)):
                yield fix
    except (*DAMAGED, *_BROKEN) as error:
        cut_off = isinstance(error, (*DAMAGED, fitdecode.FitEOFError))
        state = "is cut off" if cut_off else "is no FIT, or damaged"
        why = " ".join(str(error).split())[:100] or "its bytes make no sense"
        way_out = "copy it again, or recover it with GPSBabel, -i garmin_fit,recoverymode=1"
        raise FileProblem(f"{path} {state} ({why}): {way_out}") from error


def _fix(record: fitdecode.FitDataMessage) -> Fix | None:
    names = ("position_lat", "position_long", "timestamp")
    lat, lon, time = (record.get_raw_value(name, fallback=None) for name in names)
    if not (isinstance(lat, int) and isinstance(lon, int)):
        return None
    dated = isinstance(time, int) and time >= _CLOCK_NOT_SET
    return lat / _SEMICIRCLES, lon / _SEMICIRCLES, float(time + _EPOCH) if dated else nan


def read_nmea(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a log as one recording: its RMC sentences, which alone have a date."""
    yield from traces_of_fixes(_of_sentences(path, reading), reading)


def _of_sentences(path: Path, reading: Reading) -> Iterator[Fix]:
    dated = False
    try:
        with reading.unpacked(path) as stream:
            while line := stream.readline(_LONGEST):  # a logger may write something before
                if match := _SENTENCE.search(line):
                    dated = True
                    if fix := _of_sentence(match[0].decode(errors="replace"), reading):
                        yield fix
    except DAMAGED as error:
        raise FileProblem(f"cannot read {path} to its end ({error}): copy it again") from error

    if not dated:
        way_out = "turn it into GPX by GPSBabel with -i nmea,date=YYYYMMDD"
        raise FileProblem(f"{path} has no RMC sentences, which have the date: {way_out}")


def _of_sentence(line: str, reading: Reading) -> Fix | None:
    try:
        sentence = pynmea2.parse(line)
        if sentence.status != "A":
            reading.counts[VOID] += 1
            return None
        time = float(sentence.datetime.timestamp())
        complete = sentence.lat and sentence.lat_dir in ("N", "S")
        if not (complete and sentence.lon and sentence.lon_dir in ("E", "W")):
            raise ValueError(line)
        return sentence.latitude, sentence.longitude, time
    except (TypeError, ValueError):
        reading.counts[UNREAD] += 1
        return None
