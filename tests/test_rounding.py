"""Lines on grids of their groups' widths: what is promised of them, and that they are found."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from naive_sliding import town
from plain import plain_means
from shards import groups_told, shards_of, walks, write_folder

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.release_lines import Grids, as_written
from trajanon.files.report import checked, released_of
from trajanon.loss import group_means, loss_to
from trajanon.parts.workflow import anonymize_parts
from trajanon.privacy.originals import matched
from trajanon.rounding import grids_of
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

pytestmark = pytest.mark.usefixtures("few_moves")
UNIT = 1e-4
MOST = 2**16
ELLIPSOID = pyproj.Geod(ellps="WGS84")


def means_of(points: Floats, labels: Ints) -> Floats:
    return group_means(points.reshape(len(points), -1), labels).reshape(-1, *points.shape[1:])


def naive_metres(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    return float(ELLIPSOID.inv(lon, lat, other_lon, other_lat)[2])


@given(
    seed=st.integers(0, 10**6),
    spread=st.floats(-8, 0).map(lambda power: 10.0**power),
    latitude=st.floats(-80, 80),
    people=st.sampled_from([None, 1, 3, 9]),
)
def test_a_line_moves_by_a_share_of_its_width_onto_the_coarsest_grid_allowed(
    seed: int, spread: float, latitude: float, people: int | None
) -> None:
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), [2, 3, 4])
    points = np.array([latitude, 20.0]) + spread * random.normal(size=(9, 3, 2))
    lines = means_of(points, labels)
    subjects = None if people is None else random.integers(0, people, 9)
    grids = grids_of(points, lines, labels, subjects)
    for group, (shift, steps) in enumerate(zip(*grids, strict=True)):
        line, size = lines[group], int((labels == group).sum())
        away = [
            naive_metres(*point, *line[place])
            for one in points[labels == group]
            for place, point in enumerate(one)
        ]
        width, (lat, lon) = float(np.mean(away)), line.mean(axis=0)
        sides = (
            naive_metres(lat - UNIT / 2, lon, lat + UNIT / 2, lon),
            naive_metres(lat, lon - UNIT / 2, lat, lon + UNIT / 2),
        )
        moved = np.hypot(*(shift / UNIT * sides))
        held = Counter([] if subjects is None else subjects[labels == group].tolist())
        most = max(held.values(), default=1)
        parts = size / most if most < size else size
        assert moved == pytest.approx(width / parts, rel=0.01, abs=0.02)
        hops = [
            naive_metres(*start, *end)
            for one in points[labels == group]
            for start, end in pairwise(one)
        ]
        coarsest = min(3 * width / parts, width, float(np.mean(hops)))
        for step, metres in zip(steps, sides, strict=True):
            assert step in {2**power for power in range(17)}
            # Far apart, a plane is not the ellipsoid.
            assert step == 1 or step * metres < 1.01 * coarsest
            assert step == MOST or 2 * step * metres > 0.99 * coarsest


def test_groups_at_the_ends_of_the_earth_and_without_width_have_grids() -> None:
    equal, labels = np.full((4, 3, 2), 45.0), np.zeros(4, dtype=np.int64)
    shifts, steps = grids_of(equal, means_of(equal, labels), labels)
    assert steps.tolist() == [[1, 1]]
    assert not shifts.any()
    pole = np.full((4, 3, 2), 90.0)
    pole[:, :, 0] -= [0.0, 5.0, 10.0]
    pole[:2, :, 0] -= 1.0
    grids = grids_of(pole, means_of(pole, labels), labels)
    assert grids.steps.tolist() == [[2048, 32768]]
    assert np.isfinite(grids.shifts).all()
    ends = np.array([[[90.0, 180.0], [-90.0, -180.0]]])
    for shift in (0.0, 3.0, -3.0, 180.0, -180.0):
        places = as_written(ends, None, Grids(np.full((1, 2), shift), grids.steps))
        assert (np.abs(places) <= [90.0, 180.0]).all()


@given(
    means=arrays(float, (2, 3, 2), elements=st.floats(-90, 90)),
    powers=st.tuples(st.integers(0, 16), st.integers(0, 16)),
    shift=st.floats(-1, 1),
)
@example(np.full((2, 3, 2), 90.0), (16, 5), 0.0)
@example(np.full((2, 3, 2), -90.0), (6, 16), -1.0)
def test_a_line_is_written_at_the_nearest_place_of_its_grid(
    means: Floats, powers: tuple[int, int], shift: float
) -> None:
    steps = 2 ** np.array([powers, powers[::-1]])
    lines = as_written(means, None, Grids(np.full((2, 2), shift), steps))
    assert np.array_equal(lines, np.round(lines, 4))
    assert not np.signbit(lines[lines == 0.0]).any()
    units = np.round(lines / UNIT).astype(np.int64)
    inside = np.abs(lines) < [90.0, 180.0]  # the poles are on fine grids only
    assert not (units % steps[:, None, :])[inside].any()
    moved = np.clip(means + shift, [-90.0, -180.0], [90.0, 180.0])
    assert (np.abs(lines - moved) < (steps[:, None, :] / 2 + 1e-3) * UNIT).all()
    assert (np.abs(lines) <= [90.0, 180.0]).all()
    # Rounding once more, as a file is rewritten, changes nothing.
    again = as_written(lines, None, Grids(np.zeros((2, 2)), steps))
    assert np.array_equal(again[inside], lines[inside])
    assert np.array_equal(as_written(lines, 4), lines)


def test_a_mean_half_way_is_rounded_alike_however_it_was_computed() -> None:
    grids = Grids(np.array([[0.0002, -0.0004]]), np.array([[4, 8]]))
    half = np.array([[[40.0, -3.7008], [40.0004, -3.7]]])
    ways = [as_written(half + noise, None, grids) for noise in (-1e-13, 0.0, 1e-13)]
    assert all(np.array_equal(ways[0], way) for way in ways)


@pytest.mark.parametrize("align", [False, True])
def test_what_is_reported_is_of_the_lines_as_written(tmp_path: Path, align: bool) -> None:
    original = town(5, 40, 4, people=12)
    release = trajanon.anonymize(original, 3, align=align, effort="fast")
    report, labels = release.report, np.array(release.report["labels"])
    slid = original
    if align:
        slid = original.slid(np.array(report["alignment"]["starts"]))
    means = means_of(slid.points, labels)
    grids = grids_of(slid.points, means, labels, slid.subject)
    assert np.array_equal(report["shifts"], grids.shifts)
    assert np.array_equal(report["steps"], grids.steps)
    assert grids.steps.max() > 1
    lines = as_written(means, None, grids)
    told = {line.tobytes() for line in release.trajectories.points}
    assert {line.tobytes() for line in lines} == told
    moved = displacement(slid.points, lines[labels])
    assert report["displacement"]["mean"] == pytest.approx(moved.mean())
    lost = loss_to(slid.records, lines, labels)
    assert report["information_loss"] == pytest.approx(lost)
    assert report["information_loss"] > report["stages"][-1]["information_loss"]
    release.write(tmp_path / "r.parquet")
    assert trajanon.check(tmp_path / "r.parquet", 3, trajectories=original).holds
    assert trajanon.rewrite(tmp_path / "r.parquet", tmp_path / "c.parquet", 3).holds
    again = trajanon.read_release(tmp_path / "c.parquet")
    assert {line.tobytes() for line in again.points} == told


@pytest.mark.parametrize(
    ("name", "odd"),
    [
        *(("steps", odd) for odd in ([], [1], [3, 1], [0, 1], [2**17, 1], [-1, 1])),
        *(("shifts", odd) for odd in ([], [0.0], [181.0, 0.0], [0.0, -1e300])),
    ],
)
def test_grids_that_no_release_has_are_refused(name: str, odd: list[float]) -> None:
    original = town(5, 20, 4, people=12)
    release = trajanon.anonymize(original, 3, align=False, effort="fast")
    groups = release.report["groups"]
    assert groups > 1
    right = release.report[name]
    for told in ([odd] * groups, right[:-1], [*right[:-1], odd], None):
        given: Any = release.report | {name: told}
        with pytest.raises(BadInput, match="do not belong together"):
            matched(original, release.trajectories, checked(given))


def test_a_direction_needs_all_members_but_not_their_order() -> None:
    random = np.random.default_rng(3)
    points = np.array([40.0, -3.7]) + 0.01 * random.normal(size=(4, 3, 2))
    labels, lines = np.zeros(4, dtype=np.int64), points.mean(axis=0)[None]
    shift = grids_of(points, lines, labels).shifts
    assert np.array_equal(grids_of(points[::-1], lines, labels).shifts, shift)
    for one in range(4):
        other = points.copy()
        other[one, 0] += 1e-7
        turned = grids_of(other, lines, labels).shifts
        assert np.abs(turned - shift).max() > 1e-6


def test_whoever_holds_all_others_is_as_far_off_as_the_line() -> None:
    original = town(5, 200, 4, people=60)
    for k in (2, 3, 4, 6):
        release = trajanon.anonymize(original, k, align=False, effort="fast")
        report = checked(release.report)
        kept = released_of(original, report)
        found = matched(kept, release.trajectories, report)
        sizes = np.bincount(found.labels)[:, None, None]
        sums = sizes * means_of(kept.points, found.labels)
        assert kept.subject is not None
        off = []
        for group, subject in set(zip(found.labels, kept.subject, strict=True)):
            own = (found.labels == group) & (kept.subject == subject)
            others = kept.points[(found.labels == group) & ~own].sum(axis=0)
            left = (sizes[group] * found.lines[group] - others) / own.sum()
            true = kept.points[own].mean(axis=0)
            off.append([displacement(true, way).mean() for way in (left, found.lines[group])])
        rebuilt, line = np.median(off, axis=0)
        assert rebuilt > 0.9 * line
        exact = displacement(kept.points, (sums / sizes)[found.labels]).mean()
        assert displacement(kept.points, found.lines[found.labels]).mean() < 1.25 * exact


@pytest.mark.usefixtures("plain_means")
def test_a_report_of_before_the_grids_has_plain_decimals() -> None:
    original = town(5, 20, 4, people=12)
    release = trajanon.anonymize(original, 3, align=False, effort="fast")
    del release.report["steps"], release.report["shifts"]
    report = checked(release.report)
    found = matched(released_of(original, report), release.trajectories, report)
    assert np.array_equal(found.lines, np.round(found.lines, 7))


def test_parts_are_written_as_files_are(tmp_path: Path) -> None:
    points = walks(120)
    source = write_folder(tmp_path / "trips", points)
    with shards_of(60), groups_told() as groups:
        report = anonymize_parts(str(source), str(tmp_path / "out"), 3, effort="fast")
    labels = np.unique(groups.labels, return_inverse=True)[1]
    means = means_of(points, labels)
    grids = grids_of(points, means, labels)
    kinds, counts = np.unique(grids.steps, axis=0, return_counts=True)
    assert report["digits"] == 4
    assert report["groups_of_steps"] == {
        f"{north} x {east}": count
        for (north, east), count in zip(kinds.tolist(), counts.tolist(), strict=True)
    }
    lines = as_written(means, None, grids)
    told = {
        line.tobytes()
        for part in sorted((tmp_path / "out").iterdir())
        for line in trajanon.read_release(part).points
    }
    assert {line.tobytes() for line in lines} == told
    records = Trajectories(points).records
    lost = loss_to(records, lines, labels)
    assert report["information_loss"] == pytest.approx(lost)
    with shards_of(60), plain_means():
        plain = anonymize_parts(str(source), str(tmp_path / "plain"), 3, effort="fast")
    assert plain["groups_of_steps"] == {}
