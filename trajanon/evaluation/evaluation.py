"""Evaluation: originals, release and report -> the evidence, on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple, SupportsIndex

import numpy as np

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import Settings, settings_from
from trajanon.evaluation.attacks.all_attacks import attacks
from trajanon.evaluation.attacks.attack import Attack, Guessed
from trajanon.evaluation.attacks.end_or_hour import inferred
from trajanon.evaluation.attacks.next_trip import NextLines, next_lines, people_followed
from trajanon.evaluation.attacks.other_trips import other_trips
from trajanon.evaluation.attacks.published_lines import Published, published
from trajanon.evaluation.attacks.rebuilding_from_all_other_tracks import Ways, rebuilding
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import Movement, Noise
from trajanon.evaluation.attacks.verification_with_all_tracks import Verified, verification
from trajanon.evaluation.choice_of_k import curve as curve_of
from trajanon.evaluation.choice_of_k import options_in
from trajanon.evaluation.evidence import Evaluation
from trajanon.evaluation.holdout_and_membership import drawn_half, hold_out
from trajanon.evaluation.intervals import Estimate
from trajanon.evaluation.publisher_and_licence import Publisher, check_licence
from trajanon.evaluation.usefulness_for_tasks import task_errors
from trajanon.evaluation.usefulness_of_lines import Usefulness, usefulness
from trajanon.grouping.k_promise import broken_promises, check_k
from trajanon.grouping.loss import loss_to
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.release.originals import matched
from trajanon.release.people_left import drive_of_each, drives_left
from trajanon.release.perturbed_places_and_times import (
    displacement_covariance,
    largest_shares,
    times_correlation,
)
from trajanon.release.release import Release, with_report
from trajanon.release.release_check import Findings
from trajanon.release.report import Report, TimeWidths
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.street_usefulness import compared_streets
from trajanon.trajectories.clock_and_time_zones import departure_days
from trajanon.trajectories.tracks import Tracks
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

MOST_SEARCHED = 20_000
"""Trajectories among which a determined adversary looks for members of groups."""

ROUNDED = 0.3
"""Metres, the standard deviation of the error of 5 decimals."""


def evaluate(
    trajectories: Trajectories,
    release: Release | ReleasedTrajectories,
    report: Report | Mapping[str, object] | None = None,
    *,
    file: str | None = None,
    findings: Findings | None = None,
    streets: RoadsToFollow | None = None,
    seed: SupportsIndex = 0,
    curve: Sequence[SupportsIndex] = (),
    holdout: bool = False,
    publisher: Publisher | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Measure what a release protects, and what it costs.

    Everything is measured against what was averaged: the trajectories in the file, or where windows
    slid on their tracks, the pieces to which they slid. Where times were released, adversaries also
    know hours.

    Parameters
    ----------
    trajectories
        The originals.
    release
        What `trajanon.anonymize` gave; or what was released, in any order.
    report
        The holder's report, if the release comes without.
    file
        Name of the released file, for the page and the datasheet.
    findings
        What `trajanon.check` found in the released file, for the verdict.
    streets
        Roads on which `trajanon.streets` would count, to compare these counts.
    seed
        Repeats which targets and groups are tried, and which subjects are held out.
    curve
        Each k to anonymize with, at the report's settings, to compare metres with the chance of the
        best attack.
    holdout
        Whether to anonymize half of the subjects again, with the report's settings, and to measure
        what that release shows of them, compared with the other half.
    publisher
        The publisher's words, for datasheet, certificate and record of processing.
    progress
        Called with the step that is being done.

    Raises
    ------
    BadInput
        If the three do not belong together, a k of the curve is below 2, there are too few subjects
        to hold out half of them, or the publisher names another licence than OpenStreetMap's data
        allow.

    Examples
    --------
    Two people go along each of two roads. An adversary knows both ends of a target's trajectory.
    Among the originals it is found; in the release two rows are equally near, and the adversary has
    to guess:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> release = trajanon.anonymize(trajectories, k=2)
    >>> evidence = trajanon.evaluate(trajectories, release)
    >>> for attack in evidence.attacks:
    ...     if attack.name == "both ends, nearest":
    ...         print(attack.against, attack.expected)
    release 0.5
    originals 1.0
    """
    release, reported = with_report(release, report)
    seed = settings_from({"seed": seed}, Settings).seed
    ks = [check_k(k) for k in curve]
    publisher = publisher or Publisher()
    check_licence(publisher, reported.attribution)

    in_file = reported.released_of(trajectories)
    if holdout:
        drawn_half(in_file, reported.k)  # refuses too few before anything is measured

    groups = matched(in_file, release, reported)
    seen = published(groups, reported)
    progress("Evaluating", 0, 4, "other trips of a person")
    evaluation = measured(
        Counted(groups.slid, seen, drive_of_each(groups.slid)),
        groups.slid,
        seen,
        reported,
        habits=other_trips(seen, seed=seed),
        seed=seed,
        progress=progress,
    )
    measured_curve = None
    if ks:
        # Where each person has one line, this is chosen anew with each k.
        originals = trajectories if reported.one_line_each else in_file
        measured_curve = curve_of(originals, ks, options_in(reported), progress=progress)
    return replace(
        evaluation,
        file=file,
        problems=None if findings is None else findings.problems,
        curve=measured_curve,
        holdout=hold_out(in_file, reported, seed=seed, progress=progress) if holdout else None,
        streets=streets and compared_streets(groups.slid, ReleasedLines.distinct(release), streets),
        publisher=publisher,
    )


