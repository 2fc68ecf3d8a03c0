"""Who can be followed from line to line of a release, as its report says it."""

from trajanon.common.arrays import dense
from trajanon.release.people_left import counts_of, drives_left, people_left
from trajanon.release.report import Chains, Persons, line_keys
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.trajectories.times import departure_days


def followed(groups: TrajectoryGroups, k: int) -> tuple[Chains | None, Persons | None]:
    """Count drives, and people, that leave fewer than k subjects; None where none is known."""
    trajectories = groups.trajectories
    subjects = trajectories.subject

    # Groups with equal lines are on one.
    line_of_group = dense(line_keys(groups.released, groups.released_times))
    line = line_of_group[groups.partition.labels]

    drives = drives_left(line, trajectories.tracks, subjects, k)
    chains = Chains(*drives["drives"]) if drives else None
    if subjects is None:
        return chains, None
    people = people_left(line, subjects, departure_days(trajectories), k)
    return chains, Persons(**counts_of(people))
