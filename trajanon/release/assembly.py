"""The lines of all groups -> the rows of a release in their order, and its report."""

from collections.abc import Iterator

import numpy as np
from msgspec import structs

from trajanon.common.arrays import Floats, Metres, dense
from trajanon.common.errors import BadInput, TrajanonError
from trajanon.common.number_text import UnitName
from trajanon.files.release_contents import in_order, line_keys
from trajanon.grouping.k_promise import broken_promises, subjects_per_group
from trajanon.release.plan import Plan
from trajanon.release.release import DistinctLines, own_rows
from trajanon.release.report import Alignment, Figures, Suppressed, Totals, report_of
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.trajectories.distances import displacement, lengths, summary, to_line, to_way
from trajanon.trajectories.trajectories import Trajectories, marked


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
