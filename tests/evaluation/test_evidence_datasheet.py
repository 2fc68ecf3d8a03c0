"""The datasheet of a release: what it tells of it, and what it may not."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from evaluations import Evaluated, evaluated, released
from toy import toy

import trajanon
from trajanon import BadInput, Publisher
from trajanon.evaluation.evaluation import months
from trajanon.release.release_words import cost
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


@pytest.mark.usefixtures("few_tried")
def test_the_datasheet_holds_nothing_that_a_release_may_not(slid_sample: Evaluated) -> None:
    evaluation, report = slid_sample
    text = evaluation.datasheet
    assert "k-anonymity is not differential privacy" in text
    assert "named by the publisher" not in text  # no placeholders
    rows = f"{report['rows']['subjects']:,}"
    assert f"| Rows | {rows}, one for each different subject of a line |" in text
    assert "madrid" not in text.lower()
    # No places: no number of a degree beyond hundredths, no hour, no day but one.
    assert not re.findall(r"\d+\.\d{4,}|\d\d:\d\d", text)
    assert re.findall(r"\d{4}-\d\d-\d\d", text) == [evaluation.date.isoformat()]


def test_the_datasheet_names_what_it_is_of(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    text = replace(evaluation, file="a|b`c\n.csv").datasheet
    assert "| File | `a?b?c?.csv` |" in text
    assert "| File | not named |" in evaluation.datasheet
    assert "| Metres between points | 150 |" in text
    assert f"**What does it cost?** {cost(evaluation.report, evaluation.crowd)}\n" in text
    # Both distances, each with what it is; exact ones are the holder's.
    assert re.search(r"from where people were at the same share of the way, [\d.]+ %", text)
    assert re.search(r"the ways lie \d+ m( to \d+ m)? from the lines, and the lines \d+ m", text)
    reported = evaluation.report.curve_distance
    assert reported is not None
    assert evaluation.usefulness.to_line.mean == pytest.approx(reported.to_line.mean, rel=1e-4)
    assert evaluation.usefulness.to_way.median == pytest.approx(reported.to_way.median, rel=1e-4)
    for sentence in evaluation.verdict.sentences:
        assert f"\n- {sentence}\n" in text
    west, south, east, north = evaluation.area
    area = f"latitudes {south:.2f} to {north:.2f}, longitudes {west:.2f} to {east:.2f}"
    assert f"| Area | {area} |" in text


def test_the_datasheet_repeats_no_words_of_a_report() -> None:
    release, report = released(toy())
    report["stages"] += [
        {"name": name, "information_loss": None} for name in ("alice/her.gpx", "none")
    ]
    report["attribution"] = "alice"
    report["notice"] = "alice"
    text = trajanon.evaluate(toy(), release, report).datasheet
    assert "alice" not in text
    assert "licence" not in text.lower()
    report["attribution"] = OSM_ATTRIBUTION
    text = trajanon.evaluate(toy(), release, report).datasheet
    assert OSM_ATTRIBUTION in text
    assert "ODbL" in text


@pytest.mark.usefixtures("few_tried")
def test_the_datasheet_says_roughly_what_was_left_out() -> None:
    many = Trajectories(np.random.default_rng(0).uniform(40, 40.05, (200, 3, 2)))
    assert "Nothing was left out" in evaluated(many).datasheet
    many.points[198:] += np.array([[[1.0]], [[-1.0]]])  # two unlike all others
    few = evaluated(many)
    (trajectories,) = few.account["left_out"]
    why = {"trajectories far from all others": 2}
    assert trajectories == {"what": "trajectories", "missing": 2, "of": 200, "why": why}
    assert "2 of 200 trajectories were left out" in dict(few.answers)["What was left out?"]
    assert "less than 5 % of the trajectories were left out" in few.datasheet


@pytest.mark.parametrize(
    ("first", "last", "period"),
    [
        ("2008-05-31", "2008-06-02", "| Period of collection | 2008-05 to 2008-06 |"),
        ("2008-06-01", "2008-06-30", "| Period of collection | 2008-06 |"),
        ("1970-01-01", "1970-02-01", None),
    ],
)
def test_the_datasheet_names_the_months_of_collection(
    first: str, last: str, period: str | None
) -> None:
    """Where times count from a beginning that nobody knows, it names none."""
    some = toy()
    begins, ends = (float(np.datetime64(day, "s").astype(np.int64)) for day in (first, last))
    times = np.tile(np.linspace(begins, ends, some.points.shape[1]), (len(some), 1))
    sheet = evaluated(replace(some, times=times)).datasheet
    rows = [line for line in sheet.splitlines() if "Period" in line]
    assert rows == ([period] if period else [])


def test_the_publishers_words_stand_in_the_datasheet_as_text() -> None:
    words = Publisher(
        title="Trips | [all](javascript:alert) <b>",
        address="https://madrid.es/trips_2026",
        officer="dpd@madrid.es",
        purpose="planning",
    )
    release, report = released(toy())
    report["attribution"] = None
    sheet = trajanon.evaluate(toy(), release, report, publisher=words).datasheet
    assert "| Title | Trips \\| \\[all\\](javascript:alert) \\<b\\> |\n" in sheet
    assert "| Web address of the release | <https://madrid.es/trips_2026> |\n" in sheet
    assert "dpd@" not in sheet
    assert "planning" not in sheet


def test_data_of_openstreetmap_keep_their_licence() -> None:
    release, report = released(toy())
    for licence in ("", "odbl 1.0"):
        words = Publisher(licence=licence)
        assert trajanon.evaluate(toy(), release, report, publisher=words).publisher == words
    with pytest.raises(BadInput, match=r"under ODbL-1\.0: .* \(got 'CC0-1\.0'\)"):
        trajanon.evaluate(toy(), release, report, publisher=Publisher(licence="CC0-1.0"))


def test_recordings_are_counted_roughly_in_what_is_published() -> None:
    release, report = released(toy())
    source = {"recordings": 1234, "used": 1000, "nameless": 0, "per_recording": 1, "left_out": {}}
    evaluation = trajanon.evaluate(toy(), release, {**report, "source": source})
    assert "234 of 1,234 recordings" in evaluation.html
    assert "1,234" not in evaluation.datasheet
    assert "0 % to 25 % of the recordings were left out" in evaluation.datasheet


def test_recordings_without_a_name_are_told() -> None:
    """Whether each counts as a subject of its own, which it need not be, or all as one."""
    counts: Any
    named, without = toy(), {"recordings of unknown subjects": 3}
    for counts, says in (
        ({}, None),
        (without, "and each of them was counted as a different person."),
        (without | {"subjects without a name": 1}, "and were counted as one person."),
    ):
        provenance = {"counts": counts, "recordings": {"read": 9, "with a trajectory": 9}}
        some = Trajectories(named.points, subject=named.subject, provenance=provenance)
        evaluation = evaluated(some)
        assert evaluation.nameless == (0 if says is None else 3)
        different = says is not None and "different" in says
        assert ("several may be of one person" in evaluation.datasheet) == different
    for counts in (7, None, {"recordings of unknown subjects": "many"}):
        odd = Trajectories(named.points, provenance={"counts": counts})
        release, report = released(named)
        assert trajanon.evaluate(odd, release, report).nameless == 0


def town(ends_are_true: int) -> Trajectories:
    """Trips of 80 people on 10 roads, of which so many have both of their ends."""
    random = np.random.default_rng(1)
    begin, end = random.uniform(40.0, 40.1, (2, 10, 1, 2)).repeat(8, axis=1).reshape(2, 80, 1, 2)
    points = begin + (end - begin) * np.linspace(0.0, 1.0, 6)[:, None]
    points = points + random.normal(0.0, 1e-4, (80, 1, 2))
    true_ends = np.repeat(np.arange(80) < ends_are_true, 2).reshape(80, 2)
    return Trajectories(
        points, subject=np.arange(80), true_ends=true_ends, provenance={"trips": True}
    )


@pytest.mark.parametrize(("ends_are_true", "are_published"), [(80, True), (40, True), (1, False)])
def test_counts_of_the_few_trips_with_both_ends_are_not_published(
    ends_are_true: int, are_published: bool
) -> None:
    """The share of one trip that stays in its cells tells where it ends."""
    evaluation = evaluated(town(ends_are_true), k=4, distinct_ends=1)
    assert evaluation.usefulness.flows_of == ends_are_true
    assert ("flows" in evaluation.published) == are_published
    assert ("OD tables" in evaluation.datasheet) == are_published


def test_counts_of_no_trip_are_not_known() -> None:
    """No trip has both ends: that none of 0 counts is right would be no measurement."""
    page = evaluated(town(0), k=4, distinct_ends=1).html
    assert page.count("correct counts (1 km)</th><td>not known") == 1
    assert page.count("cells of 3 km</th><td>not known") == 1


def test_a_month_of_fewer_than_k_people_is_not_published() -> None:
    some = toy()  # of four people, in pairs
    month = 2_592_000.0
    times = 1_212_900_000.0 + np.array([0.0, 3.0, 3.0, 6.0])[:, None] * month
    times = times + np.linspace(0.0, 600.0, some.points.shape[1])
    assert "| Period of collection | 2008-09 |" in evaluated(replace(some, times=times)).datasheet
    # Recordings that count from their own beginning do not hide the months of others.
    times[0] -= times[0, 0]
    assert "| Period of collection | 2008-09 |" in evaluated(replace(some, times=times)).datasheet
    # Where each is of another month, there are no two months to name.
    times = 1_212_900_000.0 + np.array([0.0, 3.0, 6.0, 9.0])[:, None] * month + times[:1]
    assert months(times, np.array([0, 0, 1, 2]), 3) is None
