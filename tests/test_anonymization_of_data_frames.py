"""Data frames become releases, and releases data frames."""

import logging
import re
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

import trajanon
from trajanon.common.errors import BadInput

NORTH = [40.0, 40.02, 41.0, 41.02]  # a road of each person; two and two are near

pytestmark = pytest.mark.usefixtures("plain_means")


def fixes(**columns: Any) -> pd.DataFrame:
    """Four people go 1,700 m east in three steps; rows of all are mixed."""
    lat, lon = np.repeat([NORTH], 3, axis=0).ravel(), np.repeat([2.0, 2.01, 2.02], 4)
    who = ["Ada", "Bob", "Cem", "Eva"] * 3
    return pd.DataFrame({"who": who, "lat": lat, "lon": lon, **columns})


def as_points(frame: pd.DataFrame) -> Any:
    places = geopandas.points_from_xy(frame["lon"], frame["lat"])
    return geopandas.GeoDataFrame(frame.drop(columns=["lat", "lon"]), geometry=places, crs=4326)


def lines(xs: list[list[float]], **columns: Any) -> Any:
    """A line for each person, along the road and over the given longitudes."""
    places = [shapely.LineString([(x, y) for x in row]) for row, y in zip(xs, NORTH, strict=True)]
    return geopandas.GeoDataFrame(columns, geometry=places, crs=4326)


def starts(release: trajanon.Release) -> list[float]:
    return sorted(release.trajectories.points[:, 0, 0].tolist())


@pytest.mark.parametrize(
    "frame",
    [fixes(), as_points(fixes()), as_points(fixes()).to_crs(25831)],
    ids=["pandas", "degrees", "metres"],
)
def test_points_become_whole_trips_of_thirty_points(frame: pd.DataFrame) -> None:
    release = trajanon.anonymize(frame, k=2, subject="who")
    assert starts(release) == [40.01, 40.01, 41.01, 41.01]
    points = release.trajectories.points
    assert points.shape == (4, 30, 2)
    expected = np.linspace(2.0, 2.02, 30).round(4)
    np.testing.assert_allclose(points[:, :, 1], np.tile(expected, (4, 1)), rtol=0, atol=1e-4)
    assert release.report["counted"] == "subjects"
    assert release.report["extraction"]["trajectories"] == 4


def test_each_line_is_a_trajectory_however_short_long_or_straight() -> None:
    frame = lines([[2.0, 2.001], [2.0, 2.0001, 2.001], [2.0, 3.0], [2.0, 3.0]], who=list("abcd"))
    release = trajanon.anonymize(frame, k=2, subject="who")
    assert starts(release) == [40.01, 40.01, 41.01, 41.01]
    assert release.report["labels"] == [0, 0, 1, 1]
    ends = sorted(release.trajectories.points[:, -1, 1].tolist())
    assert ends == [2.001, 2.001, 3.0, 3.0]


def test_a_named_column_of_times_is_released() -> None:
    hours = np.tile([8, 8, 10, 10], 3) * 60 + np.repeat([0, 2, 4], 4)
    frame = fixes(moment=pd.Timestamp("2026-03-02T00:00Z") + pd.to_timedelta(hours, "min"))
    release = trajanon.anonymize(
        frame, k=2, subject="who", time="moment", times="of-day", timezone="UTC"
    )
    departures = release.to_dataframe().groupby("trajectory")["time"].first()
    assert sorted(departures.tolist()) == [28_800, 28_800, 36_000, 36_000]


