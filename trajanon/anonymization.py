"""Anonymisation: trajectories or a data frame -> a release and its report, on one page."""

from dataclasses import replace
from time import perf_counter
from typing import SupportsIndex, Unpack

import numpy as np

from trajanon.common.arrays import DataFrame, renumbered
from trajanon.common.effort_of_the_search import EFFORTS
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.common.number_text import number_of
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import (
    AnonymizeKeywords,
    ReleaseSettings,
    Settings,
    takes_settings,
)
from trajanon.grouping.k_promise import check_enough
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import measured, regrouped
from trajanon.grouping.refinements.blocks import block_count
from trajanon.grouping.sliding.alignment import align as slide_to_groups
from trajanon.grouping.sliding.alignment import begins_hot, may_slide
from trajanon.grouping.sliding.choice_of_run import placed
from trajanon.release.assembled_release import assembled
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.release.mend_wide_groups_and_ends import mend
from trajanon.release.one_line_each_or_days import OneEach, one_each, trips_or_days
from trajanon.release.people_left import drives_and_people_followed
from trajanon.release.plan import Plan, Surroundings
from trajanon.release.release import DistinctLines, Release
from trajanon.release.report import Choice, Mended, digest_of
from trajanon.trajectories.days_as_records import days_by_trips
from trajanon.trajectories.release_timing import timing_of
from trajanon.trajectories.search_columns import search_columns
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, ReleasedTrajectories, Trajectories


@takes_settings(ReleaseSettings, Settings)
def anonymize(
    trajectories: Trajectories | DataFrame,
    k: SupportsIndex,
    *,
    subject: str | None = None,
    time: str | None = None,
    recording: str | None = None,
    roads: RoadsToFollow | None = None,
    public_places: Surroundings | None = None,
    key: bytes | None = None,
    progress: Progress = silent,
    **options: Unpack[AnonymizeKeywords],
) -> Release:
    """Replace each trajectory by the centroid of a group of at least k.

    Parameters
    ----------
    trajectories
        As `trajanon.extract` makes them. Or a data frame of pandas, geopandas, polars, pyarrow or
        DuckDB: points or lines, or columns for latitude and longitude, in degrees. Of its points,
        each trip becomes a trajectory of 30 points at equal shares of its way; of lines, each line
        does.
    k
        Least number of different subjects behind each released trajectory; of records if nothing is
        known of subjects.
    subject
        Of a data frame: the column that says who made each point or line. None takes one of the
        usual names. Without such a column each recording counts as a person's own; beside names,
        all rows without one count as one person.
    time
        Of a data frame: the column of times; of lines, of a list of times for each. None takes one
        of the usual names, or a DatetimeIndex; other columns of times are refused. Without times,
        points are in the order of their rows.
    recording
        Of a data frame: the column that names the recording of each row. None takes one of the
        usual names.
    roads
        Roads on which the released lines are laid, as `trajanon.extract.roads_to_follow` reads
        them. That is computed from the lines and public data alone.
    public_places
        Stations and other places where everybody may be known to be, and what lies near, as
        `trajanon.extract.hidden` reads them: of ends there, ``distinct_ends`` asks nothing.
    key
        The secret from which groups and lines follow, 16 to 64 bytes. None takes the holder's own,
        which is made once and kept in the user's data folder: the same trajectories then have the
        same lines.
    progress
        Called with the state of the work.
    options
        Whether all is done as in the papers; whether somebody is on one line, or on one for each
        whole day; how many places there are at each end; whether with times and with which rows,
        ``as_published`` to ``rows``: see `ReleaseSettings`. And those of the
        search, as in `trajanon.microaggregate`. With another seed the same key gives other groups.

    Returns
    -------
    Release
        Each of its lines has at least k rows, with the same times if it has any. Of a data frame,
        ``extraction`` in its report counts what was read and left out.

    Raises
    ------
    BadInput
        If an option is not known, a group spans the antimeridian, times are asked
        for and some have none, or nothing is left; if a data frame has no such column, no points or
        lines, or is not on Earth.
    TooFewRecords, TooFewSubjects
        If there are fewer than k trajectories, or subjects where these are counted.

    Examples
    --------
    Four people go east, two along each of two roads. As in the papers, each gets the mean of two:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> release = trajanon.anonymize(trajectories, k=2, as_published=True)
    >>> release.report["labels"]
    [0, 0, 1, 1]
    >>> sorted(release.trajectories.points[:, 0, 0].tolist())
    [40.1, 40.1, 41.1, 41.1]

    The same of a data frame with two fixes of each, some hundred metres apart:

    >>> import pandas as pd
    >>> who, lat = ["Ada", "Bob", "Cem", "Eva"] * 2, [40.0, 40.001, 41.0, 41.001] * 2
    >>> fixes = pd.DataFrame({"who": who, "lat": lat, "lon": [2.00] * 4 + [2.01] * 4})
    >>> release = trajanon.anonymize(fixes, k=2, subject="who")
    >>> release.trajectories.points.shape
    (4, 30, 2)
    >>> release.report["extraction"]["recordings read"]
    4
    """
    columns = {"subject": subject, "time": time, "recording": recording}
    columns_named = {role: name for role, name in columns.items() if name is not None}

    extraction = None  # of a data frame: what was read and left out
    if isinstance(trajectories, ReleasedTrajectories):
        raise BadInput("these trajectories are a release: pass those that it was made of")
    if not isinstance(trajectories, Trajectories):
        from trajanon.extract.from_frames import trips_of

        releases_times = options.get("times") is not None
        trajectories = trips_of(trajectories, columns_named, releases_times=releases_times)
        extraction = {name: n for name, n in trajectories.provenance["counts"].items() if n}
    elif columns_named:
        role = next(iter(columns_named))
        raise BadInput(f"`{role}` names a column of a data frame, and Trajectories have none")

    plan = Plan.of(options, key, roads, public_places)
    lines = anonymized_table(trajectories, plan.checked_k(k), plan, progress)
    return lines.reporting(extraction=extraction).release


