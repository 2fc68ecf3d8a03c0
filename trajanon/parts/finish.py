"""Groups become lines, which go to the parts of the release by their first latitude."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from trajanon.align.account import step_lengths
from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import TrajanonError
from trajanon.executors import Executor
from trajanon.files.geoparquet import write_released
from trajanon.files.release_lines import in_order, line_numbers, once_each
from trajanon.files.report import line_keys, write_lines_of_rows
from trajanon.files.trajectory_files import part_name
from trajanon.loss import information_loss
from trajanon.partition import broken_promises, dense, measured
from trajanon.parts.plan import Plan
from trajanon.parts.scratch import DRAFT, GROUPS, Arrays, Scratch, Stored, Task, parted, tasks_of
from trajanon.release import Rows, published_with
from trajanon.released_lines import TrajectoryGroups
from trajanon.tracks import TrackPoints, Tracks
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories, joined_trajectories
from trajanon.utility.displacements import Histogram, joined_histograms, lengths

PART = 100_000
"""Trajectories in a part of the release, about; up to ten times as many if there were more than a
thousand parts, as every task writes lines of each."""

_AT_ONCE = 100_000  # rows


class Batch(NamedTuple):
    """Rows between two tasks."""

    trajectories: Trajectories  # a trace is the number of its row among those of all parts
    group: Ints  # of each row, (n,); -1 before the first search
    moved: Ints  # steps that each window slid from where it was cut, (n,)

    @property
    def arrays(self) -> Arrays:
        """All that is known, as arrays of which the first has a number for each row."""
        rows, tracks = self.trajectories, self.trajectories.tracks
        found: list[Any] = [rows.trace, rows.subject, self.group, self.moved]
        found += [rows.points, rows.known_ends, rows.times]
        if tracks is not None:
            alone = np.empty(0, np.int64) if tracks.recording is None else tracks.recording
            found += [tracks.first, tracks.run, tracks.start, tracks.points.ticks, alone]
            found += [tracks.times]
        return [array for array in found if array is not None]

    def take(self, kept: Bools) -> "Batch":
        """Keep some of the rows."""
        return Batch(self.trajectories.take(kept), self.group[kept], self.moved[kept])

    def slid(self, rows: Trajectories) -> "Batch":
        """Take the same rows where their windows slid to."""
        before, after = self.trajectories.tracks, rows.tracks
        if before is None or after is None:
            return self
        return Batch(rows, self.group, self.moved + after.along - before.along)

    @classmethod
    def joined(cls, pieces: Iterable[Arrays], timed: bool) -> "Batch":
        """Put pieces together that were written as arrays, with times or without."""
        rows, group, moved = zip(*(_batch(piece, timed) for piece in pieces), strict=True)
        return cls(joined_trajectories(rows), np.concatenate(group), np.concatenate(moved))


def _batch(piece: Arrays, timed: bool) -> tuple[Trajectories, Ints, Ints]:
    trace, subject, group, moved, points, ends, *more = piece
    times = more.pop(0) if timed else None
    tracks = None
    if more:
        first, run, start, places, alone, *track_times = more
        tracks = Tracks(TrackPoints(places), first, run, start, *track_times)
        if len(alone):
            tracks = replace(tracks, recording=alone)
    found = Trajectories(points, subject, trace, {}, tracks, times, true_ends=ends)
    return found, group, moved


class Tally(NamedTuple):
    """Figures of finished groups, and where their lines are."""

    sizes: Counter[int]  # how many groups there are of each size
    few: int  # groups of fewer than k different subjects
    sums: Floats  # of each column, about the mean of all as they were cut: of the records, of
    # their squares, and of the squares of what they are off the lines as written, (3, 2 m)
    errors: dict[str, Histogram]  # of points, in metres; of times, in seconds
    lines: list[tuple[int, Stored]]  # released: number of the part, and where they are
    of_groups: Ints  # the part that the line of each group went to, and its key, (g, 2)
    of_subjects: int  # rows, where each subject of a line has one
    slid: int  # windows that slid
    hours: Counter[float]  # lines that depart in each hour, by when it begins
    on_roads: Counter[bool]  # lines that were laid on roads, and those that were not

    @property
    def information_loss(self) -> float:
        """IL in percent of the lines as written; of places alone."""
        n = sum(size * count for size, count in self.sizes.items())
        sums, squares, lost = self.sums
        spread = squares - sums**2 / n
        varies = spread > 0.0
        return information_loss(float((lost[varies] / spread[varies]).sum()), float(varies.sum()))


def joined_tallies(tallies: Sequence[Tally]) -> Tally:
    """Put tallies together, in their order."""
    sizes, few, sums, errors, lines, of_groups, of_subjects, slid, hours, roads = zip(
        *tallies, strict=True
    )
    return Tally(
        sum(sizes, Counter()),
        sum(few),
        np.sum(sums, axis=0),
        {name: joined_histograms([each[name] for each in errors]) for name in errors[0]},
        [*chain(*lines)],
        np.concatenate(of_groups),
        sum(of_subjects),
        sum(slid),
        sum(hours, Counter()),
        sum(roads, Counter()),
    )


def finish(plan: Plan, batch: Batch, labels: Ints, key: str) -> tuple[Tally, Ints]:
    """Replace each row by its group's line, and write it for a part of the release.

    Each part holds the lines that begin in one band of latitudes, so that all parts are sorted if
    each is. Returns the figures, and what tells the line of each row, (n,).
    """
    rows, asked, timing = batch.trajectories, plan.release, plan.timing
    subjects, m = plan.counted(rows), rows.points.shape[1]
    assert rows.subject is not None
    if broken_promises(labels, subjects, plan.k):
        raise TrajanonError(f"{key} has a group of fewer than {plan.k}; please report it")
    known = rows if plan.parts.names_subjects else replace(rows, subject=None, trace=None)
    found = measured(rows.records, labels, "shards", perf_counter())
    groups = TrajectoryGroups(known, found, plan.key, timing, plan.roads)
    lines, times = groups.released, groups.released_times
    errors = {"displacement": Histogram.of(groups.moved)}
    errors["length"] = Histogram.of(lengths(rows.points))
    if groups.laid is not None:
        errors["to_roads"] = Histogram.of(groups.to_roads)
    if rows.tracks is not None:
        far = np.abs(batch.moved) * step_lengths(rows.tracks)[rows.tracks.run]
        errors["slid"] = Histogram.of(far[batch.moved != 0])
    sums = np.zeros((3, 2 * m))
    flat, mean = lines.reshape(len(lines), 2 * m), plan.survey.mean[: 2 * m]
    for start in range(0, len(rows), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        records = rows.records[some]
        off, away = records - flat[labels[some]], records - mean
        sums += [away.sum(axis=0), (away**2).sum(axis=0), (off**2).sum(axis=0)]
    errors |= {name: Histogram.of(each) for name, each in groups.late.items()}
    keys = line_keys(lines, times)
    if times is not None:
        lines = np.dstack([lines, times])
    own = subjects if plan.parts.names_subjects else None
    release = Rows(asked.rows, line_numbers(lines)[labels], own)
    line = labels[release.own]
    parts = count_of_parts(plan.parts.n)
    borders = np.quantile(plan.survey.begins, np.arange(1, parts) / parts)
    part = np.searchsorted(borders, lines[:, 0, 0], side="right")
    pieces = ((number, [lines[some]]) for number, (some,) in parted(part[line], [line]))
    written = plan.scratch.write_pieces(f"released-{key}.npy", pieces)
    tally = Tally(
        sizes=+Counter(dict(enumerate(np.bincount(found.sizes).tolist()))),
        few=broken_promises(labels, dense(rows.subject), plan.k),
        sums=sums,
        errors=errors,
        lines=written,
        of_groups=np.column_stack([part, keys]),
        of_subjects=int(release.of_subjects.sum()),
        slid=int((batch.moved != 0).sum()),
        hours=Counter() if timing is None or times is None else timing.hours(times),
        on_roads=Counter([] if groups.laid is None else groups.laid.on_roads.tolist()),
    )
    return tally, keys[labels]


def count_of_parts(n: int) -> int:
    """How many parts a release of n trajectories has."""
    rows = min(max(PART, n // 1_000), 10 * PART)
    return -(-n // rows)


def write_part(scratch: Scratch, provenance: dict[str, str | None], part: Task) -> None:
    """Write a part of the release, sorted."""
    lines = np.concatenate([scratch.read_piece(place)[0] for place in part.places])
    times = lines[..., 2] if "times" in provenance else None
    release = Trajectories(points=lines[..., :2], provenance=provenance, times=times)
    release = release.take(in_order(release.points, times))
    with scratch.writing(f"{DRAFT}/{part_name(part.number)}") as file:
        write_released(file, release, part.first)


def write_release_parts(executor: Executor, plan: Plan, tally: Tally) -> None:
    """Write all parts of the release, whose lines lie in files of the scratch folder."""
    asked = plan.release
    source = plan.parts.provenance.get("attribution") if plan.roads is None else OSM_ATTRIBUTION
    clock = plan.timing.clock if plan.timing else None
    named = plan.parts.names_subjects
    provenance = published_with(source, asked.rows, clock, by_subjects=named)
    lines = np.bincount(np.unique(tally.of_groups, axis=0)[:, 0])
    parts, first = [], 1
    for number, part in enumerate(tasks_of(tally.lines)):
        parts.append(part._replace(number=number, first=first))
        first += int(lines[part.number]) if asked.rows == "lines" else part.rows
    if (came := sum(part.rows for part in parts)) != tally.of_subjects:
        raise TrajanonError(
            f"{came} of {tally.of_subjects} rows came to the release; please report it"
        )
    task = partial(write_part, plan.scratch, provenance)
    executor.each("Writing the release", task, parts)
    plan.scratch.remove_files_of(parts)


def parts_of(release: Trajectories) -> Iterator[tuple[str, Trajectories, int]]:
    """Part a release that is in memory: the name of each part, its rows, and its first id."""
    number = np.arange(len(release))
    if release.provenance.get("rows") == "lines":  # which stand together
        line = line_numbers(release.points, release.times)
        number = np.unique(line, return_index=True)[1][line]
    first = 1
    for part, (rows,) in parted(number // PART, [np.arange(len(release))]):
        some = release.take(rows)
        yield part_name(part), some, first
        first += len(once_each(some)[0])


def write_groups(plan: Plan, task: Task) -> None:
    """Write which line each row of a slice became, and how far it slid, in the order of rows."""
    state = np.concatenate([plan.scratch.read_piece(place)[0] for place in task.places])
    state = state[np.argsort(state["row"])]
    slid = state["moved"] if plan.parts.track_points else None
    with plan.scratch.writing(f"{GROUPS}/{part_name(task.number)}") as file:
        write_lines_of_rows(file, state["group"], slid)
