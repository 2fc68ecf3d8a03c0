"""Alignment as a whole: what it finds."""

from collections.abc import Sequence
from dataclasses import replace

import naive
import numpy as np
import pytest
from alignments import ROUNDING, aligned, cut, lie_well, lines, mean_metres, searched, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_sliding import (
    MADRID,
    STEP,
    on_runs,
    random_labels,
    single_slides_that_gain,
    standardised,
    street,
    town,
    tracks_of,
)
from real_data import REAL, needs_real_data

import trajanon
from trajanon.common.arrays import renumbered
from trajanon.common.search_and_release_options import RefinementName
from trajanon.extract import extract
from trajanon.grouping.refinements.annealing import MOVES_PER_PASS
from trajanon.release.report_files import checked
from trajanon.trajectories.tracks import STEPS
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")


def pairs(phases: Sequence[tuple[int, int]], m: int = 4) -> Trajectories:
    """Two windows on each street, whose runs and starts differ."""
    rng, window = np.random.default_rng(0), STEPS * (m - 1) + 1
    free, ways = [], []
    for number, (one, other) in enumerate(phases):
        way = np.array(MADRID) + STEP * (street(rng, 80) + 500 * number)
        for start in (one, other):
            begin = int(rng.integers(0, 10))
            free.append([start - begin, 80 - start - window])
            ways.append(way[begin:])
    return on_runs(m, free, np.concatenate(ways))


@pytest.mark.parametrize("refine", ["none", "descent", "anneal"])
@pytest.mark.usefixtures("plain_means")
def test_two_tracks_equal_but_for_phase_become_one(refine: RefinementName) -> None:
    before = pairs([(10, 11), (12, 30), (50, 25), (10, 49), (40, 40), (33, 23)])
    release = trajanon.anonymize(before, 2, refine=refine)
    report = release.report
    assert report["groups"] == 6
    assert report["stages"][-1]["information_loss"] < 1e-20
    assert report["displacement"]["max"] < ROUNDING
    assert report["alignment"]["slid"] > 0.0
    after = before.slid(np.array(report["alignment"]["starts"]))
    assert np.array_equal(after.points[::2], after.points[1::2])
    ways = set(lines(release.trajectories.points).values())
    assert ways == {2}


@pytest.mark.usefixtures("plain_means")
def test_two_rounds_of_one_way_in_one_group_become_one() -> None:
    """One window has to slide: where both do, they pass each other and gain nothing."""
    turn = 2 * np.pi * np.arange(94) / 40
    block = 1e-3 * np.column_stack([np.cos(turn), np.sin(turn)])
    points = np.concatenate([MADRID + block, MADRID + block + 0.01])
    before = on_runs(4, [[10, 33, 25], [12, 35, 21]], points)
    report = trajanon.anonymize(before, 2, refine="none").report
    assert report["alignment"] is not None
    assert report["displacement"]["max"] < ROUNDING


@pytest.mark.parametrize("people", [None, 7])
@pytest.mark.parametrize("regroup", [False, True])
def test_no_single_slide_gains_in_the_end(regroup: bool, people: int | None) -> None:
    @settings(max_examples=15)
    @given(seed=seeds, n=st.integers(4, 18), k=st.integers(2, 4))
    def test(seed: int, n: int, k: int) -> None:
        before = town(seed, n, 3, people=people)
        tracks, whose = tracks_of(before), before.subject
        own = np.arange(n) if whose is None else renumbered(whose)
        k = min(k, int(own.max()) + 1)
        labels = random_labels(seed, n, k, own)
        log = searched(before, labels, k, seed=seed, regroup=regroup)
        start, labels = log.aligned
        lost = naive.sse(standardised(tracks, 3, start), labels)
        assert log.lost == pytest.approx(lost, rel=1e-9, abs=1e-9)
        assert not single_slides_that_gain(tracks, 3, start, labels)

    test()


def test_windows_that_may_change_groups_end_nearer() -> None:
    before = town(11, 60, 3)
    partition = cut(before, 3, refine="descent")
    stay, descend, anneal = [
        mean_metres(*aligned(before, partition, 3, regroup=regroup, moves=moves))
        for regroup, moves in ((False, 0), (True, 0), (True, 20 * MOVES_PER_PASS))
    ]
    assert anneal < descend < stay < 0.9 * mean_metres(before, partition)


@needs_real_data
def test_streets_of_san_francisco_end_nearer() -> None:
    """At 5 m; they are of one account, which is left out, so records are counted."""
    pages = sorted((REAL / "osm_trackpoints_san_francisco").glob("*.gpx.gz"))[:24]
    box = "-122.6188,37.6883,-122.3273,37.8223"
    before = extract(pages, box, spacing=5, per_recording=None)
    assert before.tracks is not None
    before = replace(before, subject=None)
    plain, release = [
        trajanon.anonymize(before, 4, align=on, refine="descent") for on in (False, True)
    ]
    for name, share in (("mean", 0.99), ("median", 0.99)):
        moved = [r.report["displacement"][name] for r in (plain, release)]
        assert moved[1] < share * moved[0]
    assert release.report["information_loss"] < plain.report["information_loss"]
    alignment = release.report["alignment"]
    kept = checked(release.report).released_of(before)
    assert lie_well(kept, kept.slid(np.array(alignment["starts"])))
    assert min(release.report["sizes"]) >= 4
