"""Anonymisation: trajectories -> a release and its report, on one page."""

import platform
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from importlib.metadata import version
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon.align.alignment import account, as_cut
from trajanon.align.alignment import align as slide_to_groups
from trajanon.align.placing import placed
from trajanon.arrays import Bools, Floats, Ints
from trajanon.choices import OneEach, one_each, whole_days
from trajanon.days import of_equally_many
from trajanon.errors import BadInput, TooFewSubjects
from trajanon.files.release_lines import in_order
from trajanon.files.report import digest_of, line_keys
from trajanon.mending import Surroundings, ends_of, mend
from trajanon.microaggregation import microaggregate
from trajanon.number_text import number_of
from trajanon.partition import Stage, check_enough, dense, measured, regrouped, subjects_per_group
from trajanon.perturbation import new_key
from trajanon.privacy.chains import counts_of, drives_left, people_left
from trajanon.progress import Progress, silent
from trajanon.release import Release, Rows, published_with
from trajanon.released_lines import TrajectoryGroups, refuse_crossing
from trajanon.settings import EFFORTS, ReleaseSettings, Settings, settings_of, takes_settings
from trajanon.snapping import RoadsToFollow
from trajanon.subjects import Merged, count_of, nameless
from trajanon.times import Timing, departure_days, search_columns, timing_of
from trajanon.trajectories import FOR_COMPARISON, OSM_ATTRIBUTION, Trajectories, marked, unit_of
from trajanon.utility import summary
from trajanon.utility.displacements import from_runs, lengths
from trajanon.verdict import source_of, too_few


