"""Anonymisation: trajectories -> a release and its report, on one page."""

import platform
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, dense
from trajanon.common.errors import BadInput, TooFewSubjects, TrajanonError
from trajanon.common.number_text import number_of
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import EFFORTS, ReleaseSettings, Settings, settings_of, takes_settings
from trajanon.files.release_lines import in_order
from trajanon.grouping.k_promise import (
    broken_promises,
    check_enough,
    check_k,
    member_weights,
    subjects_per_group,
)
from trajanon.grouping.loss import information_loss, sse, standardise, sum_of_squares
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition, Stage, measured, regrouped
from trajanon.grouping.refinements.blocks import block_count
from trajanon.grouping.refinements.people import nearer_to_people
from trajanon.grouping.sliding.alignment import align as slide_to_groups
from trajanon.grouping.sliding.alignment import may_slide
from trajanon.grouping.sliding.placing import placed
from trajanon.release.holder_key import check_key, fingerprint, holders_key, search_seed
from trajanon.release.leaving_out import Surroundings, ends_of, mend
from trajanon.release.people_left import counts_of, drives_left, people_left
from trajanon.release.perturbation import PublicWidths
from trajanon.release.release import Release, Result, own_rows
from trajanon.release.released_lines import TrajectoryGroups
from trajanon.release.report import digest_of, line_keys
from trajanon.release.selection import OneEach, one_each, whole_days
from trajanon.release.snapping import RoadsToFollow
from trajanon.release.source_counts import source_of
from trajanon.trajectories.days import of_equally_many
from trajanon.trajectories.displacements import lengths, summary
from trajanon.trajectories.subjects import Merged, Nameless
from trajanon.trajectories.times import Timing, departure_days, search_columns, timing_of
from trajanon.trajectories.trajectories import (
    FOR_COMPARISON,
    OSM_ATTRIBUTION,
    Trajectories,
    marked,
    unit_of,
)


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
    how = {"roads": roads, "public_places": public_places, "progress": progress}
    asked = Request.of(k, options, key, **how).with_key()
    return anonymized_table(trajectories, asked).release


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What was asked for of a table, or of each of its shards."""

    k: int  # least number of different subjects in a group
    release: ReleaseSettings
    search: Settings
    key: bytes | None  # the holder's secret: search and lines follow from it; None: not yet known
    roads: RoadsToFollow | None = None  # on which released lines lie
    public_places: Surroundings | None = None
    progress: Progress = silent
    timing: Timing | None = None
    spread: Floats | None = None  # of each coordinate in the whole table; None where this is it

    @classmethod
    def of(
        cls, k: int, options: Mapping[str, Any], key: bytes | None = None, **more: Any
    ) -> "Request":
        """Check what was asked for."""
        check_k(k)
        release, search = settings_of(options)
        if release.as_published and more.get("roads") is not None:
            raise BadInput("`as_published` moves nothing: leave out `roads`")
        if release.distinct_ends > k:
            most = f"`distinct_ends` must be at most k, {k}"
            raise BadInput(f"{most} (got {release.distinct_ends})")
        if key is not None:
            check_key(key)
            if release.as_published:
                raise BadInput("`as_published` has no secret: leave out `key`")
        return cls(k, release, search, key, **more)

    def with_key(self, key: bytes | None = None) -> "Request":
        """Take this key, or the holder's own if none was given; what is as published has none."""
        if self.release.as_published:
            return self
        return replace(self, key=key or self.key or holders_key())

    @property
    def secret_search(self) -> Settings:
        """The options of the search, with a seed that nobody else knows."""
        if self.key is None:
            return self.search
        return replace(self.search, seed=search_seed(self.key, self.search.seed))


class Tally(NamedTuple):
    """What came of a table, or of a shard of one."""

    labels: Ints  # the group of each trajectory, (n,); -1 where it was left out
    lines: Floats  # of each group as released, (g, m, 2)
    times: Floats | None  # of each group as released, (g, m)
    loss: float  # IL in percent; of a shard the squares lost, of columns with a spread of 1
    errors: dict[str, Any]  # in metres or seconds: summaries; of a shard histograms
    starts: Ints | None  # of windows on their tracks, (n,); None without tracks
    slid: int  # how many windows are not where they were
    on_roads: Bools | None  # whether each line was laid on roads, (g,)
    mended: dict[str, Any] | None
    widths: PublicWidths | None  # by which lines and times are moved; None of plain means
    stages: tuple[Stage, ...]
    stopped: bool  # whether Ctrl-C ended the search early


