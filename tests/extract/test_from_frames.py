"""Data frames of geopandas and collections of movingpandas, to and fro."""

import logging
import warnings
from importlib import import_module
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trajanon.common.errors import BadInput
from trajanon.extract.from_frames import from_collection, from_frame
from trajanon.extract.trace import Trace
from trajanon.trajectories.trajectories import Trajectories

PLACES = [shapely.Point(*place) for place in ((2, 41), (3, 42), (2.5, 41.5), (3, 43))]
TIMES = pd.to_datetime([10, 20, 30, 40], unit="s")


def points(**columns: Any) -> Any:
    index = range(len(PLACES))
    return geopandas.GeoDataFrame(columns, index, geometry=PLACES, crs="EPSG:4326")


def places(found: list[Trace]) -> list[list[tuple[float, float]]]:
    """The points of traces, x first."""
    return [list(zip(one.lon.tolist(), one.lat.tolist(), strict=True)) for one in found]


def coordinates(which: list[int]) -> list[tuple[float, float]]:
    return [PLACES[place].coords[0] for place in which]


def collection(frame: Any, **options: Any) -> Any:
    """A collection of movingpandas, without its warnings of all kinds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        movingpandas = import_module("movingpandas")
        return movingpandas.TrajectoryCollection(frame, **options)


# From frames


def test_points_of_one_id_are_a_trace() -> None:
    frame = points(id=[1, 2, 1, 2], user=["ann", "bob"] * 2, time=[5, 6, 7, 8])
    found = list(from_frame(frame))
    assert [(one.name, one.subject) for one in found] == [("1", "ann"), ("2", "bob")]
    assert places(found) == [coordinates([0, 2]), coordinates([1, 3])]
    assert [one.time.tolist() for one in found] == [[5, 7], [6, 8]]


@pytest.mark.parametrize("name", [None, "t", "anything"])
def test_an_index_of_dates_is_the_time(name: str | None) -> None:
    frame = points(id=["a"] * 4, time="noon").set_index(TIMES.rename(name))
    (one,) = from_frame(frame)
    assert one.time.tolist() == [10, 20, 30, 40]


def test_an_index_of_dates_can_be_named_as_a_column() -> None:
    frame = points(id=["a"] * 4).set_index(TIMES.rename("when"))
    (one,) = from_frame(frame, columns={"time": "when"})
    assert one.time.tolist() == [10, 20, 30, 40]


@pytest.mark.parametrize("names", [("ride", "when"), (None, None)])
def test_levels_of_an_index_are_columns_with_a_name_or_without(
    names: tuple[str | None, str | None],
) -> None:
    index = pd.MultiIndex.from_arrays([["a", "b"] * 2, TIMES], names=names)
    ride, when = (name or f"level_{number}" for number, name in enumerate(names))
    found = list(from_frame(points().set_index(index), columns={"id": ride, "time": when}))
    assert [one.time.tolist() for one in found] == [[10, 30], [20, 40]]


def test_levels_without_a_name_are_not_taken_for_one_recording() -> None:
    """As of pd.concat({"ann": rides, "bob": other_rides}), without which all is one way."""
    index = pd.MultiIndex.from_arrays([["ann", "bob"] * 2, [0, 0, 1, 1]])
    with pytest.raises(BadInput, match=r"no column recognised as id; .* set `columns` id=level_0"):
        list(from_frame(points(time=TIMES).set_index(index)))


def test_a_frame_that_is_one_recording_leaves_nothing_out(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        (one,) = from_frame(points(time=TIMES), columns={"id": "file"})
    assert (len(one), caplog.messages) == (4, [])


def test_columns_are_names_by_role() -> None:
    columns: Any = "id=ride"
    with pytest.raises(BadInput, match="`columns` must be names by role"):
        list(from_frame(points(ride=["a"] * 4), columns=columns))


def test_lines_are_traces_with_the_times_beside_them() -> None:
    lines = [shapely.LineString(PLACES[:3]), shapely.LineString(PLACES[2:])]
    frame = geopandas.GeoDataFrame({"ride": ["a", "b"], "time": [[1, 2, 3], None]}, geometry=lines)
    found = list(from_frame(frame, columns={"id": "ride"}))
    assert [one.name for one in found] == ["frame#a", "frame#b"]
    assert places(found) == [coordinates([0, 1, 2]), coordinates([2, 3])]
    np.testing.assert_array_equal(found[0].time, [1, 2, 3])
    assert np.isnan(found[1].time).all()


def test_reference_systems_are_brought_to_degrees() -> None:
    (one,) = from_frame(points(id=["a"] * 4).to_crs("EPSG:25830"))
    expected = np.array(coordinates([0, 1, 2, 3]))
    np.testing.assert_allclose(one.lon, expected[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.lat, expected[:, 1], rtol=0, atol=1e-9)


def test_what_is_left_out_is_said(caplog: pytest.LogCaptureFixture) -> None:
    frame = points(id=["a", None, "a", "a"])
    frame.loc[3, "geometry"] = None
    with caplog.at_level(logging.WARNING):
        (one,) = from_frame(frame)
    assert places([one]) == [coordinates([0, 2])]
    assert sorted(caplog.messages) == [
        "left out of the frame, features without geometry: 1",
        "left out of the frame, points without an id: 1",
        "the frame has rows without id: they are left out and counted; name another column with "
        "`columns` id=...",
    ]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pd.DataFrame({"id": [1]}), "the frame has no column recognised as lat or lon"),
        (geopandas.GeoDataFrame({"id": [1]}), "the frame has no column recognised as lat or lon"),
        (pd.DataFrame({"lat": [], "lon": []}), "the frame has no rows"),
        ("points.csv", "polars, pyarrow or DuckDB is needed, not str: read the file first"),
        (points(colour="red"), r"the frame has no column recognised as id; .* are colour"),
        (points(id=1).iloc[:0], "the frame holds no points or lines"),
        (points(id=1).set_geometry([shapely.box(0, 0, 1, 1)] * 4), "the frame holds a Polygon"),
        (points(id=1).to_crs(3857).set_crs(None, allow_override=True), "no reference"),
        (
            pd.concat([points(id=1), points(id=2)[["id"]]], axis=1),
            "the frame has two columns 'id'; rename one of them",
        ),
    ],
)
def test_other_frames_are_refused(frame: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        list(from_frame(frame))


@pytest.mark.parametrize("column", ["id", "user", "time", "maker"])
def test_half_a_character_is_refused(column: str) -> None:
    texts = pd.Series(["a\ud800", "b", "a", "b"], dtype=object)
    with pytest.raises(BadInput, match=r"a text with half a character, 'a.ud800': mend it"):
        list(from_frame(points(**{"id": 1, column: texts})))


def test_bytes_that_are_no_text_are_refused() -> None:
    frame = points(id=1, outlier=pd.Series([b"\xff", b"a", b"a", b"a"], dtype=object))
    with pytest.raises(BadInput, match=r"a text with half a character, b'.xff': mend it"):
        list(from_frame(frame))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_wkb_of_any_kind_is_a_place(kind: Any) -> None:
    """DuckDB writes bytearrays into pandas."""
    frame = pd.DataFrame({"id": 1, "geom": [kind(shapely.to_wkb(place)) for place in PLACES]})
    (found,) = from_frame(frame)
    assert places([found]) == [coordinates([0, 1, 2, 3])]


@pytest.mark.parametrize(
    "layout", [pa.binary(), pa.large_binary(), pa.binary(21), pa.binary_view()]
)
def test_wkb_of_any_layout_of_arrow_is_a_place(layout: pa.DataType) -> None:
    """Polars writes views."""
    wkb = pa.array(shapely.to_wkb(PLACES), pa.binary()).cast(layout)
    (found,) = from_frame(pa.table({"id": pa.array([b"a"] * 4, pa.binary()), "geom": wkb}))
    assert found.name == "frame#a"
    assert places([found]) == [coordinates([0, 1, 2, 3])]


def test_the_reference_system_that_wkb_names_is_used() -> None:
    moved = geopandas.GeoSeries(PLACES, crs="EPSG:4326").to_crs("EPSG:25830")
    wkb = shapely.to_wkb(shapely.set_srid(moved.to_numpy(), 25830), include_srid=True)
    (found,) = from_frame(pd.DataFrame({"id": 1, "geom": wkb}))
    np.testing.assert_allclose(places([found])[0], coordinates([0, 1, 2, 3]), atol=1e-9)

    wkb[0] = shapely.to_wkb(shapely.set_srid(PLACES[0], 4326), include_srid=True)
    with pytest.raises(BadInput, match="has places in EPSG:25830 and EPSG:4326, in 'geom'"):
        list(from_frame(pd.DataFrame({"id": 1, "geom": wkb})))


def test_geometries_may_be_in_a_column_with_a_number_for_its_name() -> None:
    frame = geopandas.GeoDataFrame({0: PLACES, "id": 1}, geometry=0, crs="EPSG:4326")
    assert places(list(from_frame(frame))) == [coordinates([0, 1, 2, 3])]


# From movingpandas


def moving(**options: Any) -> Any:
    frame = points(ride=[7, 8, 7, 8], who=["ann", "bob"] * 2).set_index(TIMES)
    return collection(frame, traj_id_col="ride", **options)


def test_trajectories_of_movingpandas_are_traces() -> None:
    found = list(from_collection(moving(obj_id_col="who")))
    assert [(one.name, one.subject) for one in found] == [("7", "ann"), ("8", "bob")]
    assert places(found) == [coordinates([0, 2]), coordinates([1, 3])]
    assert [one.time.tolist() for one in found] == [[10, 30], [20, 40]]


def test_times_with_a_zone_stay_the_same_moments() -> None:
    # movingpandas keeps local times, and the zone aside.
    times = TIMES.tz_localize("UTC").tz_convert("America/New_York")
    frame = points(ride=1).set_index(times)
    (one,) = from_collection(collection(frame, traj_id_col="ride"))
    assert one.time.tolist() == [10, 20, 30, 40]


def test_an_hour_that_came_twice_has_no_time() -> None:
    utc = ["2020-10-24 23:59", "2020-10-25 00:30", "2020-10-25 02:00"]
    times = pd.DatetimeIndex(utc, tz="UTC").tz_convert("Europe/Madrid")
    frame = points(ride=1).iloc[:3].set_index(times)
    (one,) = from_collection(collection(frame, traj_id_col="ride"))
    first, _, last = (stamp.timestamp() for stamp in times)
    np.testing.assert_array_equal(one.time, [first, np.nan, last])


def test_rows_without_place_are_said(caplog: pytest.LogCaptureFixture) -> None:
    frame = points(ride=1).set_index(TIMES)
    frame.geometry = [*PLACES[:3], None]
    with caplog.at_level(logging.WARNING):
        (one,) = from_collection(collection(frame, traj_id_col="ride"))
    assert places([one]) == [coordinates([0, 1, 2])]
    assert one.time.tolist() == [10, 20, 30]
    assert caplog.messages[-1] == "left out of the frame, features without geometry: 1"


@pytest.mark.parametrize("other", [[1, 2], points(id=1), "x.csv"])
def test_what_is_not_of_movingpandas_is_refused(other: Any) -> None:
    with pytest.raises(BadInput, match="from_collection takes a collection of movingpandas, not "):
        list(from_collection(other))


# To both, and back

numbers = st.integers(0, 1_000_000)


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectories:
    n, m = draw(st.integers(1, 6)), draw(st.integers(2, 5))
    lat = draw(arrays(np.float64, (n, m), elements=st.floats(-90, 90)))
    lon = draw(arrays(np.float64, (n, m), elements=st.floats(-180, 180)))
    subject = draw(arrays(np.int64, n, elements=numbers))
    known = draw(st.booleans())
    return Trajectories(
        points=np.stack([lat, lon], axis=-1),
        subject=subject if known else None,
        trace=draw(arrays(np.int64, n, elements=numbers)) if known else None,
    )


def is_back(found: list[Trace], given: Trajectories) -> bool:
    """Whether these are the trajectories, bit for bit, in their order."""
    points = [np.stack([one.lat, one.lon], axis=-1).tobytes() for one in found]
    subjects = [None] * len(given) if given.subject is None else given.subject.tolist()
    return (
        points == [one.tobytes() for one in given.points]
        and [one.subject and int(one.subject) for one in found] == subjects
    )


@given(given=trajectories())
def test_to_a_frame_and_back(given: Trajectories) -> None:
    frame = given.to_geodataframe()
    assert frame.crs == "EPSG:4326"
    for name in ("subject", "trace"):
        expected = getattr(given, name)
        assert (name in frame) == (expected is not None)
        assert expected is None or frame[name].tolist() == expected.tolist()
    found = list(from_frame(frame))
    assert is_back(found, given)
    assert all(np.isnan(one.time).all() for one in found)
