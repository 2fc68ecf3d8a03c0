"""Groups to refine, and slow twins of the refinements' kernels."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from naive import Floats, Ints, holds, squared_distance, sse

from trajanon.partition import dense
from trajanon.refine.grouped import Grouped


def grouped(
    records: Floats,
    labels: Ints,
    k: int,
    subjects: Ints | None = None,
    events: tuple[float, int] = (0.0, 0),
    seed: int = 0,
) -> Grouped:
    """What a refinement is given; without subjects each record is its own."""
    return Grouped(
        records=records,
        labels=labels,
        k=k,
        subjects=np.arange(len(records)) if subjects is None else subjects,
        random=np.random.default_rng(seed),
        shuffle_probability=events[0],
        max_events=events[1],
    )


def random_groups(
    seed: int,
    n: int,
    k: int,
    people: int | None,
    grid: bool,
    events: tuple[float, int] = (0.0, 0),
) -> Grouped:
    """Random groups, and the largest k up to the given one that they can keep."""
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 2))
    if grid:
        records = records.round()
    subjects = np.arange(n) if people is None else dense(rng.integers(0, people, n))
    k = min(k, int(subjects.max()) + 1)
    labels = dense(rng.permutation(np.arange(n) % max(n // k, 1)))
    while not holds(labels, subjects, k):
        labels = dense(np.maximum(labels - 1, 0))  # the first two groups become one
    return grouped(records, labels, k, subjects, events, seed)


# Two-swapping


def exchanged(labels: Ints, i: int, j: int) -> Ints:
    after = labels.copy()
    after[[i, j]] = after[[j, i]]
    return after


def allowed_exchanges(labels: Ints, k: int, subjects: Ints) -> Iterator[Ints]:
    """The partitions one exchange away, in the order of the paper's loops."""
    for i, j in combinations(range(len(labels)), 2):
        after = exchanged(labels, i, j)
        if labels[i] != labels[j] and holds(after, subjects, k):
            yield after


def two_swapping(records: Floats, labels: Ints, k: int, subjects: Ints) -> list[Ints]:
    """The partition after each best exchange, that at the start first."""
    course = [labels]
    while True:
        best = min(
            allowed_exchanges(course[-1], k, subjects),
            key=lambda after: sse(records, after),
            default=course[-1],
        )
        if sse(records, best) >= sse(records, course[-1]) - 1e-9:
            return course
        course.append(best)


# Random Cluster Shuffling


def nearest_others(
    records: Floats, labels: Ints, members: Ints, group: int
) -> list[int]:
    """The group, but for one, with the nearest mean to each member."""
    means = {
        other: records[labels == other].mean(axis=0)
        for other in sorted(set(labels.tolist()) - {group})
    }
    return [
        min(means, key=lambda other: squared_distance(means[other], records[member]))
        for member in members
    ]


def sent_or_dissolved(
    records: Floats, labels: Ints, record: int, k: int, subjects: Ints
) -> Ints:
    """What Step 1 of the algorithm makes of one record."""
    group = int(labels[record])
    members = np.flatnonzero(labels == group)
    if len(members) == len(labels):
        return labels
    without = set(subjects[members[members != record]].tolist())
    leaving = np.array([record]) if len(without) >= k else members
    after = labels.copy()
    after[leaving] = nearest_others(records, labels, leaving, group)
    return after if sse(records, after) < sse(records, labels) else labels


def shuffling_pass(records: Floats, labels: Ints, k: int, subjects: Ints) -> Ints:
    """One pass without events."""
    for record in range(len(labels)):
        labels = sent_or_dissolved(records, labels, record, k, subjects)
    return labels


def recut(
    records: Floats, labels: Ints, a: int, b: int, k: int, subjects: Ints
) -> list[set[int]]:
    """The runs that two groups are cut into; none if that breaks the promise."""
    members = np.flatnonzero((labels == a) | (labels == b))
    middle = records[members].mean(axis=0)
    ordered = sorted(
        members.tolist(), key=lambda i: squared_distance(records[i], middle)
    )
    runs = len(set(subjects[members].tolist())) // k
    borders = [run * len(ordered) // max(runs, 1) for run in range(runs + 1)]
    cut = [set(ordered[borders[i] : borders[i + 1]]) for i in range(runs)]
    short = any(len({int(subjects[i]) for i in run}) < k for run in cut)
    return [] if short or runs < 2 else cut
