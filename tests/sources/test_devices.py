"""What receivers, watches and phones write, as a source of traces."""

import gzip
import io
import json
import logging
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pynmea2
import pytest
from fit_written import fit
from point_tables import names, without_columns

from trajanon.errors import BadInput, FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import fit as fit_files
from trajanon.extract.sources import google, json_points, kml_tcx, nmea
from trajanon.extract.sources.delimited import UNREAD
from trajanon.extract.sources.fixes import EMPTY, PLACELESS, PLANNED
from trajanon.extract.sources.formats import FORMATS, format_of
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

START = 1_700_000_000.0  # 2023-11-14T22:13:20Z
WAY = [(41.1, -2.1, START), (41.1001, -2.1002, START + 1), (41.1003, -2.1004, START + 2.5)]

Fixes = list[tuple[float, float, float | None]]


def fixes(trace: Trace) -> Fixes:
    """Its points to six digits, as places of FIT are multiples of 8e-8 degrees."""
    points = zip(trace.lat.tolist(), trace.lon.tolist(), trace.time.tolist(), strict=True)
    return [
        (round(lat, 6), round(lon, 6), None if math.isnan(time) else time)
        for lat, lon, time in points
    ]


def read(path: Path, content: Any) -> list[Fixes]:
    """Write a file and read it as what it looks like: one recording of an unnamed person."""
    write(path, content)
    how = Reading()
    read_it = FORMATS[str(format_of(path, how))].read
    found = [one for one in read_it(path, "label", how) if isinstance(one, Trace)]
    assert {(one.name, one.subject, one.cut_off) for one in found} <= {("label", None, False)}
    return [fixes(one) for one in found]


def write(path: Path, content: Any) -> Path:
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def counted(path: Path) -> dict[str, int]:
    """What is left out of a file."""
    how = Reading()
    list(FORMATS[str(format_of(path, how))].read(path, "label", how))
    return {name: n for name, n in without_columns(how.counts).items() if n}


def iso(time: float) -> str:
    return str(np.datetime64(round(1000 * time), "ms")) + "Z"


WHOLE = [(lat, lon, math.floor(time)) for lat, lon, time in WAY]


def test_records_of_fit_are_places_in_half_circles_and_seconds_since_1989(tmp_path: Path) -> None:
    content = fit([*WHOLE, (None, None, START + 9)])
    path = tmp_path / "x.dat"
    assert read(path, content) == [WHOLE]
    assert counted(path) == {PLACELESS: 1}
    assert read(path, gzip.compress(content)) == [WHOLE]


def test_chained_files_of_fit_are_pieces_of_one_recording(tmp_path: Path) -> None:
    assert read(tmp_path / "x.fit", fit(WHOLE[:1]) + fit(WHOLE[1:])) == [WHOLE[:1], WHOLE[1:]]


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
        found.extend(fit_files.read(path, "label", Reading()))
    assert all(one.cut_off for one in found)


def test_the_last_piece_before_the_damage_is_marked(tmp_path: Path) -> None:
    path = write(tmp_path / "x.fit", fit(WHOLE[:1]) + fit(WHOLE)[:-15])
    found = fit_files.read(path, "label", Reading())
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
    timed: Fixes = list(WAY)
    content = tcx_file("<Activities>", tcx_of(timed[:1], timed[1:]), tcx_of(timed), "</Activities>")
    path = tmp_path / "x.dat"
    assert read(path, content) == [timed, timed]
    assert counted(path) == {}
    assert read(path, content.replace("<", "<t:").replace("<t:/", "</t:").replace("<t:?", "<?"))


