"""Points in a list that other things are wrapped around."""

import json
from pathlib import Path
from typing import Any

import pytest
from device_files import START, TIMED, WAY, counted, iso, read, write
from point_tables import names

from trajanon.common.errors import BadInput
from trajanon.extract import traces
from trajanon.extract.sources import json_and_geojson


def feature(lat: float, lon: float, time: float, **more: Any) -> dict[str, Any]:
    place = {"type": "Point", "coordinates": [lon, lat]}
    return {"type": "Feature", "geometry": place, "properties": {"timestamp": iso(time), **more}}


FEATURES = [feature(*fix) for fix in WAY]
ROUTE = [{"latitude": lat, "longitude": lon, "dateTime": iso(time)[:-1]} for lat, lon, time in WAY]


def exercise(route: list[Any]) -> dict[str, Any]:
    """One of Polar's, which also names the place of its start."""
    beats = [{"dateTime": iso(START), "value": 90}] * 200
    samples = {"heartRate": beats, "recordedRoute": route}
    return {"latitude": WAY[0][0], "longitude": WAY[0][1], "sport": "RUNNING", "samples": samples}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "content",
    [
        {"locations": FEATURES},
        {"current": FEATURES[0], "trip": {"mode": "bike"}, "locations": FEATURES},
        {"result": {"data": {"fixes": FEATURES}}},
        {"exercises": [{"samples": {"recordedRoute": ROUTE}}]},
        {"exercises": [{"samples": {"recordedRoute": ROUTE[:1]}},
                       {"samples": {"recordedRoute": ROUTE[1:]}}]},
        [{"day": 1, "fixes": ROUTE[:2]}, {"day": 2, "fixes": ROUTE[2:]}],
    ],
)  # fmt: skip
def test_the_list_of_points_is_found(tmp_path: Path, content: Any, indent: int | None) -> None:
    text = json.dumps(content, indent=indent)
    assert read(tmp_path / "x.json", text) == [TIMED]


def test_a_longer_list_is_read_and_the_start_beside_it_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    long = ROUTE * 9
    path = write(tmp_path / "training-session.json", {"exercises": [exercise(long)]})
    (trace,) = traces(path)
    assert len(trace) == len(long)
    assert counted(path)[json_and_geojson.SHORTER_LISTS] == 1
    assert "points stand in `exercises.samples.recordedRoute` (27) and `exercises`" in caplog.text


def test_two_lists_of_points_are_refused_with_both_paths(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", {"planned": ROUTE, "ridden": {"points": ROUTE}})
    with pytest.raises(BadInput, match=r"points stand in `planned` \(3\) and `ridden\.points`"):
        list(traces(path))


def test_positions_of_gtfs_realtime_are_read(tmp_path: Path) -> None:
    entity = [
        {
            "id": str(number),
            "vehicle": {
                "trip": {"tripId": f"t{number % 2}"},
                "position": {"latitude": 41.0 + number / 1e3, "longitude": -2.0},
                "timestamp": str(int(START) + number),
                "vehicle": {"label": "tram"},
            },
        }
        for number in range(12)
    ]
    header = {"gtfsRealtimeVersion": "2.0", "timestamp": str(int(START))}
    path = write(tmp_path / "feed.json", {"header": header, "entity": entity})
    found = list(traces(path))
    assert sum(map(len, found)) == 12
    assert found[0].time.min() >= START


def test_geojson_stays_geojson(tmp_path: Path) -> None:
    collection = {"features": FEATURES, "type": "FeatureCollection", "crs": None}
    (trace,) = traces(write(tmp_path / "x.geojson", collection), columns={"id": "file"})
    assert names([trace]) == [("x.geojson", None)]


def test_the_ways_of_many_trips_with_a_start_are_all_read(tmp_path: Path) -> None:
    trips = [{"lat": 41.0, "lon": -2.0, "way": ROUTE * 20} for _ in range(150)]
    (found,) = traces(write(tmp_path / "x.json", {"rides": trips}))
    assert len(found) == 150 * 20 * len(ROUTE)


@pytest.mark.parametrize(("cut", "cut_off"), [(0, False), (1, False), (20, True)])
def test_of_a_log_that_is_cut_off_the_last_recording_may_go_on(
    tmp_path: Path, cut: int, cut_off: bool
) -> None:
    rows = [
        {"id": who, "latitude": lat, "longitude": lon, "time": iso(time)}
        for who in ("a", "b")
        for lat, lon, time in WAY
    ]
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    found = traces(write(tmp_path / "x.json", text[: len(text) - cut]))
    assert [trace.cut_off for trace in found] == [False, cut_off]
