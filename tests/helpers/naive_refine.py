"""Groups to refine, and slow twins of the refinements' kernels."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from naive import group_sse, holds, squared_distance, sse

from trajanon._kernels.descent_moves import Descent, send_back
from trajanon._kernels.group_state import move
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements import blocks


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Grouped(Problem):
    """A problem, and groups to begin with."""

    labels: Ints


def both(work: Grouped) -> tuple[Problem, Ints]:
    """What a refinement is given."""
    return work, work.labels


def grouped(
    records: Floats, labels: Ints, k: int, subjects: Ints | None = None, seed: int = 0
) -> Grouped:
    """What a refinement is given; without subjects each record is its own."""
    return Grouped(
        records=records,
        labels=labels,
        k=k,
        subjects=np.arange(len(records)) if subjects is None else subjects,
        random=np.random.default_rng(seed),
    )


def search_in_blocks(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let tables be searched in blocks of so many records, or windows, at most."""
    monkeypatch.setattr(blocks, "BLOCK", most)


def random_groups(seed: int, n: int, k: int, people: int | None, grid: bool) -> Grouped:
    """Random groups, and the largest k up to the given one that they can keep."""
    rng = np.random.default_rng(seed)
    records = rng.normal(size=(n, 2))
    if grid:
        records = records.round()
    subjects = np.arange(n) if people is None else renumbered(rng.integers(0, people, n))
    k = min(k, int(subjects.max()) + 1)
    labels = renumbered(rng.permutation(np.arange(n) % max(n // k, 1)))
    while not holds(labels, subjects, k):
        labels = renumbered(np.maximum(labels - 1, 0))  # the first two groups become one
    return grouped(records, labels, k, subjects, seed)


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


def nearest_others(records: Floats, labels: Ints, members: Ints, group: int) -> list[int]:
    """The group, but for one, with the nearest mean to each member."""
    means = {
        other: records[labels == other].mean(axis=0)
        for other in sorted(set(labels.tolist()) - {group})
    }
    return [
        min(means, key=lambda other: squared_distance(means[other], records[member]))
        for member in members
    ]


def sent_or_dissolved(records: Floats, labels: Ints, record: int, k: int, subjects: Ints) -> Ints:
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


def recut(records: Floats, labels: Ints, a: int, b: int, k: int, subjects: Ints) -> list[set[int]]:
    """The runs that two groups are cut into; none if that breaks the promise."""
    members = np.flatnonzero((labels == a) | (labels == b))
    middle = records[members].mean(axis=0)
    ordered = sorted(members.tolist(), key=lambda i: squared_distance(records[i], middle))
    runs = len(set(subjects[members].tolist())) // k
    borders = [run * len(ordered) // max(runs, 1) for run in range(runs + 1)]
    cut = [set(ordered[borders[i] : borders[i + 1]]) for i in range(runs)]
    short = any(len({int(subjects[i]) for i in run}) < k for run in cut)
    return [] if short or runs < 2 else cut


# Descent

Group = frozenset[int]
Move = tuple[list[Group], list[Group]]
"""Groups before, and what becomes of them."""

TIE = 1e-9


class Neighbourhood:
    """Groups, and everything that one move of the descent makes of some of them.

    Moves are those of the docstring of `trajanon.grouping.refinements.descent.descend`; what they
    gain is computed from the members alone. Where rounding may decide between equals,
    nothing is offered.
    """

    def __init__(self, work: Grouped, neighbours: Ints) -> None:
        self.work = work
        self.neighbours = neighbours.tolist()
        self.groups = [
            frozenset(np.flatnonzero(work.labels == group).tolist())
            for group in range(int(work.labels.max()) + 1)
        ]
        self._cost: dict[Group, float] = {frozenset(): 0.0}

    def cost(self, group: Group) -> float:
        if group not in self._cost:
            self._cost[group] = group_sse(self.work.records[sorted(group)])
        return self._cost[group]

    def gain(self, move: Move) -> float:
        before, after = (sum(map(self.cost, groups)) for groups in move)
        return before - after

    def different(self, group: Group) -> int:
        return len(set(self.work.subjects[sorted(group)].tolist()))

    def keeps(self, move: Move) -> bool:
        """Whether the groups afterwards hold k different subjects, or nobody."""
        return all(self.different(g) >= self.work.k for g in move[1] if g)

    def near(self, record: int, groups: list[Group] | None = None) -> list[Group]:
        """The groups near a record, but for its own."""
        groups = self.groups if groups is None else groups
        near = set(self.neighbours[record])
        return [group for group in groups if group & near and record not in group]

    def own(self, record: int) -> Group:
        return next(group for group in self.groups if record in group)

    def moves(self) -> Iterator[Move]:
        """Every move that is allowed."""
        for kind in (
            *(self.relocations, self.exchanges, self.chains, self.cycles),
            *(self.dissolutions, self.creations, self.splits),
        ):
            yield from filter(self.keeps, kind())

    def relocations(self) -> Iterator[Move]:
        for x in range(len(self.neighbours)):
            for b in self.near(x):
                yield [self.own(x), b], [self.own(x) - {x}, b | {x}]

    def exchanges(self) -> Iterator[Move]:
        for x in range(len(self.neighbours)):
            a = self.own(x)
            for b in self.near(x):
                for z in b:
                    yield [a, b], [a - {x} | {z}, b - {z} | {x}]

    def _successions(self) -> Iterator[tuple[int, int, Group, Group, Group]]:
        """x of A takes the place of z of B, and z goes to C."""
        for x in range(len(self.neighbours)):
            a = self.own(x)
            for b in self.near(x):
                for z in b:
                    yield from ((x, z, a, b, c) for c in self.near(z) if c != a)

    def chains(self) -> Iterator[Move]:
        for x, z, a, b, c in self._successions():
            yield [a, b, c], [a - {x}, b - {z} | {x}, c | {z}]

    def cycles(self) -> Iterator[Move]:
        for x, z, a, b, c in self._successions():
            for v in c:
                if a in self.near(v):
                    yield ([a, b, c], [a - {x} | {v}, b - {z} | {x}, c - {v} | {z}])

    def dissolutions(self) -> Iterator[Move]:
        for group in self.groups:
            after = self.dissolved(group)
            if after is not None:
                yield self.groups, after

    def dissolved(self, group: Group) -> list[Group] | None:
        """The groups after one is dissolved; None if it cannot be, or by a tie."""
        after, left = [g for g in self.groups if g != group], group
        for member in sorted(group):
            costs = sorted(
                (self.cost(g | {member}) - self.cost(g), after.index(g))
                for g in self.near(member, after)
            )
            if not costs or (len(costs) > 1 and costs[1][0] < costs[0][0] + TIE):
                return None
            after[costs[0][1]] |= {member}
            left -= {member}
        return after

    def creations(self) -> Iterator[Move]:
        for record in range(len(self.neighbours)):
            after = self.created(record)
            if after is not None:
                yield self.groups, after

    def created(self, record: int) -> list[Group] | None:
        """The groups after one is made round a record; None if it cannot be."""
        after, new, subjects = list(self.groups), frozenset[int](), self.work.subjects
        for x in [record, *self.neighbours[record]]:
            place = next(i for i, group in enumerate(after) if x in group)
            spared = after[place] - {x}
            met = any(subjects[x] == subjects[y] for y in new)
            if not met and self.different(spared) >= self.work.k:
                after[place] = spared
                new |= {x}
            elif x == record:
                return None
            if len(new) == self.work.k:
                return [*after, new]
        return None

    def splits(self) -> Iterator[Move]:
        for group in self.groups:
            for one, other in self.cuts(group):
                yield [group], [one, other]

    def cuts(self, group: Group) -> Iterator[tuple[Group, Group]]:
        """Ways to cut a group across the line between two members far apart."""
        records = self.work.records
        if self.different(group) < 2 * self.work.k:
            return
        members = sorted(group)
        one = self._farthest(members, records[members].mean(axis=0))
        other = None if one is None else self._farthest(members, records[one])
        if one is None or other is None:
            return
        along = {
            m: squared_distance(records[m], records[one])
            - squared_distance(records[m], records[other])
            for m in members
        }
        members.sort(key=along.__getitem__)
        for i in range(1, len(members)):
            cut = frozenset(members[:i]), frozenset(members[i:])
            clear = along[members[i]] - along[members[i - 1]] > TIE
            if clear and min(map(self.different, cut)) >= self.work.k:
                yield cut

    def _farthest(self, members: list[int], point: Floats) -> int | None:
        """The member farthest from a point; None if different ones are as far."""
        records = self.work.records
        far = [squared_distance(records[m], point) for m in members]
        most = [m for m, d in zip(members, far, strict=True) if d > max(far) - TIE]
        same = (records[most] == records[most[0]]).all()
        return most[0] if same else None


def kept(state: Descent, tried: tuple[int, int]) -> int:
    """What stays of a group that was dissolved, created or cut: the rest goes back."""
    send_back(state, *tried)
    return tried[1]


def moved(state: Descent, count: int) -> int:
    """Make the move that was found."""
    for record, target in zip(state.gathered[:count], state.targets[:count], strict=False):
        move(state.groups, record, target)
    return count