def test_points_of_tcx_without_a_position_are_counted(tmp_path: Path) -> None:
    empty = "<Trackpoint><Time>2023-11-14T22:13:20Z</Time></Trackpoint>"
    content = tcx_file(tcx_of(list(WAY)).replace("<Trackpoint>", empty + "<Trackpoint>", 2))
    path = tmp_path / "x.tcx"
    assert read(path, content) == [WAY]
    assert counted(path) == {PLACELESS: 2}


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
    assert counted(path) == {PLANNED: 3, EMPTY: 1}
    assert "which nobody recorded" in caplog.text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (tcx_file(tcx_of(list(WAY)))[:-60], "it may be cut off"),
        ("<gpx/>", "is not TCX: it begins with <gpx>, not with <TrainingCenterDatabase>"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><TrainingCenterDatabase/>', "is not TCX: it declares"),
        ("<TrainingCenterDatabase>" + "<a>" * 999, "more than 256 elements"),
    ],
)
def test_other_xml_is_no_tcx(tmp_path: Path, content: str, says: str) -> None:
    path = write(tmp_path / "x.tcx", content)
    found: list[Trace] = []
    with pytest.raises(FileProblem, match=says):
        found.extend(kml_tcx.read_tcx(path, "label", Reading()))


def kml_file(*inside: str) -> str:
    space = 'xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"'
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
TIMED: Fixes = list(WAY)


@pytest.mark.parametrize(
    ("inside", "expected", "left_out"),
    [
        ([placemark(track(TIMED))], [TIMED], {}),
        ([placemark(f"<gx:MultiTrack>{track(TIMED[:1])}{track(TIMED)}</gx:MultiTrack>")],
         [TIMED[:1], TIMED], {}),
        ([placemark(track(TIMED, "<when>2024-01-01T00:00:00Z</when>"))], [TIMED],
         {kml_tcx.UNPAIRED: 1}),
        ([f"<Folder>{POINTS}</Folder><Folder>{POINTS}</Folder>"], [TIMED, TIMED], {}),
        ([POINTS, point(1.0, 2.0, None)], [TIMED], {kml_tcx.PLACES: 1}),
        ([placemark("<TimeSpan><begin>2024-01-01T00:00:00Z</begin></TimeSpan>", LINE)],
         [UNTIMED], {}),
        ([placemark(LINE), POINTS], [TIMED], {kml_tcx.SAME_LINES: 1}),
        ([placemark(LINE), POINTS, placemark(track(TIMED))], [TIMED],
         {kml_tcx.SAME_LINES: 1, kml_tcx.SAME_POINTS: 3}),
        ([placemark(POLYGON), placemark(f"<MultiGeometry>{LINE}{LINE}</MultiGeometry>")],
         [UNTIMED, UNTIMED], {kml_tcx.AREAS: 1}),
    ],
)  # fmt: skip
def test_tracks_then_points_with_times_then_lines_of_kml(
    tmp_path: Path, inside: Sequence[str], expected: list[Fixes], left_out: dict[str, int]
) -> None:
    path = tmp_path / "x.dat"
    assert read(path, kml_file(*inside)) == expected
    assert counted(path) == left_out


def test_the_first_kml_of_a_kmz_is_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("images/x.png", b"x")
        archive.writestr("doc.kml", kml_file(placemark(track(TIMED))))
        archive.writestr("other.kml", kml_file(POINTS))
    assert read(tmp_path / "x.kmz", packed.getvalue()) == [TIMED]


def sentence(text: str) -> str:
    return f"${text}*{pynmea2.NMEASentence.checksum(text):02X}\r\n"


def rmc(clock: str, status: str = "A", lat: str = "4124.0000,S", day: str = "311299") -> str:
    return sentence(f"GNRMC,{clock},{status},{lat},00206.6000,W,0.1,84.4,{day},,,A,V")


def gga(clock: str, quality: int = 1) -> str:
    return sentence(f"GPGGA,{clock},4124.6000,N,00206.6000,E,{quality},08,0.9,545.4,M,46.9,M,,")


EVE = 946_684_740.0  # 1999-12-31T23:59:00Z