@pytest.mark.parametrize("index", [[], ["moment"], ["who", "moment"]])
def test_times_without_a_zone_are_warned_of_wherever_they_stand(
    index: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    minutes = np.tile([8, 8, 10, 10], 3) * 60 + np.repeat([0, 2, 4], 4)
    frame = fixes(moment=pd.Timestamp("2026-03-02") + pd.to_timedelta(minutes, "min"))
    frame = frame.set_index(index) if index else frame
    with caplog.at_level(logging.WARNING):
        trajanon.anonymize(frame, k=2, subject="who", time="moment", times="of-day", timezone="UTC")
    assert "the times 'moment' of the frame have no time zone and are read as UTC" in caplog.text


def test_a_named_recording_parts_the_trips_of_a_person() -> None:
    back = fixes(ride="back")
    frame = pd.concat([fixes(ride="out"), back.assign(lat=back["lat"] + 0.1)])
    report = trajanon.anonymize(frame, k=2, subject="who", recording="ride").report
    assert report["n"] == 8
    assert report["extraction"]["recordings read"] == 8
    assert report["subjects_per_group"] == [2, 2, 2, 2]


def test_what_is_left_out_is_counted_and_said(caplog: pytest.LogCaptureFixture) -> None:
    short = fixes()
    short.loc[short["who"] == "Eva", "lon"] = np.array([2.0, 2.0001, 2.0002])
    short.loc[short["who"] == "Cem", "lat"] = 40.03
    with caplog.at_level(logging.WARNING):
        release = trajanon.anonymize(short, k=2, subject="who")
    assert release.report["n"] == 3
    assert release.report["extraction"]["trips too short"] == 1
    (said,) = caplog.messages
    assert "25 % of the trips (1 of 4) were left out: 1 shorter than 500 m" in said
    assert said.endswith(
        "pass the Trajectories that trajanon.extract.cut makes of trajanon.extract.from_frame."
    )


def test_warnings_name_parameters_of_anonymize(caplog: pytest.LogCaptureFixture) -> None:
    """Not the roles of `columns`, which it does not take."""
    people = fixes(id=list("abcd") * 3, seen=np.repeat(1_683_964_800 + 60 * np.arange(3), 4))
    with caplog.at_level(logging.WARNING):
        trajanon.anonymize(people, k=2, subject="who")
    assert "'seen' holds times: set `time`=seen; without, points are taken" in caplog.text
    assert "`columns`" not in caplog.text


@pytest.mark.parametrize(
    ("frame", "asked", "said"),
    [
        (fixes(), {"subject": "name"}, "the frame has no column 'name' for subject; its columns"),
        (fixes().rename(columns={"lat": "b"}), {"subject": "who"}, ": rename the right one to lat"),
        (
            fixes(time=7).rename(columns={"lat": "y1", "lon": "x1"}),
            {"subject": "who"},
            ": rename the right ones to lat and lon",
        ),
        (
            fixes().assign(lat=4_000.0),
            {"subject": "who"},
            "name the right columns (call them lat and lon), or transform them",
        ),
        (fixes(time="noon"), {"subject": "who"}, "or name another column with `time`"),
        (fixes(), {"subject": "track"}, "`subject`=track is for files, and the frame is none"),
        (fixes(track=7), {"subject": "track"}, "has a column 'track', and subject=track means no"),
        (fixes(), {"subject": fixes()["who"]}, "`subject` must be the name of a column, a text"),
        (
            fixes()[["lat", "lon"]],
            {},
            "recognised as id; its columns are lat, lon: name a column in `recording`",
        ),
        (fixes()[:0], {}, "the frame has no rows"),
        ("fixes.csv", {}, "polars, pyarrow or DuckDB is needed, not str: read the file first"),
        (
            pd.DataFrame(as_points(fixes())),
            {},
            "recognised as id; its columns are who: name a column in `recording`",
        ),
        (
            trajanon.Trajectories(np.ones((2, 2, 2))),
            {"recording": "ride"},
            "`recording` names a column of a data frame, and Trajectories have none",
        ),
        (fixes(lon=2.0), {"subject": "who"}, "longer ones. For other columns or limits, pass"),
    ],
)
def test_what_cannot_be_a_release_is_refused(frame: Any, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        trajanon.anonymize(frame, k=2, **asked)


def test_a_release_that_was_read_becomes_frames(tmp_path: Path) -> None:
    release = trajanon.anonymize(fixes(), k=2, subject="who")
    release.write(tmp_path / "x.parquet")
    read = trajanon.read_release(tmp_path / "x.parquet")
    pd.testing.assert_frame_equal(read.to_dataframe(), release.to_dataframe())
    assert list(read.to_dataframe()) == ["trajectory", "lat", "lon"]
    assert read.to_geodataframe().geometry.equals(release.to_geodataframe().geometry)
    assert list(read.to_geodataframe()) == ["geometry"]
