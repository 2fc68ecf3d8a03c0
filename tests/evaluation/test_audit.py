"""An audit of any release: ends of its scale, and planted weak points."""

from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audits import N, trips_of_a_town

import trajanon
from trajanon.cli.audit_of_other_programs import read_any, read_originals
from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.evaluation.audit import ATTACKS, Audit, audit, audit_with_report, ends_of_the_scale
from trajanon.evaluation.recordings import Originals, Recordings
from trajanon.release.originals import matched
from trajanon.release.report_files import checked

K = 4
BY_MATCH = [*ATTACKS][:7]


@pytest.fixture(scope="module")
def originals() -> Originals:
    return trips_of_a_town()


def of_points(points: Floats, times: Floats | None = None, names: Ints | None = None) -> Recordings:
    """A release of these rows, as a program of strangers would write it."""
    n, m = points.shape[:2]
    return Recordings(
        points=points,
        times=times,
        names=[str(name) for name in (np.arange(n) + 7_000 if names is None else names)],
        vertices=points.reshape(-1, 2),
        first=np.arange(n + 1) * m,
    )


def hidden(originals: Originals, seed: int = 0) -> Recordings:
    """A release of lines that each stand in K rows, in no order, with coarse times."""
    random = np.random.default_rng(seed)
    points = originals.trips.points
    groups = random.permutation(N).reshape(-1, K)
    lines = points[groups].mean(axis=1)
    times = np.asarray(originals.trips.times)[groups].mean(axis=1)
    times = np.round(times / 300.0) * 300.0 + 17.0
    rows = np.repeat(random.permutation(len(groups)), K)
    return of_points(lines[rows], times[rows])


def names_of(found: Audit) -> set[str]:
    return {weak.name for weak in found.weaknesses}


def test_originals_are_one_end_and_noise_the_other(originals: Originals) -> None:
    same, noise = ends_of_the_scale(originals)
    for name, chance in same.chances.items():
        if name not in ("next trip", "membership"):
            assert chance is not None, name
            assert chance.value == pytest.approx(1.0), name
    assert all(error is not None and error.value == 0.0 for error in same.errors.values())
    assert names_of(same) == {"original_rows", "exact_times", "order_kept", "ids_kept"}

    # A row that is drawn at random is of the target's person in one of 60 cases.
    assert all(chance is None or chance.low < 0.03 for chance in noise.chances.values())
    assert names_of(noise) == set()
    assert noise.errors["OD 1 km"] is not None
    assert noise.errors["OD 1 km"].value > 0.9


def test_identical_copies_protect_by_at_least_one_in_k(originals: Originals) -> None:
    groups = np.arange(N).reshape(-1, K)  # of four people each
    row = np.repeat(groups[:, 0], K)
    trips = originals.trips
    shuffled = np.random.default_rng(1).permutation(N)
    copies = of_points(trips.points[row][shuffled], names=np.arange(N)[shuffled])
    found = audit("copies", originals, copies, match="id")
    for name in ("whole trip", "both ends", "two points"):
        chance = found.chances[name]
        assert chance is not None
        assert chance.low <= 1.0 / K, name
    end = found.chances["end of a trip"]
    assert end is not None
    assert end.low <= 1.0 / K
    assert found.fewest_people == K
    assert "original_rows" in names_of(found)
    assert (
        found.errors["speeds"] is found.errors["hours"] is found.chances["hour of a trip"] is None
    )


def test_a_release_that_hides_has_no_weak_point(originals: Originals) -> None:
    for seed in range(3):
        found = audit("hidden", originals, hidden(originals, seed))
        assert found.weaknesses == []
        assert found.matched is None
        assert all(found.chances[name] is None for name in BY_MATCH)
        assert "--match id" in found.not_measured_words


def test_our_release_is_measured_alike_with_its_report_and_by_ids(originals: Originals) -> None:
    made = trajanon.anonymize(originals.trips, K, effort="fast", times="of-day")
    report = checked(made.report)
    ours = audit_with_report("ours", originals, made.trajectories, report)
    assert ours.weaknesses == []
    assert ours.fewest_people == ours.fewest_rows == K

    # Without the report, what needs no match is the same.
    unmatched = audit("no report", originals, Recordings.of(made.trajectories, report.clock))
    for name in ("end of a trip", "hour of a trip"):
        assert unmatched.chances[name] == ours.chances[name]
    assert unmatched.errors.keys() == ours.errors.keys()
    for name, error in ours.errors.items():
        alike = unmatched.errors[name]
        assert error is not None, name
        assert alike is not None, name
        # Lines are summed in another order: the last digit may differ.
        assert astuple(alike) == pytest.approx(astuple(error), rel=1e-12), name

    # A row for each original, with its id, as strangers would give it.
    pairs = matched(originals.trips, made.trajectories, report)
    assert pairs.times is not None
    ids = np.random.default_rng(0).permutation(N)
    of_strangers = replace(
        of_points(pairs.lines[pairs.labels][ids], pairs.times[pairs.labels][ids], ids),
        clock=report.clock,
    )
    by_ids = audit("by ids", originals, of_strangers, match="id")
    assert by_ids.matched == N
    for name in BY_MATCH:
        known = ours.chances[name]
        measured = by_ids.chances[name]
        assert known is not None
        assert measured is not None
        assert known.low <= measured.value <= known.high, name