def test_places_and_dates_of_nmea(tmp_path: Path) -> None:
    log = [
        gga("235858"),  # before any date
        sentence("GPGSA,A,3,04,05,,09,12,,,24,,,,,2.5,1.3,2.1"),
        "10:59:00.1 " + rmc("235900.25"),
        gga("235900.25"),  # the same fix once more
        gga("235901.00"),
        gga("235901.50", quality=0),
        rmc("235902.00", status="V"),
        sentence("GPZDA,235902.50,31,12,1999,00,00"),
        gga("000000.00"),  # of the next day, whose date comes later
        rmc("000001.00", day="010100"),
        rmc("000002.00", day="010100").replace("4124", "4125"),
        rmc("000060.00", day="010100"),
        rmc("000004.00", day="320100"),
        rmc("000005.00", lat="4124.0000,"),
        "$GPRMC,000006.00,A,4124.0000,S,00206.6000,W,,,010100,,*\n",
        "$GPRMC,000007.00,A,4124.0000,S,00206.6000,W,,,010100,,\n",
        gga("235959.00"),  # late
        sentence("GPZDA,235959.50,31,13,1999,00,00"),
        sentence("GPZDA,235959.50"),
        sentence("GPZDA,000010.50,01,01,2000,00,00"),
        gga("000011.00"),
    ]
    path = tmp_path / "x.log"
    south, north = (-41.4, -2.11), (41.41, 2.11)
    assert read(path, "".join(log)) == [
        [
            (*south, EVE + 0.25),
            (*north, EVE + 1),
            (*north, EVE + 60),
            (*south, EVE + 61),
            (*south, EVE + 67),
            (*north, EVE + 59),
            (*north, EVE + 71),
        ]
    ]
    assert counted(path) == {nmea.DATELESS: 1, nmea.VOID: 2, nmea.UNREAD: 7}


def test_a_log_without_a_date_names_what_gives_it_one(tmp_path: Path) -> None:
    path = write(tmp_path / "x.nmea", gga("120000") + gga("120001"))
    with pytest.raises(FileProblem, match="gpsbabel -t -i nmea,date=YYYYMMDD -f "):
        list(nmea.read(path, "label", Reading()))


def test_a_packed_log_that_is_cut_off_is_read_to_there(tmp_path: Path) -> None:
    content = gzip.compress("".join(rmc(f"1200{n:02d}") for n in range(60)).encode())
    path = write(tmp_path / "x.nmea.gz", content[:-20])
    found = nmea.read(path, "label", Reading())
    assert next(found).cut_off
    with pytest.raises(FileProblem, match="to its end"):
        next(found)


def e7(lat: float, lon: float) -> tuple[int, int]:
    return round(lat * 1e7), round(lon * 1e7)


def record(lat: float, lon: float, time: float, **more: Any) -> dict[str, Any]:
    north, east = e7(lat, lon)
    return {"latitudeE7": north, "longitudeE7": east, "timestamp": iso(time), **more}


def test_records_of_takeout_are_a_piece_for_each_device(tmp_path: Path) -> None:
    here = WAY[0]
    content = {
        "locations": [
            record(*WAY[0], accuracy=20, deviceTag=1, source="WIFI"),
            record(*WAY[0], deviceTag=-2) | {"longitudeE7": 2**32 - 21_000_000},
            record(*WAY[1], accuracy=501, deviceTag=1),
            {"accuracy": 3, "timestampMs": "1700000000000"},
            record(*WAY[2], deviceTag=1) | {"timestamp": None, "timestampMs": "1700000002500"},
        ]
    }
    path = tmp_path / "x.json"
    assert read(path, content) == [[WAY[0], WAY[2]], [here]]
    assert counted(path) == {google.VAGUE: 1, google.UNREAD: 1}


def activity(path: dict[str, Any]) -> dict[str, Any]:
    ends = [record(*WAY[0]), record(*WAY[2])]
    duration = {"startTimestamp": iso(START), "endTimestampMs": str(int(1000 * (START + 2.5)))}
    segment = {"startLocation": ends[0], "endLocation": ends[1], "duration": duration}
    return {"activitySegment": segment | path}


def test_activities_of_months_are_pieces(tmp_path: Path) -> None:
    lat, lon = e7(*WAY[1][:2])
    places = [{"latE7": lat, "lngE7": lon}]
    timed = [places[0] | {"timestampMs": "1700000001000"}]
    waypoints, raw = {"waypoints": places}, {"points": timed}
    ends = {
        "waypoints": [
            dict(zip(("latE7", "lngE7"), e7(*one[:2]), strict=True)) for one in (WAY[0], WAY[2])
        ]
    }
    content = {
        "timelineObjects": [
            activity({"waypointPath": waypoints, "simplifiedRawPath": raw}),
            {"placeVisit": {"location": record(*WAY[0])}},
            activity({"waypointPath": waypoints}),
            activity({}),
            activity({"startLocation": {}, "endLocation": {}, "waypointPath": ends}),
            activity({"startLocation": {}, "endLocation": {}}),
        ]
    }
    between = (*WAY[1][:2], None)
    path = tmp_path / "x.json"
    assert read(path, content) == [TIMED, [WAY[0], between, WAY[2]], *2 * [[WAY[0], WAY[2]]]]
    assert counted(path) == {google.VISITS: 1}


