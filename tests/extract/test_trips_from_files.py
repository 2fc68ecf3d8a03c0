"""Trips of recordings in pieces, from files, in parts, stopped, by several processes."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gpx_written import document
from naive_trips import places_of
from recorded_trips import RULES, east, there_and_back_again, times_of
from tracks import Leg, bent, trace

from trajanon.extract import Extraction, Rules, cut, cutting, extract, extraction
from trajanon.extract.earth.area import Box
from trajanon.extract.sources import trace_pieces
from trajanon.extract.sources.trace_pieces import joined_pieces
from trajanon.extract.trace import Trace
from trajanon.extract.trips import CUT_OFF, FOUND, LEFT_OUT
from trajanon.files.trajectory_files import read_trajectories
from trajanon.partition import dense
from trajanon.trajectories import Trajectories


def test_pieces_of_two_devices_at_one_time_stay_apart_and_are_counted() -> None:
    ways, seconds = np.arange(0, 4_001, 100.0), 10.0 * np.arange(41)
    one, other = east(ways, seconds), east(ways + 30.0, seconds + 200.0)
    later = east(ways + 7_000.0, seconds + 1_000.0)
    found = cut([one, other, later], RULES)
    assert sorted(times_of(found)[:, 0] - 1e9) == [0, 200, 1_000]
    assert found.provenance["counts"]["pieces of a recording whose times overlap"] == 1


SIZES = [[41], [1] * 41, [20, 1, 20], [1, 39, 1], [1, 20, 1, 1, 18]]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("rules", [RULES, Rules(spacing=100, points=41)])
@pytest.mark.parametrize("together", [1_000, 3])
def test_where_a_recording_is_cut_into_pieces_changes_nothing(
    sizes: list[int], turned: bool, rules: Rules, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_pieces, "_TOGETHER", together)
    whole = east(np.arange(0, 4_001, 100.0) * 1.0001, 10.0 * np.arange(41))
    ends = np.cumsum(sizes).tolist()
    pieces = [
        replace(whole, **{name: getattr(whole, name)[begin:end] for name in ("lat", "lon", "time")})
        for begin, end in zip([0, *ends], ends, strict=False)
    ]
    found = cut(pieces[::-1] if turned else pieces, rules)
    expected = cut([whole], rules)
    assert len(expected) == 1
    np.testing.assert_array_equal(found.points, expected.points)
    np.testing.assert_array_equal(times_of(found), times_of(expected))


def test_single_points_without_times_are_a_track_in_their_order() -> None:
    whole = east(np.arange(0, 4_001, 100.0), 10.0 * np.arange(41))
    single = [trace([place]) for place in zip(whole.lat, whole.lon, strict=True)]
    expected = cut([replace(whole, time=np.full(41, np.nan))], RULES)
    np.testing.assert_array_equal(cut(single, RULES).points, expected.points)
    longer = trace([(40.0, -3.0), (40.0, -3.01)])
    assert [len(one) for one in joined_pieces([*single, longer, *single], Counter())] == [41, 2, 41]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three tables of recordings with stays, pauses and hops that are too long."""
    folder = tmp_path / "traces"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(3):
        rows = []
        for ride in range(12):
            n = int(rng.integers(30, 80))
            steps = rng.choice([5.0, 120.0, 2_500.0], n, p=[0.19, 0.8, 0.01])
            steps[12:24] = 1.0
            legs: list[Leg] = [(float(rng.normal(90, 20)), float(step) + 0.1) for step in steps]
            fixes = places_of(bent(legs[1:], start=(40.40 + ride / 1e3, -3.73)))
            rows.append(
                pd.DataFrame(fixes, columns=["lat", "lon"]).assign(
                    trip_id=f"{number}-{ride}",
                    user_id=(5 * number + ride) % 7,
                    time=1_200_000_000 + 10_000 * ride + 40 * np.arange(n),
                )
            )
        pd.concat(rows).to_csv(folder / f"{number}.csv", index=False)
    return folder


def of(folder: Path, **more: Any) -> Extraction:
    rules = Rules(points=6, max_per_subject=9, min_length=700.0)
    return Extraction(folder, Box(-3.74, 40.39, -3.65, 40.43), rules, **more)


def is_the_same(one: Trajectories, other: Trajectories) -> bool:
    assert len(one) > 10
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(times_of(one), times_of(other))
    for name in ("subject", "trace"):
        np.testing.assert_array_equal(dense(getattr(one, name)), dense(getattr(other, name)))
    assert one.provenance == other.provenance
    return True


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "HELD", 8)
    monkeypatch.setattr(cutting, "BATCH", 150)


@pytest.mark.usefixtures("small")
def test_on_disk_and_by_two_processes_it_is_as_in_memory(folder: Path, tmp_path: Path) -> None:
    expected = of(folder).trajectories()
    assert expected.provenance["trips"] is True
    assert expected.provenance["spacing"] is None
    assert expected.unit == "trip"
    assert expected.tracks is None
    counts = expected.provenance["counts"]
    assert counts["stays"] > 0
    out = sum(counts.get(why, 0) for why in LEFT_OUT)
    over = sum(many for what, many in counts.items() if what.startswith("trajectories over"))
    assert counts[FOUND] == out + over + counts["trajectories"]
    of(folder).write(tmp_path / "a.parquet")
    assert is_the_same(expected, read_trajectories(tmp_path / "a.parquet"))
    assert is_the_same(expected, of(folder, jobs=2).trajectories())
    of(folder).write(tmp_path / "parts", partition=7)
    parts = [read_trajectories(path) for path in sorted((tmp_path / "parts").glob("*.parquet"))]
    assert {len(part) for part in parts[:-1]} == {7}
    points = np.concatenate([part.points for part in parts])
    np.testing.assert_array_equal(points, expected.points)
    times = np.concatenate([times_of(part) for part in parts])
    np.testing.assert_array_equal(times, times_of(expected))


def gpx_of(recorded: Trace, pieces: int) -> bytes:
    """A file with the recording in so many segments."""
    text = "".join(
        "<trkseg>"
        + "".join(
            f'<trkpt lat="{recorded.lat[fix]}" lon="{recorded.lon[fix]}">'
            f"<time>{pd.Timestamp(recorded.time[fix], unit='s').isoformat()}Z</time></trkpt>"
            for fix in some
        )
        + "</trkseg>"
        for some in np.array_split(np.arange(len(recorded)), pieces)
    )
    return document(f"<trk>{text}</trk>")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_was_cut_off_gives_no_whole_trip_of_its_end(tmp_path: Path, jobs: int) -> None:
    both = there_and_back_again(600.0)
    content = gpx_of(both, 6)
    (tmp_path / "whole.gpx").write_bytes(content)
    moved = gpx_of(replace(both, lat=both.lat + 0.01), 6)
    (tmp_path / "cut.gpx").write_bytes(moved[: len(moved) - 300])
    found = extract(tmp_path, jobs=jobs)
    counts = found.provenance["counts"]
    assert (len(found), counts[FOUND], counts[CUT_OFF]) == (3, 4, 1)
    assert counts["files that could not be read"] == 1
