"""NMEA 0183, the sentences of receivers -> traces."""

import io
import re
from collections.abc import Iterator
from datetime import date, datetime
from itertools import groupby
from math import isnan, nan
from pathlib import Path
from typing import Any

import pynmea2

from trajanon.errors import FileProblem
from trajanon.extract.sources.fixes import Fix, to_gpx, traces_of_fixes
from trajanon.extract.sources.streams import DAMAGED, Reading
from trajanon.extract.trace import Trace

VOID = "sentences without a valid fix"
UNREAD = "sentences that cannot be read, or with a wrong checksum"
DATELESS = "sentences before the first date"

_SENTENCE = re.compile(rb"\$[A-Z]{2}(RMC|GGA|ZDA),[^\r\n]*")
_LONGEST = 1 << 12  # bytes of a line
_FIRST_DAY, _DAY = date(1970, 1, 1), 86_400.0


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a log as one recording: RMC, and GGA of other times, which RMC or ZDA tell the date."""
    yield from traces_of_fixes(_fixes(path, how), label, how)


def _fixes(path: Path, how: Reading) -> Iterator[Fix]:
    last, dateless = nan, False  # the last time
    for line in _lines(path, how):
        try:
            sentence = pynmea2.parse(line)
            if not _is_valid(sentence):
                how.counts[VOID] += 1
                continue
            time, kind = _time(sentence, last), sentence.sentence_type
            lat, lon = (nan, nan) if kind == "ZDA" else _place(sentence)
        except (TypeError, ValueError):
            how.counts[UNREAD] += 1
            continue
        if isnan(time):
            how.counts[DATELESS] += 1
            dateless = True
            continue
        last = time
        if kind != "ZDA":
            yield lat, lon, time
    if isnan(last) and dateless:
        raise FileProblem(
            f"{path} has times of day but no RMC or ZDA sentence, which tell the date: say it with "
            f"{to_gpx(path, 'nmea,date=YYYYMMDD')}"
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
    if sentence.sentence_type == "GGA":
        return sentence.gps_qual in range(1, 7)  # 7 and 8 are typed in or simulated
    return bool(sentence.timestamp if sentence.sentence_type == "ZDA" else sentence.status == "A")


def _time(sentence: Any, last: float) -> float:
    """Give seconds since 1970; a GGA has no date: its time is the one next to the last."""
    if sentence.sentence_type != "GGA":
        return float(sentence.datetime.timestamp())
    of_day = datetime.combine(_FIRST_DAY, sentence.timestamp).timestamp()
    return nan if isnan(last) else of_day + _DAY * round((last - of_day) / _DAY)


def _place(sentence: Any) -> tuple[float, float]:
    """Give degrees; a `ValueError` where a number or a hemisphere is missing."""
    hemispheres = sentence.lat_dir in ("N", "S") and sentence.lon_dir in ("E", "W")
    if not (hemispheres and sentence.lat and sentence.lon):
        raise ValueError(sentence)
    return sentence.latitude, sentence.longitude