@takes_settings(ReleaseSettings, Settings)
def anonymize_trajectories(
    trajectories: Trajectories,
    k: int,
    *,
    roads: RoadsToFollow | None = None,
    public_places: Surroundings | None = None,
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
    check_distinct_ends(settings, k)
    secret = key_for(settings, key)
    trajectories, choice = whole_days(trajectories, settings)
    n, competing = len(trajectories), np.arange(len(trajectories))
    timing = timing_of(trajectories, settings)
    each: OneEach | None = None
    if settings.one_line_each:
        each = one_each(trajectories, k, searched, timing, secret, progress)
        competing = each.rows
        trajectories = trajectories.take(competing)
        choice = {"people": len(competing), "left_out": n - len(competing)}

    how = (k, settings, searched, timing, secret, progress)
    mended: dict[str, Any] | None = None
    if trajectories.unit == "day":
        groups, out, mended = _grouped_days(trajectories, public_places, *how)
        cut = slid = groups
    else:
        cut, slid = group_and_slide(trajectories, *how, each)
        groups, out = slid, np.zeros(len(trajectories), dtype=np.bool_)
        if not settings.as_published:
            ends = ends_of(trajectories, settings.distinct_ends, public_places)
            groups, out, mended = mend(slid, k, ends)
    left_out = np.delete(np.arange(n), competing[~out])
    if roads is not None:
        groups = replace(groups, roads=roads)

    lines, when, labels = groups.released, groups.released_times, groups.partition.labels
    subjects = None if settings.as_published else groups.trajectories.subject
    written = Rows(settings.rows, groups.line_numbers[labels], subjects)
    alignment = account(trajectories, cut, slid)
    may_slide = settings.align and trajectories.tracks is not None
    skipped = may_slide and alignment is None and cut.partition.stopped
    del cut, slid  # large, and not needed any more
    if alignment is not None and groups.trajectories.tracks is not None:
        points = trajectories.points[~out] if out.any() else trajectories.points
        alignment["as_cut"] = as_cut(points, lines, labels)
        alignment["starts"] = groups.trajectories.tracks.along.tolist()
    report = _report(
        groups,
        k,
        written,
        settings.as_published,
        alignment=alignment,
        alignment_skipped=skipped,
        mended=mended,
        suppressed={"rows": left_out.tolist()} if len(left_out) else None,
        distinct_ends=settings.distinct_ends,
        choice=choice,
        search=asdict(searched),
    )
    del groups  # before the rows of the release take as much memory again
    copies = np.bincount(labels[written.own], minlength=len(lines))
    source = trajectories.attribution if roads is None else OSM_ATTRIBUTION
    provenance = published_with(
        marked(source) if settings.as_published else source,
        written.way,
        timing.clock if timing else None,
        by_subjects=written.subject is not None,
    )
    return Release(_rows(lines, when, copies, provenance), report)


def _rows(
    lines: Floats, when: Floats | None, copies: Ints, provenance: dict[str, Any]
) -> Trajectories:
    """Repeat each line as often as it has rows, in the order of the lines' own coordinates."""
    order = in_order(lines, when)
    row = np.repeat(order, copies[order])
    times = None if when is None else when[row]
    return Trajectories(points=lines[row], provenance=provenance, times=times)


def refuse_attribution(attribution: object) -> None:
    """Refuse what trajectories say of their source, if a release must not hold it."""
    if attribution not in (None, OSM_ATTRIBUTION):
        unknown = f"an unknown attribution {str(attribution)[:40]!r}"
        raise BadInput(f"the trajectories carry {unknown}: extract them again without it")


class Promise(NamedTuple):
    """What k counts, and what the holder must know of it."""

    k: int  # the group size
    by_subjects: bool  # whether subjects are counted, or trajectories
    groups: int
    few: int | None  # groups of fewer than k different subjects; None if no subjects are known
    provenance: Mapping[str, Any]  # what the originals say of their source
    as_published: bool = False  # whether all was done as in the papers

    @property
    def word(self) -> str:
        """What is counted, in one word."""
        return "subjects" if self.by_subjects else "records"

    @property
    def notice(self) -> str:
        """The first line of a report."""
        notice = "For the holder of the data, not for publication."
        if self.as_published:
            notice += f" The release is {FOR_COMPARISON}."
        unknown = nameless(self.provenance)
        if self.by_subjects and not unknown:
            return notice
        if self.by_subjects:
            read = count_of(self.provenance, "recordings read")
            some = number_of(unknown, "recording")
            if read is not None:
                some = f"{unknown:,} of {number_of(read, 'recording')}"
            each = "has no subject, and" if unknown == 1 else "have no subject, and each of them"
            return f"{notice} {some} {each} was counted as a subject of its own."
        if self.few is None:
            return f"{notice} k counts trajectories: nothing is known of their subjects."
        if not self.few:
            rest = f"each group also holds {self.k} different subjects."
            return f"{notice} k counts trajectories; {rest}"
        return f"{notice} {too_few(self.k, self.groups, records=0, people=self.few)}."

    @property
    def account(self) -> dict[str, Any]:
        """What every report says of it, ready for JSON."""
        return {
            "notice": self.notice,
            "unit": unit_of(self.provenance),
            "k": self.k,
            "counted": self.word,
            "as_published": self.as_published,
            "groups": self.groups,
            "source": source_of(self.provenance),
            "subject_names_merged": Merged.counted_in(self.provenance)._asdict(),
            "attribution": self.provenance.get("attribution"),
            "versions": versions(),
        }


def versions() -> dict[str, str]:
    """What the result was made with."""
    names = ("trajanon", "numpy", "numba")
    return {name: version(name) for name in names} | {"python": platform.python_version()}


def check_distinct_ends(settings: ReleaseSettings, k: int) -> None:
    """Refuse more places at the ends than a group has members."""
    if settings.distinct_ends > k:
        raise BadInput(f"`distinct_ends` must be at most k, {k} (got {settings.distinct_ends})")


def refuse_far(moved: float, length: float, k: int, unit: str) -> None:
    """Refuse a release with points farther off than its trajectories are long, in metres."""
    if moved > length:
        raise BadInput(
            f"released points would lie {moved:,.0f} m from where people went on average, and a "
            f"{unit} is {length:,.0f} m long: lower k ({k}), add trajectories, or take a smaller "
            "area"
        )


def group_and_slide(
    trajectories: Trajectories,
    k: int,
    settings: ReleaseSettings,
    search: Settings,
    timing: Timing | None,
    key: bytes | None,
    progress: Progress,
    each: OneEach | None = None,
    spread: Floats | None = None,
) -> tuple[TrajectoryGroups, TrajectoryGroups]:
    """Group trajectories as they were cut, or take their groups; and as they slid, if they may.

    Those of a shard are standardised by the ``spread`` of the whole table.
    """
    subjects = None if settings.as_published else trajectories.subject
    if settings.align:
        trajectories = placed(trajectories, k, subjects=subjects, timing=timing)
    columns, weights = search_columns(trajectories, timing, spread)
    if each is None:
        partition = microaggregate(
            columns, k, subjects=subjects, weights=weights, progress=progress, **asdict(search)
        )
    else:
        partition = measured(columns, each.labels, "one line each", each.since, weights)
        partition = replace(partition, stopped=each.stopped)
    if weights is not None:
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


def _grouped_days(
    days: Trajectories,
    public_places: Surroundings | None,
    k: int,
    settings: ReleaseSettings,
    search: Settings,
    timing: Timing | None,
    key: bytes | None,
    progress: Progress,
) -> tuple[TrajectoryGroups, Bools, dict[str, Any]]:
    """Group days of equally many trips, each on its own; also who was left out, and the mends."""
    assert days.subject is not None
    since, labels, stopped = perf_counter(), np.full(len(days), -1), False
    mended = {name: Counter[str]() for name in ("wide", "one_place")}
    for some, alike in of_equally_many(days):
        if len(np.unique(days.subject[some])) < k:
            continue
        cut, _ = group_and_slide(alike, k, settings, search, timing, key, progress)
        groups, out, account = mend(cut, k, ends_of(alike, settings.distinct_ends, public_places))
        labels[some[~out]] = groups.partition.labels + labels.max() + 1
        stopped |= groups.partition.stopped
        for name, counts in account.items():
            mended[name].update(counts)
    out = labels < 0
    if out.all():
        raise TooFewSubjects(
            f"of {number_of(len(days), 'day')} none has as many trips as days of {k} people: lower "
            "k, add people, or leave out `days` and release trips"
        )
    left = days.take(~out)
    partition = measured(left.records, dense(labels[~out]), "days", since)
    groups = TrajectoryGroups(left, replace(partition, stopped=stopped), key, timing)
    return groups, out, {name: dict(counts) for name, counts in mended.items()}


def key_for(settings: ReleaseSettings, key: bytes | None) -> bytes | None:
    """Take the secret that perturbs lines, or draw a new one; None where they are plain means."""
    if settings.exact_means:
        return None
    if key is None:
        return new_key()
    if not 16 <= len(key) <= 64:
        raise BadInput(f"`key` must have 16 to 64 bytes (got {len(key)}), or be left out")
    return key


def build_report(
    counted: Promise,
    *,
    n: int,
    lines: int,
    loss: float,
    stages: Iterable[Stage],
    moved: dict[str, float],
    length: dict[str, float],
    key: bytes | None,
    **more: Any,
) -> dict[str, Any]:
    """Say what was released and what it costs, ready for JSON; ``more`` has more entries.

    A release with points farther off than its trajectories are long, in metres, is refused.
    """
    if not counted.as_published:
        refuse_far(moved["mean"], length["mean"], counted.k, unit_of(counted.provenance))
    return counted.account | {
        "n": n,
        "key": None if key is None else key.hex(),
        "lines": lines,
        "information_loss": loss,
        "stages": [stage.account for stage in stages],
        "displacement": moved,
        "length": {name: length[name] for name in ("mean", "median")},
        **more,
    }


def of_roads(
    roads: RoadsToFollow | None, on_roads: Counter[bool], moved: dict[str, float] | None
) -> dict[str, Any]:
    """Say how many lines lie on roads, if they follow any."""
    if roads is None:
        return {}
    laid = {"on_roads": on_roads[True], "as_they_were": on_roads[False], "moved": moved}
    return {"roads": {"keep_off": roads.keep_off, **laid}}


def of_times(
    timing: Timing | None, late: dict[str, Any], hours: Counter[float]
) -> dict[str, Any] | None:
    """Say how times are released, how far they are off, and in which hours one line departs."""
    return None if timing is None else timing.account | late | {"alone": timing.alone(hours)}


def _report(
    groups: TrajectoryGroups, k: int, rows: Rows, as_published: bool, **more: Any
) -> dict[str, Any]:
    trajectories, partition, timing = groups.trajectories, groups.partition, groups.timing
    when, line, laid = groups.released_times, groups.line_numbers, groups.laid
    labels, subjects, tracks = partition.labels, trajectories.subject, trajectories.tracks
    drives = drives_left(line[labels], tracks, subjects, k)
    people = None
    if subjects is not None:
        people = counts_of(people_left(line[labels], subjects, departure_days(trajectories), k))
    together = [np.flatnonzero(line == one) for one in np.flatnonzero(np.bincount(line) > 1)]
    per_group = None if subjects is None else subjects_per_group(labels, subjects)
    counted = Promise(
        k=k,
        by_subjects=rows.subject is not None,
        groups=len(partition.sizes),
        few=None if per_group is None else int((per_group < k).sum()),
        provenance=trajectories.provenance,
        as_published=as_published,
    )
    first = np.unique(line, return_index=True)[1]
    hours = Counter[float]()
    if timing is not None and when is not None:
        hours = timing.hours(when[first])
    on_roads = Counter[bool]() if laid is None else Counter(laid.on_roads.tolist())
    return build_report(
        counted,
        n=len(trajectories),
        lines=len(first),
        loss=groups.information_loss,
        stages=partition.stages,
        stopped=partition.stopped,
        moved=summary(groups.moved),
        length=summary(lengths(trajectories.points)),
        key=groups.key,
        rows=rows.account,
        **of_roads(groups.roads, on_roads, None if laid is None else summary(groups.to_roads)),
        times=of_times(timing, {name: summary(each) for name, each in groups.late.items()}, hours),
        from_runs=None if tracks is None else summary(from_runs(tracks, groups.released, labels)),
        chains=counts_of(drives) or None,
        persons=people,
        sizes=partition.sizes.tolist(),
        subjects_per_group=None if per_group is None else per_group.tolist(),
        averaged=digest_of(
            trajectories.points, labels, None if timing is None else trajectories.times
        ),
        labels=labels.tolist(),
        line_keys=line_keys(groups.released, when).tolist(),
        groups_of_equal_lines=[groups.tolist() for groups in together],
        **more,
    )
