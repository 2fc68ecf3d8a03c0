"""NMEA 0183, the sentences of receivers -> traces."""

import io
import re
from collections.abc import Iterator
from datetime import datetime, time
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pynmea2

from trajanon.errors import FileProblem
from trajanon.extract.sources.devices.fixes import Fix, leave_out, traces_of_fixes
from trajanon.extract.sources.gpsbabel import command
from trajanon.extract.sources.streams import DAMAGED, Reading
from trajanon.extract.trace import Trace

VOID = "sentences without a valid fix"
UNREAD = "sentences that cannot be read, or with a wrong checksum"
DATELESS = "sentences before the first date"

_HEAD = re.compile(rb"(?m)^[^$\n]{0,40}\$G[A-Z](RMC|GGA|GLL|GSA|GSV|VTG|ZDA|GNS|TXT),")
_SENTENCE = re.compile(rb"\$[A-Z]{2}(RMC|GGA),[^\r\n]*")
_LONGEST = 1 << 12  # bytes of a line
_DAY = 86_400.0


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file holds sentences of a satellite receiver, by its first lines."""
    return name.endswith(".nmea") or _HEAD.search(head) is not None


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a log as one recording: RMC, and between them GGA, which have no date of their own."""
    yield from traces_of_fixes(_fixes(path, how), label)


def _fixes(path: Path, how: Reading) -> Iterator[Fix]:
    midnight = last = None  # of the last date, in seconds since 1970; the time of its sentence
    dateless = False
    for line in _lines(path, how):
        try:
            sentence = pynmea2.parse(line)
            if not _is_valid(sentence):
                how.counts[VOID] += 1
                continue
            lat, lon, of_day = _place_and_time(sentence)
            if sentence.sentence_type == "RMC":
                midnight, last = _midnight("".join(sentence.data[8:9])), of_day
        except ValueError:
            leave_out(UNREAD, str(path), how)
            continue
        if midnight is None or last is None:
            how.counts[DATELESS] += 1
            dateless = True
        else:
            next_day = last - of_day > _DAY / 2  # the date of the next RMC
            yield lat, lon, midnight + of_day + _DAY * next_day
    if midnight is None and dateless:
        raise FileProblem(
            f"{path} has times of day but no valid RMC sentence, which tells the date: say it with "
            f"{command(path, 'nmea,date=YYYYMMDD')}"
        )


def _lines(path: Path, how: Reading) -> Iterator[str]:
    """Give the RMC sentences, and the GGA sentences of other times."""
    with how.unpacked(path) as stream:
        for _, of_one_time in groupby(_sentences(stream, path), lambda line: line.split(",", 2)[1]):
            lines = list(of_one_time)
            yield from [line for line in lines if line[3:6] == "RMC"] or lines


def _sentences(stream: io.BufferedReader, path: Path) -> Iterator[str]:
    """Give the RMC and GGA sentences, whatever a logger wrote before them in their lines."""
    try:
        while line := stream.readline(_LONGEST):
            if found := _SENTENCE.search(line):
                yield found[0].decode(errors="replace")
    except DAMAGED as error:
        raise FileProblem(f"cannot read {path} to its end ({error}): copy it again") from error


def _is_valid(sentence: Any) -> bool:
    """Tell whether the receiver says that it has a fix; a navigational status does not matter."""
    if sentence.sentence_type == "RMC":
        return bool(sentence.status == "A")
    return sentence.gps_qual in range(1, 7)  # 7 and 8 are typed in or simulated


def _place_and_time(sentence: Any) -> Fix:
    """Give degrees, and seconds of the day; a `ValueError` where one of them is none."""
    clock = sentence.timestamp
    known = sentence.lat and sentence.lat_dir in ("N", "S") and sentence.lon_dir in ("E", "W")
    if not known or not sentence.lon or not isinstance(clock, time):
        raise ValueError
    of_day = 3600 * clock.hour + 60 * clock.minute + clock.second + clock.microsecond / 1e6
    return sentence.latitude, sentence.longitude, of_day


@lru_cache
def _midnight(date: str) -> float:
    """Read ddmmyy; a `ValueError` where it is none."""
    return datetime.strptime(date + "+0000", "%d%m%y%z").timestamp()
