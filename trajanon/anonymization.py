"""Anonymisation: trajectories -> a release and its report, on one page."""

from collections import Counter
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from trajanon.align.account import account, as_cut
from trajanon.align.alignment import align as slide_to_groups
from trajanon.align.placing import placed
from trajanon.antimeridian import refuse_crossing
from trajanon.errors import BadInput
from trajanon.files.groups import digest_of, line_keys
from trajanon.files.release_lines import in_order
from trajanon.mending import mend
from trajanon.microaggregation import microaggregate
from trajanon.partition import check_enough, regrouped, subjects_per_group
from trajanon.perturbation import new_key
from trajanon.privacy.chains import subjects_left
from trajanon.progress import Progress, silent
from trajanon.released_lines import TrajectoryGroups
from trajanon.releases import Counted, Release, published_with
from trajanon.rows import Rows
from trajanon.settings import EFFORTS, ReleaseSettings, Settings, settings_of, takes_settings
from trajanon.snapping import RoadsToFollow
from trajanon.timing import Timing, seen_by, timing_of
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories, marked
from trajanon.utility import summary
from trajanon.utility.displacements import from_runs, lengths


@takes_settings(ReleaseSettings, Settings)
def anonymize(
    trajectories: Trajectories,
    k: int,
    *,
    roads: RoadsToFollow | None = None,
    key: bytes | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Release:
    """Replace each trajectory by the centroid of a group, as `trajanon.anonymize` says."""
    settings, searched = settings_of(options)
    if settings.as_published and roads is not None:
        raise BadInput("`as_published` moves nothing: leave out `roads`")
    refuse_crossing(trajectories, tracks=settings.align)
    refuse_attribution(trajectories.attribution)
    check_enough(len(trajectories), k)
    timing = timing_of(trajectories, settings)
    secret = key_for(settings, key)

    cut, slid = _group_and_slide(trajectories, k, settings, searched, timing, secret, progress)
    kept, out, mended = slid, np.zeros(len(trajectories), dtype=np.bool_), None
    if not settings.as_published:
        kept, out, mended = mend(slid, k)
    if roads is not None:
        kept = replace(kept, roads=roads)

    lines, when, labels = kept.released, kept.released_times, kept.partition.labels
    subjects = None if settings.as_published else kept.trajectories.subject
    written = Rows(settings.rows, kept.line_numbers[labels], subjects)
    alignment = account(trajectories, cut, slid)
    may_slide = settings.align and trajectories.tracks is not None
    skipped = may_slide and alignment is None and cut.partition.stopped
    del cut, slid  # large, and not needed any more
    if alignment is not None and kept.trajectories.tracks is not None:
        points = trajectories.points[~out] if out.any() else trajectories.points
        alignment["as_cut"] = as_cut(points, lines, labels)
        alignment["starts"] = kept.trajectories.tracks.along.tolist()
    report = _report(
        kept,
        k,
        written,
        settings.as_published,
        alignment=alignment,
        alignment_skipped=skipped,
        mended=mended,
        suppressed={"rows": np.flatnonzero(out).tolist()} if out.any() else None,
        search=asdict(searched),
    )
    del kept  # before the rows of the release take as much memory again
    copies, order = np.bincount(labels[written.own], minlength=len(lines)), in_order(lines, when)
    row = np.repeat(order, copies[order])
    source = trajectories.attribution if roads is None else OSM_ATTRIBUTION
    provenance = published_with(
        marked(source) if settings.as_published else source,
        written.way,
        timing.clock if timing else None,
        by_subjects=written.subject is not None,
    )
    released = Trajectories(
        points=lines[row], provenance=provenance, times=None if when is None else when[row]
    )
    return Release(released, report)


def refuse_attribution(attribution: object) -> None:
    """Refuse what trajectories say of their source, if a release must not hold it."""
    if attribution not in (None, OSM_ATTRIBUTION):
        unknown = f"an unknown attribution {str(attribution)[:40]!r}"
        raise BadInput(f"the trajectories carry {unknown}: extract them again without it")


def refuse_far(moved: float, length: float, k: int, unit: str) -> None:
    """Refuse a release whose points lie farther off than its trajectories are long, in metres."""
    if moved > length:
        raise BadInput(
            f"released points would lie {moved:,.0f} m from where people went on average, and a "
            f"{unit} is {length:,.0f} m long: lower k ({k}), add trajectories, or take a smaller "
            "area"
        )


def _group_and_slide(
    trajectories: Trajectories,
    k: int,
    settings: ReleaseSettings,
    search: Settings,
    timing: Timing | None,
    key: bytes | None,
    progress: Progress,
) -> tuple[TrajectoryGroups, TrajectoryGroups]:
    """Group trajectories as they were cut, and as they slid, if they may."""
    subjects = None if settings.as_published else trajectories.subject
    if settings.align:
        trajectories = placed(trajectories, k, subjects=subjects, timing=timing)
    seen, weights = seen_by(trajectories, timing)
    partition = microaggregate(
        seen, k, subjects=subjects, weights=weights, progress=progress, **asdict(search)
    )
    if timing is not None:
        partition = regrouped(partition, trajectories.records, partition.labels)
    cut = TrajectoryGroups(trajectories, partition, key, timing)
    if not settings.align or partition.stopped:
        return cut, cut
    slid = slide_to_groups(
        trajectories,
        partition,
        k,
        subjects=subjects,
        regroup=search.refine != "none",
        moves_per_record=EFFORTS[search.effort].moves_per_record * (search.refine == "anneal"),
        seed=search.seed,
        timing=timing,
        progress=progress,
    )
    return cut, TrajectoryGroups(*slid, key, timing)


def key_for(settings: ReleaseSettings, key: bytes | None) -> bytes | None:
    """Take the secret that perturbs lines, or draw a new one; None where they are plain means."""
    if settings.exact_means:
        return None
    if key is None:
        return new_key()
    if not 16 <= len(key) <= 64:
        raise BadInput(f"`key` must have 16 to 64 bytes (got {len(key)}), or be left out")
    return key


def of_roads(roads: RoadsToFollow | None, on_roads: Counter[bool], moved: Any) -> dict[str, Any]:
    """Say how many lines lie on roads, if they follow any."""
    if roads is None:
        return {}
    account = {
        "keep_off": roads.keep_off,
        "on_roads": on_roads[True],
        "as_they_were": on_roads[False],
        "moved": moved,
    }
    return {"roads": account}


def _of_roads(kept: TrajectoryGroups) -> dict[str, Any]:
    if kept.laid is None:
        return {}
    on_roads = Counter(kept.laid.on_roads.tolist())
    return of_roads(kept.roads, on_roads, summary(kept.to_roads))


def _report(
    kept: TrajectoryGroups, k: int, rows: Rows, as_published: bool, **told: Any
) -> dict[str, Any]:
    """Say what was released and what it costs; ``told`` has entries ready for JSON."""
    trajectories, partition, timing = kept.trajectories, kept.partition, kept.timing
    when = kept.released_times
    released, labels, subjects = kept.released, partition.labels, trajectories.subject
    tracks, by_subjects, line = trajectories.tracks, rows.subject is not None, kept.line_numbers
    chained = subjects_left(line[labels], tracks, subjects, k)
    together = [np.flatnonzero(line == one) for one in np.flatnonzero(np.bincount(line) > 1)]
    per_group = None if subjects is None else subjects_per_group(labels, subjects)
    moved, long = summary(kept.moved), summary(lengths(trajectories.points))
    if not as_published:
        refuse_far(moved["mean"], long["mean"], k, trajectories.unit)
    counted = Counted(
        k=k,
        by_subjects=by_subjects,
        groups=len(partition.sizes),
        few=None if per_group is None else int((per_group < k).sum()),
        provenance=trajectories.provenance,
        as_published=as_published,
    )
    times = None if timing is None else trajectories.times
    return counted.account | {
        "n": len(trajectories),
        **_of_roads(kept),
        "key": None if kept.key is None else kept.key.hex(),
        "lines": int(line.max()) + 1,
        "rows": rows.account,
        "information_loss": kept.information_loss,
        "stages": [stage.account for stage in partition.stages],
        "stopped": partition.stopped,
        "displacement": moved,
        "length": {name: long[name] for name in ("mean", "median")},
        "times": None
        if timing is None or when is None
        else timing.cost(trajectories, when[labels])
        | {"alone": timing.alone(timing.hours(when[np.unique(line, return_index=True)[1]]))},
        "from_runs": None if tracks is None else summary(from_runs(tracks, released, labels)),
        **told,
        "chains": None if chained is None else chained._asdict(),
        "sizes": partition.sizes.tolist(),
        "subjects_per_group": None if per_group is None else per_group.tolist(),
        "averaged": digest_of(trajectories.points, labels, times),
        "labels": labels.tolist(),
        "line_keys": line_keys(released, when).tolist(),
        "groups_of_equal_lines": [groups.tolist() for groups in together],
    }
