"""Windows of a drive, followed from line to line."""

from dataclasses import replace

import naive_attacks as naive
import numpy as np
import pytest
from commands import FAST, Run
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities, timed_cities
from toy import crossing

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.files.trajectory_files import write_trajectories
from trajanon.privacy.attack import Published
from trajanon.privacy.chains import LINE, WINDOW, Chained, chains, subjects_left
from trajanon.tracks import TrackPoints, Tracks

ROOM = 20


def drives(run: Ints, start: Ints) -> Tracks:
    """Runs of which nothing matters but which windows are on them, and in which order."""
    runs = int(run.max()) + 1
    return Tracks(
        TrackPoints.of(np.zeros((runs * ROOM, 2))), ROOM * np.arange(runs + 1), run, start
    )


@st.composite
def drives_of(draw: st.DrawFn, n: int) -> Tracks:
    random = np.random.default_rng(draw(st.integers(0, 999)))
    return drives(random.integers(0, draw(st.integers(1, 4)), n), random.permutation(ROOM)[:n])


def same(found: Chained | None, city: Published, tracks: Tracks) -> None:
    if found is None:
        assert not naive.steps(city, tracks)
        return
    assert list(found.left) == naive.subjects_left(city, tracks)
    starts = {LINE: None, WINDOW: city}
    assert set(found.followed) == set(starts)
    for start, followed in found.followed.items():
        *told, linked = naive.followed(city, tracks, starts[start])
        np.testing.assert_allclose(followed, told)
        assert start != LINE or found.linked == pytest.approx(linked)


@given(cities(most=12), st.data())
def test_it_is_the_slow_twin(city: Published, data: st.DataObject) -> None:
    tracks = data.draw(drives_of(len(city.points)))
    same(chains(city, tracks), city, tracks)
    alone = replace(city, subjects=None)
    same(chains(alone, tracks), alone, tracks)


@given(timed_cities(), st.data())
def test_times_count_like_places(city: Published, data: st.DataObject) -> None:
    tracks = data.draw(drives_of(len(city.points)))
    same(chains(city, tracks), city, tracks)