def anonymized_table(given: Trajectories, asked: Request) -> Result:
    """Anonymise trajectories that are in memory, all at once."""
    refuse_attribution(given.attribution)
    counted = None if asked.release.as_published else given.subject
    people = None if counted is None else len(np.unique(counted))
    nameless = Nameless.counted_in(given.provenance)
    check_enough(len(given), asked.k, people, given.unit, nameless)
    if (points := given.points.shape[1]) < 2:
        raise BadInput(f"a line has two points or more, and these trajectories have {points}")
    given, choice = whole_days(given, asked.release)
    asked = replace(asked, timing=timing_of(given, asked.release))
    rows, each = np.arange(len(given)), None
    if asked.release.one_line_each:
        each = one_each(given, asked.k, asked.secret_search, asked.timing, asked.progress)
        rows, some = each.rows, given.take(each.rows)
        choice = {"people": len(rows), "left_out": len(given) - len(rows)}
    groups, out, mended = grouped(some if each else given, asked, each)
    tally = tallied(some if each else given, groups, out, mended, summary)
    tracks = groups.trajectories.tracks
    details = _details(groups, asked)
    skipped = asked.release.align and tracks is not None and not tally.slid and tally.stopped
    del groups  # before the rows of the release take as much memory again
    labels = np.full(len(given), -1)
    labels[rows] = tally.labels
    if tally.starts is not None:
        starts = np.zeros(len(given), dtype=np.int64)
        starts[rows] = tally.starts
        tally = tally._replace(starts=starts)
    tally = tally._replace(labels=labels)
    result = finished(asked, tally, given.provenance, given.subject, choice=choice)
    result.report.update(details, alignment_skipped=skipped)
    return result


def grouped(
    given: Trajectories, asked: Request, each: OneEach | None = None
) -> tuple[TrajectoryGroups, Bools, dict[str, Any] | None]:
    """Group trajectories, slide and mend them; also who was left out, (n,), and what was mended."""
    if given.unit == "day":
        return _grouped_days(given, asked)
    groups = _grouped_and_slid(given, asked, each)
    if asked.release.as_published:
        return groups, np.zeros(len(given), dtype=np.bool_), None
    return _mended(groups, asked)


def _mended(
    groups: TrajectoryGroups, asked: Request
) -> tuple[TrajectoryGroups, Bools, dict[str, Any]]:
    ends = ends_of(groups.trajectories, asked.release.distinct_ends, asked.public_places)
    groups, out, account = mend(groups, asked.k, ends)
    return replace(groups, roads=asked.roads), out, account


def _grouped_and_slid(
    trajectories: Trajectories, asked: Request, each: OneEach | None = None
) -> TrajectoryGroups:
    release, search, timing = asked.release, asked.secret_search, asked.timing
    subjects = None if release.as_published else trajectories.subject
    if release.align:
        trajectories = placed(trajectories, asked.k, subjects=subjects, timing=timing)
    slides = release.align and may_slide(trajectories)
    columns, weights = search_columns(trajectories, timing, asked.spread)
    if each is None:
        rough = search
        if slides and search.refine == "anneal" and block_count(len(columns)) > 1:
            # They are annealed as they slide: what else is done by default is forgotten.
            rough = replace(search, effort="best" if search.effort == "best" else "fast")
        how = {"weights": weights, "progress": asked.progress, **asdict(rough)}
        partition = microaggregate(columns, asked.k, subjects=subjects, **how)
    else:
        partition = measured(columns, each.labels, "one line each", each.since, weights)
        partition = replace(partition, stopped=each.stopped)
    if weights is not None:
        partition = regrouped(partition, trajectories.records, partition.labels)
    if slides and not partition.stopped:
        moves = EFFORTS[search.effort].moves_per_record if search.refine == "anneal" else 0
        trajectories, partition = slide_to_groups(
            trajectories,
            partition,
            asked.k,
            subjects=subjects,
            moves_per_record=None if search.refine == "none" else moves,
            seed=search.seed,
            timing=timing,
            progress=asked.progress,
        )
    counts_people = subjects is not None and asked.key is not None and each is None
    if counts_people and search.refine != "none" and not partition.stopped:
        partition = _near_people(trajectories, partition, asked)
    return TrajectoryGroups(trajectories, partition, asked.key, timing)


