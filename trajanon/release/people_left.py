"""Who is left to those who follow a drive, a day or a person: how few are on all its lines."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from msgspec import UNSET, UnsetType
from scipy.sparse import csr_array

from trajanon.common.arrays import Bools, Ints, renumbered
from trajanon.common.number_text import number_of
from trajanon.files.rounding_order_and_keys_of_lines import line_keys
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.report import Chains, Persons
from trajanon.trajectories.clock_and_time_zones import departure_days
from trajanon.trajectories.days_as_records import day_numbers
from trajanon.trajectories.trajectories import Trajectories


class Left(NamedTuple):
    """How many drives, days or people leave few subjects to somebody who knows all their lines."""

    several: int  # drives, days or people that are on several lines
    below: int  # of these, with fewer than k subjects who are on all of these lines
    alone: int  # of these, with one such subject


def few_left(counted: Mapping[str, Left], k: int) -> str:
    """Write how many drives, or people and their days, leave few; a sentence without its end.

    ``counted`` is what `drives_left` or `people_left` returns: those of days come second.
    """
    (plural, all_lines), *days = counted.items()
    noun, whom = ("drive", "subjects") if plural == "drives" else ("person", "people")
    sentence = (
        f"Anyone who knows all lines of a {noun} is left with fewer than {k} {whom} in "
        f"{all_lines.below:,} of {number_of(all_lines.several, noun, plural)} on several lines, "
        f"and with one alone in {all_lines.alone:,}"
    )
    for _, lines_of_day in days:
        if lines_of_day.several:
            sentence += (
                f"; on one day, in {lines_of_day.below:,} of "
                f"{number_of(lines_of_day.several, 'day')} and in {lines_of_day.alone:,}"
            )
    return sentence


def counts_of(counted: Mapping[str, Left]) -> dict[str, int]:
    """Return all counts, ready for JSON, by the name of what is counted."""
    counts = dict[str, int]()
    for name, lines in counted.items():
        counts[name] = lines.several
        counts[f"{name}_below"] = lines.below
        counts[f"{name}_alone"] = lines.alone
    return counts


def left_on(
    owners: Ints, labels: Ints, subjects: Ints, k: int, nameless: Bools | None = None
) -> Left:
    """Count the subjects who are on all lines of each owner.

    Each trajectory has an owner, which is a drive, a day or a person, a line and a subject, (n,).
    Those marked in ``nameless``, (n,), count as one subject, but may be of several, none of whom is
    on all lines: nobody is their companion.
    """
    is_named = np.ones(len(labels), dtype=np.bool_) if nameless is None else ~nameless

    # The different lines of each owner, (pairs,), by owner.
    owner, line = np.unique(np.column_stack([owners, labels]), axis=0).T
    different_owners, lines_of_owner = np.unique(owner, return_counts=True)
    is_on_several = lines_of_owner > 1
    if not is_on_several.any():
        return Left(0, 0, 0)

    # The product counts, for each owner and subject, the lines of the owner that the subject is on.
    # Owners on one line are left out. A matrix ends with the last line that it has a 1 of.
    of_several = np.repeat(is_on_several, lines_of_owner)
    owner_on_line = _incidence(renumbered(owner[of_several]), line[of_several])
    subject_on_line = _incidence(labels[is_named], renumbered(subjects[is_named]))
    lines = int(labels.max()) + 1
    owner_on_line.resize(owner_on_line.shape[0], lines)
    subject_on_line.resize(lines, subject_on_line.shape[1])
    shared_lines = (owner_on_line @ subject_on_line).tocoo()

    is_on_all = shared_lines.data == lines_of_owner[is_on_several][shared_lines.row]
    subjects_left = np.bincount(shared_lines.row[is_on_all], minlength=owner_on_line.shape[0])
    # Each owner is on all of its lines itself.
    subjects_left += np.isin(different_owners[is_on_several], owners[~is_named])
    return Left(
        several=len(subjects_left),
        below=int((subjects_left < k).sum()),
        alone=int((subjects_left == 1).sum()),
    )


def _incidence(row: Ints, column: Ints) -> csr_array:
    """Return a sparse matrix with 1 where a row and a column meet, however often."""
    matrix = csr_array((np.ones(len(row), np.int64), (row, column)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def drive_of_each(trajectories: Trajectories) -> Ints | None:
    """Return the drive of each window, (n,): its run, or its recording where no runs are known.

    None of trips and days, and where neither is known.
    """
    if trajectories.tracks is not None:
        return trajectories.tracks.run
    return trajectories.trace if trajectories.unit == "trajectory" else None


def drives_left(
    labels: Ints, drive: Ints | None, subjects: Ints | None, k: int, nameless: Bools | None = None
) -> dict[str, Left]:
    """Count the subjects on all lines of each drive; nothing if no drive is on two lines.

    All arrays are of trajectories, (n,). A drive is one subject's where none are known;
    ``nameless`` is as in `left_on`.
    """
    if drive is None:
        return {}
    drives = left_on(drive, labels, drive if subjects is None else subjects, k, nameless)
    return {"drives": drives} if drives.several else {}


def people_left(
    labels: Ints, subjects: Ints, days: Ints | None, k: int, nameless: Bools | None = None
) -> dict[str, Left]:
    """Count the subjects on all lines of each person, and of each of their days.

    All are of trajectories, (n,): the number of the line, of the person and of the day;
    ``nameless`` is as in `left_on`.
    """
    counted = {"people": left_on(subjects, labels, subjects, k, nameless)}
    if days is not None:
        counted["days"] = left_on(day_numbers(subjects, days), labels, subjects, k, nameless)
    return counted


def drives_and_people_followed(
    groups: TrajectoryGroups, k: int
) -> tuple[Chains | UnsetType | None, Persons | None]:
    """Count the drives, and the people, whose lines together leave fewer than k subjects.

    The first is None if no drive is on two lines, and not set if that is not known. The second is
    None if subjects are not known.
    """
    trajectories = groups.trajectories
    subjects = trajectories.subject

    # Several groups may have equal lines: nobody can tell these groups apart in the release.
    line_of_group = renumbered(line_keys(groups.released_lines, groups.released_times))
    line_of_trajectory = line_of_group[groups.partition.labels]

    nameless = trajectories.nameless
    persons = None
    if subjects is not None:
        days = departure_days(trajectories)
        people = people_left(line_of_trajectory, subjects, days, k, nameless)
        persons = Persons(**counts_of(people))

    drive = drive_of_each(trajectories)
    if drive is None and trajectories.unit == "trajectory":
        # Nothing tells which windows are of one drive: only where nobody is on two lines, none is.
        return (None if persons is not None and not persons.people else UNSET), persons
    drives = drives_left(line_of_trajectory, drive, subjects, k, nameless)
    return (Chains(**counts_of(drives)) if drives else None), persons