def crossroads() -> tuple[Published, Tracks]:
    """Two drives from west to east and two from south to north, of two windows each.

    All cross in the middle, where the first windows end and the second begin, and those of one
    direction are grouped. Places are in thousandths of a degree about a crossing at the equator.
    """
    along = np.array([-30.0, -20.0, -10.0]), np.array([0.0, 10.0, 20.0])
    eastward = [np.column_stack([[0.0, 0.0, 0.0], part]) for part in along]
    northward = [part[:, ::-1] for part in eastward]
    lines = np.array([*eastward, *northward]) / 1000.0
    labels = np.array([0, 1, 0, 1, 2, 3, 2, 3])
    tracks = drives(np.arange(8) // 2, np.arange(8) % 2)
    return Published(lines[labels], lines, labels, 2, np.arange(8) // 2), tracks


def test_a_heading_tells_the_lines_of_a_crossing_apart() -> None:
    city, tracks = crossroads()
    found = chains(city, tracks)
    assert found is not None
    assert found.followed[LINE] == found.followed[WINDOW] == (1.0, 1.0, 1.0, 0.0, 1.0)
    assert found.left == (4, 0, 0, 4, 0, 0)
    assert found.long_drives == 0
    assert "the first of all 4 lines in 100 % of the steps" in found.words
    assert "left with fewer than 2 subjects in 0 of 4 drives on several lines" in found.words


def test_companions_who_turn_off_leave_one_alone() -> None:
    """One of each pair turns at the crossing: each line still has two, each chain but one."""
    city, tracks = crossroads()
    turned = replace(city, labels=np.array([0, 1, 0, 3, 2, 3, 2, 1]))
    found = chains(turned, tracks)
    assert found is not None
    assert found.left == (4, 4, 4, 4, 4, 4)
    assert found.followed[LINE].first == 0.5
    assert found.linked == 1.0
    assert found.account["drives_alone"] == 4
    # Where k counts nobody's name, drives are counted, and these are as many.
    assert subjects_left(turned.labels, tracks, None, 2) == found.left
    # Whoever made both drives of a pair was alone on both lines before.
    one = subjects_left(city.labels, tracks, np.zeros(8, dtype=int), 2)
    assert one is not None
    assert (one.drives_below, one.drives_alone) == (4, 4)


def test_nothing_chains_without_steps() -> None:
    city, tracks = crossroads()
    assert chains(city, None) is None
    assert subjects_left(city.labels, None, city.subjects, 2) is None
    one_each = drives(np.arange(8), np.zeros(8, dtype=int))
    assert chains(city, one_each) is None
    one_line = replace(city, lines=city.lines[:1], labels=np.zeros(8, dtype=int))
    assert chains(one_line, tracks) is None
    assert chains(replace(city, points=city.points[:, :1], lines=city.lines[:, :1]), tracks) is None


def test_a_window_that_is_known_shows_the_way_that_its_line_hides() -> None:
    """The line of two drives ends between two others; each window ends right before its next."""
    north = np.array([-2.0, 2.0])

    def eastward(off: float, begin: float) -> Floats:
        return np.column_stack([np.full(3, off), begin + np.array([0.0, 10.0, 20.0])]) / 1000.0

    points = np.array([eastward(off, begin) for off in north for begin in (-30.0, 0.0)] * 2)
    lines = np.array([eastward(0.0, -30.0), *(eastward(off, 0.0) for off in north)])
    city = Published(points, lines, np.array([0, 1, 0, 2] * 2), 2, np.arange(8) // 2)
    found = chains(city, drives(np.arange(8) // 2, np.arange(8) % 2))
    assert found is not None
    assert found.followed[LINE].first == pytest.approx(0.5)  # two lines are equally near
    assert found.followed[WINDOW].first == 1.0


@pytest.mark.parametrize("align", [False, True])
def test_anonymize_counts_who_is_left_along_drives(align: bool) -> None:
    release = trajanon.anonymize(crossing(), 2, align=align, effort="fast")
    counted = (4, 4, 4) * 2
    assert tuple(release.report["chains"].values()) == counted
    ways = replace(crossing(), tracks=None)
    assert trajanon.anonymize(ways, 2, align=align, effort="fast").report["chains"] is None


def test_the_screen_warns_of_chains_and_names_the_ways_out(run: Run) -> None:
    write_trajectories("drives.parquet", crossing())
    said = run("anonymize", "drives.parquet", "-k", "2", *FAST).out
    assert "left with fewer than 2 subjects in 4 of 4 drives" in said
    assert "Take one window of each recording: trajanon extract --windows" in said
    write_trajectories("windows.parquet", crossing().take(np.arange(0, 8, 2)))
    assert "follows a drive" not in run("anonymize", "windows.parquet", "-k", "2", *FAST).out


def test_evaluate_begins_with_drives_that_leave_fewer_than_k() -> None:
    release = trajanon.anonymize(crossing(), 2, align=False, effort="fast")
    found = trajanon.evaluate(crossing(), release)
    assert found.verdict.kind == "stop"
    assert "with fewer than 2 subjects in 4 of 4 drives" in found.verdict.sentences[0]
    assert found.account["chains"].items() >= release.report["chains"].items()
    assert found.chained is not None
    assert found.chained.words in found.html
    assert "No attack of this kind" not in found.html.partition("<h2>Inference")[0]
    for told in (replace(crossing(), tracks=None), crossing().take(np.arange(0, 8, 2))):
        few = trajanon.anonymize(told, 2, align=False, effort="fast")
        found = trajanon.evaluate(told, few)
        assert found.account["chains"] is None
        assert "Windows of one drive" not in found.html
        assert "follows a drive" not in " ".join([*found.verdict.sentences, *found.facts])