def test_ids_that_are_of_nobody_are_refused(originals: Originals) -> None:
    rows = hidden(originals)
    with pytest.raises(trajanon.BadInput, match="no id of the release, such as '7000'"):
        audit("strange", originals, rows, match="id")
    twice = replace(rows, names=["1"] * N)
    with pytest.raises(trajanon.BadInput, match="occurs in several rows"):
        audit("twice", originals, twice, match="id")
    with pytest.raises(trajanon.BadInput, match="are as many"):
        audit("few", originals, of_points(rows.points[:9]), match="order")


def with_times(originals: Originals, is_known: Bools) -> Originals:
    """The same originals, of which only these have times."""
    times = np.where(is_known[:, None], np.asarray(originals.trips.times), np.nan)
    trips = replace(originals.trips, times=times)
    rows = Recordings.of(trips, None)
    return Originals(trips, rows, [rows.names])


def test_originals_without_times_are_found_by_their_places(originals: Originals) -> None:
    """What needs an hour is measured on those that have one, and nothing else changes."""
    as_they_are = of_points(originals.trips.points, originals.trips.times)
    half = audit("half", with_times(originals, np.arange(N) % 2 == 0), as_they_are, match="order")
    for attack in ("whole trip", "two points", "two points and hours", "hour of a trip"):
        chance = half.chances[attack]
        assert chance is not None
        assert chance.value == pytest.approx(1.0, abs=0.2), attack

    none = audit("none", with_times(originals, np.zeros(N, bool)), as_they_are, match="order")
    without = audit("without", originals, of_points(originals.trips.points), match="order")
    assert not none.timed
    for attack in ("two points", "two points and hours", "hour of a trip"):
        assert none.chances[attack] == without.chances[attack]
    assert none.chances["hour of a trip"] is None


def test_an_id_of_several_originals_is_refused(originals: Originals) -> None:
    """Or a row would count once for each of them, and more often than there are rows."""
    by_person = replace_names(originals, [str(number % 60) for number in range(N)])
    rows = of_points(originals.trips.points[:60], names=np.arange(60))
    with pytest.raises(trajanon.BadInput, match="is that of several originals"):
        audit("by person", by_person, rows, match="id")


def replace_names(originals: Originals, names: Sequence[str]) -> Originals:
    return originals._replace(names=[names])


def test_a_line_without_a_known_row_is_not_one_of_nobody(originals: Originals) -> None:
    names = np.arange(N)
    names[3] = 9_999
    found = audit(
        "one strange", originals, of_points(originals.trips.points, names=names), match="id"
    )
    assert found.matched == N - 1
    assert found.fewest_people == 1


def test_what_nobody_can_be_followed_by_is_named(originals: Originals) -> None:
    trips = replace(originals.trips, subject=None)
    nobody = Originals(trips, originals.recordings, originals.names)
    found = audit("nobody", nobody, Recordings.of(trips, None), match="order")
    assert found.chances["next trip"] is None
    assert "nobody is known to have trips on several lines" in found.not_measured_words


def test_one_recording_without_times_does_not_hide_the_times_of_others(
    tmp_path: Path, originals: Originals
) -> None:
    frame = originals.trips.to_dataframe().rename(columns={"trajectory": "id"})
    frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
    frame.loc[frame["id"] == 5, "time"] = pd.NaT
    frame[["id", "lat", "lon", "time"]].to_csv(tmp_path / "points.csv", index=False)
    recordings = read_originals(tmp_path / "points.csv")
    assert recordings.trips.times is not None
    assert np.flatnonzero(np.isnan(recordings.trips.times[:, 0])).tolist() == [5]

    release = read_any(tmp_path / "points.csv", recordings.trips.points.shape[1])
    found = audit("same", recordings, release, match="order")
    assert found.timed
    for attack in ("two points and hours", "hour of a trip"):
        chance = found.chances[attack]
        assert chance is not None
        assert chance.value > 0.9, attack
    assert "exact_times" in names_of(found)
    assert len(ends_of_the_scale(recordings)) == 2
