"""Groups become centroids, which go to random parts of the release."""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.errors import TrajanonError
from trajanon.executors import Executor
from trajanon.files.geoparquet import write_released
from trajanon.files.release_lines import as_written, line_numbers
from trajanon.files.trajectories import part_name
from trajanon.loss import group_means, sse
from trajanon.partition import broken_promises, dense
from trajanon.parts.plan import Plan
from trajanon.parts.scratch import (
    DRAFT,
    Scratch,
    Stored,
    Task,
    files_per_task,
    removal,
    write_by_target,
)
from trajanon.rounding import grids_of, time_shifts
from trajanon.rows import Rows
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

PART = 100_000
"""Trajectories in a part of the release, about; up to ten times as many if there were more than a
thousand parts, as every task writes lines of each."""

_LEAST, _STEP, _BINS = 1e-3, 0.002, 12_500
"""Bins from a millimetre to some 70,000 km, each 0.2 % wide."""

_AT_ONCE = 100_000  # rows


Waiting = tuple[int, int, int, Stored]
"""Groups at a border: the node of the kd-tree, the shards on both sides, and where rows are."""


class Histogram(NamedTuple):
    """How many of some errors, in metres or seconds, are how large."""

    bins: Ints  # how many are in each
    total: float  # of all errors
    largest: float

    @classmethod
    def of(cls, errors: Iterable[Floats]) -> "Histogram":
        """Count errors, which come some at a time."""
        bins, total, largest = np.zeros(_BINS, dtype=np.int64), 0.0, 0.0
        for some in errors:
            with np.errstate(divide="ignore"):
                place = np.ceil(np.log(some / _LEAST) / _STEP).clip(0, _BINS - 1)
            bins += np.bincount(place.astype(np.int64), minlength=_BINS)
            total += float(some.sum())
            largest = max(largest, float(some.max(initial=0.0)))
        return cls(bins, total, largest)

    @property
    def summary(self) -> dict[str, float]:
        """As `trajanon.utility.summary`; median and 95 % are right to 0.2 %."""
        below = np.cumsum(self.bins)
        places = np.searchsorted(below, np.array([0.5, 0.95]) * below[-1]).tolist()
        median, p95 = (
            min(_LEAST * float(np.exp(place * _STEP)), self.largest) if place else 0.0
            for place in places  # the first bin is of those under a thousandth
        )
        mean = self.total / int(below[-1])
        return {"mean": mean, "median": median, "p95": p95, "max": self.largest}


def joined_histograms(several: Sequence[Histogram]) -> Histogram:
    """Put histograms together, in their order."""
    bins, total, largest = zip(*several, strict=True)
    return Histogram(np.sum(bins, axis=0), sum(total), max(largest))


class Tally(NamedTuple):
    """Figures of finished groups, where their lines are, and groups that are not finished."""

    sizes: Counter[int]  # how many groups there are of each size
    steps: Counter[tuple[int, int]]  # how many lines lie on each grid, of latitude and longitude
    few: int  # groups of fewer than k different subjects
    lost: float  # SSE of the standardised records
    lost_in_space: float  # SSE of their coordinates alone, to the lines as written
    errors: dict[str, Histogram]  # of points, in metres; of times, in seconds
    lines: list[tuple[int, Stored]]  # released: number of the part, and where they are
    hashes: NDArray[np.uint64]  # of the line of each group, keyed with a secret
    of_subjects: int  # rows, where each subject of a line has one
    waiting: list[Waiting]
    searched: float  # SSE of all groups of a shard, also those that wait


def joined_tallies(tallies: Sequence[Tally]) -> Tally:
    """Put tallies together, in their order."""
    sizes, steps, few, lost, in_space, errors, lines, hashes, of_subjects, waiting, searched = zip(
        *tallies, strict=True
    )
    return Tally(
        sum(sizes, Counter()),
        sum(steps, Counter()),
        sum(few),
        sum(lost),
        sum(in_space),
        {name: joined_histograms([each[name] for each in errors]) for name in errors[0]},
        [*chain(*lines)],
        np.concatenate(hashes),
        sum(of_subjects),
        [*chain(*waiting)],
        sum(searched),
    )


