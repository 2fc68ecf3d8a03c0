"""The verdict: a function of the report, and the same wherever it is asked for."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import FAST, Run
from hypothesis import given
from hypothesis import strategies as st
from ledgers import trips_of
from markupsafe import escape
from msgspec import UNSET, structs
from reports import reported
from shards import walks
from toy import NORTH, crossing, toy
from verdicts import HELPS, RUN, THRESHOLDS, alone, chained, left, moved, nameless, people

import trajanon
from trajanon import write_trajectories
from trajanon.common.command_lines import Options
from trajanon.release.release_words import cost
from trajanon.release.report import InLedger, Link
from trajanon.release.report_files import checked, json_ready
from trajanon.release.verdict import MOST_SHOWN, verdict
from trajanon.release.verdict_sentences import WORDS, Entered, Remedy
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.trajectories import HOP_HASHES_KEPT, Trajectories


@pytest.mark.parametrize(("facts", "kind", "says"), THRESHOLDS)
def test_each_threshold_from_both_sides(facts: dict[str, Any], kind: str, says: str) -> None:
    found = verdict(reported(**facts))
    assert found.kind == kind
    assert says.lower() in " ".join(found.sentences).lower()
    assert bool(found) == (kind != "stop")
    assert len(found.sentences) == (kind != "ready")


@pytest.mark.parametrize(("facts", "kind", "numbers", "helps"), HELPS)
def test_a_finding_has_its_numbers_and_what_helps(
    facts: dict[str, Any], kind: str, numbers: dict[str, Any], helps: tuple[Any, ...] | None
) -> None:
    judged = verdict(reported(**facts))
    (finding,) = judged.findings
    assert finding.kind == kind
    assert bool(WORDS[kind].condition) == (judged.kind == "conditional")
    assert finding.numbers.keys() == numbers.keys()
    for name, number in numbers.items():
        assert finding.numbers[name] == pytest.approx(number), name
    if helps is None:
        assert finding.remedy is None
    else:
        runs = RUN | {"anonymize": {"k": facts.get("k", 5)}}
        what, command, changes = helps
        assert finding.remedy == Remedy(what, changes, runs)
        assert finding.remedy.command == command


@pytest.mark.parametrize(
    ("facts", "helps"),
    [
        ({}, ("smaller_k", "anonymize", {"k": 4})),
        ({"k": 4}, ("smaller_k", "anonymize", {"k": 3})),
        ({"k": 3}, None),
        (nameless(0.51, 1), ("nameless_differ", "extract", {"columns": "nameless=different"})),
        (nameless(0.5, 1), ("smaller_k", "anonymize", {"k": 4})),
        (nameless(0.51), ("smaller_k", "anonymize", {"k": 4})),
    ],
)
def test_what_moves_points_less(
    facts: dict[str, Any], helps: tuple[str, str, dict[str, Any]] | None
) -> None:
    """Where most people have no name, to count each; else a smaller k, if that is still 3."""
    found = verdict(reported(**moved(0.2), **facts)).findings[-1]
    assert found.kind == "far_from_streets"
    assert found.numbers["more"] == "trips"
    remedy = found.remedy
    assert (remedy and (remedy.kind, remedy.command, remedy.changes)) == helps


def test_where_few_people_went_more_of_them_help() -> None:
    found = verdict(reported(**moved(0.2), people=49)).findings[-1]
    assert found.numbers["more"] == "people"


@pytest.mark.parametrize(
    "facts",
    [
        {"k": 2, "unit": "day"},
        {"n": 75, "choice": {"most": 3, "days": 100}, "unit": "day"},
        {"n": 75, "choice": {"most": 3}, "unit": "day"},
        {"n": 75, "choice": {"days": 200}},
    ],
)
def test_nothing_is_to_be_weighed(facts: dict[str, Any]) -> None:
    assert verdict(reported(**facts)).findings == []


@pytest.mark.parametrize(
    ("unit", "per_recording", "asked"),
    [
        ("trajectory", None, True),
        ("trajectory", 2, True),
        ("trajectory", 1, False),
        ("trip", None, False),
    ],
)
def test_drives_of_which_nothing_is_known(
    unit: str, per_recording: int | None, asked: bool
) -> None:
    source = {"recordings": 1_000, "per_recording": per_recording}
    report = structs.replace(reported(unit=unit, source=source), chains=UNSET)
    findings = verdict(report).findings
    assert [finding.kind for finding in findings] == ["drives_not_checked"] * asked
    for finding in findings:
        assert finding.numbers == {"k": 5}
        assert finding.remedy is not None
        assert finding.remedy.kind == "one_window_each"


def test_homes_behind_lines_of_unknown_kind_are_not_passed_over() -> None:
    """Lines without tracks may be whole trips, whose ends nobody kept apart."""
    lines = trips_of(np.arange(60), walks(60))
    from_python = trajanon.anonymize(lines, 3, effort="fast")
    assert "ends_unknown" in [finding.kind for finding in from_python.verdict.findings]
    windows = replace(lines, provenance={"trips": False, "recordings": {"read": 60}})
    of_windows = trajanon.anonymize(windows, 3, effort="fast")
    assert "ends_unknown" in [finding.kind for finding in of_windows.verdict.findings]
    assert (of_windows.trajectories.points == from_python.trajectories.points).all()


def test_what_helps_changes_the_commands_that_were_typed() -> None:
    typed: Options = {"k": 5, "ledger": "book"}
    link = Link("0f", 7, "a0")
    report = reported(**left("wide", 2), run=typed, source={"run": {"paths": ["a.gpx"]}})
    remedy = verdict(report).findings[0].remedy
    assert remedy is not None
    assert remedy.runs == {"extract": {"paths": ["a.gpx"]}, "anonymize": typed}
    assert remedy.entered is None
    for ledger, entered in (
        (InLedger(rows=[]), None),
        (InLedger(rows=[], link=link), Entered("book", 7)),
    ):
        remedy = verdict(structs.replace(report, ledger=ledger)).findings[0].remedy
        assert remedy is not None
        assert remedy.entered == entered


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
    facts = {**facts, **moved(far), **nameless(unnamed), **chained(below)}
    report = reported(**facts, **left("one_place", offending))
    found = verdict(report, problems)
    assert found == verdict(checked(json.loads(json.dumps(json_ready(report)))), problems)
    assert (found.kind == "ready") == (not found.sentences)
    assert found.kind != "conditional" or len(found.sentences) <= MOST_SHOWN
    assert len(set(found.sentences)) == len(found.sentences)
    assert not problems or found.kind == "stop"
    assert all(one.endswith(".") for one in found.sentences)
    for finding in found.findings:
        assert finding.remedy is None or finding.remedy.command_line.startswith("trajanon ")
    assert found.colour == {"ready": "green", "conditional": "amber", "stop": "red"}[found.kind]
    assert found.headline.startswith("Do not" if found.kind == "stop" else "Ready to publish")
    assert found.headline.count(", if ") == (found.kind == "conditional")
    assert json.loads(json.dumps(found.account))["kind"] == found.kind


def test_the_columns_that_may_name_people_are_in_the_remedy() -> None:
    columns = [{"column": "medallion", "values": 4}, {"column": "cab, not used: x", "values": 5}]
    counts = {"recordings read": 8, "recordings of unknown subjects": 8}
    taxis = replace(toy(), provenance={"counts": counts, "possible_persons": columns})
    found = trajanon.anonymize(taxis, 2, effort="fast").verdict
    assert "at least 2 recordings stand behind each line" in found.sentences[0]
    assert found.kind == "conditional"
    remedy = found.findings[0].remedy
    assert remedy is not None
    assert remedy.kind == "name_persons"
    assert remedy.changes == {"columns": "subject=medallion"}
    sheet = trajanon.evaluate(taxis, trajanon.anonymize(taxis, 2, effort="fast")).datasheet
    assert "different subject" not in sheet
    assert "At least 2 different recordings stand behind each." in sheet
    odd: Any
    for odd in (None, 7, [7, {"column": "a"}, {"column": "a", "values": "b"}], {"column": "a"}):
        assert Provenance.read({"possible_persons": odd}).source.possible_persons == []


@pytest.mark.parametrize("people_below", [5, 399])
def test_a_release_that_leaves_people_alone_is_nowhere_green(people_below: int) -> None:
    """399 of 399 people with several lines, or 5 of these, fit fewer than k."""
    found = verdict(reported(persons={"people": 399, "people_below": people_below}))
    assert (found.kind, found.colour) == ("conditional", "amber")
    assert found.headline == "Ready to publish, if nobody knows several trips of one person."
    share = "2 %" if people_below == 5 else "100 %"
    assert found.sentences[0].startswith(f"For {share} of the people on several lines")


def test_people_who_were_not_counted_are_nowhere_green() -> None:
    """As in a report of an earlier version, which counted no people on several lines."""
    found = verdict(reported(persons=None))
    assert (found.kind, [finding.kind for finding in found.findings]) == (
        "conditional",
        ["people_not_checked"],
    )


def test_shards_do_not_hide_that_some_have_no_name() -> None:
    found = verdict(reported(**nameless(0.1, 1), shards=2, persons=None))
    kinds = [finding.kind for finding in found.findings]
    assert kinds == ["people_not_checked", "nameless_not_checked"]
    assert "recordings without a name are of other people" in found.headline


def test_a_report_without_any_hour_is_judged() -> None:
    times = alone(0)["times"] | {"alone": {"of": 0}}
    assert verdict(reported(times=times)).kind == "ready"


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
        (pairs(people=None), {}, {}, "conditional"),
        (unlike(12), {}, {}, "conditional"),
        (toy(), {"as_published": True}, {}, "stop"),
        (toy(people=1), {"as_published": True}, {}, "stop"),
        (crossing(), {"align": False}, {}, "stop"),
        (crossing().take(np.arange(0, 8, 2)), {}, {}, "conditional"),  # k = 2 of windows
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
    looked_at, evaluated = run("check", "-k", 2), run("evaluate")
    assert (looked_at.code, evaluated.code) == (code, code)
    account = json.loads(run("check", "-k", 2, "--json").out)
    assert account["verdict"]["kind"] == kind
    assert account["holds"] == evidence.holds
    assert evaluated.out.startswith(found.headline)
    page = (tmp_path / "evaluation.html").read_text(encoding="utf-8")
    sheet = (tmp_path / "anonymized.datasheet.md").read_text(encoding="utf-8")
    assert f'<div class="verdict {found.colour}">' in page
    assert sheet.startswith("# No datasheet" if kind == "stop" else "# Datasheet")
    for sentence in found.sentences:
        assert sentence.replace("`k`", "-k") in looked_at.out
        assert sentence in evaluated.out
        assert sentence in sheet
    assert cost(checked(release.report)) not in sheet  # there it is rounded
    for _, answer in evidence.answers:
        assert answer in evaluated.out
        assert str(escape(answer)) in page


def test_plain_means_are_not_made_again_by_the_same_command() -> None:
    stop = trajanon.anonymize(toy(people=1), 2, as_published=True).verdict
    assert stop is not None
    assert stop.kind == "stop"
    assert [finding.remedy is None for finding in stop.findings] == [False, True]


def test_the_screen_of_anonymize_is_short(run: Run, tmp_path: Path) -> None:
    write_trajectories(tmp_path / "trajectories.parquet", pairs())
    lines = run("anonymize", "-k", "2", *FAST).out.splitlines()
    assert lines[0] == "Ready to publish."
    assert lines[1] == "2 lines, each shared by at least 2 people, stand for 4 trips."
    assert lines[2].startswith("Released points lie ")
    assert lines[-1].startswith("Wrote 4 trips to anonymized.parquet. Next: trajanon check")
    assert len(lines) <= 10


def test_the_headline_names_more_conditions_than_have_a_sentence() -> None:
    facts = {"k": 2, "unit": "trajectory"}
    found = verdict(reported(**facts, **people(0.5), **chained(0.03), **left("one_place", 5)))
    conditions = [finding.kind for finding in found.findings]
    assert len(found.sentences) <= MOST_SHOWN < len(conditions)
    assert found.headline == (
        "Ready to publish, if nobody knows several trajectories of one person, nobody follows a "
        "drive from line to line, places where lines begin and end may be known and both windows "
        "behind a line may be computed."
    )


def test_a_remedy_can_be_pasted(run: Run, tmp_path: Path) -> None:
    """What stands below a finding runs as it is, and mends the finding."""
    write_trajectories(tmp_path / "my trips.parquet", several_each())
    said = run("anonymize", "my trips.parquet", "-k", "2", "--out", "out 1.csv", *FAST).out
    (line,) = [line for line in said.splitlines() if "One trip per person: " in line]
    words = shlex.split(line.partition(": ")[2])
    assert words[:2] == ["trajanon", "anonymize"]
    assert {"--one-line-each", "my trips.parquet", "out 1.csv"} <= set(words)
    again = run(*words[1:])
    assert again.code == 0
    assert "on several lines" in said
    assert "on several lines" not in again.out


def test_a_remedy_can_be_pasted_where_a_ledger_has_the_release(run: Run, tmp_path: Path) -> None:
    marks = np.arange(1, 1 + 12 * (1 + HOP_HASHES_KEPT), dtype=np.uint64).reshape(12, -1)
    trips = several_each()
    marks[:, 0] = 1_000 + np.asarray(trips.subject, dtype=np.uint64)
    write_trajectories(tmp_path / "trips.parquet", replace(trips, marks=marks))
    typed = ("trips.parquet", "-k", "2", "--ledger", "my ledger", "--out", "out.parquet", *FAST)
    said = run("anonymize", *typed).out

    label = "One trip per person, but only if nobody has release 1 yet: "
    (line,) = [line for line in said.splitlines() if label in line]
    forget, again = (shlex.split(part) for part in line.partition(": ")[2].split(" && "))
    assert run(*again[1:]).code == 2  # the release is in the ledger
    assert "they would be in two releases" in run(*forget[1:]).out
    assert "on several lines" not in run(*again[1:]).out

    shown = json.loads(run("ledger", "show", "my ledger", "--json").out)["releases"]
    assert [(entry["number"], entry["one_line_each"]) for entry in shown] == [(2, True)]
    assert run(*forget[1:]).code == 2  # pasted twice, it forgets no other


def several_each() -> Trajectories:
    """Six people with two trips of 11 km each, on two streets with other people."""
    streets = np.array([0.0, 0.0, 0.0, 40_000.0, 40_000.0, 40_000.0])
    north = np.concatenate([streets, np.roll(streets, 1) + 20_000.0])
    north = (north + 300.0 * np.arange(12) % 3)[:, None] / NORTH
    points = np.stack(np.broadcast_arrays(40.0 + north, [2.0, 2.05, 2.1]), axis=-1)
    return Trajectories(points, subject=np.tile(np.arange(6), 2), provenance={"trips": True})


def test_a_column_of_persons_with_gaps_names_people() -> None:
    """In trajectories of another program, of which nobody says how many recordings were read."""
    points = np.random.default_rng(0).uniform((40, -4), (41, -3), (12, 3, 2))
    for names, named in (
        ([np.nan] * 3 + [*range(9)], True),
        ([np.nan, *range(11)], True),
        ([np.nan] * 12, False),
    ):
        trajectories = Trajectories(points, np.array(names))
        judged = trajanon.anonymize(trajectories, 3, effort="fast").verdict
        kinds = [finding.kind for finding in judged.findings]
        assert ("people_unknown" not in kinds) == named
