"""Which k: each point of the curve is a release evaluated by itself."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run, mode
from toy import timed, toy

import trajanon
from trajanon.common.search_and_release_options import Settings
from trajanon.evaluation.choice_of_k import Curve, curve, options_in
from trajanon.evaluation.evidence import NOTICE
from trajanon.release.holder_key import key_of_trials
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories


@pytest.fixture(scope="module")
def ways() -> Trajectories:
    rng = np.random.default_rng(5)
    ends = rng.normal((40.4, -3.7), 0.01, (40, 2, 1, 2))
    share = np.linspace(0.0, 1.0, 5)[:, None]
    return Trajectories(ends[:, 0] * (1 - share) + ends[:, 1] * share, np.arange(40) % 16)


KEY = bytes(range(32))


@pytest.fixture(scope="module")
def drawn(ways: Trajectories) -> Curve:
    return curve(ways, (5, 2, 3, 2, 17), {"effort": "fast", "key": KEY})


def test_each_point_is_a_release_evaluated_by_itself(ways: Trajectories, drawn: Curve) -> None:
    assert [one.k for one in drawn.choices] == [2, 3, 5]
    for one in drawn.choices:
        release = trajanon.anonymize(ways, one.k, effort="fast", key=KEY)
        found = trajanon.evaluate(ways, release)
        chances = {
            attack.name: attack.expected for attack in found.attacks if attack.against == "release"
        }
        assert one.moved == release.report["displacement"]["mean"]
        assert one.chance == max(chances.values()) == chances[one.attack]
        assert found.curve is None
        assert found.account["curve"] is None
        assert "<h2>Which k" not in found.html


def test_a_k_for_which_there_are_too_few_is_left_out_with_a_sentence(drawn: Curve) -> None:
    assert drawn.left_out == [17]
    left_out = (
        "k = 17 is left out: there are too few trajectories for a group, or groups would be too "
        "wide."
    )
    assert drawn.words.endswith(left_out)
    assert drawn.words.startswith("With k = 2 points move by ")
    assert "With k = 5 they move by " in drawn.words
    one = Curve(drawn.choices[:1], [])
    assert "they move by" not in one.words
    assert Curve([], [17]).words == left_out


def test_releases_of_the_curve_are_made_as_the_report_tells() -> None:
    asked: dict[str, Any] = {
        "times": "of-week",
        "timezone": "Etc/UTC",
        "minute_worth": 2.0,
        "time_step": 600,
    }
    asked |= {"as_published": False, "align": False, "rows": "lines", "distinct_ends": 1}
    search: dict[str, Any] = {"method": "mdav", "refine": "descent", "effort": "fast", "seed": 3}
    report = trajanon.anonymize(timed(), 2, key=KEY, **asked, **search).report
    asked |= {
        "key": key_of_trials(report["key_fingerprint"]),
        "one_line_each": False,
        "leave_out": 0.0,
    }
    assert options_in(checked(report)) == asked | asdict(Settings(**search))
    del report["search"]  # as before it was told
    assert options_in(checked(report)) == asked
    told = checked(trajanon.anonymize(toy(), 2, effort="fast").report)
    assert "times" not in options_in(told)
    published = checked(trajanon.anonymize(toy(), 2, as_published=True).report)
    again = trajanon.anonymize(toy(), 2, **options_in(published)).report
    assert again["labels"] == published.labels


def test_the_page_draws_the_curve(ways: Trajectories) -> None:
    release = trajanon.anonymize(ways, 4, effort="fast")
    found = trajanon.evaluate(ways, release, curve=(2, 8, 40))
    assert found.curve is not None
    curve = json.loads(json.dumps(found.account["curve"]))
    assert [choice["k"] for choice in curve["choices"]] == [2, 8]
    assert curve["left_out"] == [40]
    section = found.html.partition("<h2>Which k</h2>")[2].partition("</section>")[0]
    assert found.curve.words in section
    assert section.count("<circle") == 4
    assert section.count('<th scope="row">') == 2
    none = trajanon.evaluate(ways, release, curve=(40,)).html
    assert "k = 40 is left out" in none
    assert "<circle" not in none


def test_commands_draw_the_curve(run: Run, tmp_path: Path, ways: Trajectories) -> None:
    trajanon.write_trajectories(tmp_path / "trajectories.parquet", ways)
    trajanon.anonymize(ways, 3, effort="fast").write(tmp_path / "anonymized.parquet")
    assert run("evaluate", "--json").code == 0
    account = json.loads((tmp_path / "evaluation.json").read_text())
    assert [one["k"] for one in account["curve"]["choices"]] == [2, 3, 10]
    answer = run("evaluate", "--curve", "2,4")
    assert answer.code == 0
    assert "With k = 4 they move by" in answer.out
    for odd in ("2,x", "", "2;3"):
        assert "--curve takes whole numbers" in run("evaluate", "--curve", odd).sentence
    assert "k must be at least 2" in run("evaluate", "--curve", "1").sentence
    answer = run("figures", "which-k", "--out", "drawn")
    assert answer.code == 0
    assert {one.name for one in (tmp_path / "drawn").iterdir()} == {
        *("which-k.svg", "which-k.png", "which-k.csv", "captions.md")
    }
    # Exact figures are for the holder: the screen, the picture and the caption say so.
    assert f"which-k.svg, .png, .csv. {NOTICE}" in answer.out
    assert (tmp_path / "drawn" / "which-k.svg").read_text().count(NOTICE) >= 2
    assert NOTICE in (tmp_path / "drawn" / "captions.md").read_text()
    assert {mode(file) for file in (tmp_path / "drawn").iterdir()} == {0o600}
