"""The evidence: its verdict, and the account that holds it."""

import json
from dataclasses import asdict, replace
from pathlib import Path

from evaluations import Evaluated, evaluated, released
from plain import PUBLISHED
from toy import toy

import trajanon
from trajanon.evaluation.evidence import NOTICE


def test_a_promise_that_is_not_kept_comes_first() -> None:
    release, report = released(toy())
    evaluation = trajanon.evaluate(toy(), release, {**report, "k": 3})
    assert not evaluation.holds
    assert evaluation.verdict.kind == "stop"
    assert evaluation.verdict.sentences == ["2 of 2 groups hold fewer than 3 different people."]
    assert evaluation.account["violations"] == {"records": 2, "subjects": 2}


def test_a_group_of_one_person_is_told() -> None:
    release, report = released(toy(people=1), as_published=True)
    for counted in ("records", "subjects"):
        report["counted"] = counted
        evaluation = trajanon.evaluate(toy(people=1), release, report)
        assert not evaluation.holds
        assert evaluation.account["violations"] == {"records": 0, "subjects": 2}
        assert evaluation.verdict.sentences == [
            f"I{PUBLISHED[1:]}.",
            "2 records stand behind each line, but not 2 people: 2 of 2 groups hold "
            "fewer than 2 different people.",
        ]


def test_without_subjects_nothing_is_said_of_them() -> None:
    evaluation = evaluated(toy(people=None))
    assert evaluation.holds
    assert evaluation.subjects is None
    assert evaluation.account["violations"] == {"records": 0, "subjects": None}
    assert "several may be of one person" in evaluation.verdict.sentences[0]


def test_what_the_checker_found_is_in_the_verdict(tmp_path: Path) -> None:
    release, report = released(toy())
    path = tmp_path / "r.csv"
    trajanon.anonymize(toy(), 2).write(path)
    text = path.read_text(encoding="utf-8")
    evil = "<script>alert(1)</script>"
    header, *rows = text.splitlines()
    text = "\n".join([f"{header},{evil}", *(f"{row},7" for row in rows)])
    path.write_text(text, encoding="utf-8")
    findings = trajanon.check(path, 2)
    evaluation = trajanon.evaluate(toy(), release, report, findings=findings)
    assert not evaluation.holds
    assert evil in evaluation.verdict.sentences[0]
    assert evil not in evaluation.html
    assert "&lt;script&gt;" in evaluation.html


def test_the_account_is_that_of_the_evaluation(slid_sample: Evaluated) -> None:
    evaluation, report = slid_sample
    account = evaluation.account
    assert json.loads(json.dumps(account)) == account
    assert next(iter(account.items())) == ("notice", NOTICE)
    assert account["verdict"] == evaluation.verdict.account
    assert account["utility"] == asdict(evaluation.usefulness)
    assert account["attacks"] == [attack.account for attack in evaluation.attacks]
    assert account["groups"] == report["groups"]
    assert account["sizes"]["max"] == max(report["sizes"])


def test_subjects_promised_of_trajectories_that_name_none_are_no_promise() -> None:
    release, report = released(toy())
    evaluation = trajanon.evaluate(toy(people=None), release, report)
    assert not evaluation.holds
    assert evaluation.verdict.sentences == [
        "The report promises different people, and these trajectories name none."
    ]


def test_of_a_sample_it_is_said_what_was_measured(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    assert evaluation.measured == evaluation.trajectories
    assert evaluation.sample_words is None
    sampled = replace(evaluation, sample=7)
    assert sampled.measured == 7
    assert sampled.sample_words is not None
    assert "on a sample of 7:" in sampled.sample_words
    assert sampled.crowd.people == 7 / evaluation.most_of_one


def test_cells_for_od_are_of_trips_alone(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    right = dict.fromkeys(evaluation.usefulness.flow_similarity, 1.0)
    windows = replace(evaluation, usefulness=replace(evaluation.usefulness, flow_similarity=right))
    assert windows.od_cell is None
    assert "flows" not in windows.published
    trips = replace(windows, unit="trip", most_of_one=1)
    assert trips.od_cell == "0.5 km"
    assert trips.published["flows"] == {"cell": "0.5 km", "right": 1.0}
    # Of few people this would tell where one of them ends.
    assert "flows" not in replace(trips, most_of_one=100).published
