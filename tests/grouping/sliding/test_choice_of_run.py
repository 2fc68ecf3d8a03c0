"""A window that is alone in its recording may lie on any of its runs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards import shards_of, write_parts

import trajanon
from trajanon.common.arrays import Ints
from trajanon.common.errors import BadInput
from trajanon.evaluation.evaluation import evaluate
from trajanon.files.trajectory_files import read_trajectories
from trajanon.grouping.sliding import choice_of_run
from trajanon.grouping.sliding.choice_of_run import placed
from trajanon.release.originals import matched
from trajanon.release.report_files import checked, read_report
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks, joined_tracks
from trajanon.trajectories.trajectories import Trajectories

M = 3
ROOM = STEPS * (M - 1)


def recorded(seed: int, n: int = 12, people: int = 6, several: int = 0) -> Trajectories:
    """Recordings of one to three runs, with a window each; the first ones with a second window."""
    random = np.random.default_rng(seed)
    runs = random.integers(1, 4, n)
    recording = np.repeat(np.arange(n), runs)
    size = random.integers(ROOM + 1, 4 * ROOM, len(recording))
    size[np.cumsum(runs)[:several] - 1] = 3 * ROOM
    steps = random.normal(0.0, 1e-4, (int(size.sum()), 2)).cumsum(axis=0) + np.array([40.0, -3.7])
    first = np.append(0, np.cumsum(size))
    last = np.cumsum(runs) - 1
    run = np.append(last - random.integers(0, runs), last[:several])
    run[:several] = last[:several]
    start = np.zeros(len(run), dtype=np.int64)
    start[n:] = ROOM + 1
    tracks = Tracks(TrackPoints.of(steps), first, run, start, recording=recording)
    return Trajectories(
        tracks.windows(M),
        subject=np.arange(len(run)) % people,
        trace=tracks.recording_of,
        tracks=tracks,
    )


def tracks_of(trajectories: Trajectories) -> Tracks:
    assert trajectories.tracks is not None
    return trajectories.tracks


def one_look(trajectories: Trajectories, k: int, start: list[tuple[int, int]]) -> list[Any]:
    """Where each window would be, if the others were at such runs and starts: all are tried."""
    tracks, subjects = tracks_of(trajectories), trajectories.subject
    assert subjects is not None
    assert tracks.recording is not None
    given = trajectories.records
    mean, spread = given.mean(axis=0), given.std(axis=0)

    def record(place: tuple[int, int]) -> Any:
        first = tracks.first[place[0]] + place[1]
        points = tracks.points[first + STEPS * np.arange(M)]
        return (points.ravel() - mean) / spread

    others = [record(place) for place in start]
    found = []
    for x, here in enumerate(start):
        tried = [here]
        mine = int(tracks.recording_of[x])
        runs = [r for r in range(len(tracks.recording)) if tracks.recording[r] == mine]
        room = {r: int(tracks.first[r + 1] - tracks.first[r]) - ROOM for r in runs}
        pace = max(2 * STEPS, sum(room.values()) // 30)
        if (tracks.recording_of == mine).sum() == 1:
            tried = [(int(tracks.run[x]), int(tracks.start[x]))]
            tried += [(r, s) for r in runs for s in range(0, room[r], pace)]
        costs = []
        for place in tried:
            away = [
                ((record(place) - others[y]) ** 2).sum()
                for y in range(len(start))
                if subjects[y] != subjects[x]
            ]
            costs.append(sum(sorted(away)[: k - 1]))
        found.append(tried[int(np.argmin(np.round(costs, 9)))])
    return found


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 4), several=st.integers(0, 3))
def test_windows_go_where_those_of_others_are_nearest(seed: int, k: int, several: int) -> None:
    trajectories = recorded(seed, several=several)
    tracks = tracks_of(trajectories)
    expected = list(zip(tracks.run.tolist(), tracks.start.tolist(), strict=True))
    for _ in range(4):
        expected = one_look(trajectories, k, expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            choice_of_run, "_LOOKED_AT", 100
        )  # so many that of one subject never hide the others
        found = tracks_of(placed(trajectories, k, subjects=trajectories.subject))
    assert list(zip(found.run.tolist(), found.start.tolist(), strict=True)) == expected


@given(seed=st.integers(0, 2**32 - 1), several=st.integers(0, 3))
def test_starts_along_recordings_are_places_on_runs(seed: int, several: int) -> None:
    tracks = tracks_of(recorded(seed, several=several))
    same = tracks.slid(tracks.along)
    assert (same.run.tolist(), same.start.tolist()) == (tracks.run.tolist(), tracks.start.tolist())
    random = np.random.default_rng(seed)
    which = random.permutation(len(tracks.run))[:5]
    some = tracks.take(which)
    np.testing.assert_array_equal(some.windows(M), tracks.windows(M)[which])
    assert some.recording is not None
    assert tracks.recording is not None
    kept = np.isin(tracks.recording, tracks.recording_of[which])
    assert some.recording.tolist() == tracks.recording[kept].tolist()
    both = joined_tracks([tracks, some])
    np.testing.assert_array_equal(
        both.windows(M), np.concatenate([tracks.windows(M), some.windows(M)])
    )
    assert both.recording is not None
    assert len(np.unique(both.recording)) == len({*tracks.recording}) + len({*some.recording})


def test_windows_of_one_recording_stay_on_their_runs() -> None:
    trajectories = recorded(1, several=12)
    assert placed(trajectories, 3, subjects=trajectories.subject) is trajectories


def together(n: int = 12) -> Trajectories:
    """Recordings of two runs: the first is anywhere, and the second the street of all."""
    random = np.random.default_rng(0)
    street = np.stack([np.full(5 * ROOM, 40.5), -3.7 + 1e-4 * np.arange(5 * ROOM)], axis=1)
    lone = street + random.uniform(-0.4, 0.4, (n, 1, 2))
    runs = np.stack([lone, street + random.normal(0, 1e-6, (n, 1, 2))], axis=1)
    first = np.arange(0, 2 * n * 5 * ROOM + 1, 5 * ROOM)
    tracks = Tracks(
        TrackPoints.of(runs.reshape(-1, 2)),
        first,
        2 * np.arange(n),
        np.zeros(n, dtype=np.int64),
        recording=np.repeat(np.arange(n), 2),
    )
    return Trajectories(tracks.windows(M), subject=np.arange(n), trace=np.arange(n), tracks=tracks)


def test_whoever_meets_only_on_another_run_is_averaged_there() -> None:
    windows = together()
    release = trajanon.anonymize(windows, 3, effort="fast")
    report = checked(release.report)
    assert release.report["displacement"]["mean"] < 20.0
    found = matched(report.released_of(windows), release.trajectories, report)
    assert (tracks_of(found.slid).run % 2 == 1).all()
    assert release.report["alignment"]["slid"] == 1.0
    assert evaluate(windows, release.trajectories, release.report).holds
    again = trajanon.anonymize(windows, 3, effort="fast").report
    assert again["alignment"]["starts"] == release.report["alignment"]["starts"]


def test_in_shards_as_in_one_piece(tmp_path: Path) -> None:
    source = write_parts(tmp_path / "trips", together(24), 5)
    with shards_of(12):
        report = anonymize_parts(str(source), str(tmp_path / "out"), 3, effort="fast")
    assert report["shards"] == 2
    assert report["displacement"]["mean"] < 20.0
    alignment = read_report(tmp_path / "out").alignment
    assert alignment is not None
    slid = tracks_of(read_trajectories(source)).slid(np.array(alignment.starts))
    assert (slid.run % 2 == 1).all()


def wrong(recording: Ints) -> Tracks:
    return replace(tracks_of(together()), recording=recording)


def test_recordings_are_rising_numbers_and_windows_stay_in_theirs() -> None:
    for odd in (np.arange(24)[::-1], np.arange(3), np.arange(24) - 1):
        with pytest.raises(BadInput, match="perhaps a recording of each run, rising"):
            wrong(odd)
    tracks = tracks_of(together())
    with pytest.raises(BadInput, match="outside its recording"):
        tracks.slid(tracks.along + 100 * ROOM)
