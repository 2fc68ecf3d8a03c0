"""Releases with times beside their originals, an earlier release, and in parts; written anew."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from plain import unmoved
from planted import K
from releases_with_times import CLOCK, released

import trajanon
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import TimesName
from trajanon.files.geoparquet import write_released
from trajanon.files.release_formats import RELEASE_FORMATS, read_release
from trajanon.files.rounding_order_and_keys_of_lines import in_order
from trajanon.release.originals import matched
from trajanon.release.perturbed_places_and_times import PublicWidths, perturbed_times
from trajanon.release.report_files import checked
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import Trajectories, joined_trajectories

every_format = pytest.mark.parametrize("suffix", RELEASE_FORMATS)


def held(n: int = 120, m: int = 4) -> Trajectories:
    """Walks of five days, two of each subject."""
    rng = np.random.default_rng(0)
    points = rng.uniform((40, -4), (40.1, -3.9), (n, 1, 2)) + np.cumsum(
        rng.normal(0, 0.001, (n, m, 2)), axis=1
    )
    points[..., 0] += 0.05 * np.arange(m)  # all go north, longer than any is moved
    departure = 1_212_900_000 + rng.uniform(0, 432_000, (n, 1))
    times = departure + np.cumsum(rng.uniform(0, 400, (n, m)), axis=1)
    return Trajectories(points, subject=np.arange(n) // 2, times=times)


def anonymized(of: Trajectories, times: TimesName | None = "of-day") -> trajanon.Release:
    return trajanon.anonymize(of, K, times=times, refine="none")


@pytest.fixture(scope="module", params=["of-day", "of-week", "date"])
def both(request: pytest.FixtureRequest) -> tuple[Trajectories, trajanon.Release]:
    return held(), anonymized(held(), request.param)


def test_times_of_a_release_are_not_released_again(tmp_path: Path, run: Run) -> None:
    """Its seconds count from a day or a week, and would be taken for seconds since 1970."""
    anonymized(held()).write(tmp_path / "r.parquet")
    folder = tmp_path / "parts"
    folder.mkdir()
    (tmp_path / "r.parquet").rename(folder / "part-00000.parquet")
    for taken in (folder, folder / "part-00000.parquet"):
        out = tmp_path / "again"
        options = ["-k", K, "--times", "of-day", "--out", out if taken == folder else f"{out}.csv"]
        answer = run("anonymize", taken, *options)
        assert "these are the times of a release: name what trajanon extract" in answer.sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "r.report.json"]


@every_format
def test_a_release_is_found_beside_its_originals(
    tmp_path: Path, suffix: str, both: tuple[Trajectories, trajanon.Release]
) -> None:
    originals, release = both
    path = tmp_path / f"r{suffix}"
    release.write(path)
    for against in (None, path):
        found = trajanon.check(path, K, trajectories=originals, against=against)
        assert found.holds, found
    if suffix == ".parquet" and release.report["times"]["times"] == "of-day":  # all are the same
        assert trajanon.evaluate(originals, read_release(path), release.report).holds


def test_the_line_of_each_group_has_its_times_perturbed_by_the_key(
    both: tuple[Trajectories, trajanon.Release],
) -> None:
    originals, release = both
    found = matched(originals, release.trajectories, checked(release.report))
    clock = checked(release.report).clock
    assert clock is not None
    assert clock.sentence == release.trajectories.provenance["times"]
    assert originals.times is not None
    assert found.times is not None
    seconds, report = clock.seconds(originals.times), release.report
    widths = PublicWidths(report["width"], **report["times"]["widths"])
    how = originals.points, seconds, found.labels, clock, bytes(range(32)), widths
    assert np.array_equal(perturbed_times(*how, originals.subject), found.times)
    moved = 0
    for group, times in enumerate(found.times):
        mean = seconds[found.labels == group].mean(axis=0, keepdims=True)
        moved += not np.array_equal(clock.rounded(mean)[0], times)
    assert moved


def twins() -> tuple[Trajectories, trajanon.Release]:
    """Two groups on one line of places, as rounded, in the morning and in the evening."""
    points = np.repeat(np.array([[[40.1, -3.7], [40.2, -3.6]]]), 8, axis=0)
    points += 1e-7 * np.arange(8)[:, None, None]
    hours = np.repeat([8, 20], 4)[:, None] * 3600.0 + np.array([0, 600])
    originals = Trajectories(points, subject=np.arange(8), times=1_212_883_200 - 7200 + hours)
    with unmoved():
        return originals, trajanon.anonymize(originals, K, times="of-day")


@every_format
def test_equal_places_at_two_hours_are_two_lines(tmp_path: Path, suffix: str) -> None:
    originals, release = twins()
    assert release.report["groups"] == release.report["lines"] == 2
    path = tmp_path / f"r{suffix}"
    release.write(path)
    found = trajanon.check(path, K, trajectories=originals, against=path)
    assert found.holds, found
    assert found.groups == 2
    seen = matched(originals, read_release(path), checked(release.report))
    assert np.bincount(seen.labels).tolist() == [4, 4]
    assert np.array_equal(seen.lines[0], seen.lines[1])
    assert seen.times is not None
    assert sorted(seen.times[:, 0].tolist()) == [8 * 3600.0, 20 * 3600.0]


def test_times_that_are_not_of_the_originals_do_not_belong_to_them(tmp_path: Path) -> None:
    originals, release = held(), anonymized(held())
    of, report = release.trajectories, checked(release.report)
    without = Trajectories(originals.points, originals.subject)
    assert originals.times is not None
    some = np.where(np.arange(len(originals))[:, None] == 3, np.nan, originals.times)
    partly = Trajectories(originals.points, originals.subject, times=some)
    untold = Trajectories(of.points)
    other_step = checked(release.report | {"times": {**release.report["times"], "step": 60}})
    no_times = checked(release.report | {"times": None})
    for given in (
        (without, of, report),
        (partly, of, report),
        (originals, untold, report),
        (originals, of, other_step),
        (originals, of, no_times),
    ):
        with pytest.raises(BadInput, match="do not belong together"):
            matched(*given)
    path = tmp_path / "r.parquet"
    release.write(path)
    with pytest.raises(BadInput, match="do not belong together"):
        trajanon.check(path, K, trajectories=without)


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("times", "noon", "Invalid enum value 'noon'"),
        ("step", 0, "`time_step` must be"),
        ("timezone", "Alice/Home", "`timezone` 'Alice/Home' is not known"),
    ],
)
def test_what_a_report_says_of_times_may_be_anything(key: str, value: Any, says: str) -> None:
    report = anonymized(held()).report
    told: Any = report | {"times": report["times"] | {key: value}}
    with pytest.raises(BadInput, match=says):
        _ = checked(told).clock
    for odd in ("of-day", {}, {**report["times"], key: None}):
        with pytest.raises(BadInput, match="not a report of trajanon"):
            checked(report | {"times": odd})


# Parts


def parts(folder: Path, clocks: list[Clock | None]) -> Path:
    """Sorted parts, which have the times of a clock each, or none."""
    folder.mkdir(exist_ok=True)
    whole = joined_trajectories([released()] * len(clocks))
    whole = whole.take(in_order(whole.points, whole.times))
    first = 1
    for number, (clock, rows) in enumerate(
        zip(clocks, np.split(np.arange(len(whole)), len(clocks)), strict=True)
    ):
        words = released(clock=clock or CLOCK).provenance
        of = replace(whole.take(rows), provenance=words)
        if clock is None:
            of = Trajectories(of.points, provenance={"attribution": of.attribution})
        with (folder / f"part-{number:05d}.parquet").open("wb") as file:
            write_released(file, of, first)
        first += len(of)
    return folder


@pytest.mark.parametrize("other", [None, Clock("of-week", "Europe/Madrid", 300)])
def test_parts_of_other_times_are_found(tmp_path: Path, other: Clock | None) -> None:
    found = trajanon.check(parts(tmp_path / "r", [CLOCK, CLOCK, other]), K)
    said = "parts have times that count from different hours, or some have none"
    assert found.problems == [said]


def test_a_line_of_another_hour_in_one_part_is_counted_alone(tmp_path: Path) -> None:
    folder = parts(tmp_path / "r", [CLOCK, CLOCK])
    of = read_release(folder / "part-00001.parquet")
    assert of.times is not None
    of.times[0] += 300.0
    with (folder / "part-00001.parquet").open("wb") as file:
        write_released(file, of, 21)
    said = trajanon.check(folder, K).problems[-1]
    assert "1 of 5 different trajectories occur fewer than 4 times" in said
