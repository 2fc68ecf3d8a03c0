"""The lines of all groups -> the rows of a release in their order, and its report."""

import platform
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from msgspec import structs

from trajanon.common.arrays import Floats, Metres, dense
from trajanon.common.errors import BadInput, TrajanonError
from trajanon.common.number_text import UnitName, number_of
from trajanon.files.release_contents import in_order, line_keys
from trajanon.grouping.k_promise import broken_promises, subjects_per_group
from trajanon.grouping.partition import Stage
from trajanon.release.holder_key import fingerprint
from trajanon.release.perturbation import PublicWidths
from trajanon.release.plan import Plan
from trajanon.release.release import DistinctLines, own_rows
from trajanon.release.report import (
    Alignment,
    CurveDistance,
    HoursAlone,
    Length,
    Mended,
    Report,
    Roads,
    Rows,
    Suppressed,
    Times,
    TimeWidths,
)
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.trajectories.distances import Summary, displacement, lengths, summary, to_line, to_way
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.trajectories import FOR_COMPARISON, OSM_ATTRIBUTION, Trajectories, marked


class Figures(NamedTuple):
    """What is measured of all groups of a release."""

    loss: float  # IL in percent
    errors: Mapping[str, Summary]  # in metres or seconds
    mended: Mended | None
    widths: PublicWidths | None  # by which lines and times are moved; None of plain means
    stages: tuple[Stage, ...]
    stopped: bool = False  # whether Ctrl-C ended the search early


def errors_of(groups: TrajectoryGroups) -> Iterator[tuple[str, Floats | Metres]]:
    """Measure metres and seconds between trajectories and their lines, and their lengths."""
    for measure in (displacement, to_line, to_way):
        yield measure.__name__, groups.moved(measure)
    yield "length", lengths(groups.trajectories.points)
    yield from groups.late.items()


def _figures_of(groups: TrajectoryGroups) -> Figures:
    """Measure groups that are in memory, all of them."""
    return Figures(
        loss=groups.information_loss,
        errors={name: summary(errors) for name, errors in errors_of(groups)},
        mended=groups.mended,
        widths=groups.widths,
        stages=groups.partition.stages,
        stopped=groups.partition.stopped,
    )


def finished(k: int, trajectories: Trajectories, groups: TrajectoryGroups) -> DistinctLines:
    """Put the lines of the groups of trajectories into their order, and report them."""
    plan = groups.plan
    origin = trajectories.origin
    labels = groups.partition.labels
    people = groups.trajectories.subject
    counted = plan.counted(people)
    if counted is not None and broken_promises(labels, counted, k):
        raise TrajanonError(f"a group has fewer than {k} subjects; please report it")
    figures = _figures_of(groups)
    if not plan.release.as_published:
        refuse_far(figures, k, origin.unit)

    # Groups with equal lines are on one.
    times = groups.released_times
    keys = line_keys(groups.released, times)
    line = dense(keys)
    first = np.unique(line, return_index=True)[1]
    lines = groups.released[first]
    times = None if times is None else times[first]
    has_row, rows = own_rows(plan.release.rows, line[labels], counted)
    copies = np.bincount(line[labels[has_row]])

    sizes = np.bincount(labels).tolist()
    held = None if people is None else subjects_per_group(labels, people).tolist()
    totals = Totals(
        n=len(labels),
        groups=len(keys),
        lines=len(lines),
        points=lines.shape[1],
        rows=rows,
        people=None if people is None else len(np.unique(people)),
        least=min(held or sizes),
        alignment=_alignment(trajectories, groups),
        on_roads=None if groups.on_roads is None else int(groups.on_roads[first].sum()),
        departures=None if times is None else times[:, :1],
    )
    left_out = groups.left_out
    report = structs.replace(
        report_of(k, plan, origin, totals, figures),
        suppressed=Suppressed(np.flatnonzero(left_out).tolist()) if left_out.any() else None,
        sizes=sizes,
        subjects_per_group=held,
        labels=labels.tolist(),
        line_keys=keys.tolist(),
    )

    order = in_order(lines, times)
    return DistinctLines(
        lines[order],
        None if times is None else times[order],
        copies[order],
        released_words(plan, report.attribution, counts_people=report.counted == "subjects"),
        report,
    )


def _alignment(trajectories: Trajectories, groups: TrajectoryGroups) -> Alignment | None:
    """Report where windows slid to; None if all are where they were."""
    slid = groups.slid_windows(trajectories)
    tracks = groups.trajectories.tracks
    if not slid or tracks is None:
        return None
    return Alignment(slid / len(groups.trajectories), tracks.along.tolist())


