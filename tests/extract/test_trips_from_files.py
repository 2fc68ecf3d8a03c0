"""Trips of recordings in pieces, from files, in parts, stopped, by several processes."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gpx_written import document
from recorded_trips import RULES, east, there_and_back_again, times_of
from tracks import trace

from trajanon.extract import Rules, cut, extract
from trajanon.extract.sources.trace_pieces import joined_pieces
from trajanon.extract.trace import Trace
from trajanon.extract.why_left_out import CUT_OFF, FOUND


def test_pieces_of_two_devices_at_one_time_stay_apart_and_are_counted() -> None:
    ways, seconds = np.arange(0, 4_001, 100.0), 10.0 * np.arange(41)
    one, other = east(ways, seconds), east(ways + 30.0, seconds + 200.0)
    later = east(ways + 7_000.0, seconds + 1_000.0)
    found = cut([one, other, later], RULES)
    assert sorted(times_of(found)[:, 0] - 1e9) == [0, 200, 1_000]
    assert found.provenance["counts"]["pieces of a recording with overlapping times"] == 1


SIZES = [[41], [1] * 41, [20, 1, 20], [1, 39, 1], [1, 20, 1, 1, 18]]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("rules", [RULES, Rules(spacing=100, points=41)])
def test_where_a_recording_is_cut_into_pieces_changes_nothing(
    sizes: list[int], turned: bool, rules: Rules
) -> None:
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
    assert counts["files from their damage on"] == 1
    assert counts["files that could not be read"] == 0