def _near_people(trajectories: Trajectories, partition: Partition, asked: Request) -> Partition:
    """Regroup trajectories for lines that are means of people, each of whom counts once."""
    since, subjects = perf_counter(), trajectories.subject
    assert subjects is not None
    asked.progress("Averaging people", 0, None)
    records = standardise(*search_columns(trajectories, asked.timing, asked.spread))
    labels = dense(nearer_to_people(records, partition.labels, subjects, asked.k))
    if np.array_equal(labels, partition.labels):
        return partition
    lost = sse(records, labels, member_weights(labels, subjects))
    loss = information_loss(lost, sum_of_squares(records))
    stage = Stage("people", loss, perf_counter() - since)
    partition = regrouped(partition, trajectories.records, labels)
    return replace(partition, stages=(*partition.stages, stage))


def _grouped_days(
    days: Trajectories, asked: Request
) -> tuple[TrajectoryGroups, Bools, dict[str, Any]]:
    """Group days of equally many trips, each on its own."""
    assert days.subject is not None
    since, labels, stopped = perf_counter(), np.full(len(days), -1), False
    mended = {name: Counter[str]() for name in ("wide", "one_place")}
    for some, alike in of_equally_many(days):
        if len(np.unique(days.subject[some])) < asked.k:
            continue
        groups, out, account = _mended(_grouped_and_slid(alike, asked), asked)
        labels[some[~out]] = groups.partition.labels + labels.max() + 1
        stopped |= groups.partition.stopped
        for name, counts in account.items():
            mended[name].update(counts)
    out = labels < 0
    if out.all():
        raise TooFewSubjects(
            f"of {number_of(len(days), 'day')} none has as many trips as days of {asked.k} people: "
            "lower k, add people, or leave out `days` and release trips"
        )
    left = days.take(~out)
    partition = measured(left.records, dense(labels[~out]), "days", since)
    partition = replace(partition, stopped=stopped)
    groups = TrajectoryGroups(left, partition, asked.key, asked.timing, asked.roads)
    return groups, out, {name: dict(counts) for name, counts in mended.items()}


def tallied(
    given: Trajectories,
    groups: TrajectoryGroups,
    out: Bools,
    mended: dict[str, Any] | None,
    sum_up: Callable[[Any], Any],
) -> Tally:
    """Take from groups what their release and its report need; errors are summed up."""
    kept, partition, laid = groups.trajectories, groups.partition, groups.laid
    labels, starts, slid = np.full(len(given), -1), None, 0
    labels[~out] = partition.labels
    errors: dict[str, Any] = {"displacement": groups.moved, "length": lengths(kept.points)}
    errors |= groups.late
    if given.tracks is not None and kept.tracks is not None:
        starts = np.zeros(len(given), dtype=np.int64)
        starts[~out] = kept.tracks.along
        slid = int((starts != given.tracks.along)[~out].sum())
    return Tally(
        labels,
        groups.released,
        groups.released_times,
        groups.information_loss,
        {name: sum_up(each) for name, each in errors.items()},
        starts,
        slid,
        None if laid is None else laid.on_roads,
        mended,
        groups.widths,
        partition.stages,
        partition.stopped,
    )


