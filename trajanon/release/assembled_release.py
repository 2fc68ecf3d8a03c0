"""The lines of all groups -> the rows of a release in their order, and its report."""

from collections.abc import Iterator

import numpy as np
from msgspec import structs

from trajanon.common.arrays import Bools, Floats, Ints, Metres, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.number_text import UnitName
from trajanon.files.rounding_order_and_keys_of_lines import in_order, line_keys
from trajanon.grouping.k_promise import check_kept, subjects_per_group
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.plan import Plan
from trajanon.release.release import DistinctLines, LinesWithCopies, own_rows
from trajanon.release.report import Alignment, Figures, Suppressed, Totals, report_of
from trajanon.trajectories.distances import displacement, lengths, summary, to_line, to_way
from trajanon.trajectories.trajectories import Trajectories, attribution_as_published


def errors_of(groups: TrajectoryGroups) -> Iterator[tuple[str, Floats | Metres]]:
    """Measure how far trajectories are from their lines, and how long they are.

    Yield the name of each measure, and an array of it: metres, or seconds of times.
    """
    for measure in (displacement, to_line, to_way):
        yield measure.__name__, groups.errors_of_places(measure)
    yield "length", lengths(groups.trajectories.points)
    yield from groups.errors_of_times.items()


def assembled(k: int, trajectories: Trajectories, groups: TrajectoryGroups) -> DistinctLines:
    """Put the lines of the groups of trajectories into their order, and report them."""
    plan = groups.plan
    origin = trajectories.origin
    labels = groups.partition.labels
    people = groups.trajectories.subject
    counted = plan.counted(people)
    if counted is not None:
        check_kept(labels, counted, k, "the search")

    figures = _figures_of(groups)
    if not plan.release.as_published:
        refuse_far(figures, k, origin.unit)

    # Groups with equal lines and times are on one line.
    times_of_groups = groups.released_times
    key_of_group = line_keys(groups.released_lines, times_of_groups)
    line_of_group = renumbered(key_of_group)
    group_of_line = np.unique(line_of_group, return_index=True)[1]  # the first one
    lines = groups.released_lines[group_of_line]
    times = None if times_of_groups is None else times_of_groups[group_of_line]
    has_row, rows = own_rows(plan.release.rows, line_of_group[labels], counted)
    copies = np.bincount(line_of_group[labels[has_row]])  # rows of each line, (l,)

    sizes = np.bincount(labels).tolist()
    people_in_group = None if people is None else subjects_per_group(labels, people).tolist()
    on_roads = groups.on_roads
    totals = Totals(
        n=len(labels),
        groups=len(line_of_group),
        lines=len(lines),
        points=lines.shape[1],
        rows=rows,
        people=None if people is None else len(np.unique(people)),
        least=min(people_in_group or sizes),
        alignment=_alignment(trajectories, groups),
        on_roads=None if on_roads is None else int(on_roads[group_of_line].sum()),
        departures=None if times is None else times[:, :1],
    )
    report = structs.replace(
        report_of(k, plan, origin, totals, figures),
        suppressed=_suppressed(groups.left_out),
        sizes=sizes,
        subjects_per_group=people_in_group,
        lines_of_few_named=_lines_of_few_named(groups.trajectories, line_of_group[labels], k),
        labels=labels.tolist(),
        line_keys=key_of_group.tolist(),
    )

    order = in_order(lines, times)
    ordered_times = None if times is None else times[order]
    return DistinctLines(
        lines=LinesWithCopies(lines[order], ordered_times, copies[order]),
        words=released_words(plan, report.attribution, counts_people=report.knows_people),
        report=report,
    )


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


def _suppressed(left_out: Bools) -> Suppressed | None:
    """List the trajectories that the search left out; None if it left out none."""
    return Suppressed(np.flatnonzero(left_out).tolist()) if left_out.any() else None


def _lines_of_few_named(trajectories: Trajectories, line: Ints, k: int) -> int | None:
    """Count the lines of fewer than k people who have a name; None if all have one, or nobody.

    Recordings without a name count as one person, but may be of the others on their line.
    """
    if trajectories.nameless is None or trajectories.subject is None:
        return None
    is_named = ~trajectories.nameless
    named_people = subjects_per_group(line[is_named], trajectories.subject[is_named])
    return len(np.unique(line)) - int((named_people >= k).sum())


def _alignment(trajectories: Trajectories, groups: TrajectoryGroups) -> Alignment | None:
    """Report where windows slid to; None if all are where they were."""
    slid_windows = groups.slid_windows(trajectories)
    tracks = groups.trajectories.tracks
    if not slid_windows or tracks is None:
        return None
    return Alignment(slid_windows / len(groups.trajectories), tracks.along.tolist())


def released_words(
    plan: Plan, attribution: str | None, *, counts_people: bool
) -> dict[str, str | None]:
    """Return what a released file says of itself, and nothing else."""
    words = {
        "attribution": attribution_as_published(attribution)
        if plan.release.as_published
        else attribution
    }
    if counts_people:
        words["counted"] = "subjects"
    if plan.release.rows == "lines":
        words["rows"] = "lines"
    if plan.timing is not None:
        words["times"] = plan.timing.clock.sentence
    return words


def refuse_far(figures: Figures, k: int, unit: UnitName) -> None:
    """Refuse a release with points farther off, on average, than its trajectories are long."""
    mean_error = figures.errors["displacement"].mean
    mean_length = figures.errors["length"].mean
    if mean_error > mean_length:
        raise BadInput(
            f"released points would lie {mean_error:,.0f} m from where people went on average, and "
            f"a {unit} is {mean_length:,.0f} m long: lower k ({k}), add trajectories, or take a "
            "smaller area"
        )
