"""Figures of a small release as they are published: no sum of them gives anybody away."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from toy import town

import trajanon
from trajanon.common.arrays import Floats, Ints
from trajanon.evaluation.evidence import Evaluation
from trajanon.evaluation.release_certificate import certificate
from trajanon.evaluation.usefulness_of_lines import usefulness
from trajanon.grouping.loss import loss_to
from trajanon.release.originals import matched
from trajanon.release.public_figures import EXACT, FEW, Crowd
from trajanon.release.report import Length
from trajanon.release.report_files import checked
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.trajectories import Trajectories


@given(st.floats(1e-3, 1e6), st.integers(10, 100_000), st.booleans())
def test_whoever_subtracts_the_others_learns_no_error(
    value: float, people: int, shares: bool
) -> None:
    value = value / 1e6 if shares else value
    crowd = Crowd(people, shares=shares)
    low, high = crowd.bounds(value)
    whole = 1.0 if shares else value
    if people < FEW:
        assert low - 1e-9 <= value <= high * (1.0 + 1e-9)
        assert people * (high - low) >= 2.0 * whole * (1.0 - 1e-9)
        return
    assert low == high
    # All means that are written alike: the hidden one is anywhere within twice the error.
    step = 4.0 * whole / people
    alike = [value + step * share for share in (-0.49, 0.49)]
    assert abs(low - value) <= 2.5 * step * (1.0 + 1e-9)
    assert any(crowd.bounds(max(each, 0.0)) == (low, high) for each in alike)


def test_a_holder_reads_figures_as_they_are() -> None:
    assert EXACT.number(123.456) == 123.456
    assert Crowd(8).number(0.0) == 0.0


def published(evaluation: Evaluation, path: Path) -> str:
    """All that is published of a release beside it."""
    said = certificate(evaluation, path)
    return evaluation.datasheet + json.dumps(said)


def if_it_were(
    evaluation: Evaluation,
    points: Floats,
    lines: Floats,
    labels: Ints,
    seconds: tuple[Floats, Floats],
) -> Evaluation:
    """The evaluation, had the trips been others: with all errors of that."""
    before, after = seconds
    left = usefulness(points, lines[labels], seconds=before, released_seconds=after)
    loss = loss_to(points, lines, labels)
    assert left.times is not None
    assert evaluation.report.times is not None
    times = structs.replace(
        evaluation.report.times,
        departure_error=left.times.departure_error,
        duration_error=left.times.duration_error,
    )
    report = structs.replace(
        evaluation.report,
        displacement=left.displacement,
        information_loss=loss,
        length=Length(left.length, left.length),
        times=times,
    )
    return replace(evaluation, usefulness=left, loss=loss, report=report)


def shares_left(
    own: Trajectories, release: trajanon.Release, evaluation: Evaluation, path: Path
) -> list[float]:
    """Play the attack of somebody who knows the lines, and all trips but one.

    For some hidden trips: the errors that fit all that is published, beside the mean error.
    """
    trips, report = len(own), checked(release.report)
    found = matched(report.released_of(own), release.trajectories, report)
    assert evaluation.clock is not None
    assert found.times is not None
    assert own.times is not None
    times, lines, labels = evaluation.clock.seconds(own.times), found.lines, found.labels
    off = displacement(own.points, lines[labels]).mean(axis=1)
    left = []
    for hidden in range(0, trips, trips // 3):
        tried = np.array([1e-9, 0.5, 1.0, 1.5, 2.0])
        texts, errors = [], [*(tried * off.mean()), off[hidden]]
        for error in errors:
            points, when, share = own.points.copy(), times.copy(), error / off[hidden]
            line = labels[hidden]
            points[hidden] = lines[line] + share * (points[hidden] - lines[line])
            late = when[hidden] - found.times[line]
            when[hidden] = found.times[line] + min(share, 1.0) * late
            seconds = when, found.times[labels]
            texts.append(published(if_it_were(evaluation, points, lines, labels, seconds), path))
        fits = [error for error, text in zip(errors, texts, strict=True) if text == texts[-1]]
        left.append(float(np.ptp(fits) / off.mean()))
    return left


@pytest.mark.usefixtures("few_tried")
@pytest.mark.parametrize("trips", [24, 60])
def test_what_is_published_leaves_the_hidden_one_hidden(
    tmp_path: Path, trips: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "anonymized.parquet"
    path.write_bytes(b"lines")
    own = replace(town(240, seed=trips).take(np.arange(trips)), subject=np.arange(trips))
    release = trajanon.anonymize(own, 2, effort="fast", times="of-day")
    evaluation = trajanon.evaluate(own, release)
    assert np.median(shares_left(own, release, evaluation, path)) >= 0.5
    # Figures as they are give it away.
    monkeypatch.setattr(Crowd, "bounds", lambda _, value: (value, value))
    assert np.median(shares_left(own, release, evaluation, path)) < 0.1


@pytest.mark.parametrize(
    ("share", "bounds"),
    [(0.7, (0.5, 0.75)), (1.0, (0.75, 1.0)), (1.3, (1.25, 1.5)), (2.0, (2.0, 2.25))],
)
def test_an_error_larger_than_the_lines_is_not_said_to_be_smaller(
    share: float, bounds: tuple[float, float]
) -> None:
    assert Crowd(8, shares=True).bounds(share) == bounds