class Counted(NamedTuple):
    """All originals that are in a release, and their lines: of each both ends, or all points."""

    originals: Trajectories
    seen: Published
    drives: Ints | None  # the drive of each original, (n,); None where drives are not known


def measured(
    counted: Counted,
    averaged: Trajectories,
    seen: Published,
    report: Report,
    *,
    habits: Guessed | None,
    seed: int,
    progress: Progress,
) -> Evaluation:
    """Measure what a release shows, and what it is good for, beside what was averaged.

    What was averaged, and what is ``seen`` of it, is of all that is counted, or of a sample.
    """
    spacing = _spacing(averaged)
    verified, rebuilt, rebuilt_times = attacks_with_all_tracks(
        seen, averaged.tracks, report, spacing=spacing, seed=seed, progress=progress
    )

    progress("Evaluating", 3, 4, "other attacks, and utility")

    # Ranked once, for the attack on the next trip and for people who are followed.
    after_known = None if seen.steps is None else next_lines(seen)
    originals, all_seen, drives = counted
    days = departure_days(originals)
    no_names = not report.source.names_people
    nameless = originals.origin.source.unnamed
    subjects = all_seen.subjects
    return Evaluation(
        date=date.today(),
        area=box_of(seen.lines),
        unit=averaged.unit,
        spacing=spacing,
        trajectories=len(originals),
        points=averaged.points.shape[1],
        subjects=None if subjects is None else int(subjects.max()) + 1,
        nameless=nameless.recordings,
        nameless_count_as=nameless.subjects,
        sizes=all_seen.group_sizes,
        rows=all_seen.row_counts,
        violations=violations(all_seen, report.k),
        period=months(originals.times, all_seen.owners, report.k),
        loss=loss_to(seen.points, seen.lines, seen.labels),
        usefulness=_usefulness_of_lines(seen, averaged),
        tasks=_errors_of_tasks(seen, report),
        attacks=_attacks_on_both(seen, after_known),
        most_of_one=1 if subjects is None else int(np.bincount(subjects).max()),
        verification=verified,
        rebuilding=rebuilt,
        rebuilt_times=rebuilt_times,
        habits=habits,
        chained=drives_left(all_seen.labels, drives, subjects, report.k, all_seen.nameless),
        followed=people_followed(all_seen, days, seen, after_known, nobody_is_named=no_names),
        inferred=inferred(seen),
        report=report,
    )


def _attacks_on_both(seen: Published, after_known: NextLines | None) -> list[Attack]:
    """Try each attack on the release, then on the originals."""
    tried = [*attacks(seen, after_known), *attacks(seen.originals)]
    names = list(dict.fromkeys(attack.name for attack in tried))
    return sorted(tried, key=lambda attack: names.index(attack.name))


def _usefulness_of_lines(seen: Published, averaged: Trajectories) -> Usefulness:
    """Compare what was averaged with its lines."""
    line_times = seen.line_times
    return usefulness(
        seen.points,
        seen.lines[seen.labels],
        true_ends=averaged.true_ends,
        seconds=seen.times,
        released_seconds=None if line_times is None else line_times[seen.labels],
    )


def _errors_of_tasks(seen: Published, report: Report) -> dict[str, Estimate | None]:
    """Compare the tasks of those who use a release on it and on what was averaged."""
    one_trip_each = np.ones(len(seen.points), np.int64)
    before = ReleasedLines(seen.points, trips=one_trip_each, times=seen.times)
    after = ReleasedLines(
        seen.lines, trips=seen.row_counts, times=seen.line_times, clock=report.clock
    )
    return task_errors(before, after)


def violations(seen: Published, k: int) -> dict[str, int | None]:
    """Count the groups of too few records, and of too few subjects where these are known."""
    few_subjects = None
    if seen.subjects is not None:
        few_subjects = broken_promises(seen.labels, seen.subjects, k)
    return {"records": int((seen.group_sizes < k).sum()), "subjects": few_subjects}


def months(times: Floats | None, owners: Ints, k: int) -> str | None:
    """Return the first and last month of trajectories; None if not known to count from 1970.

    They are published. A month of fewer than k subjects would tell of these: at least k, of the
    ``owners`` of the trajectories, (n,), begin in the first month or before it, and as many end in
    the last or after it. None if no two months are so.
    """
    if times is None:
        return None
    is_known = np.isfinite(times[:, 0])
    subject = renumbered(owners[is_known])
    subjects = int(subject.max(initial=-1)) + 1
    if subjects < k:
        return None

    begins = np.full(subjects, np.inf)
    np.minimum.at(begins, subject, times[is_known, 0])
    ends = np.full(subjects, -np.inf)
    np.maximum.at(ends, subject, times[is_known, -1])
    seconds = np.array([np.sort(begins)[k - 1], np.sort(ends)[-k]]).astype("datetime64[s]")
    first, last = seconds.astype("datetime64[M]").astype(str).tolist()
    # Times before 1980 count from the start of a recording, or the like.
    if first < "1980" or first > last:
        return None
    return str(first) if first == last else f"{first} to {last}"


