"""Somebody who verifies whole groups and rebuilds members, as `evaluate` lets him."""

from contextlib import nullcontext
from dataclasses import asdict, replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from plain import unmoved
from reports import UNMOVED
from streets_walked import SCALE, grouped, walked

import trajanon
from trajanon.evaluation import evaluation
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.rebuilding_from_all_other_tracks import Ways
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import Movement
from trajanon.evaluation.evaluation import attacks_with_all_tracks
from trajanon.release.report import Report
from trajanon.release.report_files import checked
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import Trajectories

M = 10


@pytest.fixture(scope="module")
def people() -> Trajectories:
    return Trajectories(walked(3, 120, M), np.arange(120))


@pytest.mark.parametrize("exact", [False, True])
def test_evaluate_tells_what_is_rebuilt_beside_the_line(people: Trajectories, exact: bool) -> None:
    with unmoved() if exact else nullcontext():
        release = trajanon.anonymize(people, 4, method="mdav", refine="none")
    evidence = trajanon.evaluate(people, release)
    right = evidence.verification.right
    account = evidence.account
    assert account["verification"]["right"] == asdict(right)
    assert account["rebuilding"]["share"] == asdict(evidence.rebuilding.share)
    for words in (evidence.rebuilding.words, evidence.verification.words):
        assert words in unescape(evidence.html)
    if exact:  # plain means are undone
        assert evidence.rebuilding.best.median.value < 5.0
        assert evidence.verification.right.value > 0.9
        assert "plain means" in evidence.datasheet
    else:
        assert evidence.rebuilding.share.value > 0.3
        assert "each counted once (one is at most 25 % of a line); moved" in evidence.datasheet


def report(width: float | None) -> Report:
    told = {"notice": "", "n": 1, "k": 4, "counted": "records", "labels": [], "width": width}
    return checked(UNMOVED | told)


def test_of_many_those_near_one_line_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    city = grouped(walked(3, 200, M), 4)
    monkeypatch.setattr(evaluation, "MOST_SEARCHED", 60)
    tried: list[Published] = []

    def attack(seen: Published, movement: Movement, *_: Any, **__: Any) -> tuple[None, None]:
        assert len(movement.shares) == len(seen.lines)
        tried.append(seen)
        return None, None

    monkeypatch.setattr(evaluation, "verification", attack)
    monkeypatch.setattr(evaluation, "rebuilding", attack)
    attacks_with_all_tracks(city, None, report(100.0))
    one, other = tried
    assert one is other
    assert 50 < len(one.points) <= 60
    whole = {line.tobytes(): size for line, size in zip(city.lines, city.group_sizes, strict=True)}
    assert all(
        whole[line.tobytes()] == size for line, size in zip(one.lines, one.group_sizes, strict=True)
    )
    middles = (city.lines.mean(axis=1) - one.lines.mean(axis=(0, 1))) * SCALE
    kept = np.array([line.tobytes() in {*map(bytes, one.lines)} for line in city.lines])
    away = np.hypot(*middles.T)
    assert np.median(away[kept]) < np.median(away[~kept])


def test_windows_of_one_recording_are_of_one_where_nobody_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also runs on which no window lies are its owner's."""
    points = walked(3, 8, M)
    size = STEPS * (M - 1) + 1
    along = np.linspace(0.0, M - 1.0, size)
    runs = [
        np.column_stack([np.interp(along, np.arange(M), way[:, axis]) for axis in (0, 1)])
        for way in points
    ]
    tracks = Tracks(
        TrackPoints.of(np.concatenate([*runs, runs[0]])),
        size * np.arange(10),
        np.arange(8),
        np.zeros(8, dtype=np.int64),
        recording=np.array([0, 0, 1, 2, 3, 4, 5, 6, 6]),
    )
    assert tracks.owners_of_runs(np.arange(8)).tolist() == [1, 1, 2, 3, 4, 5, 6, 7, 7]
    seen: list[tuple[Published, Ways]] = []
    monkeypatch.setattr(evaluation, "verification", lambda *_, **__: None)

    def attack(one: Published, _: Movement, ways: Ways, **__: Any) -> tuple[None, None]:
        seen.append((one, ways))
        return None, None

    monkeypatch.setattr(evaluation, "rebuilding", attack)
    city = replace(grouped(points, 2), subjects=None)
    attacks_with_all_tracks(city, tracks, report(None))
    (found, ways), *_ = seen
    assert found.owners.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]
    assert ways.owner.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 6]
