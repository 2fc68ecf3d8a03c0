"""Groups become centroids, which go to random parts of the release."""

import hashlib
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.errors import TrajanonError
from trajanon.files.geoparquet import write_released
from trajanon.files.partition import part_name
from trajanon.files.release_lines import rounded
from trajanon.loss import group_means, sse
from trajanon.partition import broken_promises, dense
from trajanon.parts.executors import Executor
from trajanon.parts.folder import Stored
from trajanon.parts.plan import Plan
from trajanon.parts.scratch import (
    Scratch,
    ShardRows,
    Task,
    files_per_task,
    removal,
    write_by_target,
)
from trajanon.utility import displacement

DRAFT = "release"
"""The folder of the release while it is not done, within that of the run."""

PART = 100_000
"""Trajectories in a part of the release, about; up to ten times as many if there were more than a
thousand parts, as every task writes lines of each."""

_LEAST, _STEP, _BINS = 1e-3, 0.002, 12_500
"""Bins from a millimetre to some 70,000 km, each 0.2 % wide."""

_AT_ONCE = 100_000  # rows


@dataclass(eq=False)
class Distances:
    """Metres in bins, with their exact sum and greatest."""

    counts: Ints = field(default_factory=lambda: np.zeros(_BINS, dtype=np.int64))
    total: float = 0.0
    farthest: float = 0.0

    @classmethod
    def of(cls, metres: Floats) -> "Distances":
        """Take in distances of any shape."""
        with np.errstate(divide="ignore"):
            place = np.ceil(np.log(metres.ravel() / _LEAST) / _STEP)
        counts = np.bincount(place.clip(0, _BINS - 1).astype(np.int64), minlength=_BINS)
        return cls(counts, float(metres.sum()), float(metres.max(initial=0.0)))

    def __add__(self, other: "Distances") -> "Distances":
        farthest = max(self.farthest, other.farthest)
        return Distances(self.counts + other.counts, self.total + other.total, farthest)

    @property
    def summary(self) -> dict[str, float]:
        """As `trajanon.utility.summary`; median and 95 % are right to 0.2 %."""
        below = np.cumsum(self.counts)
        bins = np.searchsorted(below, np.array([0.5, 0.95]) * below[-1]).tolist()
        median, p95 = (
            min(_LEAST * float(np.exp(place * _STEP)), self.farthest) if place else 0.0
            for place in bins  # the first is of those under a millimetre
        )
        mean = self.total / int(below[-1])
        return {"mean": mean, "median": median, "p95": p95, "max": self.farthest}


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Figures of finished groups, and where their lines are."""

    sizes: Counter[int] = field(default_factory=Counter)  # how many groups there are of each size
    few: int = 0  # groups of fewer than k different subjects
    lost: float = 0.0  # SSE of the standardised records
    moved: Distances = field(default_factory=Distances)  # how far points were moved
    lines: tuple[tuple[int, Stored], ...] = ()  # released: number of the part, and where they are
    hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))  # of lines


def joined_tallies(tallies: Sequence[Tally]) -> Tally:
    """Put tallies together, in their order."""
    return Tally(
        sizes=sum((tally.sizes for tally in tallies), Counter()),
        few=sum(tally.few for tally in tallies),
        lost=sum(tally.lost for tally in tallies),
        moved=sum((tally.moved for tally in tallies), Distances()),
        lines=tuple(some for tally in tallies for some in tally.lines),
        hashes=np.concatenate([tally.hashes for tally in tallies]),
    )


def finish(plan: Plan, rows: ShardRows, key: str) -> Tally:
    """Replace each row by its group's centroid, and write it for a part of the release.

    The part is drawn with a secret. A random part, and a random place in it, is a random place in
    the whole (Rao 1961; Sandelius 1962).
    """
    if not len(rows.row):
        return Tally()
    labels = dense(rows.mark)
    if broken_promises(labels, plan.counted(rows.subject), plan.k):
        msg = f"{key} has a group of fewer than {plan.k}; please report it"
        raise TrajanonError(msg)
    points = rows.points.astype(np.float64, copy=False)
    means = group_means(points.reshape(len(points), -1), labels)
    lines = rounded(means, plan.digits).reshape(-1, *points.shape[1:])
    moved = Distances()
    for start in range(0, len(points), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        moved += Distances.of(displacement(points[some], lines[labels[some]]))
    word = hashlib.shake_256(plan.secret + key.encode()).digest(8 * len(labels))
    # With 64 bits no part is favoured by more than a billionth.
    part = np.frombuffer(word, dtype=np.uint64) % np.uint64(plan.released)
    written = write_by_target(
        plan.scratch,
        f"released-{{:06d}}-{key}.npy",
        part.astype(np.int64),
        files_per_task(plan.released, 2 * plan.split.shards),  # there are as many borders
        lambda rows: [lines[labels[rows]]],
    )
    words = (hashlib.blake2b(line, digest_size=8).digest() for line in lines)
    return Tally(
        lines=tuple((number, place) for number, _, place in written),
        sizes=+Counter(dict(enumerate(np.bincount(np.bincount(labels)).tolist()))),
        few=broken_promises(labels, dense(rows.subject), plan.k),
        lost=sse(plan.survey.standardised(points), labels),
        moved=moved,
        hashes=np.frombuffer(b"".join(words), dtype=np.uint64),
    )


def count_of_parts(n: int) -> int:
    """How many parts a release of n trajectories has."""
    rows = min(max(PART, n // 1_000), 10 * PART)
    return -(-n // rows)


@dataclass(frozen=True, slots=True)
class ReleasePart(Task):
    """What a part of the release is made of."""

    first: int  # id of its first line


def write_part(scratch: Scratch, attribution: str | None, part: ReleasePart) -> None:
    """Write a part of the release, in an order that comes from the operating system."""
    points = np.concatenate([scratch.read_arrays(place, 1)[0] for place in part.places])
    keys = np.frombuffer(os.urandom(8 * len(points)), dtype=np.uint64)
    with scratch.writing(f"{DRAFT}/{part_name(part.number)}") as file:
        write_released(file, points[np.argsort(keys)], attribution, part.first)


def write_release_parts(executor: Executor, plan: Plan, tally: Tally) -> None:
    """Write all parts of the release, whose lines lie in files of the scratch folder."""
    (plan.scratch / DRAFT).make()
    places: dict[int, list[Stored]] = defaultdict(list)
    for number, place in tally.lines:
        places[number].append(place)
    parts, first = [], 1
    for number in sorted(places):
        parts.append(ReleasePart(number, places[number], first))
        first += parts[-1].rows
    if first != plan.parts.n + 1:
        msg = f"{first - 1} of {plan.parts.n} trajectories came to the release; please report it"
        raise TrajanonError(msg)
    task = partial(write_part, plan.scratch, plan.parts.schema.attribution)
    executor.each("Writing the release", task, parts, removal(plan.scratch, parts))
