"""Times in released files: written and read back in every format."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import groups
from releases_with_times import CLOCK, collection_of, release, released, written

import trajanon
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import TimesName
from trajanon.files.release_formats import RELEASE_FORMATS, read_lines, read_release, write_release
from trajanon.files.release_inspection import NOTHING_ELSE, compare_with_rewrite
from trajanon.files.times_of_points import instants
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, ReleasedTrajectories, Trajectories

every_format = pytest.mark.parametrize("suffix", RELEASE_FORMATS)


@every_format
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 8),
    m=st.integers(2, 40),
    step=st.sampled_from([1, 7, 300, 86_400]),
    times=st.sampled_from(["of-day", "of-week", "date"]),
    attribution=st.sampled_from([None, OSM_ATTRIBUTION]),
)
@settings(max_examples=6)
def test_a_release_is_read_as_it_was_written(
    tmp_path: Path,
    suffix: str,
    seed: int,
    n: int,
    m: int,
    step: int,
    times: TimesName,
    attribution: Any,
) -> None:
    rng = np.random.default_rng(seed)
    clock = Clock(times, "Europe/Madrid", step)
    points = np.round(rng.uniform((-90, -180), (90, 180), (n, m, 2)), 7)
    begin = rng.uniform(0, 1e9 if times == "date" else 7e4, (n, 1)) + 10_800
    since = np.sort(rng.choice([0.0, 1.0, 1e3, 1e5], (n, m)), axis=1)  # several at once, too
    given = release(points, clock.rounded(begin + since), clock, attribution)
    path = tmp_path / f"release{suffix}"
    write_release(path, given)
    got = read_release(path)
    assert got.points.tobytes() == points.tobytes()
    assert got.times is not None
    assert given.times is not None
    assert got.times.tobytes() == given.times.tobytes()
    assert got.provenance == given.provenance
    assert compare_with_rewrite(path, read_lines(path)) == ([], NOTHING_ELSE)


@every_format
def test_only_times_that_are_told_and_rounded_are_written(tmp_path: Path, suffix: str) -> None:
    path, (points, times) = tmp_path / f"r{suffix}", (groups(), np.full((20, 3), 30_000.0))
    unknown = np.where(np.arange(20)[:, None] == 3, np.nan, times)
    for odd, words in (
        (times, {}),
        (times, {"times": "of a day"}),
        (times, {"times": ["of-day"]}),
        (times + 1, {"times": CLOCK.sentence}),
        (unknown, {"times": CLOCK.sentence}),
    ):
        with pytest.raises(BadInput, match="only times that provenance"):
            write_release(path, Trajectories(points, provenance=words, times=odd))
    assert not path.exists()


def test_moving_features_need_times(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "r.mfjson"
    with pytest.raises(BadInput, match=r"moving features, which have times: .* `times`, or"):
        write_release(path, Trajectories(groups()))
    answer = run("anonymize", "-k", 3, "--out", path)
    assert answer.code == 2
    assert "--times" in answer.sentence
    assert not path.exists()


def test_dates_of_a_day_or_a_week_are_of_a_documented_monday(tmp_path: Path) -> None:
    departures: dict[TimesName, str] = {
        "of-day": "2001-01-01T08:05:00.000Z",
        "of-week": "2001-01-02T08:05:00.000Z",
        "date": "2008-06-08T08:05:00.000Z",
    }
    for times, expected in departures.items():
        clock = Clock(times, "America/Los_Angeles", 300)
        second = np.datetime64(expected[:-1]) - np.datetime64(
            "1970-01-01" if times == "date" else "2001-01-01"
        )
        of = release(
            groups(), second / np.timedelta64(1, "s") + np.full((20, 3), [0, 0, 3600]), clock
        )
        text = written(tmp_path / "r.gpx", of).read_text(encoding="utf-8")
        dates = [expected, expected.replace(":05:00", ":06:40"), expected.replace("08:", "09:")]
        assert re.findall("<time>(.*?)</time>", text)[:3] == dates
        features = json.loads(written(tmp_path / "r.mfjson", of).read_text(encoding="utf-8"))
        told = features["features"][0]["temporalGeometry"]["datetimes"]
        assert told == dates


def is_the_same(found: Any, of: Trajectories, clock: Clock) -> bool:
    """Whether a collection has all points of a release, each at its time."""
    assert of.times is not None
    dates = instants(of.times, clock)
    return len(found) == len(of) and all(
        np.array_equal(one.df.geometry.get_coordinates().to_numpy()[:, ::-1], points)
        and np.array_equal(one.df.index.to_numpy(), when)
        for one, points, when in zip(found.trajectories, of.points, dates, strict=True)
    )


@pytest.mark.parametrize("times", ["of-day", "of-week", "date"])
def test_movingpandas_reads_moving_features_as_they_are(tmp_path: Path, times: TimesName) -> None:
    clock = Clock(times, "Europe/Madrid", 300)
    of = released(clock=clock)
    of = release(of.points, np.full((20, 3), 30_000.0), clock)  # which it would drop but the first
    found = collection_of(written(tmp_path / "r.mfjson", of))
    assert is_the_same(found, of, clock)
    assert [one.id for one in found] == list(range(1, 21))
    assert found.trajectories[0].df_orig_tz is not None


def test_a_release_is_a_frame_with_lists_of_times() -> None:
    of = released()
    frame = trajanon.Release(ReleasedTrajectories(of.points, times=of.times), {}).to_geodataframe()
    assert of.times is not None
    assert frame["times"].tolist() == of.times.tolist()
    assert "times" not in trajanon.Release(ReleasedTrajectories(groups()), {}).to_geodataframe()
