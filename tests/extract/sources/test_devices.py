"""What receivers, watches and phones write, as a source of traces."""

import gzip
import io
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pynmea2
import pytest
from device_files import START, TIMED, WAY, Fixes, counted, fixes, iso, read, write
from fit_written import fit

from trajanon.common.errors import FileProblem
from trajanon.extract.sources import devices
from trajanon.extract.sources.formats import FORMATS
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.trace_pieces import EMPTY
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
        found.extend(devices.read_fit(path, Reading().of_file(path, "label")))
    assert all(one.cut_off for one in found)


def test_the_last_piece_before_the_damage_is_marked(tmp_path: Path) -> None:
    path = write(tmp_path / "x.fit", fit(WHOLE[:1]) + fit(WHOLE)[:-15])
    found = devices.read_fit(path, Reading().of_file(path, "label"))
    first, last = next(found), next(found)
    assert (len(first), first.cut_off) == (1, False)
    assert (fixes(last), last.cut_off) == (WHOLE[:2], True)


def tcx_of(*laps: Fixes, inside: str = "Activity") -> str:
    point = (
        "<Trackpoint><Time>{}</Time><Position><LatitudeDegrees>{}</LatitudeDegrees>"
        "<LongitudeDegrees>{}</LongitudeDegrees></Position><Cadence>9</Cadence></Trackpoint>"
    )
    tracks = ["".join(point.format(iso(t or 0), lat, lon) for lat, lon, t in lap) for lap in laps]
    body = "".join(f'<Lap StartTime="2023-11-14"><Track>{track}</Track></Lap>' for track in tracks)
    return f"<{inside}>{body}</{inside}>"


def tcx_file(*inside: str) -> str:
    return (
        '<?xml version="1.0"?>\n<TrainingCenterDatabase xmlns="http://x/v2">'
        f"{''.join(inside)}</TrainingCenterDatabase>"
    )


def test_laps_of_an_activity_go_on_and_activities_are_pieces(tmp_path: Path) -> None:
    content = tcx_file("<Activities>", tcx_of(TIMED[:1], TIMED[1:]), tcx_of(TIMED), "</Activities>")
    path = tmp_path / "x.dat"
    assert read(path, content) == [TIMED, TIMED]
    assert counted(path) == {}
    assert read(
        path,
        content.replace("<", "<t:")
        .replace("<t:/", "</t:")
        .replace("<t:?", "<?")
        .replace("xmlns", "xmlns:t"),
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tcx", tcx_file("<Courses>", tcx_of(list(WAY), inside="Course"), "</Courses>")),
        ("x.fit", fit(WHOLE, file_type=6)),
    ],
)
def test_courses_were_planned_not_recorded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, content: Any
) -> None:
    path = tmp_path / name
    assert read(path, content) == []
    assert counted(path)[EMPTY] == 1
    assert "planned and not recorded" in caplog.text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (tcx_file(tcx_of(list(WAY)))[:-60], "it may be cut off"),
        ("<gpx/>", "begins with <gpx>, not with <TrainingCenterDatabase>"),
    ],
)
def test_other_xml_is_no_tcx(tmp_path: Path, content: str, says: str) -> None:
    path = write(tmp_path / "x.tcx", content)
    found: list[Trace] = []
    with pytest.raises(FileProblem, match=says):
        found.extend(devices.read_tcx(path, Reading().of_file(path, "label")))


def kml_file(*inside: str) -> str:
    space = 'xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.phones.com/kml/ext/2.2"'
    return f'<?xml version="1.0"?><kml {space}><Document>{"".join(inside)}</Document></kml>'


def track(way: Fixes, more: str = "") -> str:
    whens = "".join(f"<when>{iso(time or 0)}</when>" for *_, time in way)
    coords = "".join(f"<gx:coord>{lon} {lat} 12.5</gx:coord>" for lat, lon, _ in way)
    return f"<gx:Track>{whens}{more}{coords}</gx:Track>"


def placemark(*inside: str) -> str:
    return f"<Placemark><name>x</name>{''.join(inside)}</Placemark>"


def point(lat: float, lon: float, time: float | None) -> str:
    when = f"<TimeStamp><when>{iso(time)}</when></TimeStamp>" if time else ""
    look = "<LookAt><gx:TimeStamp><when>1999-01-01T00:00:00Z</when></gx:TimeStamp></LookAt>"
    return placemark(look, when, f"<Point><coordinates>{lon},{lat},3</coordinates></Point>")