def at(minutes: float) -> str:
    return iso(START + 60 * minutes).replace("Z", "+00:00")


def phone(*places: tuple[float, float], **more: Any) -> dict[str, Any]:
    """A segment of a phone's Timeline, a place a minute."""
    path = [
        {"point": f"{lat}°, {lon}°", "time": at(minute)}
        for minute, (lat, lon) in enumerate(places, start=1)
    ]
    return {"startTime": at(0), "endTime": at(9), "timelinePath": path, **more}


def test_timeline_of_a_phone(tmp_path: Path) -> None:
    ends = {"start": {"latLng": "41.0°, -2.0°"}, "end": {"latLng": "41.9°, -2.9°"}}
    raw = {"LatLng": "41.5°, -2.5°", "accuracyMeters": 13, "timestamp": at(2)}
    content = {
        "semanticSegments": [
            phone((41.1, -2.1), (41.2, -2.2)),
            {"startTime": at(0), "endTime": at(9), "activity": ends},
            {"startTime": at(9), "endTime": at(99), "visit": {"hierarchyLevel": 0}},
        ],
        "rawSignals": [{"position": raw}, {"wifiScan": {}}, {"activityRecord": {}}],
        "userLocationProfile": {},
    }
    path = tmp_path / "x.json"
    timeline = [(41.1, -2.1, START + 60), (41.0, -2.0, START), (41.9, -2.9, START + 540)]
    assert read(path, content) == [timeline, [(41.5, -2.5, START + 120)]]
    assert counted(path) == {google.VISITS: 1, google.REPEATED: 1}


def test_timeline_of_an_iphone_counts_minutes(tmp_path: Path) -> None:
    content = [
        {"startTime": at(0), "endTime": at(9), "activity": {"start": "geo:41.0,-2.0",
         "end": "geo:41.9,-2.9", "topCandidate": {"type": "cycling"}}},
        {"startTime": at(0), "endTime": at(120), "timelinePath": [
            {"point": "geo:41.100000,-2.100000", "durationMinutesOffsetFromStartTime": "12"}]},
    ]  # fmt: skip
    expected = [(41.0, -2.0, START), (41.9, -2.9, START + 540), (41.1, -2.1, START + 720)]
    assert read(tmp_path / "x.json", content) == [expected]


def test_months_and_records_of_one_takeout_are_one_persons(tmp_path: Path) -> None:
    folder = tmp_path / "ada" / "Takeout" / "Standortverlauf"
    months = folder / "Semantic Location History" / "2020"
    months.mkdir(parents=True)
    write(months / "2020_MAY.json", {"timelineObjects": [activity({})]})
    write(months / "2020_JUNE.json", {"timelineObjects": [activity({})]})
    write(folder / "Records.json", {"locations": [record(*WAY[0])]})
    assert {one.subject for one in traces(folder)} == {"ada/Takeout/Standortverlauf"}


ROWS = [{"lat": lat, "lon": lon, "time": iso(time), "speed": 1} for lat, lon, time in WAY]


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        "\n".join(map(json.dumps, ROWS)),
        "\n".join(
            json.dumps({"id": None, "location": {"coords": {"latitude": one["lat"],
             "longitude": one["lon"], "floor": None}, "timestamp": one["time"]}})
            for one in ROWS
        ),
        [{"lat": str(lat), "lng": lon, "timestamp": round(1000 * t)} for lat, lon, t in WAY],
    ],
    ids=["list", "lines", "nested", "milliseconds"],
)  # fmt: skip
def test_json_with_points_and_nothing_else_is_a_recording(tmp_path: Path, content: Any) -> None:
    assert read(tmp_path / "x.json", content) == [TIMED]