def finished(
    asked: Request, tally: Tally, provenance: Mapping[str, Any], subject: Ints | None, **more: Any
) -> Result:
    """Put the lines of all groups into their order, and report them; ``more`` is reported, too."""
    release, timing, kept = asked.release, asked.timing, tally.labels >= 0
    labels = tally.labels[kept]
    people = None if subject is None else subject[kept]
    keys = line_keys(tally.lines, tally.times)
    line = dense(keys)
    first = np.unique(line, return_index=True)[1]
    lines, times = tally.lines[first], None if tally.times is None else tally.times[first]
    counted = None if release.as_published else people
    own, rows = own_rows(release.rows, line[labels], counted)
    copies, order = np.bincount(line[labels][own]), in_order(lines, times)
    if counted is not None and broken_promises(labels, counted, asked.k):
        raise TrajanonError(f"a group has fewer than {asked.k} subjects; please report it")
    sizes = np.bincount(labels).tolist()
    held = None if people is None else subjects_per_group(labels, people).tolist()
    errors = {**tally.errors}
    moved, length = errors.pop("displacement"), errors.pop("length")
    if not release.as_published:
        refuse_far(moved["mean"], length["mean"], asked.k, unit_of(provenance))
    laid, source = tally.on_roads, provenance.get("attribution")
    if laid is not None and laid.any():
        source = OSM_ATTRIBUTION  # of the roads
    report = {
        "notice": _notice(asked, provenance, known=counted is not None),
        "unit": unit_of(provenance),
        "n": len(labels),
        "k": asked.k,
        "counted": "records" if counted is None else "subjects",
        "as_published": release.as_published,
        "groups": len(tally.lines),
        "lines": len(lines),
        "points": lines.shape[1],
        "rows": rows,
        "source": source_of(provenance),
        "subjects_merged": Merged.counted_in(provenance)._asdict(),
        "attribution": source,
        "versions": versions(),
        "key_fingerprint": None if asked.key is None else fingerprint(asked.key),
        "width": None if tally.widths is None else tally.widths.places,
        "information_loss": tally.loss,
        "stages": [stage.account for stage in tally.stages],
        "stopped": tally.stopped,
        "displacement": moved,
        "length": {name: length[name] for name in ("mean", "median")},
        "times": None,
        "alignment": None,
        "mended": tally.mended,
        "distinct_ends": release.distinct_ends,
        "suppressed": None if kept.all() else {"rows": np.flatnonzero(~kept).tolist()},
        "search": asdict(asked.search),
        "sizes": sizes,
        "people": None if people is None else len(np.unique(people)),
        "subjects_per_group": held,
        "largest_share": None if release.as_published else 1.0 / min(held or sizes),
        "labels": labels.tolist(),
        "line_keys": keys.tolist(),
        **more,
    }
    if timing is not None and times is not None:
        report["times"] = timing.account | errors | {"alone": timing.alone(times)}
        if tally.widths is not None:
            departures, elapsed = tally.widths[1:]
            report["times"]["widths"] = {"departures": departures, "elapsed": elapsed}
    if tally.starts is not None and tally.slid:
        starts = tally.starts[kept].tolist()
        report["alignment"] = {"slid": tally.slid / len(labels), "starts": starts}
    if asked.roads is not None and laid is not None:
        on_roads = int(laid[first].sum())
        shares = {"on_roads": on_roads, "as_they_were": len(lines) - on_roads}
        report["roads"] = {"keep_off": asked.roads.keep_off, **shares}
    words = _released_words(asked, source, by_subjects=counted is not None)
    times = None if times is None else times[order]
    return Result(lines[order], times, copies[order], words, report)


def _released_words(asked: Request, source: str | None, *, by_subjects: bool) -> dict[str, Any]:
    """Give what a released file says of itself, and nothing else."""
    words = {"attribution": marked(source) if asked.release.as_published else source}
    if by_subjects:
        words["counted"] = "subjects"
    if asked.release.rows == "lines":
        words["rows"] = "lines"
    if asked.timing is not None:
        words["times"] = asked.timing.clock.sentence
    return words


def _details(groups: TrajectoryGroups, asked: Request) -> dict[str, Any]:
    """Report who can be followed from line to line; and a digest of what was averaged."""
    whole, subjects, people = groups.trajectories, groups.trajectories.subject, None
    labels = groups.partition.labels
    line = dense(line_keys(groups.released, groups.released_times))[labels]
    if subjects is not None:
        people = counts_of(people_left(line, subjects, departure_days(whole), asked.k))
    times = None if groups.timing is None else whole.times
    return {
        "chains": counts_of(drives_left(line, whole.tracks, subjects, asked.k)) or None,
        "persons": people,
        "averaged": digest_of(whole.points, labels, times),
    }


def _notice(asked: Request, provenance: Mapping[str, Any], *, known: bool) -> str:
    """The first line of a report: what k counts, where subjects are known or not."""
    notice = "For the holder of the data, not for publication."
    if asked.release.as_published:
        return f"{notice} The release is {FOR_COMPARISON}. k counts trajectories."
    if not known:
        return f"{notice} k counts trajectories: nothing is known of their subjects."
    nameless = Nameless.counted_in(provenance)
    if nameless.recordings:
        have = number_of(nameless.recordings, "recording has", "recordings have")
        as_many = number_of(nameless.subjects, "subject")
        return f"{notice} {have} no subject: counted as {as_many}."
    return notice


def versions() -> dict[str, str]:
    """What the result was made with."""
    names = ("trajanon", "numpy", "numba")
    return {name: version(name) for name in names} | {"python": platform.python_version()}


def refuse_attribution(attribution: object) -> None:
    """Refuse what trajectories say of their source, if a release must not hold it."""
    if attribution not in (None, OSM_ATTRIBUTION):
        unknown = f"an unknown attribution {str(attribution)[:40]!r}"
        raise BadInput(f"the trajectories carry {unknown}: extract them again without it")


def refuse_far(moved: float, length: float, k: int, unit: str) -> None:
    """Refuse a release with points farther off than its trajectories are long, in metres."""
    if moved > length:
        raise BadInput(
            f"released points would lie {moved:,.0f} m from where people went on average, and a "
            f"{unit} is {length:,.0f} m long: lower k ({k}), add trajectories, or take a smaller "
            "area"
        )
