"""Large folders: what is counted of all is what `evaluate` counts, and a sample is named."""

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from naive_sliding import town
from shards import hours, shards_of, walks, write_parts

import trajanon
from trajanon.common.errors import BadInput
from trajanon.evaluation import large_folders
from trajanon.evaluation.evaluation import evaluate
from trajanon.evaluation.large_folders import evaluate_large, lines_near_places
from trajanon.release.release_check import check_folders
from trajanon.release.report_files import read_report
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_tried")

K = 3
COUNTED = (
    *("k", "counted", "unit", "trajectories", "points", "subjects", "rows", "groups", "sizes"),
    *("violations", "area", "nameless", "chains", "times"),
)


def released(folder: Path, trips: Trajectories, *, in_shards: bool, **options: Any) -> None:
    write_parts(folder / "trips", trips, 60)
    with shards_of(70) if in_shards else nullcontext():
        made = anonymize_parts(str(folder / "trips"), str(folder / "out"), K, **options)
    assert (made["shards"] > 1) == in_shards


@pytest.mark.parametrize("kind", ["trips with hours", "windows", "trips at once"])
def test_counts_are_of_all_and_attacks_of_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    timed: dict[str, Any] = {"times": "of-day"} if kind == "trips with hours" else {}
    trips = town(5, 120, people=50) if kind == "windows" else hours(walks(120))
    released(tmp_path, trips, in_shards=kind != "trips at once", effort="fast", **timed)

    originals = tmp_path / "trips"
    release = tmp_path / "out"
    report = read_report(release)
    findings = trajanon.check(release, K)
    read = trajanon.read_trajectories(originals)
    whole = evaluate(read, trajanon.read_release(release), report, findings=findings)

    monkeypatch.setattr(large_folders, "SAMPLED_ORIGINALS", 60)
    monkeypatch.setattr(large_folders, "PLACES", 3)
    large = evaluate_large(originals, release, report, findings, subjects_exact=False)

    assert {name: large.account[name] for name in COUNTED} == {
        name: whole.account[name] for name in COUNTED
    }
    assert large.period == whole.period
    # Shards measure the spread of windows before they slid.
    assert large.loss == pytest.approx(whole.loss, rel=0.05 if kind == "windows" else 1e-6)
    assert large.followed is not None
    assert whole.followed is not None
    assert large.followed.left == whole.followed.left
    if kind != "windows":  # these are counted where they were before they slid
        assert large.followed.place == whole.followed.place
    assert large.verdict == whole.verdict

    assert large.sample is not None
    assert 20 < large.sample <= 60
    assert large.account["sample"] == large.sample
    assert f"a sample of {large.sample}: whole groups" in large.html
    assert "a sample of whole groups" in large.datasheet or not large.holds
    assert large.crowd.people < whole.crowd.people
    targets = {len(attack.targets) for attack in large.attacks if attack.question != "linkability"}
    assert max(targets) <= large.sample
    again = evaluate_large(originals, release, report, findings, subjects_exact=False)
    assert again.account == large.account


def test_a_sample_has_whole_lines_near_one_another() -> None:
    middles = np.array([[0.0, 0.0], [0.0, 0.1], [1.0, 0.0], [1.0, 0.1], [2.0, 0.0], [2.0, 0.1]])
    sizes = np.full(6, 2_000)
    chosen = lines_near_places(middles, sizes, np.random.default_rng(1))
    assert chosen.all()  # each place takes some 5,000 rows, so two lines

    many = np.full(6, 10_000)  # beyond: the line that is drawn alone
    alone = lines_near_places(middles[:1], many[:1], np.random.default_rng(1))
    assert alone.tolist() == [True]


@pytest.mark.parametrize("who_has_most", ["first", "last", "all"])
def test_a_person_with_more_originals_than_are_read_hides_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, who_has_most: str
) -> None:
    """One of 70 trips, one of two, and people of one; or only the one of 70 has several."""
    trips = hours(walks(152))
    subject = np.arange(152)
    subject[:70] = 0
    subject[-2:] = subject[-1] if who_has_most != "all" else subject[-2:]
    if who_has_most == "last":
        subject = subject[::-1]
    released(tmp_path, replace(trips, subject=subject), in_shards=False, effort="fast")

    monkeypatch.setattr(large_folders, "SAMPLED_ORIGINALS", 60)
    release = tmp_path / "out"
    report = read_report(release)
    findings = trajanon.check(release, K)
    large = evaluate_large(tmp_path / "trips", release, report, findings, subjects_exact=False)
    assert large.habits is not None
    assert large.habits.targets == (5 if who_has_most == "all" else 2)


@pytest.mark.parametrize("in_shards", [True, False])
def test_people_are_counted_part_by_part_as_at_once(tmp_path: Path, in_shards: bool) -> None:
    released(tmp_path, hours(walks(200)), in_shards=in_shards, effort="fast")
    originals = tmp_path / "trips"
    release = tmp_path / "out"
    report = read_report(release)
    read = trajanon.read_trajectories(originals)
    for k in (K, 30):
        found, nameless = check_folders(release, k, originals, report, subjects_exact=False)
        at_once = trajanon.check(release, k, trajectories=read)
        assert (found.holds, found.answered) == (at_once.holds, "people")
        assert sorted(found.problems) == sorted(at_once.problems)
        assert nameless.recordings == 0

    other = write_parts(tmp_path / "other", hours(walks(199)), 60)
    with pytest.raises(BadInput, match="do not belong together"):
        check_folders(release, K, other, report, subjects_exact=False)
    if not in_shards:  # such a report knows what was averaged
        moved = write_parts(tmp_path / "moved", hours(walks(200, seed=1)), 60)
        with pytest.raises(BadInput, match="do not belong together"):
            check_folders(release, K, moved, report, subjects_exact=False)


def test_commands_say_that_it_is_a_sample(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    released(Path(), hours(walks(200)), in_shards=True, effort="fast")
    monkeypatch.setattr(large_folders, "SAMPLED_ORIGINALS", 60)
    answer = run("evaluate", "trips", "out")
    assert answer.code == 0, answer
    assert "Counts, areas and information loss are of all 200 trajectories." in answer.out
    account = json.loads(Path("evaluation.json").read_text())
    assert account["sample"] <= 60
    assert account["trajectories"] == 200
    certificate = json.loads(Path("out.parts.certificate.json").read_text())
    assert "on a sample of whole groups" in certificate["bases"]["measurement"]

    answer = run("check", "out", "-k", "3", "--trajectories", "trips")
    assert answer.code == 0, answer
    assert "3 different people in each group" in answer.out
