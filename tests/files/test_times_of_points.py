"""Released times where programs divide by them: speeds that may be, departures and durations."""

import json
import warnings
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import K, problems, run_sql
from releases_with_times import CLOCK, collection_of, release, written
from toy import crowd

import trajanon
from trajanon.common.arrays import Floats
from trajanon.files.release_formats import read_release
from trajanon.files.rounding_order_and_keys_of_lines import in_order
from trajanon.files.times_of_points import spread_evenly
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import Trajectories

SECONDS = np.timedelta64(1, "s")
MONDAY = np.datetime64("2001-01-01")


def driven() -> Trajectories:
    """Groups of trips of 0.5 to 15 km at 30 km/h, of which the shortest take less than a step."""
    rng = np.random.default_rng(0)
    took = np.repeat(rng.uniform(60, 1_800, 30), K)[:, None] * np.linspace(0, 1, 30)
    begin = np.repeat(rng.uniform(20_000, 80_000, 30), K)[:, None]
    east = took * (30 / 3.6) / (111_320 * np.cos(np.radians(40)))
    points = np.round(np.stack([np.full_like(east, 40.0), east - 3], axis=2), 5)
    return release(points, CLOCK.rounded(begin + took))


def as_moved(path: Path) -> tuple[Floats, Floats]:
    """Places and seconds of all points as another program reads them, in the order of the file."""
    if path.suffix == ".mfjson":
        frames = [one.df for one in collection_of(path)]
        points = [frame.geometry.get_coordinates().to_numpy() for frame in frames]
        dates = [frame.index.to_numpy() for frame in frames]
        return np.array(points), (np.array(dates) - MONDAY) / SECONDS
    if path.suffix == ".gpx":
        table = geopandas.read_file(path, layer="track_points")
        dates = table["time"].dt.tz_localize(None).to_numpy()
        points = table.geometry.get_coordinates().to_numpy().reshape(-1, 30, 2)
        return points, ((dates - MONDAY) / SECONDS).reshape(-1, 30)
    features = json.loads(path.read_text("utf-8"))["features"]
    found = np.array([one["geometry"]["coordinates"] for one in features])
    return found[..., :2], found[..., 3] - (MONDAY - np.datetime64("1970-01-01")) / SECONDS


def in_rows() -> Trajectories:
    """A release in the order of its lines."""
    of = driven()
    return of.take(in_order(of.points, of.times))


@pytest.mark.parametrize("suffix", [".geojson", ".gpx", ".mfjson"])
def test_points_move_as_fast_as_may_be(tmp_path: Path, suffix: str) -> None:
    of = in_rows()
    assert of.times is not None
    points, seconds = as_moved(written(tmp_path / f"r{suffix}", of))
    assert np.array_equal(points[..., ::-1], of.points)
    took = of.times[:, -1] - of.times[:, 0]
    assert np.array_equal(seconds[:, 0], of.times[:, 0])
    assert np.array_equal((seconds[:, -1] - seconds[:, 0])[took > 0], took[took > 0])
    short = (seconds[:, -1] - seconds[:, 0])[took == 0]
    assert len(short)
    assert short == pytest.approx(147.458)  # nearly half of 300
    kilometres = np.diff(points[..., 0], axis=1) * 111.32 * np.cos(np.radians(40))
    speed = kilometres / np.diff(seconds, axis=1) * 3_600
    assert speed.max() < 100
    assert np.median(speed) == pytest.approx(30, rel=0.1)
    again = read_release(tmp_path / f"r{suffix}").times
    assert again is not None
    assert np.array_equal(again, of.times)


@given(
    leaps=st.lists(st.sampled_from([0, 0, 0, 1, 2, 5]), min_size=1, max_size=40),
    step=st.sampled_from([1, 300]),
)
def test_times_go_on_and_are_rounded_to_what_they_were(leaps: list[int], step: int) -> None:
    times = step * np.cumsum([7, *leaps], dtype=np.float64)
    found = spread_evenly(np.array([times, times + step]), step)
    assert (np.diff(found) > 0).all()
    assert np.array_equal(Clock("date", "UTC", step).rounded(found[0]), times)
    assert found[1] == pytest.approx(found[0] + step)
    assert found[0, 0] == times[0]
    assert found[0, -1] == times[-1] or not any(leaps)


# Columns for maps


@pytest.mark.parametrize("suffix", [".gpkg", ".geojson"])
def test_departures_and_durations_are_columns(tmp_path: Path, suffix: str) -> None:
    made = trajanon.anonymize(crowd(), K, effort="fast", times="of-day")
    path = tmp_path / f"r{suffix}"
    made.write(path)
    assert trajanon.check(path, K).holds
    with warnings.catch_warnings(action="ignore"):  # GDAL leaves the fourth number of a point out
        table = geopandas.read_file(path)
    told = [json.loads(text) if isinstance(text, str) else text for text in table["times"]]
    times = np.array([list(one) for one in told], dtype=np.float64)
    departures = table["departure"].dt.tz_localize(None).to_numpy()
    assert np.array_equal((departures - MONDAY) / SECONDS, times[:, 0])
    assert np.array_equal(table["duration_min"] * 60, times[:, -1] - times[:, 0])


@pytest.mark.parametrize(
    ("column", "value"), [("departure", "2001-01-01T09:00:01.000Z"), ("duration_min", 11.0)]
)
@pytest.mark.parametrize("suffix", [".gpkg", ".geojson"])
def test_a_column_that_does_not_follow_from_the_lines_is_found(
    tmp_path: Path, suffix: str, column: str, value: Any
) -> None:
    of = driven()
    path = written(tmp_path / f"r{suffix}", of)
    if suffix == ".gpkg":
        run_sql(path, f"UPDATE anonymized SET {column} = {value!r} WHERE id = 3")
    else:
        collection = path.read_text("utf-8").split("\n")
        feature = json.loads(collection[3].rstrip(","))
        feature["properties"][column] = value
        collection[3] = json.dumps(feature) + ","
        path.write_text("\n".join(collection), "utf-8")
    assert any(said in problems(path) for said in ("table 'anonymized'", "(line 4)"))
