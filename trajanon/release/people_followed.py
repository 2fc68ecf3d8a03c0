"""Drives and people who can be followed from line to line of a release, for its report."""

from trajanon.common.arrays import dense
from trajanon.release.people_left import counts_of, drives_left, people_left
from trajanon.release.report import Chains, Persons, line_keys
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.trajectories.times import departure_days


def drives_and_people_followed(
    groups: TrajectoryGroups, k: int
) -> tuple[Chains | None, Persons | None]:
    """Count the drives, and the people, whose lines together leave fewer than k subjects.

    The first is None if no drive is on two lines, the second if subjects are not known.
    """
    trajectories = groups.trajectories
    subjects = trajectories.subject

    # Several groups may have equal lines: nobody can tell these groups apart in the release.
    line_of_group = dense(line_keys(groups.released, groups.released_times))
    line_of_trajectory = line_of_group[groups.partition.labels]

    drives = {}
    if trajectories.tracks is not None:
        drives = drives_left(line_of_trajectory, trajectories.tracks.run, subjects, k)
    chains = Chains(*drives["drives"]) if drives else None
    if subjects is None:
        return chains, None

    days = departure_days(trajectories)
    people = people_left(line_of_trajectory, subjects, days, k)
    return chains, Persons(**counts_of(people))
