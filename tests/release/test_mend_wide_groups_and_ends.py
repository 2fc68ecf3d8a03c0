"""Groups that are mended before a release: nobody loses protection, and nothing that was fine."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from interrupting import Interrupting
from shards import hours, labels_of, shards_of, write_parts
from tracks_laid_out import runs_of, tracks_of
from windows_from_homes import windows_from_homes

import trajanon
from trajanon import maps
from trajanon._kernels.group_state import ONE_PLACE
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.evaluation.evaluation import evaluate
from trajanon.grouping import loss
from trajanon.grouping.different_ends import SHOWN, Ends
from trajanon.grouping.group_means import members_of_groups
from trajanon.grouping.partition import measured
from trajanon.grouping.standardised_records import standardise
from trajanon.release import mend_wide_groups_and_ends as mending
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.mend_wide_groups_and_ends import MOST_LEFT_OUT, mend_labels
from trajanon.release.plan import Plan
from trajanon.release.report import GroupsInOnePlace, Suppressed
from trajanon.release.report_files import checked, read_report
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.trajectories.distances import displacement, lengths
from trajanon.trajectories.geodesy import in_space
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories


def walks(n: int, seed: int = 0, people: int = 20, places: int = 5) -> Trajectories:
    random = np.random.default_rng(seed)
    start = random.normal(0, 0.02, (places, 1, 2))[random.integers(0, places, n)]
    steps = random.normal(0, 0.001, (n, 4, 2))
    points: Floats = np.array([40.0, -3.7]) + start + np.cumsum(steps, axis=1)
    subject = random.integers(0, people, n)
    subject[: min(n, people)] = range(min(n, people))
    return Trajectories(
        points=points, subject=subject, trace=np.arange(n), provenance={"trips": True}
    )


def far_apart(n: int, far: list[int], places: int = 5) -> Trajectories:
    """Walks, of which some are on other continents, each alone."""
    home = walks(n, people=n, places=places)
    points = home.points.copy()
    away = np.linspace(-30.0, 30.0, len(far) + 1)[:-1]
    points[far] += np.stack([away, 60.0 + away], axis=1)[:, None]
    return replace(home, points=points)


def is_wide(points: Floats) -> bool:
    middles = points.mean(axis=1)
    apart = max(float(displacement(a, b)) for a in middles for b in middles)
    return bool(apart > displacement(points[:, 1:], points[:, :-1]).sum(axis=1).max())


def at(places: Ints, distinct: int = 2) -> Ends:
    """Ends in numbered places, (n, 2), a kilometre from one to the next."""
    points = places[:, :, None] * np.array([1000.0, 0.0, 0.0])
    n = len(places)
    return Ends(points, distinct, np.zeros((n, 3)), np.ones(n), reach=1e9)


def in_few_places(ends: Ends, rows: Ints) -> bool:
    """Whether so many members are nowhere each in another place than the others: all are tried."""

    def apart(one: int, other: int, end: int) -> bool:
        here, there = ends.places[[one, other], end]
        return not np.linalg.norm(here - there) <= ONE_PLACE  # of free ends it is no number

    return any(
        not any(
            all(apart(*pair, end) for pair in combinations(some, 2))
            for some in combinations(rows.tolist(), ends.distinct)
        )
        for end in range(2)
    )


def groups_at_random(n: int, k: int, subjects: Ints, random: np.random.Generator) -> Ints:
    """Any groups of k subjects: near ones are no more likely than others."""
    labels = random.permutation(n) // max(2 * k, 6)
    while not naive.holds(renumbered(labels), subjects, k):
        labels = labels // 2
    return renumbered(labels)


@given(
    n=st.integers(12, 60),
    k=st.integers(2, 3),
    people=st.integers(4, 60),
    places=st.integers(1, 30),
    share=st.sampled_from([0.0, 0.1, 0.5]),
    distinct=st.integers(2, 3),
    seed=st.integers(0, 2**32 - 1),
)
@example(n=47, k=2, people=4, places=1, share=0.0, distinct=2, seed=0)  # a merger mends a wide one
def test_mends_keep_the_promise_and_what_was_fine(
    n: int, k: int, people: int, places: int, share: float, distinct: int, seed: int
) -> None:
    whole = walks(n, seed, min(people, n), places)
    random, points = np.random.default_rng(seed), whole.points.copy()
    far = random.random(n) < 0.1
    points[far] += random.normal(0.0, 0.1, (int(far.sum()), 1, 2))
    subjects, ends = whole.subject, at(random.integers(0, places, (n, 2)), min(distinct, k))
    ends.places[...] += random.normal(0.0, 70.0, ends.places.shape)  # some 200 m apart
    ends.places[random.random((n, 2)) < 0.1] = np.nan
    middles = in_space(points.mean(axis=1))
    ends = ends._replace(middles=middles, lengths=lengths(points))
    assert subjects is not None
    before = groups_at_random(n, k, subjects, random)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mending, "MOST_LEFT_OUT", share)
        how: Any = {"subjects": subjects, "ends": ends}
        records = standardise(points.reshape(n, -1))
        after, told = mend_labels(points, lambda: records, before, k, **how)
        again, _ = mend_labels(points, lambda: records, before, k, **how)
    np.testing.assert_array_equal(after, again)
    kept = after >= 0
    assert naive.holds(renumbered(after[kept]), subjects[kept], k)
    assert told.wide.trajectories == n - kept.sum() <= share * n

    def odd(labels: Ints, group: int) -> tuple[bool, bool]:
        rows = labels == group
        return is_wide(points[rows]), in_few_places(ends, np.flatnonzero(rows))

    was = {group: odd(before, group) for group in np.unique(before).tolist()}
    now = {group: odd(after, group) for group in np.unique(after[kept]).tolist()}
    for row in np.flatnonzero(kept):
        if not any(was[before[row]]):
            assert not any(now[after[row]])
    assert told.wide.left == sum(wide for wide, _ in now.values())
    assert told.wide.groups + told.wide.left == sum(wide for wide, _ in was.values())
    assert told.one_place.left == sum(one for _, one in now.values())
    assert told.one_place.left <= told.one_place.groups


@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(2, 4), min_size=2, max_size=5))
def test_the_cheapest_merger_is_taken(seed: int, sizes: list[int]) -> None:
    """Of one group that begins in one place: all mergers are tried."""
    random, n = np.random.default_rng(seed), sum(sizes)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    points = 40.0 + random.normal(0.0, 1e-3, (n, 3, 2))
    points[:, :, 0] += np.array([0.0, 0.1, 0.2])  # long ones: no group is wide
    places = np.stack([np.arange(n), -np.arange(n)], axis=1)
    places[: sizes[0], 0] = 0
    records = standardise(points.reshape(n, -1))
    after, told = mend_labels(points, lambda: records, labels, 2, ends=at(places))
    assert told.one_place == GroupsInOnePlace(groups=1, left=0)
    mergers = [np.where(labels == 0, group, labels) for group in range(1, len(sizes))]
    least = min(loss.sse(records, renumbered(merged)) for merged in mergers)
    assert loss.sse(records, renumbered(after)) == pytest.approx(least)


def test_groups_that_lack_one_place_each_are_merged() -> None:
    """Each of two groups begins where the other does not."""
    points = walks(4).points.copy()
    points[:, :, 0] += np.array([0.0, 0.1, 0.2, 0.3])
    places = np.array([[1, 1], [1, 2], [2, 3], [2, 3]])
    records = standardise(points.reshape(4, -1))
    labels, told = mend_labels(points, lambda: records, np.array([0, 0, 1, 1]), 2, ends=at(places))
    assert told.one_place == GroupsInOnePlace(groups=2, left=0)
    assert len({*labels.tolist()}) == 1


def test_those_far_from_all_others_are_left_out_and_nobody_who_joined_them() -> None:
    far = [5, 17, 120]
    release = trajanon.anonymize(far_apart(300, far), 4, effort="fast")
    report = release.report
    assert report["suppressed"]["rows"] == far
    assert report["mended"]["wide"]["trajectories"] == 3
    assert report["mended"]["wide"]["left"] == 0
    assert report["n"] == 297
    assert report["stages"][-1]["name"] == "mending"
    assert report["displacement"]["mean"] < report["length"]["mean"]


def test_no_more_are_left_out_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_LEFT_OUT == 0.01
    monkeypatch.setattr("trajanon.release.assembled_release.refuse_far", lambda *_: None)
    report = trajanon.anonymize(far_apart(250, [5, 17, 120]), 4, effort="fast").report
    assert report["mended"]["wide"]["trajectories"] <= 2
    assert report["mended"]["wide"]["left"] > 0


def hotel() -> Trajectories:
    """Trips of which many begin in one place, in all directions, and others beside it."""
    whole = walks(120, 3, people=40)
    points = whole.points.copy()
    points[:30] += points[0, :1] - points[:30, :1]
    points[30:60] += points[0, :1] - points[30:60, :1] + 0.004
    return replace(whole, points=points)


@pytest.mark.parametrize(("timed", "distinct"), [(False, 2), (True, 2), (False, 3)])
def test_no_group_of_trips_begins_or_ends_in_fewer_places(timed: bool, distinct: int) -> None:
    trips = hotel()
    how: dict[str, Any] = {"effort": "fast", "distinct_ends": distinct}
    if timed:
        trips = replace(trips, times=hours(trips.points).times)
        how["times"] = "of-day"
    report = trajanon.anonymize(trips, 3, **how).report
    told = report["mended"]["one_place"]
    kept = checked(report).released_of(trips)
    labels, ends = np.array(report["labels"]), Plan.of({"distinct_ends": distinct}).ends_of(kept)
    assert ends is not None
    groups = (np.flatnonzero(labels == group) for group in range(labels.max() + 1))
    assert sum(in_few_places(ends, rows) for rows in groups) == told["left"] * (distinct - 2)


def few_ends_shown(windows: Trajectories, rows: Ints) -> bool:
    """Whether the line of these windows begins, or ends, near the end of all runs, in one place."""
    tracks = tracks_of(windows)
    for end in (0, -1):
        line_end = windows.points[rows, end].mean(axis=0)
        run_ends = np.array([runs_of(tracks)[run][end] for run in tracks.run[rows]])
        is_shown = displacement(run_ends, line_end) <= SHOWN
        is_shown &= tracks.ends_are_true[tracks.run[rows], end]
        apart = [displacement(*pair) > ONE_PLACE for pair in combinations(run_ends, 2)]
        if is_shown.all() and not any(apart):
            return True
    return False


@given(
    homes=st.integers(1, 5),
    people=st.integers(2, 6),
    room=st.integers(0, 14),
    apart=st.sampled_from([0.0, 120.0, 300.0, 3_000.0]),
    align=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_no_group_of_windows_shows_one_end_but_those_that_the_report_counts(
    homes: int, people: int, room: int, apart: float, align: bool, seed: int
) -> None:
    windows = windows_from_homes(homes, people, room, seed=seed, apart=apart)
    random = np.random.default_rng(seed)
    true_ends = random.random((len(windows), 2)) < 0.9
    windows = replace(windows, tracks=replace(tracks_of(windows), true_ends=true_ends))
    assert windows.subject is not None
    labels = groups_at_random(len(windows), 2, windows.subject, random)
    if seed % 2:
        labels = np.arange(len(windows)) // people
    partition = measured(windows.records, labels, "any", 0.0)
    nobody = np.zeros(len(windows), dtype=np.bool_)
    found = mending.mend(TrajectoryGroups(windows, partition, Plan.of({"align": align}), nobody), 2)
    after = found.trajectories
    assert found.mended is not None
    groups = members_of_groups(found.partition.labels)
    left = sum(few_ends_shown(after, rows) for rows in groups)
    assert left == found.mended.one_place.left <= found.mended.one_place.groups
    assert after.subject is not None
    assert naive.holds(found.partition.labels, after.subject, 2)
    again = measured(after.records, found.partition.labels, "any", 0.0)
    assert found.partition.sse == pytest.approx(again.sse)
    if not align:
        assert (after.points == windows.points[~found.left_out]).all()


@pytest.mark.parametrize(
    ("room", "distinct", "kinds"),
    [(40, 2, []), (0, 2, ["ends_in_one_place"]), (0, 1, ["ends_not_checked"])],
)
def test_windows_from_one_home_are_no_green_release_unless_lines_begin_elsewhere(
    room: int, distinct: int, kinds: list[str]
) -> None:
    """All four people of a home set out from it in one direction; groups had only these."""
    windows = windows_from_homes(11, 4, room)
    release = trajanon.anonymize(windows, 4, effort="fast", distinct_ends=distinct)
    ends_found = [finding.kind for finding in release.verdict.findings if "ends" in finding.kind]
    assert ends_found == kinds
    homes = windows.points[::4, 0]
    lines = np.unique(release.trajectories.points[:, 0], axis=0)
    metres = np.array([displacement(homes, begin).min() for begin in lines])
    assert (metres > 200.0).all() == (not kinds)
    told = release.report["mended"]["one_place"]
    is_asked = distinct > 1
    assert told == {"groups": 11 * is_asked, "left": 11 * (is_asked and room == 0), "unknown": 0}


@pytest.mark.parametrize("align", [True, False])
def test_windows_in_shards_begin_elsewhere_too(align: bool, tmp_path: Path) -> None:
    write_parts(tmp_path / "windows", windows_from_homes(24, 4, 40, apart=350.0))
    with shards_of(60):
        report = anonymize_parts(
            str(tmp_path / "windows"), str(tmp_path / "out"), 4, effort="fast", align=align
        )
    told = report["mended"]["one_place"]
    assert told["groups"] > 0
    assert told["left"] == told["unknown"] == 0


def test_map_check_and_evaluation_know_who_was_left_out(tmp_path: Path) -> None:
    trips = far_apart(300, [5, 17, 120])
    release = trajanon.anonymize(trips, 4, effort="fast")
    release.write(out := tmp_path / "anonymized.parquet")
    assert trajanon.check(out, 4, trajectories=trips).holds
    found = evaluate(trips, release.trajectories, release.report)
    assert found.trajectories == 297
    assert found.holds
    page = maps.compare(trips, release.trajectories, release.report).get_root()
    assert '"originals":297' in page.render().replace(" ", "")


def test_ctrl_c_leaves_nothing_unmended() -> None:
    stop = Interrupting(1, {"Moving records"})
    report = trajanon.anonymize(far_apart(300, [5, 17, 120]), 4, progress=stop).report
    assert report["stopped"]
    assert report["suppressed"]["rows"] == [5, 17, 120]


def test_shards_are_mended_like_files(tmp_path: Path) -> None:
    """Those left out are in no group, and have no row and no line."""
    trips = far_apart(600, [5, 17], places=1)  # or a shard may hold too few of a place
    write_parts(tmp_path / "trips", trips)
    out = tmp_path / "anonymized"
    with shards_of(310):
        report = anonymize_parts(str(tmp_path / "trips"), str(out), 4, effort="fast")
    rows = np.flatnonzero(labels_of(out) < 0).tolist()
    assert rows == [5, 17]
    assert read_report(out).suppressed == Suppressed(rows)
    assert report["n"] == 600 - len(rows) == report["rows"]["trajectories"]
    assert report["mended"]["wide"]["trajectories"] == len(rows)
    assert report["mended"]["one_place"]["left"] == 0
    assert {*report["length"]} == {"mean", "median"}
    found = evaluate(trips, *_release(out))
    assert found.trajectories == report["n"]
    assert found.holds
    assert trajanon.check(out, 4, trajectories=trips).holds


def _release(out: Path) -> tuple[ReleasedTrajectories, Any]:
    return trajanon.read_release(out), read_report(out)
