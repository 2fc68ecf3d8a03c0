"""Figures of hours: departures of a release, and what hours cost in metres."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import timed
from commands import Run, mode
from matplotlib.patches import StepPatch
from pictures import nothing_overlaps, points

import trajanon
from trajanon.errors import BadInput
from trajanon.files.trajectories import write_trajectories
from trajanon.maps.figures import of_release, save, trade_off_time
from trajanon.papers.trade_off import KEY, MINUTE_WORTHS, SLOTS, HoursCost, hours_costs
from trajanon.release import Release
from trajanon.trajectories import Trajectories

FIELDS = HoursCost._fields


@pytest.fixture(scope="module")
def rides() -> Trajectories:
    """Ninety trips between three places, in the morning, at noon and at night."""
    rng = np.random.default_rng(0)
    places = np.array([[40.40, -3.70], [40.42, -3.68], [40.41, -3.72]])
    ends = places[rng.integers(0, 3, (90, 2))] + rng.normal(0, 0.002, (90, 2, 2))
    along = np.linspace(0, 1, 10)[None, :, None]
    lines = ends[:, :1] + along * (ends[:, 1:] - ends[:, :1])
    hour = np.repeat([8.0, 12.5, 22.0], 30) + rng.uniform(-0.9, 0.9, 90)
    departure = 1_717_365_600 + 3_600.0 * hour[:, None]
    return Trajectories(
        lines,
        subject=np.arange(90),
        times=departure + np.linspace(0, 900, 10),
        provenance={"trips": True},
    )


@pytest.fixture
def costs(rides: Trajectories) -> list[HoursCost]:
    return hours_costs(rides, 3)


def test_costs_are_those_of_releases(rides: Trajectories, costs: list[HoursCost]) -> None:
    for cost in costs[: 1 + len(MINUTE_WORTHS)]:
        times = {} if cost.minute_worth is None else {"minute_worth": cost.minute_worth}
        how: dict[str, Any] = times and times | {"times": "of-day"}
        report = trajanon.anonymize(rides, 3, key=KEY, **how).report
        assert cost.trajectories == 90
        assert cost.displacement_mean == pytest.approx(report["displacement"]["mean"])
        assert cost.displacement_median == pytest.approx(report["displacement"]["median"])
        if times:
            for name in ("mean", "median"):
                for what in ("departure", "duration"):
                    found = 60 * getattr(cost, f"{what}_{name}")
                    assert found == pytest.approx(report["times"][f"{what}_error"][name])


def test_a_minute_that_is_worth_more_makes_hours_truer(costs: list[HoursCost]) -> None:
    alone, least, most = costs[0], costs[1], costs[len(MINUTE_WORTHS)]
    assert [cost.minute_worth for cost in costs] == [None, *MINUTE_WORTHS, None, None]
    assert [cost.slot_hours for cost in costs[-2:]] == list(SLOTS)
    assert most.departure_mean < least.departure_mean < alone.departure_mean
    assert most.displacement_mean > least.displacement_mean > alone.displacement_mean


def test_slots_are_grouped_one_by_one(rides: Trajectories, costs: list[HoursCost]) -> None:
    """A slot without enough trips has no group; nobody leaves a slot by more than its length."""
    rides = rides.take(np.append(np.arange(30), 60))  # one alone at night
    of_four, of_one = hours_costs(rides, 3)[-2:]
    assert (of_four.slot_hours, of_four.trajectories) == (4, 30)
    assert of_one.trajectories <= 30
    assert of_one.departure_mean < 60.0
    assert rides.times is not None
    report = trajanon.anonymize(rides.take(np.arange(30)), 3, key=KEY).report
    assert of_four.displacement_mean == pytest.approx(report["displacement"]["mean"])


def test_windows_are_measured_as_they_slid(madrid: Trajectories) -> None:
    assert madrid.times is not None
    known = madrid.take(np.flatnonzero(np.isfinite(madrid.times[:, 0]))[:60])
    alone, *_ = hours_costs(known, 3)
    report = trajanon.anonymize(known, 3, key=KEY).report
    assert report["alignment"] is not None
    assert alone.displacement_mean == pytest.approx(report["displacement"]["mean"])


def test_ctrl_c_in_a_search_ends_them_all(
    rides: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One search would take its best groups so far; a curve of such tells nothing."""

    def stopped(*_: object, **__: object) -> Release:
        return Release(rides, {"stopped": True})

    monkeypatch.setattr("trajanon.papers.trade_off.anonymize", stopped)
    with pytest.raises(KeyboardInterrupt):
        hours_costs(rides, 3)