class Totals(NamedTuple):
    """What is counted of all lines of a release."""

    n: int  # trajectories that are released
    groups: int
    lines: int  # different ones
    points: int  # of a line
    rows: Rows
    people: int | None  # None if nothing is known of them
    least: int  # people, or trajectories where people are not known, in a group
    alignment: Alignment | None  # None if all windows are where they were
    on_roads: int | None  # lines; None where no roads are followed
    departures: Floats | None  # of each line, or of one or two in each hour, (l, 1)


def report_of(k: int, plan: Plan, origin: Provenance, totals: Totals, figures: Figures) -> Report:
    """Report all but what is known of each trajectory, or each group, by itself."""
    known = totals.people is not None and not plan.release.as_published
    length = figures.errors["length"]
    return Report(
        notice=_notice(plan, origin, known=known),
        unit=origin.unit,
        n=totals.n,
        k=k,
        counted="subjects" if known else "records",
        as_published=plan.release.as_published,
        groups=totals.groups,
        lines=totals.lines,
        points=totals.points,
        rows=totals.rows,
        source=origin.source,
        subjects_merged=origin.merged,
        attribution=attribution_of(origin, totals.on_roads),
        versions=versions(),
        key_fingerprint=None if plan.key is None else fingerprint(plan.key),
        width=None if figures.widths is None else figures.widths.places,
        information_loss=figures.loss,
        stages=[stage.rounded for stage in figures.stages],
        stopped=figures.stopped,
        displacement=figures.errors["displacement"],
        curve_distance=CurveDistance(figures.errors["to_line"], figures.errors["to_way"]),
        length=Length(length.mean, length.median),
        times=_times(plan, totals, figures),
        alignment=totals.alignment,
        mended=figures.mended,
        distinct_ends=plan.release.distinct_ends,
        leave_out=plan.release.leave_out,
        search=asdict(plan.search),
        people=totals.people,
        largest_share=None if plan.release.as_published else 1.0 / totals.least,
        labels=[],
        roads=_roads(plan, totals),
    )


def _roads(plan: Plan, totals: Totals) -> Roads | None:
    """Report how many lines were laid on roads, where that was asked for."""
    if plan.roads is None or totals.on_roads is None:
        return None
    as_they_were = totals.lines - totals.on_roads
    return Roads(keep_off=plan.roads.keep_off, on_roads=totals.on_roads, as_they_were=as_they_were)


def _times(plan: Plan, totals: Totals, figures: Figures) -> Times | None:
    """Report how times are released, and how far off they are."""
    timing = plan.timing
    if timing is None or totals.departures is None:
        return None
    clock = timing.clock
    widths = figures.widths
    return Times(
        times=clock.times,
        timezone=clock.timezone,
        step=clock.step,
        minute_worth=timing.minute_worth,
        departure_error=figures.errors["departure_error"],
        duration_error=figures.errors["duration_error"],
        alone=HoursAlone(*timing.hours_alone(totals.departures)),
        widths=None if widths is None else TimeWidths(widths.departures, widths.elapsed),
    )


def attribution_of(origin: Provenance, on_roads: int | None) -> str | None:
    """Return the line that must be shown with a release: of its data, or of the roads below it."""
    return OSM_ATTRIBUTION if on_roads else origin.attribution


def released_words(
    plan: Plan, attribution: str | None, *, counts_people: bool
) -> dict[str, str | None]:
    """Return what a released file says of itself, and nothing else."""
    words = {"attribution": marked(attribution) if plan.release.as_published else attribution}
    if counts_people:
        words["counted"] = "subjects"
    if plan.release.rows == "lines":
        words["rows"] = "lines"
    if plan.timing is not None:
        words["times"] = plan.timing.clock.sentence
    return words


def _notice(plan: Plan, origin: Provenance, *, known: bool) -> str:
    """Write the first line of a report: what k counts, where subjects are known or not."""
    notice = "For the holder of the data, not for publication."
    if plan.release.as_published:
        return f"{notice} The release is {FOR_COMPARISON}. k counts trajectories."
    if not known:
        return f"{notice} k counts trajectories: nothing is known of their subjects."

    nameless = origin.source.unnamed
    if nameless.recordings:
        have = number_of(nameless.recordings, "recording has", "recordings have")
        as_many = number_of(nameless.subjects, "subject")
        return f"{notice} {have} no name: they count as {as_many}."
    return notice


def versions() -> dict[str, str]:
    """Return what the result was made with."""
    names = ("trajanon", "numpy", "numba")
    return {name: version(name) for name in names} | {"python": platform.python_version()}


def refuse_far(figures: Figures, k: int, unit: UnitName) -> None:
    """Refuse a release with points farther off than its trajectories are long."""
    moved = figures.errors["displacement"].mean
    length = figures.errors["length"].mean
    if moved > length:
        raise BadInput(
            f"released points would lie {moved:,.0f} m from where people went on average, and a "
            f"{unit} is {length:,.0f} m long: lower k ({k}), add trajectories, or take a smaller "
            "area"
        )