def finish(plan: Plan, rows: NDArray[np.void], key: str) -> Tally:
    """Replace each row by its group's centroid, and write it for a part of the release.

    The part is drawn with a secret. A random part, and a random place in it, is a random place in
    the whole (Rao 1961; Sandelius 1962). With a row a line, all rows of a line go to one part.
    """
    labels, subjects = dense(rows["mark"]), plan.counted(rows["subject"])
    if broken_promises(labels, subjects, plan.k):
        msg = f"{key} has a group of fewer than {plan.k}; please report it"
        raise TrajanonError(msg)
    points = rows["points"].astype(np.float64, copy=False)
    means = group_means(points.reshape(len(points), 2 * points.shape[1]), labels)
    lines = means.reshape(-1, *points.shape[1:])
    grids = None
    if plan.digits is None and len(labels):
        grids = grids_of(points, lines, labels, subjects)
    lines = as_written(lines, plan.digits, grids)
    away = (lines.reshape(means.shape) - means) / plan.survey.spread[: means.shape[1]]
    by_rounding = float(np.bincount(labels) @ (away**2).sum(axis=1))
    pieces = [slice(start, start + _AT_ONCE) for start in range(0, len(points), _AT_ONCE)]
    moved = (displacement(points[some], lines[labels[some]]).ravel() for some in pieces)
    errors = {"displacement": Histogram.of(moved)}
    timing = plan.parts.timing
    if timing is not None:
        times = group_means(rows["times"], labels)
        if grids is not None:
            shifts = time_shifts(points, rows["times"], labels, timing.clock, subjects)
            times += shifts[:, None]
        times = timing.clock.rounded(times)
        ends = [0, -1]
        off = timing.errors(rows["times"][:, ends], times[:, ends][labels])
        errors |= {name: Histogram.of([each]) for name, each in off.items()}
        lines = np.dstack([lines, times])
    words = (hashlib.blake2b(line, digest_size=8, key=plan.secret).digest() for line in lines)
    hashes = np.frombuffer(b"".join(words), dtype=np.uint64)
    own = subjects if plan.counts_subjects else None
    release = Rows(plan.rows, line_numbers(lines)[labels], own)
    line = labels[release.own]
    word = hashlib.shake_256(plan.secret + key.encode()).digest(8 * len(line))
    drawn = hashes[line] if plan.rows == "lines" else np.frombuffer(word, dtype=np.uint64)
    # With 64 bits no part is favoured by more than a billionth.
    part = drawn % np.uint64(plan.released)
    written = write_by_target(
        plan.scratch,
        f"released-{{:06d}}-{key}.npy",
        part.astype(np.int64),
        files_per_task(plan.released, 2 * plan.split.shards),  # there are as many borders
        lambda some: lines[line[some]],
    )
    records = plan.records(rows)
    lost = in_space = sse(records, labels) if len(labels) else 0.0
    if timing is not None and lost:
        in_space = sse(records[:, :-1], labels)
    return Tally(
        lines=[(number, place) for number, _, place in written],
        sizes=+Counter(dict(enumerate(np.bincount(np.bincount(labels)).tolist()))),
        steps=Counter() if grids is None else Counter(map(tuple, grids.steps.tolist())),
        few=broken_promises(labels, dense(rows["subject"]), plan.k),
        lost=lost,
        lost_in_space=in_space + by_rounding,
        errors=errors,
        hashes=hashes,
        of_subjects=int(release.of_subjects.sum()),
        waiting=[],
        searched=0.0,
    )


def count_of_parts(n: int) -> int:
    """How many parts a release of n trajectories has."""
    rows = min(max(PART, n // 1_000), 10 * PART)
    return -(-n // rows)


def write_part(scratch: Scratch, provenance: dict[str, str | None], part: Task) -> None:
    """Write a part of the release, in an order that comes from the operating system."""
    lines = np.concatenate([scratch.read_array(place) for place in part.places])
    keys = np.frombuffer(os.urandom(8 * len(lines)), dtype=np.uint64)
    if "rows" in provenance:  # line by line
        keys = keys[line_numbers(lines)]
    lines = lines[np.argsort(keys, kind="stable")]
    times = lines[..., 2] if "times" in provenance else None
    release = Trajectories(points=lines[..., :2], provenance=provenance, times=times)
    with scratch.writing(f"{DRAFT}/{part_name(part.number)}") as file:
        write_released(file, release, part.first)


def write_release_parts(executor: Executor, plan: Plan, tally: Tally) -> None:
    """Write all parts of the release, whose lines lie in files of the scratch folder."""
    (plan.scratch / DRAFT).make()
    places: dict[int, list[Stored]] = defaultdict(list)
    for number, place in tally.lines:
        places[number].append(place)
    provenance = {"attribution": plan.parts.schema.attribution}
    if plan.rows == "lines":
        provenance["rows"] = "lines"
    lines = np.bincount((np.unique(tally.hashes) % np.uint64(plan.released)).astype(np.int64))
    parts, first = [], 1
    for number in sorted(places):
        parts.append(Task(number, places[number], first=first))
        first += int(lines[number]) if plan.rows == "lines" else parts[-1].rows
    rows = plan.parts.n if plan.rows == "trajectories" else tally.of_subjects
    if (came := sum(part.rows for part in parts)) != rows:
        msg = f"{came} of {rows} rows came to the release; please report it"
        raise TrajanonError(msg)
    if (timing := plan.parts.timing) is not None:
        provenance["times"] = timing.clock.sentence
    task = partial(write_part, plan.scratch, provenance)
    executor.each("Writing the release", task, parts, removal(plan.scratch, parts))
