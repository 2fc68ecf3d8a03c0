"""Which trips of a person are released: all, the one that costs least, or whole days."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress
from trajanon.common.search_and_release_options import ReleaseSettings
from trajanon.grouping.group_means import group_means
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.standardised_records import standardise
from trajanon.release.plan import Plan
from trajanon.release.report import Choice
from trajanon.trajectories.clock_and_time_zones import zone_of
from trajanon.trajectories.days_as_records import days_of
from trajanon.trajectories.search_columns import search_columns
from trajanon.trajectories.trajectories import Trajectories

_MOST_ROUNDS = 20  # in which each person's trajectory is chosen again


class OneEach(NamedTuple):
    """One trajectory of each person, in groups."""

    rows: Ints  # numbers of these trajectories in the table, rising, (p,)
    labels: Ints  # group of each of them, (p,)
    stopped: bool  # whether Ctrl-C ended the search early
    since: float  # seconds of `perf_counter` when the search began


def trips_or_days(
    trips: Trajectories, settings: ReleaseSettings
) -> tuple[Trajectories, Choice | None]:
    """Put trips together to days, where that is asked for; and report how many that leaves out."""
    for name in ("one_line_each", "days"):
        if getattr(settings, name) and trips.subject is None:
            raise BadInput(
                f"`{name}` needs to know who made each trip: extract again and name the column of "
                "the persons, with `columns` subject=NAME"
            )
    if settings.days is None:
        return trips, None

    if trips.tracks is not None or trips.unit == "day":
        raise BadInput("`days` takes whole trips: extract again without `windows`")
    n = len(trips)
    is_untimed = np.ones(n, dtype=np.bool_) if trips.times is None else np.isnan(trips.times[:, 0])
    untimed = int(is_untimed.sum())
    nameless = 0 if trips.nameless is None else int((trips.nameless & ~is_untimed).sum())
    if untimed + nameless == n:
        raise BadInput("`days` needs the times of trips, and there are none: leave it out")

    zone = zone_of(trips.points) if settings.timezone is None else settings.timezone
    days, _, too_many = days_of(trips, settings.days, zone)
    if not len(days):
        raise BadInput(
            f"no day can be released: all {too_many:,} have more than {settings.days} trips; "
            "raise `days`, or leave it out and release trips"
        )
    choice = Choice(
        most=settings.days,
        timezone=zone,
        trips=n,
        untimed=untimed,
        nameless=nameless or None,
        days=len(days) + too_many,
        too_many=too_many,
    )
    return days, choice


def one_each(trajectories: Trajectories, k: int, plan: Plan, progress: Progress) -> OneEach:
    """Choose of each person the trajectory that costs its group least; and group these."""
    assert trajectories.subject is not None
    since = perf_counter()
    stopped = False
    columns, weights = search_columns(trajectories, plan.timing)  # (n, p) and (p,)
    records = standardise(columns, weights)
    person = renumbered(trajectories.subject)
    ends = plan.ends_for_search(trajectories)

    def searched_labels(rows: Ints) -> Ints:
        """Search groups of these rows, and note if Ctrl-C ended the search."""
        nonlocal stopped
        partition = microaggregate(
            columns[rows],
            k,
            subjects=person[rows],
            weights=weights,
            ends=None if ends is None else ends.take(rows),
            progress=progress,
            **plan.secret_search.keywords,
        )
        stopped |= partition.stopped
        return partition.labels

    def cheapest_rows(means: Floats) -> Ints:
        """Find the row of each person, (people,), by their number, that is nearest to its mean.

        ``means`` are those with which the trajectories are compared, (n, p).
        """
        cost = ((records - means) ** 2).sum(axis=1)
        order = np.lexsort((cost, person))
        begins_person = np.diff(person[order], prepend=-1) > 0
        return order[begins_person]

    # First all trajectories are grouped, then the one of each person that is nearest to its mean.
    labels = searched_labels(np.arange(len(person)))
    rows = cheapest_rows(group_means(records, labels)[labels])
    labels = searched_labels(rows)

    # Another trajectory of a person may be nearer to the mean of these groups. `labels` and `rows`
    # are by person, so each trajectory is compared with the group of its person.
    for _ in range(_MOST_ROUNDS):
        rows_before = rows
        means_of_people = group_means(records[rows], labels)[labels]
        rows = cheapest_rows(means_of_people[person])
        if np.array_equal(rows_before, rows):
            break

    # In the order of the table, by which all rows are reported.
    order = np.argsort(rows)
    return OneEach(rows[order], renumbered(labels[order]), stopped, since)
