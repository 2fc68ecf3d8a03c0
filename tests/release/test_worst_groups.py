"""The worst groups are left out whole, and the bias of that is counted and printed."""

import numpy as np
import pytest
from commands import Run
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from toy import ways

import trajanon
from trajanon.release.public_figures import Crowd
from trajanon.release.release_words import left_out
from trajanon.release.report_files import checked
from trajanon.release.worst_groups import leave_out_worst


@given(st.integers(0, 99), st.floats(0.0, 0.6))
def test_whole_groups_go_farthest_first_and_no_more_than_asked(seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    labels = np.append(np.arange(6), random.integers(0, 6, 24))
    labels[random.integers(0, 30)] = -1
    points = random.normal(0.0, 0.01, (30, 5, 2)) * (1.0 + labels[:, None, None])
    after, worst = leave_out_worst(points, labels, share)

    gone = (labels >= 0) & (after < 0)
    assert worst.trajectories == gone.sum() <= share * 30 + 1e-9
    assert (after[~gone] == labels[~gone]).all()
    assert not set(labels[gone]) & set(after[after >= 0])
    assert worst.groups == len(set(labels[gone]))
    assert worst.longest <= worst.of_longest
    assert worst.metres <= worst.of_metres


def test_the_bias_is_printed() -> None:
    trips = ways(60, 60)
    release = trajanon.anonymize(trips, 3, effort="fast", leave_out=10.0)
    report = checked(release.report)
    assert report.mended is not None
    worst = report.mended.worst
    assert 0 < worst.trajectories <= 6
    assert report.n == 60 - worst.trajectories
    assert len(release.trajectories) == report.n
    assert "of the longest tenth of the" in left_out(report)
    assert f"of the worst groups ({worst.trajectories})" in left_out(report)

    everybody = checked(trajanon.anonymize(trips, 3, effort="fast").report)
    assert report.displacement.mean < everybody.displacement.mean
    assert "longest tenth" not in left_out(everybody)


def test_the_published_bias_tells_nothing_of_a_single_trip() -> None:
    trips = ways(60, 60)
    release = trajanon.anonymize(trips, 3, effort="fast", leave_out=10.0)
    report = checked(release.report)
    assert report.mended is not None
    # The longest tenth of 400 has 40 trips; one more is 2.5 %.
    published = set()
    for longest in (11, 12):
        worst = structs.replace(report.mended.worst, longest=longest, of_longest=40)
        mended = structs.replace(report.mended, worst=worst)
        published.add(left_out(structs.replace(report, mended=mended), Crowd(400)))
    assert len(published) == 1


def test_a_percentage_is_read_with_its_sign(run: Run) -> None:
    trajanon.write_trajectories("trajectories.parquet", ways(40, 40))
    answer = run("anonymize", "-k", 3, "--effort", "fast", "--leave-out", "10%")
    assert answer.code == 0
    assert "The worst groups take" in answer.out
    assert "is a percentage, such as 2%" in run("anonymize", "-k", 3, "--leave-out", "few").sentence


def test_what_the_papers_do_leaves_nobody_out() -> None:
    with pytest.raises(trajanon.BadInput, match="leave_out"):
        trajanon.anonymize(ways(20, 20), 3, as_published=True, leave_out=2.0)
