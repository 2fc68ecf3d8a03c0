"""Tracks in a file: whole, in part, damaged, or of other programs."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyproj
import pytest
import shapely
from commands import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import UNTIMED
from tracks_laid_out import (
    any_trajectories,
    assert_equal,
    example,
    laid_out,
    places,
    recordings,
    runs_of,
    runs_with,
    tracks_of,
)

from trajanon.common.arrays import Ints
from trajanon.common.errors import BadInput
from trajanon.files import track_rows
from trajanon.files.release_formats import write_release
from trajanon.files.trajectory_files import read_trajectories, write_trajectories
from trajanon.trajectories.tracks import Tracks, joined_tracks
from trajanon.trajectories.trajectories import Trajectories


@pytest.mark.parametrize("few", [False, True])
@given(data=st.data(), at_once=st.sampled_from([1, 30, 10**6]))
def test_tracks_are_read_to_the_bit_as_they_were_written(
    few: bool, data: st.DataObject, at_once: int, tmp_path: Path
) -> None:
    trajectories = data.draw(any_trajectories(few))
    runs = len(tracks_of(trajectories).first) - 1
    true_ends = np.arange(2 * runs).reshape(runs, 2) % 3 > 0
    trajectories = replace(
        trajectories, tracks=replace(tracks_of(trajectories), true_ends=true_ends)
    )
    path = tmp_path / "trajectories.parquet"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(track_rows, "_POINTS_PER_BLOCK", at_once)
        write_trajectories(path, trajectories)
    got = read_trajectories(path)
    assert got.points.tobytes() == trajectories.points.tobytes()
    assert_equal(got.tracks, trajectories.tracks)
    assert tracks_of(got).points.ticks.flags.c_contiguous
    assert tracks_of(got).ends_are_true.tolist() == true_ends.tolist()


@given(tracks=recordings(3), at_once=st.sampled_from([1, 30, 10**6]))
def test_all_runs_of_a_recording_are_read_as_they_were_written(
    tracks: Tracks, at_once: int, tmp_path: Path
) -> None:
    n = len(tracks.run)
    runs = len(tracks.first) - 1
    tracks = replace(tracks, true_ends=np.arange(2 * runs).reshape(runs, 2) % 3 > 0)
    made = Trajectories(
        tracks.windows(3), np.arange(n), tracks=tracks, times=tracks.times_of_windows(3)
    )
    made = replace(made, true_ends=np.arange(2 * n).reshape(n, 2) % 3 > 0)
    path = tmp_path / "trajectories.parquet"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(track_rows, "_POINTS_PER_BLOCK", at_once)
        write_trajectories(path, made)
    got = read_trajectories(path)
    assert_equal(got.tracks, tracks)
    assert tracks_of(got).recording.tolist() == tracks.recording.tolist()  # type: ignore[union-attr]
    assert tracks_of(got).times.tolist() == tracks.times.tolist()  # type: ignore[union-attr]
    assert got.true_ends.tolist() == made.true_ends.tolist()  # type: ignore[union-attr]
    assert tracks_of(got).ends_are_true.tolist() == tracks.ends_are_true.tolist()
    rows_of(path, np.arange(n)[::-2])
    some = read_trajectories(path)
    for row, was in enumerate(range(n)[::-2]):
        for one, other in zip(runs_with(tracks_of(some), row), runs_with(tracks, was), strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("runs", [[11], [12]], "its tracks are not as extract writes them"),
        ("start", [0, 9], "its tracks are not as|its run has 11 points"),
        ("track_true_ends", [[1], [1, 1]], "its tracks are not as extract writes them"),
    ],
)
def test_runs_that_are_not_those_of_the_track_are_refused(
    column: str, values: list[Any], says: str, tmp_path: Path
) -> None:
    tracks = replace(laid_out(3, [[0, 2], [1, 1]]), recording=np.arange(2))
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, Trajectories(tracks.windows(3), np.arange(2), tracks=tracks))
    table = geopandas.read_parquet(path)
    table[column] = values
    table.to_parquet(path)
    with pytest.raises(BadInput, match=says):
        read_trajectories(path)


def rows_of(path: Path, which: Ints) -> None:
    """Keep some of the rows of a file, as anybody would."""
    geopandas.read_parquet(path).iloc[which].to_parquet(path)


@given(trajectories=any_trajectories(), data=st.data())
def test_some_rows_in_any_order_are_valid_by_themselves(
    trajectories: Trajectories, data: st.DataObject, tmp_path: Path
) -> None:
    """Each run that is left is a part of one that was, and no ground is on two."""
    path = tmp_path / "trajectories.parquet"
    all_true = np.ones((len(tracks_of(trajectories).first) - 1, 2), dtype=np.bool_)
    trajectories = replace(
        trajectories, tracks=replace(tracks_of(trajectories), true_ends=all_true)
    )
    write_trajectories(path, trajectories)
    rows = st.permutations(range(len(trajectories)))
    size = data.draw(st.integers(1, len(trajectories)))
    which = np.array(data.draw(rows)[:size])
    rows_of(path, which)
    got = read_trajectories(path)
    np.testing.assert_array_equal(got.points, trajectories.points[which])
    before, after = tracks_of(trajectories), tracks_of(got)
    ground: list[int] = []
    for r, run in enumerate(runs_of(after)):
        one = np.flatnonzero(after.run == r)[0]
        was = which[one]
        begin = before.first[before.run[was]] + before.start[was] - after.start[one]
        np.testing.assert_array_equal(run, before.points[begin : begin + len(run)])
        ground += range(begin, begin + len(run))
    assert len(ground) == len(set(ground))
    # Where a row is missing, a run has an end that is none of its recording.
    for r, (run_first, run_end) in enumerate(pairwise(after.first.tolist())):
        one = np.flatnonzero(after.run == r)[0]
        begin = before.first[before.run[which[one]]] + before.start[which[one]] - after.start[one]
        end = begin + run_end - run_first
        is_end = [begin in before.first[:-1], end in before.first[1:]]
        assert after.ends_are_true[r].tolist() == is_end
    write_trajectories(path, got)
    assert_equal(read_trajectories(path).tracks, got.tracks)


def test_a_place_that_is_met_again_does_not_hide_a_missing_row(tmp_path: Path) -> None:
    """The second window begins where the third does; without it, two runs are left."""
    points = places(40)
    points[28] = points[14]
    tracks = laid_out(3, [[0, 5, 5, 3]], points)
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, Trajectories(tracks.windows(3), tracks=tracks))
    assert_equal(read_trajectories(path).tracks, tracks)
    rows_of(path, np.array([0, 2]))
    assert tracks_of(read_trajectories(path)).first.tolist() == [0, 15, 27]


def test_files_put_together_stay_on_their_own_runs(tmp_path: Path) -> None:
    """Runs are numbered from 0 in each; their grounds must not be joined."""
    m, path = 3, tmp_path / "trajectories.parquet"
    tables, parts = [], []
    for seed in (1, 2):
        tracks = laid_out(m, [[2, 5, 3]], places(28, seed=seed))
        parts.append(tracks)
        write_trajectories(path, Trajectories(tracks.windows(m), tracks=tracks))
        tables.append(geopandas.read_parquet(path))
    for some in ([0, 1, 2, 3], [0, 3], [1, 2]):
        pd.concat(tables).iloc[some].to_parquet(path)
        got = tracks_of(read_trajectories(path))
        whole = joined_tracks(parts)
        np.testing.assert_array_equal(got.windows(m), whole.windows(m)[some])
        steps = {p.tobytes() for run in runs_of(whole) for p in run}
        pairs = {(a.tobytes(), b.tobytes()) for r in runs_of(whole) for a, b in pairwise(r)}
        for run in runs_of(got):
            assert {p.tobytes() for p in run} <= steps
            assert {(a.tobytes(), b.tobytes()) for a, b in pairwise(run)} <= pairs


def test_tracks_are_a_second_column_of_lines_for_everybody(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, example())
    table = geopandas.read_parquet(path)
    assert list(table.columns) == [
        *("trajectory", "subject", "trace", "run", "start", "geometry", "track")
    ]
    assert table.geometry.name == "geometry"
    for name in ("geometry", "track"):
        assert table[name].crs == pyproj.CRS("OGC:CRS84")
        assert set(table[name].geom_type) == {"LineString"}
    schema = pq.read_schema(path)
    assert schema.field("run").type == schema.field("start").type == pa.int64()
    assert all(not field.metadata for field in schema)
    geo = json.loads(schema.metadata[b"geo"])
    assert geo["primary_column"] == "geometry"
    lines = {"encoding": "WKB", "geometry_types": ["LineString"]}
    assert geo["columns"] == {"geometry": lines, "track": lines}
    on_track = shapely.get_coordinates(table.track.iloc[0])[:, ::-1].tolist()
    assert all(point in on_track for point in example().points[0].tolist())


@pytest.mark.parametrize("suffix", UNTIMED)
def test_a_release_never_holds_tracks(tmp_path: Path, suffix: str) -> None:
    with_tracks, without = (tmp_path / f"{name}{suffix}" for name in "ab")
    write_release(with_tracks, example())
    write_release(without, Trajectories(example().points))
    assert with_tracks.read_bytes() == without.read_bytes()


Damage = Callable[[pa.Table], pa.Table]


def column(name: str, change: Callable[[list[Any]], object]) -> Damage:
    """Change a column, by hand or as another program might."""

    def damage(table: pa.Table) -> pa.Table:
        place = table.column_names.index(name)
        values = change(table[name].to_pylist())
        return table.set_column(place, name, pa.array(values))

    return damage


def row(value: object) -> Callable[[list[Any]], object]:
    """Put another value in the third row."""
    return lambda values: [*values[:2], value, *values[3:]]


def moved(line: bytes, place: int, to: tuple[float, float]) -> bytes:
    points = shapely.get_coordinates(shapely.from_wkb(line))
    points[place] = to
    with np.errstate(invalid="ignore"):
        return bytes(shapely.to_wkb(shapely.LineString(points)))


def point_of_third(place: int, to: tuple[float, float]) -> Callable[[list[Any]], object]:
    return lambda lines: [*lines[:2], moved(lines[2], place, to), *lines[3:]]


def dropped(*names: str) -> Damage:
    return lambda table: table.drop_columns(list(names))


AMISS = "its tracks are not as extract writes them"
EMPTY = shapely.to_wkb(shapely.LineString())
POINT = shapely.to_wkb(shapely.Point(1, 2))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (column("track", point_of_third(7, (0.0, 0.0))), AMISS),
        (column("geometry", point_of_third(1, (0.0, 0.0))), AMISS),
        (column("start", row(1)), AMISS),
        (column("start", row(2**63 - 1)), AMISS),
        (column("start", row(-(2**63))), AMISS),
        (column("track", row(EMPTY)), AMISS),
        (column("track", row(POINT)), AMISS),
        (column("track", row(None)), AMISS),
        (column("track", row(b"LINESTRING")), AMISS),
        (column("track", lambda lines: list(range(len(lines)))), AMISS),
        (column("track", point_of_third(-1, (0.0, 91.0))), "is not on Earth"),
        (column("track", point_of_third(-1, (0.0, math.nan))), "is not on Earth"),
        (column("run", row(None)), "its column run does not hold a whole number"),
        (column("start", lambda starts: list(map(str, starts))), "its column start"),
        (dropped("run"), "its column run does not"),
    ],
)
def test_a_damaged_track_is_one_sentence_with_the_way_out(
    run: Run, tmp_path: Path, damage: Damage, says: str
) -> None:
    """The third row is the first window of its run, three steps from its beginning."""
    tracks = laid_out(3, [[3, 2], [0, 3], [3, 5, 2]])
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, Trajectories(tracks.windows(3), tracks=tracks))
    table = damage(pq.read_table(path))
    pq.write_table(table, tmp_path / "damaged.parquet")
    sentence = run("anonymize", "damaged.parquet", "-k", 2).sentence
    assert sentence.startswith("trajanon: damaged.parquet: ")
    assert says in sentence
    assert "extract again, or leave out columns run, start and track" in sentence
    left = [name for name in table.column_names if name in ("run", "start", "track")]
    pq.write_table(dropped(*left)(table), tmp_path / "without.parquet")
    assert read_trajectories(tmp_path / "without.parquet").tracks is None


def test_what_others_call_a_track_is_not_ours(tmp_path: Path) -> None:
    """A column of numbers, or of lines that the metadata do not name."""
    path = tmp_path / "other.parquet"
    lines = shapely.linestrings(example().points[:, :, ::-1])
    table = geopandas.GeoDataFrame(
        {"track": np.arange(6), "run": 1, "start": 2}, geometry=lines, crs="EPSG:4326"
    )
    table.to_parquet(path)
    assert read_trajectories(path).tracks is None


def test_runs_and_starts_may_have_become_floats(tmp_path: Path) -> None:
    """As pandas makes them where it once had to hold a missing one."""
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, example())
    table = geopandas.read_parquet(path)
    table.astype({"run": float, "start": float}).to_parquet(path)
    assert_equal(read_trajectories(path).tracks, example().tracks)


@given(trajectories=any_trajectories(), most=st.integers(1, 5))
@settings(max_examples=10)
def test_batches_and_bytes_leave_every_bit(
    tmp_path_factory: pytest.TempPathFactory, trajectories: Trajectories, most: int
) -> None:
    """Of our own writer, and as others write the same lines: read one by one."""
    path = tmp_path_factory.mktemp("lines") / "trajectories.parquet"
    write_trajectories(path, trajectories)
    table = pq.read_table(path)
    others = table
    for name in ("geometry", "track"):
        place = others.column_names.index(name)
        lines = shapely.from_wkb(others[name].to_numpy())
        big = pa.array(shapely.to_wkb(lines, byte_order=0), type=pa.large_binary())
        others = others.set_column(place, name, big)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trajanon.files.geoparquet._ROWS_PER_BATCH", most)
        for written in (table, others, pa.concat_tables([table[:1], table[1:]])):
            pq.write_table(written, path, row_group_size=3)
            found = read_trajectories(path)
            assert np.array_equal(found.points, trajectories.points)
            assert_equal(found.tracks, trajectories.tracks)