def attacks_with_all_tracks(
    seen: Published,
    tracks: Tracks | None,
    report: Report,
    *,
    spacing: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Verified, Guessed, Guessed | None]:
    """Verify whole groups, and rebuild members, and their times, with a map of other tracks.

    The adversary knows how lines are moved, but not the key. Where nothing is known of subjects,
    trajectories of one run or recording are of one.
    """
    movement = movement_of(report, seen)
    if seen.subjects is None and tracks is not None:
        seen = replace(seen, subjects=renumbered(tracks.recording_of))
    if len(seen.points) > MOST_SEARCHED:
        seen, rows, lines = _whole_groups_near_a_line(seen, seed)
        tracks = None if tracks is None else tracks.take(rows)
        movement = movement.of(rows, lines)

    progress("Evaluating", 1, 4, "members of lines")
    verified = verification(seen, movement, seed=seed)

    progress("Evaluating", 2, 4, "hidden members")
    ways = Ways.of(seen.points, seen.owners)
    if tracks is not None:
        ways = Ways(tracks.points[:], tracks.first, tracks.owners_of_runs(seen.owners))
    rebuilt, rebuilt_times = rebuilding(
        seen, movement, ways, spacing=spacing, seed=seed, progress=progress
    )
    return verified, rebuilt, rebuilt_times


def movement_of(report: Report, seen: Published) -> Movement:
    """Return how the lines of a release are moved, as everybody may read in its datasheet."""
    points = seen.points.shape[1]
    width = report.width or 0.0  # metres; plain means are not moved
    places = Noise(displacement_covariance(points, width), ROUNDED)
    people = None if report.as_published else seen.subjects
    shares = largest_shares(seen.labels, people)

    times = report.times
    if times is None or seen.line_times is None:
        return Movement(places, shares, people=people)
    widths = times.widths or TimeWidths()
    along_the_way = widths.elapsed**2 * times_correlation(points)
    rounding = times.step / np.sqrt(12.0)  # the deviation of what is rounded to a step
    # All times of a line are moved with its departure, so that variance is in each covariance.
    seconds = Noise(widths.departures**2 + along_the_way, rounding)
    return Movement(places, shares, times=seconds, people=people)


def _whole_groups_near_a_line(seen: Published, seed: int) -> tuple[Published, Ints, Ints]:
    """Select whole groups, on the lines nearest to one that is drawn, as many as may be tried.

    Also return the row numbers of their originals, and the numbers of their lines.
    """
    middles = seen.lines.mean(axis=1)
    drawn = int(np.random.default_rng(seed).integers(len(middles)))
    # The line that is drawn is always among them.
    most = max(MOST_SEARCHED, int(seen.group_sizes[drawn]))
    lines = np.sort(lines_near(middles, drawn, seen.group_sizes, most))
    rows = np.flatnonzero(np.isin(seen.labels, lines))
    near = replace(
        seen,
        points=seen.points[rows],
        lines=seen.lines[lines],
        labels=np.searchsorted(lines, seen.labels[rows]),
        subjects=None if seen.subjects is None else seen.subjects[rows],
        times=None if seen.times is None else seen.times[rows],
        line_times=None if seen.line_times is None else seen.line_times[lines],
        own_row=None if seen.own_row is None else seen.own_row[rows],
        steps=None,
    )
    return near, rows, lines


def lines_near(middles: Floats, line: int, group_sizes: Ints, most: int) -> Ints:
    """Find the lines nearest to a line, with at most so many originals in all: their numbers.

    ``middles`` are latitudes and longitudes of the lines, (g, 2); ``group_sizes``, (g,), count the
    originals of each.
    """
    vectors = (middles - middles[line]) * [1.0, np.cos(np.radians(middles[line, 0]))]
    nearest_first = np.argsort((vectors**2).sum(axis=1), kind="stable")
    return np.asarray(nearest_first[np.cumsum(group_sizes[nearest_first]) <= most])


def box_of(points: Floats) -> tuple[float, float, float, float]:
    """Return west, south, east and north of points, rounded outward to hundredths of a degree."""
    places = points.reshape(-1, 2)
    south, west = (np.floor(places.min(axis=0) * 100.0) / 100.0).tolist()
    north, east = (np.ceil(places.max(axis=0) * 100.0) / 100.0).tolist()
    return west, south, east, north


def _spacing(trajectories: Trajectories) -> float | None:
    """Read the metres between points, where the file has a number for them."""
    metres = trajectories.provenance.get("spacing")
    if isinstance(metres, bool) or not isinstance(metres, int | float):
        return None
    return float(metres) if 0.0 < metres < np.inf else None
