"""Frames of all libraries and odd frames: a release, or one sentence."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import trajanon
from trajanon.files.data_frames import like, to_pandas

SEARCH: Any = {"method": "mdav", "refine": "none"}


def fixes() -> pd.DataFrame:
    """Eight people go 1,700 m east at the same time, two and two on one road; rows are mixed."""
    people = 8
    frame = pd.DataFrame(
        {
            "who": np.tile([f"p{number}" for number in range(people)], 9),
            "lat": np.tile(40.0 + np.arange(people) // 2 + 0.001 * (np.arange(people) % 2), 9),
            "lon": np.repeat(np.linspace(2.0, 2.02, 9), people),
            "time": pd.Timestamp("2026-03-02T08:00Z") + pd.to_timedelta(np.arange(72), "min"),
        }
    )
    return frame.sample(frac=1.0, random_state=1).reset_index(drop=True)


def as_points(frame: pd.DataFrame) -> Any:
    places = geopandas.points_from_xy(frame["lon"], frame["lat"])
    return geopandas.GeoDataFrame(frame.drop(columns=["lat", "lon"]), geometry=places, crs=4326)


def of_interchange(frame: pd.DataFrame) -> Any:
    """A frame of a library that knows only the older protocol."""

    class Frame:
        columns = frame.columns

        def __dataframe__(self, **options: bool) -> Any:
            return pa.Table.from_pandas(frame).__dataframe__(**options)

    return Frame()


def polars_of(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("polars").from_pandas(frame)


def duckdb_of(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("duckdb").from_df(frame)


LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "geopandas": as_points,
    "polars": polars_of,
    "pyarrow": pa.Table.from_pandas,
    "batch": pa.RecordBatch.from_pandas,
    "duckdb": duckdb_of,
    "interchange": of_interchange,
    "geoarrow": lambda frame: pa.table(as_points(frame).to_arrow()),
    "wkb": lambda frame: pd.DataFrame(as_points(frame).to_wkb()),
}


@pytest.mark.parametrize("made", LIBRARIES.values(), ids=LIBRARIES)
def test_a_frame_of_any_library_gives_the_same_release(made: Callable[[pd.DataFrame], Any]) -> None:
    expected = trajanon.anonymize(fixes(), k=2, subject="who", **SEARCH).trajectories.points
    release = trajanon.anonymize(made(fixes()), k=2, subject="who", **SEARCH)
    np.testing.assert_array_equal(release.trajectories.points, expected)


@pytest.mark.parametrize("made", [polars_of, pa.Table.from_pandas, duckdb_of])
def test_a_table_comes_back_in_its_library(made: Callable[[pd.DataFrame], Any]) -> None:
    given = pd.DataFrame(
        {
            "id": pd.array([2**60 + 1, None], "Int64"),
            "name": ["Ada", None],
            "at": pd.to_datetime(["2026-01-02T03:04Z", "2026-01-03T03:04Z"]),
            "kind": pd.Categorical(["b", "a"]),
        }
    )
    frame = made(given)
    back = like(frame, to_pandas(frame))
    assert type(back) is type(frame)
    read = pa.table(back)
    assert read.column_names == list(given)
    assert read["id"].to_pylist() == [2**60 + 1, None]
    assert read["name"].to_pylist() == ["Ada", None]
    assert read["at"].to_pylist() == given["at"].tolist()


def test_long_numbers_beside_geometries_keep_every_digit() -> None:
    """As floats two people would be one, in a table of DuckDB or polars with a missing number."""
    long = [2**60 + 1, 2**60 + 2, None]
    points = as_points(fixes().head(3)).assign(at=[3, 4, 5]).set_index("at")
    table = pa.table(points.to_arrow()).append_column("user", pa.array(long))
    for metadata in (table.schema.metadata, None):
        read = to_pandas(table.replace_schema_metadata(metadata))
        assert read["user"].tolist() == long
        assert read.columns.tolist() == table.column_names
        assert (read.geometry.to_wkb() == points.geometry.to_wkb().to_numpy()).all()
        assert read.crs == points.crs


def test_a_release_is_a_table_of_arrow() -> None:
    release = trajanon.anonymize(fixes(), k=2, subject="who", **SEARCH)
    for made in (release, release.trajectories):
        pd.testing.assert_frame_equal(pa.table(made).to_pandas(), release.to_dataframe())


def test_times_that_nobody_named_are_never_ignored() -> None:
    renamed = fixes().rename(columns={"time": "moment"}).sort_values("lon")
    for frame in (renamed, as_points(renamed), renamed.set_index(["who", "moment"])):
        with pytest.raises(
            trajanon.BadInput, match="'moment' holds times: name a column in `time`"
        ):
            trajanon.anonymize(frame, k=2, subject="who", **SEARCH)
    release = trajanon.anonymize(renamed, k=2, subject="who", time="moment", **SEARCH)
    expected = trajanon.anonymize(fixes(), k=2, subject="who", **SEARCH)
    np.testing.assert_array_equal(release.trajectories.points, expected.trajectories.points)


def test_a_time_of_the_whole_recording_is_no_time_of_its_points() -> None:
    frame = fixes().sort_values("time").drop(columns="time")
    frame = frame.assign(began=pd.Timestamp("2026-03-02T08:00"))
    with pytest.warns(trajanon.GuessedWarning, match="'began' holds times"):
        assert trajanon.anonymize(frame, k=2, subject="who", **SEARCH).report["n"] == 8


# By name: what is odd of the columns, and what is odd of the rows.
ODD_COLUMNS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "plain": lambda frame: frame,
    "gaps": lambda frame: frame.assign(lat=frame["lat"].where(frame.index % 3 > 0)),
    "empty": lambda frame: frame.assign(lat=np.nan),
    "decimals": lambda frame: frame.assign(lat=[Decimal(str(lat)) for lat in frame["lat"]]),
    "texts": lambda frame: frame.assign(lat=frame["lat"].astype(str)),
    "infinite": lambda frame: frame.assign(lon=np.inf),
    "categories": lambda frame: frame.assign(who=frame["who"].astype("category")),
    "nullable": lambda frame: frame.assign(
        who=pd.array(frame["who"].str[1:].astype(int), "Int64"), lat=frame["lat"].astype("Float64")
    ),
    "zones": lambda frame: frame.assign(time=frame["time"].dt.tz_convert("Asia/Kathmandu")),
    "twice": lambda frame: pd.concat([frame, frame[["lat"]]], axis=1),
    "multi": lambda frame: frame.set_axis(
        pd.MultiIndex.from_product([["fix"], frame.columns]), axis=1
    ),
    "numbers": lambda frame: frame.set_axis(range(len(frame.columns)), axis=1),
    "small": lambda frame: frame.assign(
        lat=frame["lat"].astype(np.uint8), who=frame["who"].str[1:].astype(np.int8)
    ),
    "lists": lambda frame: frame.assign(who=[[who] for who in frame["who"]]),
    "points": lambda frame: as_points(frame.dropna()) if len(frame) else frame,
}
ODD_ROWS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "all": lambda frame: frame,
    "none": lambda frame: frame[:0],
    "one": lambda frame: frame[:1],
    "k": lambda frame: frame[:2],
    "labels": lambda frame: frame.set_axis(["row"] * len(frame)),
    "dates": lambda frame: frame.set_index("time"),
    "levels": lambda frame: frame.set_index(["who", "time"]),
}


@pytest.mark.filterwarnings("ignore::trajanon.TrajanonWarning")
@pytest.mark.parametrize("rows", ODD_ROWS)
@pytest.mark.parametrize("columns", ODD_COLUMNS)
def test_an_odd_frame_gives_a_release_or_a_sentence(columns: str, rows: str) -> None:
    frame = ODD_COLUMNS[columns](fixes())
    try:
        frame = ODD_ROWS[rows](frame)
    except (KeyError, TypeError):  # where the columns have other names, or lists
        pytest.skip("it cannot be made")

    subject = None if columns in ("multi", "numbers") or rows == "levels" else "who"
    try:
        release = trajanon.anonymize(frame, k=2, subject=subject, **SEARCH)
    except trajanon.TrajanonError as error:
        message = str(error)
    else:
        message = ""
        assert release.report["n"] > 1
        assert columns not in ("empty", "infinite", "twice", "multi", "numbers", "lists")
    assert len(message) < 1_000
    assert not message or (columns, rows) != ("plain", "all")