def anonymized_table(
    trajectories: Trajectories, k: int, plan: Plan, progress: Progress
) -> DistinctLines:
    """Anonymise trajectories that are in memory, all at once."""
    _refuse_unfit(trajectories, k, plan)
    trajectories, choice = trips_or_days(trajectories, plan.release)
    plan = replace(plan, timing=timing_of(trajectories, plan.release))
    plan = plan.with_key()  # after all checks: what is refused leaves no key behind

    chosen = None
    to_group = trajectories
    if plan.release.one_line_each:
        chosen = one_each(trajectories, k, plan, progress)
        to_group = trajectories.take(chosen.rows)
        left_out = len(trajectories) - len(to_group)
        choice = Choice(people=len(to_group), left_out=left_out)

    if trajectories.unit == "day":
        groups = _grouped_days(to_group, k, plan, progress)
    else:
        groups = grouped(to_group, k, plan, progress, chosen)
    if chosen is not None:
        # Who is left out is reported by the rows of the whole table.
        is_left_out = np.ones(len(trajectories), dtype=np.bool_)
        is_left_out[chosen.rows] = groups.left_out
        groups = replace(groups, left_out=is_left_out)

    lines = assembled(k, trajectories, groups)

    # The rest is computed of all lines together: a release of shards does not have it.
    released = groups.trajectories
    times = None if plan.timing is None else released.times
    chains, persons = drives_and_people_followed(groups, k)
    may_have_slid = plan.release.align and released.tracks is not None
    has_not_slid = may_have_slid and lines.report.alignment is None
    return lines.reporting(
        chains=chains,
        persons=persons,
        averaged=digest_of(
            [released.points], groups.partition.labels, None if times is None else [times]
        ),
        choice=choice,
        alignment_skipped=has_not_slid and groups.partition.stopped,
    )


def _refuse_unfit(trajectories: Trajectories, k: int, plan: Plan) -> None:
    """Refuse trajectories of which no release can be made."""
    origin = trajectories.origin
    refuse_attribution(origin.attribution)
    plan.refuse_ends_of(origin.unit, has_tracks=trajectories.tracks is not None)

    counted = plan.counted(trajectories.subject)
    people = None if counted is None else len(np.unique(counted))
    check_enough(len(trajectories), k, people, origin.unit, origin.source.unnamed)


