"""Traces to trajectories: who made them, what is dropped and counted, which are taken."""

import json
import math
from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import line, trace
from tracks_laid_out import recordings, runs_with

from trajanon.common.errors import NoTrajectories
from trajanon.extract.earth.area import Box
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import Cutter, cut, finished_cut
from trajanon.trajectories.tracks import joined_tracks

RULES = Rules(per_recording=None, spacing=10, points=3, max_pause=300)
DROPPED = (
    "points impossible",
    "points of repeated recordings",
    "points without time in a timed recording",
    "points merged (equal times)",
    "points repeated in place",
    "points outside the area",
)


def walk(name: str, metres: float, subject: str | None = None, lat: float = 40.0) -> Trace:
    """A way of so many metres, the eastern one of its latitude."""
    return line([0, metres], name=name, subject=subject, start=(lat, -3.0))


def subjects(traces: list[Trace], rules: Rules = RULES) -> list[int]:
    found = cut(traces, rules).subject
    assert found is not None
    return [int(number) for number in found]


def counts(traces: list[Trace], **more: Any) -> dict[str, int]:
    found = cut(traces, RULES, **more).provenance["counts"]
    assert isinstance(found, dict)
    return found


def test_subjects_and_traces_are_numbered_in_order_of_appearance() -> None:
    found = cut(
        [
            walk("t9", 50, "zoe", 40.0),
            walk("t7", 25, "bob", 40.1),
            walk("t3", 25, "zoe", 40.2),
            walk("t7", 25, "bob", 40.3),
        ],
        RULES,
    )
    assert found.subject is not None
    assert found.trace is not None
    assert found.subject.tolist() == [0, 0, 1, 0, 1]
    assert found.trace.tolist() == [0, 0, 1, 2, 1]


def test_one_window_of_a_recording_lies_in_the_middle_of_its_longest_run() -> None:
    """And keeps all runs with room for it: it may slide to any of them."""
    pauses = np.array([0.0, 0, 0, 400, 400, 400, 400, 800, 800, 1_200, 1_200])
    metres = np.array([0.0, 10, 25, 26, 46, 66, 96, 97, 103, 104, 134])
    way = line(metres.tolist(), (pauses + metres).tolist(), name="a")
    rules = replace(RULES, max_pause=300, per_recording=1)
    made = cut([way, walk("b", 55, "bob", 40.1)], rules)
    tracks = made.tracks
    assert tracks is not None
    assert tracks.recording is not None
    assert tracks.recording.tolist() == [0, 0, 0, 1]
    assert np.diff(tracks.first).tolist() == [11, 29, 13, 23]
    assert tracks.run.tolist() == [1, 3]
    assert tracks.start.tolist() == [12, 12]
    some = tracks.take(np.array([1])).recording
    assert some is not None
    assert some.tolist() == [1]
    several = cut([way], replace(rules, per_recording=None)).tracks
    assert several is not None
    assert several.recording is None


@given(st.data())
def test_runs_stay_with_their_recordings_whatever_is_taken_and_joined(data: st.DataObject) -> None:
    drawn = [data.draw(recordings()) for _ in range(data.draw(st.integers(1, 3)))]
    both = joined_tracks(drawn)
    assert both.recording is not None
    m = 2
    held = [
        [runs.tobytes() for runs in runs_with(tracks, row)]
        for tracks in drawn
        for row in range(len(tracks.run))
    ]
    order = np.array(data.draw(st.permutations(range(len(held)))))
    some = order[: data.draw(st.integers(1, len(held)))]
    taken = both.take(some)
    np.testing.assert_array_equal(taken.windows(m), both.windows(m)[some])
    assert [[runs.tobytes() for runs in runs_with(taken, row)] for row in range(len(some))] == [
        held[row] for row in some
    ]


def test_the_counts_add_up() -> None:
    lat = [40.0, 0.0, 40.0, 40.0005, 40.0006, 40.001, math.nan, 40.0015, 40.2]
    lon = [-3.0, 0.0, *[-3.0] * 7]
    time = [0.0, 1.0, 2.0, 3.0, 3.0, math.nan, 5.0, 6.0, 900.0]
    ann = trace(list(zip(lat, lon, strict=True)), time, subject="ann")
    box = Box(-3.1, 39.9, -2.9, 40.1)
    found = counts([ann, replace(ann, name="copy"), walk("b", 25)], area=box)
    assert found == {
        "points read": 20,
        "points of repeated recordings": 9,
        "recordings of unknown subjects": 1,
        "subjects without a name": 1,
        "recordings read": 3,
        "recordings repeated": 1,
        "subjects read": 2,
        "points impossible": 2,
        "points without time in a timed recording": 1,
        "points spread over their minute": 0,
        "points merged (equal times)": 1,
        "stray points": 0,
        "points repeated in place": 1,
        "cuts at pauses": 1,
        "cuts at long hops": 0,
        "cuts at impossible speeds": 0,
        "points outside the area": 1,
        "points used": 5,
        "seconds of track": 6,
        "metres of track": 192,
        "metres used": 192,
        "trajectories without times": 1,
        "subjects of trajectories": 2,
        "trajectories": 6,
    }
    dropped = sum(found[name] for name in DROPPED)
    assert found["points read"] == dropped + found["points used"]


def test_the_provenance_says_how_it_was_done() -> None:
    box = Box(-3.1, 39.9, -2.9, 40.1)
    rules = Rules(spacing=10, points=3, max_gap=None, max_pause=60)
    found = cut([walk("a", 25)], rules, area=box)
    provenance = dict(found.provenance)
    assert isinstance(provenance.pop("counts"), dict)
    for name in ("columns", "possible_persons"):
        assert provenance.pop(name) == []
    assert provenance == {
        "area": "-3.1,39.9,-2.9,40.1",
        "box": [-3.1, 39.9, -2.9, 40.1],
        **asdict(rules),
        "trips": False,
        "found": {},
        "recordings": {"read": 1, "with a trajectory": 1, "left out": {}},
    }
    assert json.loads(json.dumps(provenance)) == provenance


def test_only_points_without_time_are_said() -> None:
    read = Counter({"points without time": 7791})
    with pytest.raises(
        NoTrajectories, match=r"points without time, 100 % \(7,791 of 7,791\); .* larger box"
    ):
        finished_cut([], Cutter(RULES, unread=read))


def test_batches_are_smaller_where_a_metre_gives_many_places() -> None:
    """200 km of track at a metre: a few traces are enough for the memory."""
    traces = [walk(str(number), 20_000, None, 40 + number / 10) for number in range(10)]
    fine = Rules(per_recording=None, spacing=0.01, max_gap=None)
    coarse = Rules(per_recording=None, spacing=100, max_gap=None)
    assert [len(some) for some in Cutter(coarse).batches(iter(traces))] == [10]
    assert [len(some) for some in Cutter(fine).batches(iter(traces))] == [1] * 10
    hop = replace(fine, max_gap=500.0)  # which the way of 20 km is longer than
    assert [len(some) for some in Cutter(hop).batches(iter(traces))] == [7, 3]
