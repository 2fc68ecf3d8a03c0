"""Groups become centroids, which go to random parts of the release."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.errors import TrajanonError
from trajanon.files.release_lines import rounded
from trajanon.loss import group_means, sse
from trajanon.partition import broken_promises, dense
from trajanon.parts.folder import ByteRange
from trajanon.parts.plan import Plan, files_per_task
from trajanon.parts.scratch import ShardRows, write_by_target
from trajanon.utility import displacement

_LEAST, _STEP, _BINS = 1e-3, 0.002, 12_500
"""Bins from a millimetre to some 70,000 km, each 0.2 % wide."""


class DistanceHistogram:
    """Metres in bins, with their exact mean and greatest."""

    def __init__(self) -> None:
        self.counts = np.zeros(_BINS, dtype=np.int64)
        self.total = 0.0
        self.farthest = 0.0

    def add(self, metres: Floats) -> None:
        """Take in distances of any shape."""
        with np.errstate(divide="ignore"):
            place = np.ceil(np.log(metres.ravel() / _LEAST) / _STEP)
        bins = place.clip(0, _BINS - 1).astype(np.int64)
        self.counts += np.bincount(bins, minlength=_BINS)
        self.total += float(metres.sum())
        self.farthest = max(self.farthest, float(metres.max(initial=0.0)))

    @classmethod
    def joined(cls, several: Sequence["DistanceHistogram"]) -> "DistanceHistogram":
        """Put several together, in their order."""
        whole = cls()
        for one in several:
            whole.counts += one.counts
            whole.total += one.total
            whole.farthest = max(whole.farthest, one.farthest)
        return whole

    @property
    def summary(self) -> dict[str, float]:
        """As `trajanon.utility.summary`; median and 95 % are right to 0.2 %."""
        below = np.cumsum(self.counts)

        def quantile(share: float) -> float:
            place = int(np.searchsorted(below, share * below[-1]))
            if place == 0:
                return 0.0  # under a millimetre
            return min(_LEAST * float(np.exp(place * _STEP)), self.farthest)

        return {
            "mean": self.total / int(below[-1]),
            "median": quantile(0.5),
            "p95": quantile(0.95),
            "max": self.farthest,
        }


_AT_ONCE = 100_000  # rows


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Figures of finished groups, and where their lines are."""

    sizes: Counter[int] = field(default_factory=Counter)  # how many groups there are of each size
    few: int = 0  # groups of fewer than k different subjects
    lost: float = 0.0  # SSE of the standardised records
    moved: DistanceHistogram = field(
        default_factory=DistanceHistogram
    )  # how far points were moved, in metres
    # Released lines: number of the part, where they are, how many.
    lines: tuple[tuple[int, ByteRange, int], ...] = ()
    told: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))


def joined_tallies(tallies: Sequence[Tally]) -> Tally:
    """Put tallies together, in their order."""
    return Tally(
        sizes=sum((tally.sizes for tally in tallies), Counter()),
        few=sum(tally.few for tally in tallies),
        lost=sum(tally.lost for tally in tallies),
        moved=DistanceHistogram.joined([tally.moved for tally in tallies]),
        lines=tuple(some for tally in tallies for some in tally.lines),
        told=np.concatenate([tally.told for tally in tallies]),
    )


def finish(plan: Plan, shard_rows: ShardRows, key: str) -> Tally:
    """Replace each row by its group's centroid, and write it for a part of the release."""
    if not len(shard_rows.row):
        return Tally()
    labels = dense(shard_rows.mark)
    if broken_promises(labels, plan.counted(shard_rows.subject), plan.k):
        msg = f"{key} has a group of fewer than {plan.k}; please report it"
        raise TrajanonError(msg)
    points = shard_rows.points.astype(np.float64, copy=False)
    means = group_means(points.reshape(len(points), -1), labels)
    centroids = rounded(means, plan.digits).reshape(-1, *points.shape[1:])
    moved = DistanceHistogram()
    for start in range(0, len(points), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        moved.add(displacement(points[some], centroids[labels[some]]))
    lost = sse(plan.survey.standardised(points), labels)
    part = _parts_of(plan, key, len(labels))
    files = files_per_task(plan.released, 2 * plan.split.shards)  # there are as many borders
    name = f"released-{{:06d}}-{key}.npy"
    written = write_by_target(
        plan.scratch, name, part, files, lambda rows: [centroids[labels[rows]]]
    )
    lines = tuple((number, place, len(rows)) for number, rows, place in written)
    sizes = Counter(dict(enumerate(np.bincount(np.bincount(labels)).tolist())))
    few = broken_promises(labels, dense(shard_rows.subject), plan.k)
    words = (hashlib.blake2b(line, digest_size=8).digest() for line in centroids)
    told = np.frombuffer(b"".join(words), dtype=np.uint64)
    return Tally(+sizes, few, lost, moved, lines, told)


def _parts_of(plan: Plan, key: str, n: int) -> Ints:
    """Draw the part of the release of each row, which depends on the secret.

    A random part, and a random place in it, is a random place in the whole (Rao 1961; Sandelius
    1962).
    """
    word = hashlib.shake_256(plan.secret + key.encode()).digest(8 * n)
    # With 64 bits no part is favoured by more than a billionth.
    drawn = np.frombuffer(word, dtype=np.uint64) % np.uint64(plan.released)
    return drawn.astype(np.int64)
