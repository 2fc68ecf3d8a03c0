"""Who is on how many lines: all trips of a person, one of them, or whole days."""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.declared_options import ReleaseSettings
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress
from trajanon.grouping.loss import group_means, standardise
from trajanon.grouping.microaggregation import microaggregate
from trajanon.release.plan import Plan
from trajanon.release.report import Choice
from trajanon.trajectories.days import days_of
from trajanon.trajectories.times import search_columns, zone_of
from trajanon.trajectories.trajectories import Trajectories

_ROUNDS = 20  # in which people choose at most


class OneEach(NamedTuple):
    """One trajectory of each person, in groups."""

    rows: Ints  # of these, rising, (p,)
    labels: Ints  # their groups, (p,)
    stopped: bool  # whether Ctrl-C ended the search early
    since: float  # when it began


def whole_days(
    trips: Trajectories, settings: ReleaseSettings
) -> tuple[Trajectories, Choice | None]:
    """Put trips together to days, where that is asked for; also return what the report says."""
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
    untimed = len(trips) if trips.times is None else int(np.isnan(trips.times[:, 0]).sum())
    if untimed == len(trips):
        raise BadInput("`days` needs the times of trips, and there are none: leave it out")

    zone = settings.timezone or zone_of(*trips.points.mean(axis=(0, 1)))
    days, _, too_many = days_of(trips, settings.days, zone)
    if not len(days):
        raise BadInput(
            f"no day can be released: all {too_many:,} have more than {settings.days} trips; "
            "raise `days`, or leave it out and release trips"
        )
    choice = Choice(
        most=settings.days,
        timezone=zone,
        untimed=untimed,
        days=len(days) + too_many,
        too_many=too_many,
    )
    return days, choice


def one_each(trajectories: Trajectories, k: int, plan: Plan, progress: Progress) -> OneEach:
    """Choose of each person the trajectory that costs its group least; and group these."""
    assert trajectories.subject is not None
    since = perf_counter()
    stopped = False
    columns, weights = search_columns(trajectories, plan.timing)
    records = standardise(columns, weights)
    person = dense(trajectories.subject)
    ends = plan.ends_of(trajectories)

    def group(rows: Ints) -> Ints:
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

    def cheapest(means: Floats) -> Ints:
        """Choose the trajectory of each person that is nearest to its mean, in people's order."""
        cost = ((records - means) ** 2).sum(axis=1)
        order = np.lexsort((cost, person))
        return order[np.diff(person[order], prepend=-1) > 0]

    # First all trajectories are grouped, then one of each person.
    labels = group(np.arange(len(person)))
    rows = cheapest(group_means(records, labels)[labels])
    labels = group(rows)

    # Another trajectory of a person may be nearer to the group; most need few rounds.
    for _ in range(_ROUNDS):
        rows_before = rows
        rows = cheapest(group_means(records[rows], labels)[labels][person])
        if np.array_equal(rows_before, rows):
            break

    # In the order of the table, by which all rows are reported.
    order = np.argsort(rows)
    return OneEach(rows[order], dense(labels[order]), stopped, since)
