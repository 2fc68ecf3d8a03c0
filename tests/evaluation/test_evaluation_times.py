"""The evidence of releases of trips and of times: by hand, and the files that hold it."""

import json
import re
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from evaluations import Evaluated, released
from plain import plain_means
from toy import MONDAY, timed, town

import trajanon
from trajanon.common.errors import BadInput
from trajanon.common.number_text import percent
from trajanon.evaluation.evidence import Evaluation
from trajanon.release.release import Release
from trajanon.trajectories.clock_and_time_zones import DAY, HOUR, Clock
from trajanon.trajectories.distances import Summary
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import Trajectories

HOURS = " and their hours"
OF_TRAJECTORIES = r"traject|window|sli[dt]|spacing\b|\bruns\b"


def evaluated(trajectories: Trajectories, k: int = 2, **options: Any) -> Evaluation:
    asked = {"times": "of-day", "timezone": "Etc/UTC"} | options
    with plain_means():
        return trajanon.evaluate(trajectories, *released(trajectories, k, **asked))


@pytest.fixture(scope="module")
def whole_town() -> Evaluation:
    with pytest.MonkeyPatch.context() as few:
        few.setattr("trajanon.evaluation.attacks.shared_by_attacks_with_tracks.TARGETS_TRIED", 5)
        return evaluated(town(), 4)


def test_pairs_are_measured_as_by_hand() -> None:
    evaluation = evaluated(timed())
    assert evaluation.holds
    assert (evaluation.unit, evaluation.units) == ("trip", "trips")
    # The means depart at 08:10 for 15 min and at 17:05 for 10 min; both are whole steps.
    left = evaluation.usefulness.times
    assert left is not None
    assert left.departure_error == Summary(450.0, 450.0, 600.0, 600.0)
    assert left.duration_error.mean == pytest.approx((300 + 300) / 4)
    hours = evaluation.tasks["hours"]
    assert hours is not None
    assert hours.value == 0.0
    account = evaluation.account
    assert account["times"] == Clock("of-day", "Etc/UTC", 300).sentence
    assert account["utility"]["times"]["departure_error"]["mean"] == 450.0
    assert account["unit"] == "trip"


def test_the_release_is_off_by_what_its_report_says(whole_town: Evaluation) -> None:
    left, told = whole_town.usefulness.times, whole_town.report.times
    assert left is not None
    assert told is not None
    for name in ("departure_error", "duration_error"):
        off = asdict(getattr(left, name))
        assert off == pytest.approx(asdict(getattr(told, name)))


def alone(trajectories: Trajectories, **options: Any) -> dict[str, Any]:
    asked = {"times": "of-day", "timezone": "Etc/UTC"} | options
    with plain_means():
        told: dict[str, Any] = released(trajectories, 2, **asked)[1]["times"]["alone"]
    return told


def test_an_hour_in_which_one_line_alone_departs_is_told() -> None:
    evaluation = evaluated(timed())
    assert alone(timed()) == {"hours": ["08:00", "17:00"], "of": 2}
    (said,) = (one for one in evaluation.verdict.sentences if "only one line departs" in one)
    assert said.startswith("In 2 of the 2 hours with departures, only one line departs: ")
    assert remedies_of(evaluation)["departures_may_differ"] == {"minute_worth": 1.0}
    assert said in evaluation.datasheet


def remedies_of(evaluation: Evaluation) -> dict[str, Any]:
    """What to change, by the kind of remedy."""
    remedies = [finding.remedy for finding in evaluation.verdict.findings]
    return {remedy.kind: remedy.changes for remedy in remedies if remedy is not None}


@pytest.mark.parametrize(
    ("times", "hour"), [("of-week", "Mon 08:00"), ("date", "1970-01-05 08:00")]
)
def test_hours_are_those_of_the_clock(times: str, hour: str) -> None:
    assert alone(timed(), times=times)["hours"][0] == hour
    remedies = remedies_of(evaluated(timed(), times=times))
    assert remedies["hours_alone_of_day"] == {"times": "of-day"}


def test_hours_of_dates_are_local() -> None:
    dated: dict[str, Any] = {"times": "date", "timezone": "Asia/Kolkata"}  # 5 h 30 min ahead
    assert alone(timed(), **dated)["hours"] == ["1970-01-05 13:00", "1970-01-05 22:00"]


def test_lines_that_depart_in_one_hour_are_not_alone() -> None:
    trips = timed()
    assert trips.times is not None
    late = replace(trips, times=trips.times - [[0], [0], [9 * HOUR], [9 * HOUR]])
    assert alone(late) == {"hours": [], "of": 1}
    assert "only one line departs" not in str(evaluated(late).verdict)
    # A step of four hours puts the lines of 08:10 and 09:50 into one hour.
    some = replace(trips, times=trips.times - [[0], [0], [25_500], [25_500]])
    assert len(alone(some)["hours"]) == 2
    assert not alone(some, time_step=4 * HOUR)["hours"]


