"""What is measured of groups, and which groups have no mean."""

import numpy as np
import pytest

import trajanon
from trajanon.common.errors import BadInput
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories


def east_of(*longitudes: float) -> Trajectories:
    """Trajectories on the equator that stay at a longitude each."""
    points = np.zeros((len(longitudes), 2, 2))
    points[:, :, 1] = np.array(longitudes)[:, None]
    return Trajectories(points)


def test_where_somebody_went_and_when_are_two_distances() -> None:
    """Two people go one way, and one of them is slow at first."""
    points = np.zeros((2, 3, 2))
    points[0, :, 1] = 0.0, 0.010, 0.020
    points[1, :, 1] = 0.0, 0.002, 0.020
    report = checked(trajanon.anonymize(Trajectories(points), 2, as_published=True).report)
    assert report.curve_distance is not None
    metres = 0.004 * 111_320 / 3  # the mean is at 0.006, and one point of three lies apart
    assert report.displacement.mean == pytest.approx(metres, rel=0.01)
    assert report.curve_distance.to_line.mean == pytest.approx(0.0, abs=0.01)


def test_what_rests_at_its_end_counts_until_then_as_in_the_evaluation() -> None:
    """A day ends where its last trip does, and so does a trip with its last place twice."""
    points = np.zeros((2, 3, 2))
    points[0, :, 1] = 0.0, 0.010, 0.010
    points[1, :, 1] = 0.004, 0.012, 0.012
    originals = Trajectories(points, provenance={"trips": True})
    release = trajanon.anonymize(originals, 2, as_published=True)
    report = checked(release.report)
    assert report.displacement.mean == pytest.approx(0.0015 * 111_320, rel=0.01)
    found = trajanon.evaluate(originals, release.trajectories, release.report)
    assert found.usefulness.displacement == report.displacement


def test_a_group_spans_half_of_the_earth_and_no_more() -> None:
    at_most = trajanon.anonymize(east_of(-90.0, 90.0), 2, as_published=True)
    assert at_most.trajectories.points[:, :, 1].tolist() == [[0.0, 0.0]] * 2
    says = r"^1 group spans more than 180 degrees of longitude, .* or lower `k`$"
    with pytest.raises(BadInput, match=says):
        trajanon.anonymize(east_of(-90.0, 90.5), 2, as_published=True)

    # The two hemispheres make two groups, and each lies on both sides.
    both = np.concatenate([east_of(-179.0, 179.0).points, east_of(-179.0, 179.0).points])
    both[2:, :, 0] = 60.0
    with pytest.raises(BadInput, match=r"^2 groups span more than 180 degrees of longitude"):
        trajanon.anonymize(Trajectories(both), 2, as_published=True)


def test_windows_that_are_not_where_they_were_are_counted(one_each: Trajectories) -> None:
    assert one_each.tracks is not None
    report = checked(trajanon.anonymize(one_each, 4, effort="fast", key=bytes(range(32))).report)
    assert report.alignment is not None
    assert report.alignment.slid is not None
    left_in = report.released(len(one_each))
    slid = np.array(report.alignment.starts) != one_each.tracks.along[left_in]
    assert 0.0 < report.alignment.slid < 1.0
    assert report.alignment.slid == pytest.approx(slid.mean())

    stays = trajanon.anonymize(one_each, 4, effort="fast", align=False)
    assert checked(stays.report).alignment is None