PLACES = " ".join(f"{lon}, {lat},5" for lat, lon, _ in WAY)
LINE = f"<LineString><coordinates>\n{PLACES}\n</coordinates></LineString>"
POINTS = "".join(point(*one) for one in WAY)
POLYGON = (
    f"<Polygon><outerBoundaryIs><LinearRing>{LINE[12:-13]}</LinearRing></outerBoundaryIs></Polygon>"
)
UNTIMED: Fixes = [(lat, lon, None) for lat, lon, _ in WAY]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ([placemark(track(TIMED))], [TIMED]),
        ([placemark(f"<gx:MultiTrack>{track(TIMED[:1])}{track(TIMED)}</gx:MultiTrack>")],
         [TIMED[:1], TIMED]),
        ([placemark(track(TIMED, "<when>2024-01-01T00:00:00Z</when>"))], [TIMED]),
        ([placemark(track(TIMED).replace("<when>", "<was>", 1).replace("</when>", "</was>", 1))],
         [UNTIMED]),
        ([f"<Folder>{POINTS}</Folder><Folder>{POINTS}</Folder>"], [TIMED, TIMED]),
        ([POINTS, point(1.0, 2.0, None)], [TIMED]),
        ([placemark("<TimeSpan><begin>2024-01-01T00:00:00Z</begin></TimeSpan>", LINE)], [UNTIMED]),
        ([placemark(LINE), POINTS], [TIMED]),
        ([placemark(LINE), POINTS, placemark(track(TIMED))], [TIMED]),
        ([placemark(POLYGON), placemark(f"<MultiGeometry>{LINE}{LINE}</MultiGeometry>")],
         [UNTIMED, UNTIMED]),
    ],
)  # fmt: skip
def test_tracks_then_points_with_times_then_lines_of_kml(
    tmp_path: Path, inside: Sequence[str], expected: list[Fixes]
) -> None:
    assert read(tmp_path / "x.dat", kml_file(*inside)) == expected


def test_each_placemark_with_a_line_is_a_person_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.kml"
    folder = f"<Folder>{placemark(LINE)}</Folder>"
    nobody = placemark(track(TIMED)).replace("<name>x</name>", "")
    path.write_text(kml_file(placemark(track(TIMED)), folder, POINTS, nobody), encoding="utf-8")
    how = Reading(columns={"subject": "track"})
    found = [
        (trace.name, trace.subject) for trace in devices.read_kml(path, how.of_file(path, "x"))
    ]
    last = f"x/track {len(WAY) + 3}"
    assert found == [("x/track 1", "x"), ("x/track 2", "x"), (last, last)]


@pytest.mark.parametrize(("inside", "way"), [(track(TIMED), TIMED), (LINE, UNTIMED)])
def test_of_a_kml_that_is_cut_off_the_whole_points_are_used(
    tmp_path: Path, inside: str, way: Fixes
) -> None:
    content = kml_file(placemark(inside))
    path = write(tmp_path / "x.kml", content[: content.rindex("41.1") + 2])
    reading = devices.read_kml(path, Reading().of_file(path, "x"))
    assert fixes(next(reading)) == way[: len(way) - 1]
    with pytest.raises(FileProblem, match="is not well-formed XML"):
        next(reading)


def test_every_kml_of_a_kmz_is_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("images/x.png", b"x")
        archive.writestr("doc.kml", kml_file(placemark(track(TIMED))))
        archive.writestr("other.kml", kml_file(POINTS))
    assert read(tmp_path / "x.kmz", packed.getvalue()) == [TIMED, TIMED]
    with zipfile.ZipFile(tmp_path / "z.kmz", "w") as archive:
        archive.writestr("files/a.KML", kml_file(placemark(track(TIMED))))
        archive.writestr("files/empty.kml", kml_file(""))
        archive.writestr("files/deep/b.kml", kml_file(placemark(LINE)))
        archive.writestr("files/c.kml", kml_file(POINTS)[:-9])
    reading = devices.read_kml(tmp_path / "z.kmz", Reading().of_file(tmp_path / "z.kmz", "label"))
    pieces = [next(reading), next(reading), next(reading)]  # the last of the file that is cut
    assert [(fixes(piece), piece.cut_off) for piece in pieces] == [
        (TIMED, False),
        (UNTIMED, False),
        (TIMED, True),
    ]
    with pytest.raises(FileProblem, match=r"z\.kmz/files/c\.kml is not well-formed XML"):
        next(reading)
    with zipfile.ZipFile(tmp_path / "y.kmz", "w") as archive:
        archive.writestr("x.png", b"x")
    with pytest.raises(FileProblem, match=r"y\.kmz holds no \.kml file"):
        list(devices.read_kml(tmp_path / "y.kmz", Reading().of_file(tmp_path / "y.kmz", "label")))


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
    assert counted(path) == {devices.VOID: 1, devices.UNREAD: 5}


def test_a_log_without_a_date_names_what_gives_it_one(tmp_path: Path) -> None:
    path = write(tmp_path / "x.nmea", GGA)
    with pytest.raises(FileProblem, match="GPSBabel with -i nmea,date=YYYYMMDD"):
        list(devices.read_nmea(path, Reading().of_file(path, "label")))


def test_a_packed_log_that_is_cut_off_is_read_to_there(tmp_path: Path) -> None:
    content = gzip.compress("".join(rmc(f"1200{n:02d}") for n in range(60)).encode())
    path = write(tmp_path / "x.devices.gz", content[:-20])
    found = devices.read_nmea(path, Reading().of_file(path, "label"))
    assert next(found).cut_off
    with pytest.raises(FileProblem, match="to its end"):
        next(found)


@pytest.mark.parametrize("kind", ["kml", "tcx", "fit", "nmea", "google", "json"])
def test_what_cannot_be_unpacked_is_a_problem_of_the_file(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "x", gzip.compress(bytes(range(256)))[:12])
    with pytest.raises(FileProblem, match="Compressed file ended"):
        list(FORMATS[kind].read(path, Reading().of_file(path, "label")))
