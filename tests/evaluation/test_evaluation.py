"""The evidence: numbers of small cases by hand, and the three files that hold it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from evaluations import Evaluated, evaluated, released
from plain import PUBLISHED
from toy import toy

import trajanon
from trajanon.common.errors import BadInput
from trajanon.evaluation.evidence import NOTICE
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories


@pytest.mark.usefixtures("plain_means")
def test_pairs_are_measured_as_by_hand() -> None:
    evaluation = evaluated(toy())
    account = evaluation.account
    assert evaluation.holds
    assert (evaluation.k, evaluation.report.counted) == (2, "subjects")
    assert (evaluation.trajectories, evaluation.points, evaluation.subjects) == (4, 3, 4)
    assert evaluation.sizes.tolist() == [2, 2]
    assert account["violations"] == {"records": 0, "subjects": 0}
    # Each line moves 10 m to the middle of its pair.
    left = evaluation.usefulness
    assert list(asdict(left.displacement).values()) == pytest.approx([10.0] * 4, rel=1e-3)
    assert left.length_change == pytest.approx(0.0, abs=1e-6)
    # Columns: latitudes -1010, -990, 990, 1010 m about their mean; longitudes constant.
    expected = 100 * 4 * 10.0**2 / (2 * 1010.0**2 + 2 * 990.0**2)
    assert evaluation.loss == pytest.approx(expected, rel=1e-4)
    assert evaluation.loss == pytest.approx(evaluation.report.information_loss, rel=1e-4)
    nearest = evaluation.attacks[0].account
    assert (nearest["name"], nearest["baseline"]) == ("nearest record", 0.5)
    assert nearest["expected"] == nearest["worst_case"] == 0.5


def test_windows_that_slid_are_measured_where_they_were_averaged(slid_sample: Evaluated) -> None:
    evaluation, report = slid_sample
    left = evaluation.usefulness
    assert asdict(left.displacement) == pytest.approx(report["displacement"], rel=1e-4)
    assert left.length == pytest.approx(report["length"]["mean"], rel=1e-4)
    assert evaluation.loss == pytest.approx(report["information_loss"], rel=1e-3)
    names = [attack.name for attack in evaluation.attacks if attack.against == "release"]
    assert len(set(names)) == len(names)
    for text in (evaluation.html, evaluation.datasheet, json.dumps(evaluation.account["answers"])):
        for word in ("as slid", "as cut", "without sliding", "the runs"):
            assert word not in text


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


# What does not belong together


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"k": None}, "Expected int, got null - at .*k"),
        ({"k": "2"}, "Expected int, got str"),
        ({"k": True}, "Expected int, got bool"),
        ({"k": 1}, "Expected int >= 2 - at .*k"),
        ({"counted": "people"}, "Invalid enum value 'people'"),
        ({"labels": None}, "Expected array, got null - at .*labels"),
        ({"labels": [0, 0, 0]}, "not match its groups"),
        ({"labels": [0, 1, 0, 1]}, "do not belong together"),
        ({"n": 5}, "do not belong together"),
        ({"alignment": {"starts": [0, 0, 0, 0]}}, "do not belong together"),
        ({"alignment": {}}, "do not belong together"),
    ],
)
def test_a_report_that_does_not_fit_is_refused(change: dict[str, Any], says: str) -> None:
    release, report = released(toy())
    with pytest.raises(BadInput, match=says):
        trajanon.evaluate(toy(), release, report | change)


def one_more_of_a_line(release: ReleasedTrajectories) -> ReleasedTrajectories:
    _, first, copies = np.unique(release.records, axis=0, return_index=True, return_counts=True)
    assert copies.tolist() == [2, 2]
    return release.take(first[[0, 0, 0, 1]])


def test_strangers_are_refused() -> None:
    release, report = released(toy())
    other = Trajectories(toy().points + 0.01)
    strangers: list[tuple[Any, Any]] = [
        (other, release),
        (toy(), other),
        (release, toy()),
        (toy().take(np.arange(3)), release),
        (toy(), release.take(np.arange(3))),
        (toy(), one_more_of_a_line(release)),
        (Trajectories(toy().points[:, :2]), release),
    ]
    for originals, lines in strangers:
        with pytest.raises(BadInput, match="do not belong together: give all three of one run"):
            trajanon.evaluate(originals, lines, report)
    frame: Any = pd.DataFrame({"lat": [40.0], "lon": [2.0]})
    with pytest.raises(BadInput, match=r"not a DataFrame: anonymize what cut\(from_f"):
        trajanon.evaluate(frame, release, report)
