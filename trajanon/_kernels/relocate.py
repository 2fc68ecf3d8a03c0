"""Single-record moves between groups, down to a local optimum."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance

_TINY = 1e-12  # of a squared standard deviation: a gain below it is rounding


class Groups(NamedTuple):
    """Everything the moves read and write.

    Attributes
    ----------
    records, neighbours, subjects
        Standardised records (n, p), their nearest records (n, c), their subjects (n,).
    labels
        Group of each record, (n,).
    centroids, sizes, different
        Mean record (g, p), records, and different subjects of each group, (g,).
    first, following
        Members of a group as a chain: its first record (g,), and the record after
        each record (n,); -1 ends a chain.
    changed, looked
        Number of the move that last changed a group (g,), and of the last move that
        a record's surroundings were compared with, (n,).
    """

    records: NDArray[np.float64]
    neighbours: NDArray[np.int64]
    subjects: NDArray[np.int64]
    labels: NDArray[np.int64]
    centroids: NDArray[np.float64]
    sizes: NDArray[np.int64]
    different: NDArray[np.int64]
    first: NDArray[np.int64]
    following: NDArray[np.int64]
    changed: NDArray[np.int64]
    looked: NDArray[np.int64]


@kernel
def holds_subject(groups, group, subject, leave_out):
    """Whether a member of a group, but for one, is of a subject."""
    member = groups.first[group]
    while member >= 0:
        if member != leave_out and groups.subjects[member] == subject:
            return True
        member = groups.following[member]
    return False


@kernel
def chain_members(groups):
    """Build the chains of members and count the subjects of each group."""
    groups.first[:] = -1
    groups.different[:] = 0
    for record in range(groups.labels.shape[0] - 1, -1, -1):
        group = groups.labels[record]
        if not holds_subject(groups, group, groups.subjects[record], -1):
            groups.different[group] += 1
        groups.following[record] = groups.first[group]
        groups.first[group] = record


@kernel
def move(groups, record, target):
    """Move a record to another group; centroids, chains and counts follow."""
    source = groups.labels[record]
    subject = groups.subjects[record]
    if not holds_subject(groups, source, subject, record):
        groups.different[source] -= 1
    if not holds_subject(groups, target, subject, record):
        groups.different[target] += 1
    if groups.first[source] == record:
        groups.first[source] = groups.following[record]
    else:
        member = groups.first[source]
        while groups.following[member] != record:
            member = groups.following[member]
        groups.following[member] = groups.following[record]
    groups.following[record] = groups.first[target]
    groups.first[target] = record
    groups.labels[record] = target
    groups.sizes[source] -= 1
    groups.sizes[target] += 1
    for column in range(groups.records.shape[1]):
        value = groups.records[record, column]
        mean = groups.centroids[source, column]
        groups.centroids[source, column] += (mean - value) / groups.sizes[source]
        mean = groups.centroids[target, column]
        groups.centroids[target, column] += (value - mean) / groups.sizes[target]


@kernel
def may_leave(groups, record, k):
    """Whether a record's group keeps k different subjects without it."""
    source = groups.labels[record]
    if groups.different[source] > k:
        return True
    if groups.different[source] < k:
        return False
    return holds_subject(groups, source, groups.subjects[record], record)


@kernel
def best_target(groups, record):
    """The group of a near record that gains most by taking a record; -1 if none."""
    source = groups.labels[record]
    size = groups.sizes[source]
    saved = squared_distance(groups.records[record], groups.centroids[source])
    saved *= size / (size - 1.0)
    best, least = -1, saved - _TINY
    for i in range(groups.neighbours.shape[1]):
        target = groups.labels[groups.neighbours[record, i]]
        if target in (source, best):
            continue
        cost = squared_distance(groups.records[record], groups.centroids[target])
        cost *= groups.sizes[target] / (groups.sizes[target] + 1.0)
        if cost < least:
            best, least = target, cost
    return best


@kernel
def surroundings_changed(groups, record):
    """Whether a record's group, or a near one's, changed since it was looked at."""
    since = groups.looked[record]
    if groups.changed[groups.labels[record]] > since:
        return True
    for i in range(groups.neighbours.shape[1]):
        if groups.changed[groups.labels[groups.neighbours[record, i]]] > since:
            return True
    return False


@kernel
def relocation_pass(groups, k, moves):
    """Look at every record once, and make its best move; the moves made so far.

    ``moves`` counts those before; -1 in ``looked`` marks a record never looked at.
    """
    for record in range(groups.labels.shape[0]):
        if not surroundings_changed(groups, record):
            continue
        groups.looked[record] = moves
        if not may_leave(groups, record, k):
            continue
        target = best_target(groups, record)
        if target >= 0:
            source = groups.labels[record]
            move(groups, record, target)
            moves += 1
            groups.changed[source] = moves
            groups.changed[target] = moves
    return moves
