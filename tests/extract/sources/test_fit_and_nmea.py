"""What receivers and watches write, as a source of traces."""

import gzip
import math
from pathlib import Path
from typing import Any

import pynmea2
import pytest
from device_files import START, WAY, counted, fixes, read, write
from fit_written import fit

from trajanon.common.errors import FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import fit_and_nmea
from trajanon.extract.sources.formats_recognised import FORMATS
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

WHOLE = [(lat, lon, math.floor(time)) for lat, lon, time in WAY]


def test_records_of_fit_are_places_in_half_circles_and_seconds_since_1989(tmp_path: Path) -> None:
    content = fit([*WHOLE, (None, None, START + 9)])
    path = tmp_path / "x.dat"
    assert read(path, content) == [WHOLE]
    assert read(path, gzip.compress(content)) == [WHOLE]


def test_times_of_a_clock_that_was_never_set_are_none(tmp_path: Path) -> None:
    found = read(tmp_path / "x.fit", fit([(41.1, -2.1, 77)], epoch=0))
    assert found == [[(41.1, -2.1, None)]]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda content: content[:-13], "is cut off .*recoverymode=1"),
        (lambda content: content[:-2], "is cut off"),
        (lambda content: content[:-30] + b"\0" + content[-29:], "damaged .*mismatching CRC"),
        (lambda content: content + b"x" * 20, "damaged .*not a FIT file"),
        (lambda content: b"", r"it is empty"),
        (lambda content: b"<gpx/>", r"truncated"),
        (lambda content: gzip.compress(content)[:-20], r"is cut off"),
    ],
)
def test_what_is_damaged_is_told_and_what_comes_before_is_cut_off(
    tmp_path: Path, damage: Any, says: str
) -> None:
    path = write(tmp_path / "x.fit", damage(fit(WHOLE)))
    found: list[Trace] = []
    with pytest.raises(FileProblem, match=says):
        found.extend(fit_and_nmea.read_fit(path, Reading().of_file(path, "label")))
    assert all(one.cut_off for one in found)


def test_the_last_piece_before_the_damage_is_marked(tmp_path: Path) -> None:
    path = write(tmp_path / "x.fit", fit(WHOLE[:1]) + fit(WHOLE)[:-15])
    found = fit_and_nmea.read_fit(path, Reading().of_file(path, "label"))
    first, last = next(found), next(found)
    assert (len(first), first.cut_off) == (1, False)
    assert (fixes(last), last.cut_off) == (WHOLE[:2], True)


def sentence(text: str) -> str:
    return f"${text}*{pynmea2.NMEASentence.checksum(text):02X}\r\n"


def rmc(clock: str, status: str = "A", lat: str = "4124.0000,S", day: str = "311299") -> str:
    return sentence(f"GNRMC,{clock},{status},{lat},00206.6000,W,0.1,84.4,{day},,,A,V")


GGA = sentence("GPGGA,235858,4124.6000,N,00206.6000,E,1,08,0.9,545.4,M,46.9,M,,")
EVE = 946_684_740.0  # 1999-12-31T23:59:00Z


def test_places_and_dates_of_nmea(tmp_path: Path) -> None:
    log = [
        GGA,
        "10:59:00.1 " + rmc("235900.25"),
        rmc("235902.00", status="V"),
        rmc("000001.00", day="010100"),
        rmc("000002.00", day="010100").replace("4124", "4125"),
        rmc("000060.00", day="010100"),
        rmc("000004.00", day="320100"),
        rmc("000005.00", lat="4124.0000,"),
        "$GPRMC,000006.00,A,4124.0000,S,00206.6000,W,,,010100,,*\n",
        "$GPRMC,000007.00,A,4124.0000,S,00206.6000,W,,,010100,,\n",
    ]
    path = tmp_path / "x.log"
    south = (-41.4, -2.11)
    assert read(path, "".join(log)) == [
        [(*south, EVE + 0.25), (*south, EVE + 61), (*south, EVE + 67)]
    ]
    assert counted(path) == {fit_and_nmea.VOID: 1, fit_and_nmea.UNREAD: 5}


def test_a_log_without_a_date_names_what_gives_it_one(tmp_path: Path) -> None:
    path = write(tmp_path / "x.nmea", GGA)
    with pytest.raises(FileProblem, match="GPSBabel with -i nmea,date=YYYYMMDD"):
        list(fit_and_nmea.read_nmea(path, Reading().of_file(path, "label")))


def test_a_packed_log_that_is_cut_off_is_read_to_there(tmp_path: Path) -> None:
    content = gzip.compress("".join(rmc(f"1200{n:02d}") for n in range(60)).encode())
    path = write(tmp_path / "x.fit_and_nmea.gz", content[:-20])
    found = fit_and_nmea.read_nmea(path, Reading().of_file(path, "label"))
    assert next(found).cut_off
    with pytest.raises(FileProblem, match="to its end"):
        next(found)


@pytest.mark.parametrize(("cut", "cut_off"), [(0, False), (1, False), (3, True), (30, True)])
def test_a_log_that_is_cut_off_in_a_line_may_go_on(tmp_path: Path, cut: int, cut_off: bool) -> None:
    content = "".join(rmc(f"1200{n:02d}") for n in range(60)).encode().rstrip() + b"\n"
    path = write(tmp_path / "x.nmea", content[: len(content) - cut])
    (trace,) = traces(path)
    assert trace.cut_off is cut_off
    assert len(trace) == (59 if cut_off else 60)


@pytest.mark.parametrize("kind", ["kml", "tcx", "fit", "nmea", "google", "json"])
def test_what_cannot_be_unpacked_is_a_problem_of_the_file(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "x", gzip.compress(bytes(range(256)))[:12])
    with pytest.raises(FileProblem, match="Compressed file ended"):
        list(FORMATS[kind].read(path, Reading().of_file(path, "label")))
