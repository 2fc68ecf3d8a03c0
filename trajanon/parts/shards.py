"""Shards: rows are scattered to them, grouped, and written as lines for the parts of a release."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from trajanon.align.alignment import step_lengths
from trajanon.align.windows import shared_out
from trajanon.anonymization import group_and_slide
from trajanon.arrays import Floats, Ints, Metres
from trajanon.errors import BadInput, TrajanonError
from trajanon.files.geoparquet import write_released
from trajanon.files.release_lines import in_order, line_numbers, once_each
from trajanon.files.report import line_keys, write_lines_of_rows
from trajanon.files.trajectory_files import part_name
from trajanon.loss import information_loss
from trajanon.mending import ends_of, mend
from trajanon.partition import broken_promises, check_enough
from trajanon.parts.plan import Plan, joined_shards
from trajanon.parts.scratch import DRAFT, GROUPS, Arrays, Scratch, Stored, Task, parted
from trajanon.release import Rows
from trajanon.released_lines import TrajectoryGroups, refuse_crossing
from trajanon.tracks import TrackPoints, Tracks
from trajanon.trajectories import Trajectories, joined_trajectories
from trajanon.utility.displacements import Histogram, joined_histograms, lengths

PART = 100_000
"""Trajectories in a part of the release, about; up to ten times as many if there were more than a
thousand parts, as every task writes lines of each."""

_AT_ONCE = 100_000  # rows
_OF_ROWS = ("points", "subject", "trace", "times", "true_ends")
_OF_TRACKS = ("points", "first", "run", "start", "times", "recording")


def _arrays_of(rows: Trajectories) -> Arrays:
    """Give all that a search needs of trajectories, as arrays."""
    found = {name: getattr(rows, name) for name in _OF_ROWS}
    if (tracks := rows.tracks) is not None:
        found |= {f"track {name}": getattr(tracks, name) for name in _OF_TRACKS}
        found["track points"] = tracks.points.ticks
    return {name: array for name, array in found.items() if array is not None}


def _trajectories_in(pieces: Iterable[Arrays], provenance: Mapping[str, Any]) -> Trajectories:
    """Put pieces together that were written as arrays."""
    several = []
    for piece in pieces:
        along = {name: piece.get(f"track {name}") for name in _OF_TRACKS}
        tracks = None
        if (points := along.pop("points")) is not None:
            tracks = Tracks(TrackPoints(points), **along)  # type: ignore[arg-type]
        rows: dict[str, Any] = {name: piece.get(name) for name in _OF_ROWS}
        several.append(Trajectories(**rows, tracks=tracks))
    return replace(joined_trajectories(several), provenance=provenance)


class Tally(NamedTuple):
    """Figures of the finished groups of shards, and where their lines are."""

    sizes: Counter[int]  # how many groups there are of each size
    sums: Floats  # of each column, about the mean of the sample: of the records, of their squares,
    # and of the squares of what they are off the lines as written, (3, 2 m)
    errors: dict[str, Histogram]  # of points, in metres; of times, in seconds
    lines: list[tuple[int, Stored]]  # released: number of the part, and where they are
    rows: list[tuple[int, Stored]]  # the line of each row: number of the slice, and where it is
    of_groups: Ints  # the part that the line of each group went to, and its key, (g, 2)
    of_subjects: int  # rows, where each subject of a line has one
    slid: int  # windows that slid
    hours: Counter[float]  # lines that depart in each hour, by when it begins
    on_roads: Counter[bool]  # lines that were laid on roads, and those that were not
    mended: list[dict[str, Any]]  # an account of each shard
    left_out: Ints  # the rows that mending left out

    @property
    def information_loss(self) -> float:
        """IL in percent of the lines as written; of places alone."""
        sums, squares, lost = self.sums
        spread = squares - sums**2 / sum(size * count for size, count in self.sizes.items())
        varies = spread > 0.0
        return information_loss(float((lost[varies] / spread[varies]).sum()), float(varies.sum()))


def joined_tallies(tallies: Sequence[Tally]) -> Tally:
    """Put tallies together, in their order."""
    of: Any = Tally(*zip(*tallies, strict=True))
    return Tally(
        sum(of.sizes, Counter()),
        np.sum(of.sums, axis=0),
        {name: joined_histograms([each[name] for each in of.errors]) for name in of.errors[0]},
        [*chain(*of.lines)],
        [*chain(*of.rows)],
        np.concatenate(of.of_groups),
        sum(of.of_subjects),
        sum(of.slid),
        sum(of.hours, Counter()),
        sum(of.on_roads, Counter()),
        [*chain(*of.mended)],
        np.concatenate(of.left_out),
    )


def scatter(plan: Plan, number: int) -> list[tuple[int, Stored, set[int]]]:
    """Write the rows of a slice to a file, those of a shard together.

    Returns each shard's number, where its rows are, and their subjects, as k counts them: all
    different ones, or k of them.
    """
    rows = plan.parts.read(plan.parts.slices[number], tracks=True)
    refuse_crossing(rows, tracks=True)
    counted = rows.trace if rows.subject is None else rows.subject
    assert counted is not None
    random = np.random.default_rng([plan.settings.seed, number])
    subjects: list[set[int]] = []

    def pieces() -> Iterator[tuple[int, int, Arrays]]:
        for shard, held, some in shared_out(rows, plan.split.shard_of(rows), random):
            subjects.append(set(np.unique(counted[held])[: plan.k].tolist()))
            yield shard, len(some), _arrays_of(some)

    written = plan.scratch.write_pieces(f"rows-{number:06d}.npz", pieces())
    return [(*each, some) for each, some in zip(written, subjects, strict=True)]


def shards_of(
    plan: Plan, scattered: Sequence[tuple[int, Stored, set[int]]], capacity: int
) -> list[Task]:
    """Join the data of one search; refuse them if they cannot be grouped, or do not fit."""
    subjects: list[set[int]] = [set() for _ in range(plan.split.shards)]
    places: list[list[Stored]] = [[] for _ in subjects]
    for shard, place, some in scattered:
        places[shard].append(place)
        subjects[shard] |= some
    different = len(set().union(*subjects))
    check_enough(plan.parts.n, plan.k, different, "trajectory")
    tasks = [
        Task(number, [place for shard in together for place in places[shard]])
        for number, together in enumerate(joined_shards(subjects, plan.k))
    ]
    if (rows := max(task.rows for task in tasks)) > capacity:
        raise BadInput(
            f"{rows:,} trajectories lie in one place, or are of few subjects, and only "
            f"{capacity:,} fit into the memory at once: raise `memory`"
        )
    return tasks


def search(plan: Plan, task: Task) -> Tally:
    """Group a shard as a table of its own, and write its lines for the parts of the release."""
    rows = _trajectories_in(map(plan.scratch.read_piece, task.places), plan.parts.provenance)
    how = (plan.release, plan.settings, plan.timing, plan.key, plan.progress)
    _, slid = group_and_slide(rows, plan.k, *how, spread=plan.split.spread)
    if slid.partition.stopped:
        raise KeyboardInterrupt
    ends = ends_of(rows, plan.release.distinct_ends)
    groups, out, account = mend(slid, plan.k, ends)
    if plan.roads is not None:
        groups = replace(groups, roads=plan.roads)
    moved = np.zeros(len(groups.trajectories), dtype=np.int64)
    if rows.tracks is not None and groups.trajectories.tracks is not None:
        moved = groups.trajectories.tracks.along - rows.tracks.along[~out]
    assert rows.trace is not None
    return _finished(plan, groups, moved, task.number)._replace(
        mended=[account], left_out=rows.trace[out]
    )


def _finished(plan: Plan, groups: TrajectoryGroups, moved: Ints, number: int) -> Tally:
    """Write the lines of groups, each for the part of the release of its band of latitudes.

    All parts are then sorted if each is.
    """
    rows, labels, timing = groups.trajectories, groups.partition.labels, plan.timing
    if rows.subject is not None and broken_promises(labels, rows.subject, plan.k):
        raise TrajanonError(f"shard {number} has a group of fewer than {plan.k}; please report it")
    lines, times = groups.released, groups.released_times
    errors: dict[str, Floats | Metres] = {"displacement": groups.moved, **groups.late}
    errors["length"] = lengths(rows.points)
    if groups.laid is not None:
        errors["to_roads"] = groups.to_roads
    if rows.tracks is not None:
        far = np.abs(moved) * step_lengths(rows.tracks)[rows.tracks.run]
        errors["slid"] = far[moved != 0]
    m = rows.points.shape[1]
    sums, flat = np.zeros((3, 2 * m)), lines.reshape(len(lines), 2 * m)
    for start in range(0, len(rows), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        records = rows.records[some]
        off, away = records - flat[labels[some]], records - plan.split.mean
        sums += [away.sum(axis=0), (away**2).sum(axis=0), (off**2).sum(axis=0)]
    keys = line_keys(lines, times)
    release = Rows(plan.release.rows, line_numbers(lines, times)[labels], rows.subject)
    if times is not None:
        lines = np.dstack([lines, times])
    borders = np.linspace(0, 1, count_of_parts(plan.parts.n) + 1)[1:-1]
    part = np.searchsorted(np.quantile(plan.split.begins, borders), lines[:, 0, 0], side="right")
    line, row = labels[release.own], np.asarray(rows.trace)
    write = plan.scratch.write_pieces
    to_parts = ((to, len(some), {"lines": lines[line[some]]}) for to, some in parted(part[line]))
    to_slices = (
        (to, len(some), {"row": row[some], "line": keys[labels[some]], "slid": moved[some]})
        for to, some in parted(plan.parts.slice_of(row))
    )
    return Tally(
        sizes=+Counter(dict(enumerate(np.bincount(groups.partition.sizes).tolist()))),
        sums=sums,
        errors={name: Histogram.of(each) for name, each in errors.items()},
        lines=write(f"released-{number:06d}.npz", to_parts),
        rows=write(f"lines-{number:06d}.npz", to_slices),
        of_groups=np.column_stack([part, keys]),
        of_subjects=int(release.of_subjects.sum()),
        slid=int((moved != 0).sum()),
        hours=Counter() if timing is None or times is None else timing.hours(times),
        on_roads=Counter([] if groups.laid is None else groups.laid.on_roads.tolist()),
        mended=[],
        left_out=row[:0],
    )


def count_of_parts(n: int) -> int:
    """How many parts a release of n trajectories has."""
    rows = min(max(PART, n // 1_000), 10 * PART)
    return -(-n // rows)


def parts_of(release: Trajectories) -> Iterator[tuple[str, Trajectories, int]]:
    """Part a release that is in memory: the name of each part, its rows, and its first id."""
    number = np.arange(len(release))
    if release.provenance.get("rows") == "lines":  # which stand together
        line = line_numbers(release.points, release.times)
        number = np.unique(line, return_index=True)[1][line]
    first = 1
    for part, rows in parted(number // PART):
        some = release.take(rows)
        yield part_name(part), some, first
        first += len(once_each(some)[0])


def write_part(scratch: Scratch, provenance: dict[str, str | None], part: Task) -> None:
    """Write a part of the release, sorted."""
    lines = np.concatenate([scratch.read_piece(place)["lines"] for place in part.places])
    times = lines[..., 2] if "times" in provenance else None
    release = Trajectories(points=lines[..., :2], provenance=provenance, times=times)
    release = release.take(in_order(release.points, times))
    with scratch.writing(f"{DRAFT}/{part_name(part.number)}") as file:
        write_released(file, release, part.first)


def write_groups(plan: Plan, task: Task) -> None:
    """Write which line each row of a slice became, and how far it slid, in the order of rows."""
    pieces = [plan.scratch.read_piece(place) for place in task.places]
    row, line, slid = (
        np.concatenate([piece[name] for piece in pieces]) for name in ("row", "line", "slid")
    )
    order = np.argsort(row)
    with plan.scratch.writing(f"{GROUPS}/{part_name(task.number)}") as file:
        write_lines_of_rows(file, line[order], slid[order] if plan.parts.track_points else None)