def test_the_curve_is_drawn_of_its_numbers(rides: Trajectories, costs: list[HoursCost]) -> None:
    told: list[tuple[float, float | None]] = []

    def listen(task: str, done: float, total: float | None, note: str = "") -> None:
        told.append((done, total))

    picture = trade_off_time(rides, 3, progress=listen)
    assert told == [(done, len(costs)) for done in range(len(costs))]
    assert picture.numbers is not None
    rows = list(csv.DictReader(StringIO(picture.numbers)))
    assert tuple(rows[0]) == FIELDS
    for row, cost in zip(rows, costs, strict=True):
        found = [float(value) if value else np.nan for value in row.values()]
        expected = [np.nan if value is None else value for value in cost]
        assert found == pytest.approx(expected, rel=1e-3, nan_ok=True)
    (ax,) = picture.figure.axes
    means, alone, slots, *_ = ax.lines
    on_line = costs[: 1 + len(MINUTE_WORTHS)]
    assert points(means)[0] == pytest.approx([cost.departure_mean for cost in on_line])
    assert points(means)[1] == pytest.approx([cost.displacement_mean for cost in on_line])
    assert points(alone)[1] == pytest.approx([costs[0].displacement_mean])
    assert points(slots)[1] == pytest.approx([cost.displacement_mean for cost in costs[-2:]])
    names = [text.get_text() for text in ax.texts]
    assert names == 2 * ([f"{worth:g}" for worth in MINUTE_WORTHS] + ["4 h", "1 h"])
    assert "90 trips, k = 3" in picture.caption
    assert not picture.private


def test_numbers_of_points_that_lie_together_are_not_on_each_other(
    rides: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = [160.0, 154.0, 148.0, 120.0, 100.0, 66.0, 49.0, 30.0]
    ways = zip([None, *MINUTE_WORTHS], off, strict=True)
    near = [HoursCost(worth, None, 90, 500.0, 400.0, one, one, 2.0, 2.0) for worth, one in ways]
    monkeypatch.setattr("trajanon.maps.figures.trade_off.hours_costs", lambda *_, **__: near)
    (ax,) = trade_off_time(rides, 3).figure.axes
    above = [text.get_text() for text in ax.texts if text.get_position()[1] > 0]
    assert above == ["1", "1"]  # it is 4 % from 0.5, and 2 is 19 % from it


def test_trajectories_without_times_have_no_curve(rides: Trajectories) -> None:
    with pytest.raises(BadInput, match="needs times, and 90 of 90 have none"):
        trade_off_time(Trajectories(rides.points), 3)


def test_departures_are_drawn_of_a_release_with_times(tmp_path: Path) -> None:
    for times, hours in (("of-day", 24), ("of-week", 168), ("date", 24)):
        pictures = {picture.name: picture for picture in of_release(*timed(times))}
        assert list(pictures) == ["stages", "sizes", "departures", "group"]
        picture = pictures["departures"]
        (ax,) = picture.figure.axes
        originals, released = (
            np.asarray(one.get_data()[0]) for one in ax.patches if isinstance(one, StepPatch)
        )
        assert len(originals) == len(released) == hours
        assert (originals[8], originals[7], released[8]) == (4, 1, 4)
        assert (originals.sum(), released.sum()) == (11, 11)
        assert picture.private
        assert picture.caption.startswith("For the holder of the data, not for publication")
        assert "off by 22 min on average, 20 min in the median" in picture.caption
        nothing_overlaps(picture)
        nothing_overlaps(pictures["group"])
        save(list(pictures.values()), tmp_path / times)
        assert mode(tmp_path / times / "departures.svg") == 0o600


def test_the_group_tells_its_times_and_all_speak_of_trips() -> None:
    stages, sizes, _, group = of_release(*timed(), group=1)
    assert "released with its times (09:00, 15 min) once for each" in group.caption
    assert stages.caption.startswith("Loss of places and departures after each stage: 11 trips")
    assert stages.figure.axes[0].get_xlabel() == "loss of places and departures (%)"
    assert "of 11 trips" in sizes.caption
    assert sizes.figure.axes[0].get_xlabel() == "trips in a group"
    for picture in (stages, sizes, group):
        assert "trajector" not in picture.caption


def test_the_command_draws_the_curve(run: Run, rides: Trajectories, tmp_path: Path) -> None:
    write_trajectories(tmp_path / "trajectories.parquet", rides)
    answer = run("figures", "trade-off-time", "-k", 3)
    assert answer.code == 0, answer
    assert "trade-off-time.svg, .png, .csv" in answer.out
    folder = tmp_path / "figures"
    names = {f"trade-off-time.{suffix}" for suffix in ("svg", "png", "csv")}
    assert {path.name for path in folder.iterdir()} == {*names, "captions.md"}
    captions = (folder / "captions.md").read_text(encoding="utf-8")
    assert "k = 3" in captions


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a.csv", "-k", "4"], "-k 4 goes with trade-off-time"),
        (["trade-off-time", "--group", "1"], "--group 1 goes with a release"),
        (
            ["trade-off-time", "a.parquet", "b.parquet"],
            "or trade-off-time or which-k and trajectories",
        ),
        (["trade-off-time"], "there is no trajectories.parquet"),
        (["trade-off-time", "-k", "91"], "there is no trajectories.parquet"),
    ],
)
def test_what_is_no_curve_is_refused(run: Run, arguments: list[str], says: str) -> None:
    assert says in run("figures", *arguments).sentence


def test_too_few_for_any_group_are_refused(run: Run, rides: Trajectories, tmp_path: Path) -> None:
    write_trajectories(tmp_path / "trajectories.parquet", rides)
    assert "91" in run("figures", "trade-off-time", "-k", 91).sentence
    assert not (tmp_path / "figures").exists()
