"""Groups of windows slide away from where all of their recordings begin or end."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks_laid_out import tracks_of
from windows_from_homes import windows_from_homes

from trajanon.grouping.sliding.off_recording_ends import slid_off_ends
from trajanon.release.plan import Plan
from trajanon.trajectories.trajectories import Trajectories


def slid(windows: Trajectories, people: int) -> tuple[Trajectories, list[int]]:
    """The windows where they slid, if each home is a group; and the groups that still lack one."""
    labels = np.arange(len(windows)) // people
    ends = Plan.of({}).ends_of(windows)
    assert ends is not None
    moved = slid_off_ends(windows, labels, ends)
    ends = Plan.of({}).ends_of(moved)
    assert ends is not None
    return moved, ends.groups_lacking_places(labels)


@given(people=st.integers(2, 5), seed=st.integers(0, 10**6))
def test_the_windows_of_a_group_slide_together_by_no_more_than_is_needed(
    people: int, seed: int
) -> None:
    moved, lacking = slid(windows_from_homes(3, people, 20, seed=seed), people)
    assert lacking == []
    start = tracks_of(moved).start.reshape(3, people)
    assert (start == start[:, :1]).all()
    assert start.min() >= 8  # of 25 m: the line has to be 250 m from one of the ends
    assert start.max() <= 11


def test_windows_without_room_stay_while_others_slide_farther() -> None:
    windows = windows_from_homes(2, 4, 20)
    tracks = tracks_of(windows)
    first = tracks.first.copy()
    first[1:] -= 20  # the first run ends with its window
    ticks = np.delete(tracks.points.ticks, np.arange(tracks.first[1] - 20, tracks.first[1]), axis=0)
    tracks = replace(tracks, points=replace(tracks.points, ticks=ticks), first=first)
    moved, lacking = slid(replace(windows, tracks=tracks), 4)
    assert lacking == []
    start = tracks_of(moved).start
    assert start[0] == 0
    assert (start[1:4] > start[4:].max()).all()


@pytest.mark.parametrize("room", [0, 4])
def test_groups_without_room_stay(room: int) -> None:
    windows = windows_from_homes(2, 3, room)
    moved, lacking = slid(windows, 3)
    assert lacking == [0, 1]
    assert (moved.points == windows.points).all()


def test_where_a_border_cut_the_runs_nothing_slides() -> None:
    windows = windows_from_homes(2, 3, 20)
    cut = replace(tracks_of(windows), true_ends=np.array([[False, True]] * 6))
    windows = replace(windows, tracks=cut)
    moved, lacking = slid(windows, 3)
    assert lacking == []
    assert moved is windows
