"""Trips of the Mobility Data Specification as a source of traces."""

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geo_tables import names, places

from trajanon.extract import traces
from trajanon.extract.sources import json_and_geojson
from trajanon.extract.sources.features import NO_GEOMETRY
from trajanon.extract.sources.formats_recognised import format_of
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

START = 1_529_968_782_421  # milliseconds
WAY = [
    (-118.467, 33.991, START),
    (-118.465, 33.990, START + 20_500),
    (-118.46, 33.98, START + 40_000),
]


def fix(lon: Any, lat: Any, timestamp: Any) -> dict[str, Any]:
    point = {"type": "Point", "coordinates": [lon, lat]}
    return {"type": "Feature", "properties": {"timestamp": timestamp}, "geometry": point}


def trip(name: Any = "t1", way: Any = WAY, **more: Any) -> dict[str, Any]:
    route = {"type": "FeatureCollection", "features": [fix(*one) for one in way]}
    about = {"provider_id": "p", "trip_id": name, "device_id": "d1", "vehicle_id": "V1"}
    return {**about, "start_time": START, "propulsion_types": ["electric"], "route": route, **more}


def write(path: Path, *trips: Any, version: str = "2.0.0") -> Path:
    answer = {"version": version, "data": {"trips": list(trips)}, "links": {"next": "https://x/2"}}
    path.write_text(json.dumps(answer), encoding="utf-8")
    return path


def read(path: Path, *, counts: dict[str, int] | None = None, **columns: str) -> list[Trace]:
    """Read the traces of a file; what is left out is counted, and nothing otherwise."""
    how = Reading(columns=columns)
    found = list(json_and_geojson.read_mds(path, how.of_file(path, "f")))
    assert how.counts == (counts or {})
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trips.json"


def test_a_trip_is_a_trace_of_its_vehicle(path: Path) -> None:
    (one,) = read(write(path, trip()))
    assert names([one]) == [("t1", "d1")]
    assert places([one]) == [[(lon, lat) for lon, lat, _ in WAY]]
    assert one.time.tolist() == [1_529_968_782.421, 1_529_968_802.921, 1_529_968_822.421]


def test_the_column_of_subjects_says_that_they_are_vehicles(path: Path) -> None:
    """A device of a shared vehicle is no rider's: the verdict says so by the column's name."""
    reading = Reading()
    assert len(list(json_and_geojson.read_mds(write(path, trip()), reading))) == 1
    ((used, _),) = reading.tables.uses
    assert dict(used)["subject"] == "vehicle_id"


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize(
    "answer",
    [
        {"version": "1.2.0", "data": {"trips": [trip()]}, "links": {"next": None}},
        {"data": {"trips": [trip()]}, "version": "1.2.0", "last_updated": START, "ttl": 60},
        {"version": "2.0.0", "trips": [trip()]},
        {"trips": [trip()]},
    ],
)
def test_answers_are_known_by_their_list_of_trips(
    path: Path, answer: Any, indent: int | None
) -> None:
    path.write_text(json.dumps(answer, indent=indent))
    assert format_of(path, Reading()) == "mds"
    assert names(list(traces(path))) == [("t1", "d1")]


def test_without_a_device_the_vehicle_is_the_subject_or_nobody(path: Path) -> None:
    nobody = {"device_id": None, "vehicle_id": None}
    write(path, trip("a", device_id=None), trip("b"), trip("c", **nobody), trip("d", **nobody))
    assert names(read(path)) == [("a", "V1"), ("b", "d1"), ("c", None), ("d", None)]


def test_trips_without_a_route_are_counted_and_told(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = {"lat": 33.991, "lng": -118.467}
    ends = {"start_location": place, "end_location": place}
    without = [trip("a", route=None, **ends), trip("b", WAY[:1]), trip("c", [])]
    del without[0]["route"]
    write(path, *without, trip("d"))
    with caplog.at_level(logging.WARNING):
        (one,) = read(path, counts={"trips without a route": 1, NO_GEOMETRY: 2})
    assert one.name == "d"
    (told,) = caplog.messages
    assert "MDS 2.0 has points in /telemetry" in told


def test_a_fix_without_time_is_left_to_the_cleaning(path: Path) -> None:
    (one,) = read(write(path, trip(way=[*WAY, (-118.45, 33.97, None), (None, None, START + 9e4)])))
    assert np.isnan(one.time).tolist() == [False, False, False, True, False]
    assert np.isnan(one.lat).tolist() == [False, False, False, False, True]


BROKEN: list[Any] = [7, trip(route=[1]), trip(route={"features": [1, 2]})]
BROKEN += [
    trip(way=[(1, "x", START)] * 2),
    trip(way=[(1, 2, "x")] * 2),
    trip(way=[(1, 2, [3])] * 2),
]
BROKEN += [trip(route={"features": [{"geometry": None, "properties": {}}] * 2})]


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_trips_are_counted(path: Path, broken: Any) -> None:
    write(path, trip("a"), broken, trip("b"))
    assert len(read(path, counts={NO_GEOMETRY: 1})) == 2
