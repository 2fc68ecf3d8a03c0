"""The verdict: a function of the report, and the same wherever it is asked for."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import FAST, Run
from hypothesis import given
from hypothesis import strategies as st
from toy import NORTH, crossing, toy

import trajanon
from trajanon import write_trajectories
from trajanon.release.verdict import (
    DRIVES,
    DRIVES_BETRAYED,
    FEW_DATA,
    HOURS_ALONE,
    IN_ONE_PLACE,
    MOST_SENTENCES,
    PEOPLE,
    SHOWS_NOTHING,
    WIDE,
    Remedy,
    cost,
    source,
    source_of,
    verdict,
)
from trajanon.trajectories.trajectories import Trajectories


def told(**facts: Any) -> dict[str, Any]:
    """The facts of a release of a hundred groups of five, of which there is nothing to say."""
    few: dict[str, Any] = {
        "k": 5,
        "n": 500,
        "counted": "subjects",
        "unit": "trip",
        "groups": 100,
        "sizes": [5] * 100,
        "subjects_per_group": [5] * 100,
        "displacement": {"mean": 50.0, "median": 30.0},
        "length": {"mean": 1_000.0, "median": 900.0},
        "information_loss": 1.23,
        "chains": None,
        "source": {"recordings": 1_000, "used": 1_000, "nameless": 0, "left_out": {}},
    }
    return few | facts


def left(what: str, groups: int) -> dict[str, Any]:
    return {"mended": {what: {"groups": groups, "left": groups}}}


def chained(below: float) -> dict[str, Any]:
    return {"chains": {"drives": 1_000_000, "drives_below": int(below * 1_000_000)}}


def people(below: float) -> dict[str, Any]:
    return {"persons": {"people": 1_000_000, "people_below": int(below * 1_000_000)}}


def moved(share: float) -> dict[str, Any]:
    return {"displacement": {"mean": 1_000.0 * share, "median": 1.0}}


def alone(hours: int) -> dict[str, Any]:
    times = {"times": "of-day", "minute_worth": 3.0}
    return {"times": times | {"alone": {"hours": ["03:00"] * hours, "of": 20}}}


def nameless(share: float, count_as: int | None = None) -> dict[str, Any]:
    number = int(1_000 * share)
    return {
        "source": {
            "recordings": 1_000,
            "used": 1_000,
            "nameless": number,
            "nameless_count_as": number if count_as is None else count_as,
            "left_out": {},
        }
    }


@pytest.mark.parametrize(
    ("facts", "kind", "says"),
    [
        ({}, "ready", ""),
        (nameless(0.9, 1), "ready", ""),
        (nameless(0.002), "say", "2 recordings have no subject; each of them was counted as a"),
        (nameless(1.0), "say", "at least 5 recordings are behind each line"),
        ({"counted": "records", "subjects_per_group": None}, "say", "may be of one person"),
        (moved(FEW_DATA), "ready", ""),
        (moved(FEW_DATA + 0.01), "say", "It hides enough and shows little: points lie 20 % of"),
        (moved(0.2), "say", "Several times as many trips would bring that to 10 %"),
        (moved(0.2) | {"people": 50}, "say", "Several times as many trips would bring"),
        (moved(0.2) | {"people": 49}, "say", "Several times as many people would bring"),
        (moved(SHOWS_NOTHING), "say", "It hides enough and shows little"),
        (moved(0.51), "stop", "It shows nothing: points lie 51 % of a trip's length from where"),
        (moved(0.77) | {"people": 5}, "stop", "as all 5 people are behind each line."),
        (chained(DRIVES), "ready", ""),
        (chained(0.02), "say", "with fewer than 5 subjects in 20,000 of 1,000,000 drives"),
        (chained(DRIVES_BETRAYED + 0.001), "stop", "Pieces of one drive lie end to end"),
        (people(PEOPLE), "ready", ""),
        (people(0.02), "say", "fit fewer than 5 people for 20,000 of the 1,000,000 on several"),
        ({"shards": 2}, "say", "k holds for each line, not for each person; with several shards"),
        ({"shards": 2, "counted": "records", "subjects_per_group": None}, "say", "of one person"),
        (left("one_place", int(100 * IN_ONE_PLACE)), "ready", ""),
        (left("one_place", 2), "say", "2 % of the lines begin or end in one place of 200 m"),
        (left("wide", int(100 * WIDE)), "ready", ""),
        (left("wide", 2), "say", "2 % of the lines stand for trips that are farther apart"),
        (alone(int(20 * HOURS_ALONE)), "ready", ""),
        (alone(3), "say", "In 3 of the 20 hours with departures one line departs alone"),
        ({"k": 2}, "ready", ""),
        ({"k": 2, "unit": "trajectory"}, "say", "take a larger"),
        ({"subjects_per_group": [4] + [5] * 99}, "stop", "1 of 100 groups hold fewer than 5 diff"),
        ({"sizes": [4] + [5] * 99, "subjects_per_group": None}, "stop", "fewer than 5 trips"),
        ({"as_published": True}, "stop", "made as published, for comparison with the papers"),
    ],
)
def test_each_threshold_from_both_sides(facts: dict[str, Any], kind: str, says: str) -> None:
    found = verdict(told(**facts))
    assert found.kind == kind
    assert says in " ".join(found.sentences)
    assert bool(found) == (kind != "stop")
    assert len(found.sentences) == (kind != "ready")


FACTS = st.fixed_dictionaries(
    {
        "k": st.integers(2, 6),
        "counted": st.sampled_from(["subjects", "records"]),
        "unit": st.sampled_from(["trip", "trajectory"]),
        "shards": st.integers(1, 2),
    }
)


@given(
    FACTS,
    st.floats(0.0, 2.0),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1.0),
    st.integers(0, 100),
    st.lists(st.sampled_from(["a row is odd", "two\nlines"]), max_size=2),
)
def test_a_verdict_is_one_of_three(
    facts: dict[str, Any],
    far: float,
    unnamed: float,
    below: float,
    offending: int,
    problems: list[str],
) -> None:
    report = told(**facts, **moved(far), **nameless(unnamed), **chained(below))
    report |= left("one_place", offending)
    found = verdict(report, problems)
    assert found == verdict(json.loads(json.dumps(report)), problems)
    assert (found.kind == "ready") == (not found.sentences)
    assert found.kind != "say" or len(found.sentences) <= MOST_SENTENCES
    assert len(set(found.sentences)) == len(found.sentences)
    assert not problems or found.kind == "stop"
    assert all(one.endswith(".") and "\n" not in one for one in found.sentences)
    for remedy in found.remedies:
        assert remedy.command in ("anonymize", "extract")
    assert json.loads(json.dumps(found.account))["kind"] == found.kind


def test_a_report_of_an_earlier_version_has_a_verdict() -> None:
    release = trajanon.anonymize(pairs(), 2, effort="fast")
    later = ("length", "source", "persons")
    old = {name: told for name, told in release.report.items() if name not in later}
    assert verdict(old).kind == "ready"
    assert "of a" not in cost(old)
    assert source(old).startswith("4 trips are in the release. Somebody with several trips")


def test_the_columns_that_may_name_people_are_in_the_remedy() -> None:
    columns = [{"column": "medallion", "values": 4}, {"column": "cab, not used: x", "values": 5}]
    counts = {"recordings read": 8, "recordings of unknown subjects": 8}
    taxis = replace(toy(), provenance={"counts": counts, "possible_persons": columns})
    found = trajanon.anonymize(taxis, 2, effort="fast").verdict
    assert "at least 2 recordings are behind each line" in found.sentences[0]
    assert found.kind == "say"
    assert found.remedies[0].words == (
        "medallion (4 values), cab, not used: x (5 values) may name the persons: say which one "
        "does, or subject=none if none does"
    )
    assert found.remedies[0].account["command"] == "trajanon extract --columns subject=NAME"
    sheet = trajanon.evaluate(taxis, trajanon.anonymize(taxis, 2, effort="fast")).datasheet
    assert "different subject" not in sheet
    assert "At least 2 different recordings stand behind each." in sheet
    odd: Any
    for odd in (None, 7, [7, {"column": "a"}, {"column": "a", "values": "b"}], {"column": "a"}):
        assert source_of({"possible_persons": odd})["possible_persons"] == []


def test_the_source_says_what_is_not_in_the_release() -> None:
    became = {"read": 40, "with a trajectory": 37, "left out": {"too short": 3, "outside": 0}}
    report = told(n=1_036, source=source_of({"recordings": became}))
    report |= {"ledger": {"already_released": 2}}
    assert source(report) == (
        "1,036 trips are in the release. Of 40 recordings 37 gave one or more; the others are 3 "
        "too short. Left out: 2 trips released before. Somebody with several trips is on several "
        "lines, and fewer than k people may be on all of these."
    )
    for odd in (7, None, {"read": "many", "left out": {"too short": -1}}, {"left out": 7}):
        found = source_of({"counts": odd, "recordings": odd})
        assert found["recordings"] is None
        assert found["left_out"] == {}


def pairs(people: int | None = 4) -> Trajectories:
    """Two pairs of trips of 11 km, 300 m apart, of which there is nothing to say."""
    north = np.array([0.0, 300.0, 20_000.0, 20_300.0])[:, None] / NORTH
    points = np.stack(np.broadcast_arrays(north, [0.0, 0.05, 0.1]), axis=-1)
    return replace(toy(people), points=points, provenance={"trips": True})


def unlike(n: int) -> Trajectories:
    rng = np.random.default_rng(0)
    return Trajectories(rng.normal(40.0, 0.01, (n, 5, 2)), subject=np.arange(n))


@pytest.mark.parametrize(
    ("trajectories", "options", "change", "kind"),
    [
        (pairs(), {}, {}, "ready"),
        (pairs(people=None), {}, {}, "say"),
        (unlike(12), {}, {}, "say"),
        (toy(), {"as_published": True}, {}, "stop"),
        (toy(people=1), {"as_published": True}, {}, "stop"),
        (crossing(), {"align": False}, {}, "stop"),
        (crossing().take(np.arange(0, 8, 2)), {}, {}, "say"),  # k = 2 of windows
        (toy(), {}, {"subjects_per_group": [2, 1]}, "stop"),
        (toy(), {}, {"length": {"mean": 1.0, "median": 1.0}}, "stop"),
    ],
)
def test_all_who_are_asked_agree(
    trajectories: Trajectories,
    options: Mapping[str, Any],
    change: Mapping[str, Any],
    kind: str,
    run: Run,
    tmp_path: Path,
) -> None:
    """The library, anonymize, check, evaluate, its page and the datasheet."""
    release = trajanon.anonymize(trajectories, 2, effort="fast", **options)
    release.report.update(change)
    # A window of three points is shorter than its group is wide, and of windows k = 2 says so.
    if trajectories.tracks is not None:
        release.report["length"] = {"mean": 1_000.0, "median": 1_000.0}
    found = release.verdict
    assert found.kind == kind
    evidence = trajanon.evaluate(trajectories, release)
    assert evidence.verdict == found
    assert evidence.holds == bool(found)
    assert evidence.account["verdict"] == found.account
    write_trajectories(tmp_path / "trajectories.parquet", trajectories)
    release.write(tmp_path / "anonymized.parquet")
    code = 1 if kind == "stop" else 0
    checked, evaluated = run("check", "-k", 2), run("evaluate")
    assert (checked.code, evaluated.code) == (code, code)
    account = json.loads(run("check", "-k", 2, "--json").out)
    assert account["verdict"]["kind"] == kind
    assert account["holds"] == evidence.holds
    assert evaluated.out.startswith(found.headline)
    page = (tmp_path / "evaluation.html").read_text(encoding="utf-8")
    sheet = (tmp_path / "anonymized.datasheet.md").read_text(encoding="utf-8")
    assert f'<div class="verdict {kind}">' in page
    assert sheet.startswith("# No datasheet" if kind == "stop" else "# Datasheet")
    for sentence in found.sentences:
        assert sentence.replace("`k`", "-k") in checked.out
        assert sentence in evaluated.out
        assert sentence in sheet
    assert cost(release.report) not in sheet  # there it is rounded
    for text in (evaluated.out, page):
        assert cost(release.report).replace("'", "&#39;") in text.replace("'", "&#39;")


def test_the_screen_of_anonymize_is_short(run: Run, tmp_path: Path) -> None:
    write_trajectories(tmp_path / "trajectories.parquet", pairs())
    lines = run("anonymize", "-k", "2", *FAST).out.splitlines()
    assert lines[0] == "Ready to publish."
    assert lines[1].startswith("Released points lie ")
    assert lines[-1].startswith("Wrote 4 trips to anonymized.parquet. Next: trajanon check")
    assert len(lines) <= 10


def test_a_remedy_keeps_the_command_that_made_the_release() -> None:
    """Whoever typed a ledger, or another file, would lose it in a whole command."""
    fewer = Remedy("A smaller k", "anonymize", "-k 3")
    assert fewer.told == "A smaller k: the same anonymize, with -k 3"
    without = Remedy("To release trips, leave out --days", "anonymize", "-k 4", True)
    assert without.told == "To release trips, leave out --days"