def test_ids_and_people_of_json_are_told_as_in_tables(tmp_path: Path) -> None:
    rows = [row | {"who": "a", "trip_id": n // 2} for n, row in enumerate(ROWS)]
    path = write(tmp_path / "x.jsonl", "\n".join(map(json.dumps, rows)) + "\n[1]\n{\n")
    how = Reading(columns={"subject": "who"})
    found = list(json_points.read(path, "label", how))
    assert names(found) == [("0", "a"), ("1", "a")]
    assert [fixes(one) for one in found] == [TIMED[:2], TIMED[2:]]
    assert without_columns(how.counts) == {UNREAD: 2}
    assert (
        "columns lat=lat, lon=lon, time=time, id=trip_id, subject=who; not used: speed"
        in how.counts
    )


def test_times_of_json_that_are_not_used_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{"lat": lat, "lon": lon, "recorded": iso(time)} for lat, lon, time in WAY]
    with pytest.raises(BadInput, match="no column known as id, and no times"):
        read(tmp_path / "x.json", rows)
    assert "say `columns` time=recorded" in caplog.text


def test_the_person_of_owntracks_is_the_user_and_a_trace_the_device(tmp_path: Path) -> None:
    said = [
        {"_type": "location", "lat": lat, "lon": lon, "tst": round(time), "t": "u", "tid": "p1"}
        for lat, lon, time in WAY
    ]
    said[1] |= {"topic": "owntracks/ada/phone"}
    said[0] |= {"topic": "owntracks/ada/phone"}
    others = [{"_type": "lwt", "tst": 1}, {"_type": "transition", "lat": 1, "lon": 2, "tst": 3}]
    lines = [f"{iso(START)[:19]}Z\t*                 \t{json.dumps(one)}" for one in said + others]
    path = write(tmp_path / "2023-11.rec", "\n".join(lines))
    how = Reading()
    assert format_of(path, how) == "json"
    found = list(json_points.read(path, "label", how))
    assert names(found) == [("ada/phone", "ada")]
    assert without_columns(how.counts) == {json_points.OTHERS: 2, "points without an id": 1}
    write(path, json.dumps(said[2]))
    assert names(list(json_points.read(path, "label", how))) == [("p1", "p1")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[]", "holds no JSON object with a point"),
        ('{"a": 1}', "no column known as lat or lon or id; its columns are a"),
        ('[{"lat": 1, "lon": 2', "is no JSON, or damaged or cut off"),
        ('[{"lat": [1], "lon": {"x": 2}}]', "no column known as lat"),
    ],
)
def test_other_json_is_refused(tmp_path: Path, content: str, says: str) -> None:
    path = write(tmp_path / "x.json", content)
    with pytest.raises((BadInput, FileProblem), match=says):
        list(json_points.read(path, "label", Reading()))


def test_what_is_not_read_names_the_command_that_makes_it_gpx(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "my flights"
    folder.mkdir()
    flight = write(folder / "a.IGC", "AXXX")
    command = f"gpsbabel -t -i igc -f '{flight}' -o gpx -F '{flight.with_suffix('.gpx')}'"
    with pytest.raises(BadInput, match=r"a\.IGC is not read here; GPSBabel turns it") as refused:
        list(traces(flight))
    assert command in str(refused.value)
    write(folder / "notes.txt", "what I did")
    write(folder / "LICENSE", "mine")
    write(folder / "x.nmea", rmc("120000"))
    counts: Any = Reading().counts
    with caplog.at_level(logging.WARNING):
        assert len(list(traces(folder, counts=counts))) == 1
    assert counts == {f"files of no known kind ({one})": 1 for one in (".igc", ".txt", "others")}
    assert command in caplog.text


@pytest.mark.parametrize("kind", ["kml", "tcx", "fit", "nmea", "google", "json"])
def test_what_cannot_be_unpacked_is_a_problem_of_the_file(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / "x", gzip.compress(bytes(range(256)))[:12])
    with pytest.raises(FileProblem, match="Compressed file ended"):
        list(FORMATS[kind].read(path, "label", Reading()))