def grouped(
    trajectories: Trajectories,
    k: int,
    plan: Plan,
    progress: Progress,
    chosen: OneEach | None = None,
) -> TrajectoryGroups:
    """Search groups, or measure those that were chosen; slide windows to them, and mend them.

    If each person is to be on one line, their trajectories were chosen together with the groups.
    """
    search = plan.secret_search
    subjects = plan.counted(trajectories.subject)
    if plan.release.align:
        trajectories = placed(trajectories, k, subjects=subjects, timing=plan.timing)
    slides = plan.release.align and may_slide(trajectories)

    # The search sees departures beside places, if times are released.
    columns, weights = search_columns(trajectories, plan.timing, plan.spread)
    if chosen is not None:
        partition = measured(columns, chosen.labels, "one line each", chosen.since, weights)
        partition = replace(partition, stopped=chosen.stopped)
    else:
        first_search = _before_sliding(search, len(columns)) if slides else search
        partition = microaggregate(
            columns,
            k,
            subjects=subjects,
            weights=weights,
            ends=plan.ends_for_search(trajectories),
            progress=progress,
            **first_search.keywords,
        )

    # Loss and means of a release are of places alone.
    if weights is not None:
        partition = regrouped(partition, trajectories.records, partition.labels)

    if slides and not partition.stopped:
        # After each slide groups are searched again, with the moves of the effort asked for.
        moves = EFFORTS[search.effort].moves_per_record if search.refine == "anneal" else 0
        trajectories, partition = slide_to_groups(
            trajectories,
            partition,
            k,
            subjects=subjects,
            moves_per_record=None if search.refine == "none" else moves,
            seed=search.seed,
            timing=plan.timing,
            progress=progress,
        )

    none_left_out = np.zeros(len(trajectories), dtype=np.bool_)
    groups = TrajectoryGroups(trajectories, partition, plan, left_out=none_left_out)
    return groups if plan.release.as_published else mend(groups, k)


def _before_sliding(search: Settings, n: int) -> Settings:
    """Return the options of the search of n windows that will slide."""
    if search.refine != "anneal" or block_count(n) <= 1:
        return search
    # Large tables are annealed again as windows slide, which forgets most of a long search.
    if begins_hot(n, EFFORTS[search.effort]):
        return replace(search, refine="none")
    return search if search.effort == "best" else replace(search, effort="fast")


def _grouped_days(days: Trajectories, k: int, plan: Plan, progress: Progress) -> TrajectoryGroups:
    """Group the days of one trip, those of two trips, and so on, by themselves."""
    assert days.subject is not None
    since = perf_counter()
    labels = np.full(len(days), -1)  # of days that are left out
    stopped = False
    mended = Mended()

    for rows, days_alike in days_by_trips(days):
        if len(np.unique(days.subject[rows])) < k:
            continue  # no other days have as many trips: these are left out
        groups = grouped(days_alike, k, plan, progress)
        labels[rows[~groups.left_out]] = groups.partition.labels + labels.max() + 1
        stopped |= groups.partition.stopped
        mended += groups.mended or Mended()

    is_left_out = labels < 0
    if is_left_out.all():
        raise TooFewSubjects(
            f"of {number_of(len(days), 'day')} none has as many trips as days of {k} people: "
            "lower k, add people, or leave out `days` and release trips"
        )
    released = days.take(~is_left_out)
    partition = measured(released.records, renumbered(labels[~is_left_out]), "days", since)
    partition = replace(partition, stopped=stopped)
    return TrajectoryGroups(released, partition, plan, is_left_out, mended)


def refuse_attribution(attribution: str | None) -> None:
    """Refuse an attribution that a release must not hold: it could name a person or a source."""
    if attribution not in (None, OSM_ATTRIBUTION):
        raise BadInput(
            f"the trajectories carry an unknown attribution {str(attribution)[:40]!r}: extract "
            "them again without it"
        )