def test_adversaries_know_hours_too(whole_town: Evaluation) -> None:
    found = {(one.name, one.against): one for one in whole_town.attacks}
    without, told = (found[f"2 known points{and_hours}", "release"] for and_hours in ("", HOURS))
    assert min(told.expected, without.expected) > 0.0
    whole = told.published
    assert whole.cycle == DAY
    assert whole.times is not None
    assert whole.line_times is not None
    assert whole.line_times.shape == (len(whole.lines), 6)


def test_trips_are_called_trips(whole_town: Evaluation) -> None:
    page = re.sub("<style>.*?</style>|<[^>]*>", " ", whole_town.html, flags=re.DOTALL)
    for text in (page, whole_town.datasheet.replace("equal spacing", "")):
        assert re.findall(OF_TRAJECTORIES, text) == []
        assert "trip" in text
    assert f"use cells of {whole_town.od_cell}: " in whole_town.datasheet
    assert "Correct counts from cell to cell, cells of 3 km" in page


def test_other_trajectories_are_not(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    assert (evaluation.unit, evaluation.clock) == ("trajectory", None)
    assert evaluation.account["times"] is None
    for text in (evaluation.html, evaluation.datasheet, str(evaluation.answers)):
        assert "two ends" not in text
        assert "and their hours" not in text
        assert "Departures" not in text
    assert "times and everything else" in evaluation.datasheet
    assert "say nothing of times or speeds" in evaluation.datasheet
    assert evaluation.usefulness.times is None


def test_the_page_shows_hours(whole_town: Evaluation) -> None:
    page = whole_town.html
    assert whole_town.clock is not None
    assert f"The released {whole_town.clock.sentence}." in page
    hours = whole_town.tasks["hours"]
    assert hours is not None
    assert f"<td>{percent(hours.value, 2)}<br>" in page
    for asking in ("src=", "href=", "url(", "<script"):
        assert asking not in page


def test_the_datasheet_says_what_times_are(whole_town: Evaluation) -> None:
    text = whole_town.datasheet
    assert whole_town.clock is not None
    assert f"| Times | {whole_town.clock.sentence} |" in text
    assert "| Departures are off by | " in text
    assert "| Durations are off by | " in text
    assert "everything else but the mean times" in text
    assert "times and everything else\nwere" not in text
    # Nothing of single trips: no hour but those of the clock's sentence.
    assert re.findall(r"\d\d:\d\d", text) == ["00:00", "03:00"]


def test_the_account_is_json(whole_town: Evaluation) -> None:
    account = whole_town.account
    assert json.loads(json.dumps(account, allow_nan=False)) == account
    left = account["utility"]
    assert left["times"]["departure_error"]["mean"] > 0.0
    assert 0.0 < account["tasks"]["hours"]["low"] <= account["tasks"]["hours"]["high"] <= 1.0


def test_windows_that_slide_take_their_hours_along() -> None:
    """Measured where they were when they were averaged."""
    rng, m, size = np.random.default_rng(3), 4, 60
    n = 30
    begin = rng.uniform((39.998, -3.002), (40.002, -2.998), (n, 1, 2))
    points = (begin + np.arange(size)[:, None] * [0.0, 0.0003]).reshape(-1, 2)
    times = MONDAY + HOUR * rng.uniform(7, 9, (n, 1)) + 60.0 * np.arange(size)
    tracks = Tracks(
        points=TrackPoints.of(points),
        first=size * np.arange(n + 1),
        run=np.arange(n),
        start=rng.integers(0, size - STEPS * (m - 1), n),
        times=times.ravel(),
    )
    windows = Trajectories(
        tracks.windows(m), np.arange(n), tracks=tracks, times=tracks.times_of_windows(m)
    )
    evaluation = evaluated(windows, 3)
    left, told = evaluation.usefulness.times, evaluation.report.times
    assert left is not None
    assert told is not None
    assert asdict(left.departure_error) == pytest.approx(asdict(told.departure_error))
    assert "2 known points and their hours" in [one.name for one in evaluation.attacks]
    assert evaluation.tasks["hours"] is not None
    assert "Trips by length" not in evaluation.html
    # Tracks without times have lost what the windows were when they were averaged.
    still = replace(windows, tracks=replace(tracks, times=None))
    with pytest.raises(BadInput, match="do not belong together"):
        trajanon.evaluate(still, *released(windows, 3, times="of-day", timezone="Etc/UTC"))


def test_a_release_and_its_report_of_times_belong_together() -> None:
    release = trajanon.anonymize(timed(), 2, times="of-day", timezone="Etc/UTC", effort="fast")
    assert trajanon.evaluate(timed(), release).holds
    told = release.report["times"]
    for wrong in ({**told, "minute_worth": -1.0}, {**told, "times": "of-year"}, None):
        odd = Release(release.trajectories, {**release.report, "times": wrong})
        with pytest.raises(BadInput):
            trajanon.evaluate(timed(), odd)
