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

# How FIT writes numbers.
_SEMICIRCLES = 2.0**31 / 180.0  # to a degree
_FIT_BEGINNING = 631_065_600  # of its clock: 1989-12-31T00:00:00Z, in seconds since 1970
_FIRST_TRUE_TIME = 0x10000000  # smaller times count from when the device was switched on
_COURSE = 6  # the type of a file of a planned way

_BROKEN = (
    *(fitdecode.FitError, struct.error, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, TypeError, ValueError),
)
"""What the decoder raises where bytes make no sense."""

_SENTENCE = re.compile(rb"\$[A-Z]{2}RMC,[^\r\n]*")
_BREAKS_OFF = re.compile(rb"\$[^*\r\n]*(\*.?)?\Z")  # without an end of the line, or a checksum
_LONGEST_LINE = 1 << 12  # bytes


def read_fit(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a FIT file as one recording; of several that are chained, each is a piece."""
    with reading.unpacked(path) as stream:
        yield from traces_of_fixes(_fixes_of_records(stream, path, reading), reading)


def _fixes_of_records(stream: Stream, path: Path, reading: Reading) -> Iterator[Fix | None]:
    """Return the places of the records, up to the first bytes that make no sense."""
    is_course = False
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
                is_course = False
                yield None
            elif frame.frame_type != fitdecode.FIT_FRAME_DATA:
                continue
            elif frame.name == "file_id":
                is_course = frame.get_raw_value("type", fallback=None) == _COURSE
            elif frame.name == "record" and is_course:
                reading.found(PLANNED, 1)
            elif frame.name == "record" and (fix := _fix_of_record(frame)):
                yield fix
    except (*DAMAGED, *_BROKEN) as error:
        cut_off = isinstance(error, (*DAMAGED, fitdecode.FitEOFError))
        state = "is cut off" if cut_off else "is no FIT, or damaged"
        why = " ".join(str(error).split())[:100] or "its bytes make no sense"
        way_out = "copy it again, or recover it with GPSBabel, -i garmin_fit,recoverymode=1"
        raise FileProblem(f"{path} {state} ({why}): {way_out}") from error


def _fix_of_record(record: fitdecode.FitDataMessage) -> Fix | None:
    """Read the place and time of a record; None if it has no place."""
    names = ("position_lat", "position_long", "timestamp")
    lat, lon, time = (record.get_raw_value(name, fallback=None) for name in names)
    if not (isinstance(lat, int) and isinstance(lon, int)):
        return None
    is_dated = isinstance(time, int) and time >= _FIRST_TRUE_TIME
    seconds = float(time + _FIT_BEGINNING) if is_dated else nan
    return lat / _SEMICIRCLES, lon / _SEMICIRCLES, seconds


def read_nmea(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a log as one recording: its RMC sentences, which alone have a date."""
    yield from traces_of_fixes(_fixes_of_sentences(path, reading), reading)


def _fixes_of_sentences(path: Path, reading: Reading) -> Iterator[Fix]:
    """Read the fixes of all RMC sentences; refuse a log without one."""
    has_sentence = False
    last_line = b""
    try:
        with reading.unpacked(path) as stream:
            while line := stream.readline(_LONGEST_LINE):  # a logger may write something before
                last_line = line
                if match := _SENTENCE.search(line):
                    has_sentence = True
                    if fix := _fix_of_sentence(match[0].decode(errors="replace"), reading):
                        yield fix
    except DAMAGED as error:
        raise FileProblem(f"cannot read {path} to its end ({error}): copy it again") from error

    if has_sentence and _BREAKS_OFF.search(last_line):
        raise FileProblem(f"{path} is cut off in its last line: copy it again")
    if not has_sentence:
        way_out = "turn it into GPX by GPSBabel with -i nmea,date=YYYYMMDD"
        raise FileProblem(f"{path} has no RMC sentences, which have the date: {way_out}")


def _fix_of_sentence(line: str, reading: Reading) -> Fix | None:
    """Read the fix of a sentence; without a valid one it is counted, and None."""
    try:
        sentence = pynmea2.parse(line)
        if sentence.status != "A":
            reading.counts[VOID] += 1
            return None
        time = float(sentence.datetime.timestamp())
        has_lat = sentence.lat and sentence.lat_dir in ("N", "S")
        has_lon = sentence.lon and sentence.lon_dir in ("E", "W")
        if not (has_lat and has_lon):
            raise ValueError(line)
        return sentence.latitude, sentence.longitude, time
    except (TypeError, ValueError):
        reading.counts[UNREAD] += 1
        return None
