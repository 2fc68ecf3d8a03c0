"""Google's location history, as a source of traces."""

import json
from pathlib import Path
from typing import Any

import pytest
from device_files import START, TIMED, WAY, counted, fixes, iso, read, write
from point_tables import names, uses

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import google_timeline, json_and_geojson
from trajanon.extract.sources.csv_and_parquet import UNREAD
from trajanon.extract.sources.formats_recognised import format_of
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading


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
    assert counted(path) == {google_timeline.VAGUE: 1, google_timeline.UNREAD_POSITIONS: 1}


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
            activity({"startLocation": {}, "endLocation": {}, "simplifiedRawPath": raw}),
        ]
    }
    between = (*WAY[1][:2], None)
    path = tmp_path / "x.json"
    ends_alone = [WAY[0], WAY[2]]
    untimed = [WAY[0], between, WAY[2]]
    # A point of the raw path keeps its time, though it is the first and the last.
    assert read(path, content) == [TIMED, untimed, ends_alone, ends_alone, [WAY[1]]]
    assert counted(path) == {}


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
    activity = {"start": {"latLng": "41.0°, -2.0°"}, "end": {"latLng": "41.9°, -2.9°"}}
    raw = {"LatLng": "41.5°, -2.5°", "accuracyMeters": 13, "timestamp": at(2)}
    content = {
        "semanticSegments": [
            phone((41.1, -2.1), (41.2, -2.2)),
            {"startTime": at(0), "endTime": at(9), "activity": activity},
            {"startTime": at(9), "endTime": at(99), "visit": {"hierarchyLevel": 0}},
        ],
        "rawSignals": [{"position": raw}, {"wifiScan": {}}, {"activityRecord": {}}],
        "userLocationProfile": {},
    }
    path = tmp_path / "x.json"
    timeline = [
        (41.0, -2.0, START),
        (41.1, -2.1, START + 60),
        (41.5, -2.5, START + 120),
        (41.9, -2.9, START + 540),
    ]
    assert read(path, content) == [timeline]
    assert counted(path) == {google_timeline.REPLACED: 1}


def signal(minute: float, lat: float, lon: float, **more: Any) -> dict[str, Any]:
    place = {"LatLng": f"{lat}°, {lon}°", "timestamp": at(minute), "accuracyMeters": 10}
    return {"position": place | more}


def test_raw_signals_are_read_alone_and_in_place_of_what_is_made_of_them(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    signals = [signal(0, 41.0, -2.0), {"wifiScan": {}}, signal(20, 41.2, -2.2)]
    vague = signal(30, 41.3, -2.3, accuracyMeters=900)
    expected = [(41.0, -2.0, START), (41.2, -2.2, START + 1200)]
    assert read(path, {"rawSignals": [*signals, vague]}) == [expected]
    assert counted(path) == {google_timeline.VAGUE: 1}

    far = {
        "startTime": at(0),
        "endTime": at(99),
        "timelinePath": [
            {"point": "41.1°, -2.1°", "time": at(10)},
            {"point": "41.4°, -2.4°", "time": at(90)},
        ],
    }
    both = {"semanticSegments": [far], "rawSignals": signals}
    assert read(path, both) == [[*expected, (41.4, -2.4, START + 5400)]]
    assert counted(path) == {google_timeline.REPLACED: 1}


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


def test_the_person_of_a_month_is_the_same_from_within_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    months = tmp_path / "ada" / "Takeout" / "Standortverlauf" / "Semantic" / "2020"
    months.mkdir(parents=True)
    write(months / "2020_MAY.json", {"timelineObjects": [activity({})]})
    monkeypatch.chdir(months)
    (found,) = traces("2020_MAY.json")
    assert found.subject == "ada/Takeout/Standortverlauf"


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
    found = list(json_and_geojson.read(path, how.of_file(path, "label")))
    assert names(found) == [("0", "a"), ("1", "a")]
    assert [fixes(one) for one in found] == [TIMED[:2], TIMED[2:]]
    assert how.counts == {UNREAD: 2, TABLE_CUT_OFF: 1}
    assert uses(how) == [
        "Columns: lat=lat, lon=lon, id=trip_id, subject=who, time=time; not used: speed."
    ]


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
    found = list(json_and_geojson.read(path, how.of_file(path, "label")))
    assert names(found) == [("ada/phone", "ada")]
    assert how.counts == {json_and_geojson.OTHER_MESSAGES: 2, "points without an id": 1}
    write(path, json.dumps(said[2]))
    assert names(list(json_and_geojson.read(path, how.of_file(path, "label")))) == [("p1", "p1")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[]", "holds no JSON object with a point"),
        ('{"a": 1}', "no column recognised as lat or lon or id; its columns are a"),
        ('[{"lat": 1, "lon": 2', "is not JSON, or damaged or cut off"),
        ('[{"lat": [1], "lon": {"x": 2}}]', "no column recognised as lat"),
    ],
)
def test_other_json_is_refused(tmp_path: Path, content: str, says: str) -> None:
    path = write(tmp_path / "x.json", content)
    with pytest.raises((BadInput, FileProblem), match=says):
        list(json_and_geojson.read(path, Reading().of_file(path, "label")))
