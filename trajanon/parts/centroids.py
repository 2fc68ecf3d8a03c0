"""Groups become centroids, which go to random places in the release."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Ints
from trajanon.errors import TrajanonError
from trajanon.files.release_lines import rounded
from trajanon.loss import group_means, sse
from trajanon.partition import broken_promises, dense
from trajanon.parts.folder import Place
from trajanon.parts.histogram import Distances
from trajanon.parts.plan import Plan, bundles_of
from trajanon.parts.shard_rows import Piece
from trajanon.utility import displacement

_AT_ONCE = 100_000  # rows


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """What is known of groups that are done."""

    sizes: Counter[int] = field(default_factory=Counter)  # how many groups there are of each size
    few: int = 0  # groups of fewer than k different subjects
    lost: float = 0.0  # SSE of the standardised records
    moved: Distances = field(default_factory=Distances)  # how far points were moved, in metres
    lines: tuple[tuple[int, Place, int], ...] = ()  # released lines
    told: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))


def joined_tallies(tallies: Sequence[Tally]) -> Tally:
    """Put tallies together, in their order."""
    return Tally(
        sizes=sum((tally.sizes for tally in tallies), Counter()),
        few=sum(tally.few for tally in tallies),
        lost=sum(tally.lost for tally in tallies),
        moved=Distances.joined([tally.moved for tally in tallies]),
        lines=tuple(some for tally in tallies for some in tally.lines),
        told=np.concatenate([tally.told for tally in tallies]),
    )


def finish(plan: Plan, piece: Piece, key: str) -> Tally:
    """Replace each row by its group's centroid, and write it for a part of the release."""
    if not len(piece.row):
        return Tally()
    labels = dense(piece.mark)
    if broken_promises(labels, plan.counted(piece.subject), plan.k):
        msg = f"{key} has a group of fewer than {plan.k}; please report it"
        raise TrajanonError(msg)
    points = piece.points.astype(np.float64, copy=False)
    means = group_means(points.reshape(len(points), -1), labels)
    centroids = rounded(means, plan.digits).reshape(-1, *points.shape[1:])
    moved = Distances()
    for start in range(0, len(points), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        moved.add(displacement(points[some], centroids[labels[some]]))
    lost = sse(plan.survey.standardised(points), labels)
    lines: list[tuple[int, Place, int]] = []
    part = _parts_of(plan, key, len(labels))
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(plan.released + 1))
    bundles = bundles_of(plan.released, 2 * plan.split.shards)  # as many borders
    for bundle, numbers in groupby(
        np.flatnonzero(np.diff(ends)).tolist(), lambda number: number * bundles // plan.released
    ):
        which = [(number, order[ends[number] : ends[number + 1]]) for number in numbers]
        places = plan.scratch.write_arrays(
            f"released-{bundle:06d}-{key}.npy", ([centroids[labels[rows]]] for _, rows in which)
        )
        for (number, rows), place in zip(which, places, strict=True):
            lines.append((number, place, len(rows)))
    sizes = Counter(dict(enumerate(np.bincount(np.bincount(labels)).tolist())))
    few = broken_promises(labels, dense(piece.subject), plan.k)
    words = (hashlib.blake2b(line, digest_size=8).digest() for line in centroids)
    told = np.frombuffer(b"".join(words), dtype=np.uint64)
    return Tally(+sizes, few, lost, moved, tuple(lines), told)


def _parts_of(plan: Plan, key: str, n: int) -> Ints:
    """Draw the part of the release of each row; who lacks the secret cannot know it.

    A row that goes to a random part, and to a random place in it, goes to a random place in the
    whole (Rao 1961; Sandelius 1962).
    """
    word = hashlib.shake_256(plan.secret + key.encode()).digest(8 * n)
    # 64 bits are so many that no part is favoured by more than a billionth.
    drawn = np.frombuffer(word, dtype=np.uint64) % np.uint64(plan.released)
    return drawn.astype(np.int64)
