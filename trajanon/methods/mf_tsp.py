"""MF-TSP: groups of records that are neighbours on many short paths."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from scipy.sparse import csr_array

from trajanon.arrays import Ints
from trajanon.methods.mdav import mdav
from trajanon.paths import HEURISTICS
from trajanon.problem import Problem
from trajanon.progress import silent
from trajanon.settings import Effort

_BATCH = 32  # paths whose neighbours are counted at a time


def mf_tsp(problem: Problem) -> Ints:
    """Group records that stand near one another on the paths from every record.

    A path begins at each record. Two records are neighbours on a path if at most k - 1 steps lie
    between them; how often they are, decides. The pair without a group that is met most often
    begins a group; the record that is met most often with one of the two joins, until there are k.
    Records that no path connects to so many others without a group join the groups with the nearest
    centroids, up to 2k - 1 records; where they do not fit they are grouped by MDAV.

    With subjects only records of different ones make a group, and a group that records joined late
    may be larger than 2k - 1.

    The path heuristic does not kick: n paths are long work even so.

    References
    ----------
    Maya-López, Solanas (ApplePies 2019), Algorithm 1 and its text for the neighbours
    within k - 1; thesis (URV 2023), section 3.2 and Algorithm 1. Where the texts differ
    about the last records, this is what both worked examples do.
    """
    return group_by_paths(problem, paths_from_every_record(problem))


def paths_from_every_record(problem: Problem) -> Iterator[Ints]:
    """Find n paths, each the order of the records, (n,), from another one on."""
    n = len(problem.records)
    quiet = replace(problem, budget=Effort(), progress=silent)
    for start in range(n):
        problem.progress("Finding a path from every record", start, n)
        yield HEURISTICS[problem.settings.heuristic](quiet, start)
    problem.progress("Finding a path from every record", n, n)


def group_by_paths(problem: Problem, paths: Iterable[Ints]) -> Ints:
    """Group records by how often they are neighbours on given paths."""
    work = _Groups(problem, _neighbour_counts(paths, len(problem.records), problem.k))
    work.form()
    work.place_the_rest()
    return work.labels


def _neighbour_counts(paths: Iterable[Ints], n: int, k: int) -> csr_array:
    """How often two records are neighbours on the paths: symmetric, (n, n)."""
    met = csr_array((n, n), dtype=np.int64)
    reach = min(k - 1, n - 1)
    for batch in _batched(paths, _BATCH):
        orders = np.array(batch)
        left = np.concatenate([orders[:, :-s].ravel() for s in range(1, reach + 1)])
        right = np.concatenate([orders[:, s:].ravel() for s in range(1, reach + 1)])
        pairs = csr_array((np.ones(len(left), np.int64), (left, right)), (n, n))
        met = met + pairs + pairs.T
    return csr_array(met)


def _batched(paths: Iterable[Ints], size: int) -> Iterator[list[Ints]]:
    waiting = iter(paths)
    while batch := list(islice(waiting, size)):
        yield batch


class _Groups:
    """Groups as they form; a group is a list of records."""

    def __init__(self, problem: Problem, met: csr_array) -> None:
        self.problem, self.met = problem, met
        self.groups: list[list[int]] = []
        self.waiting = np.ones(len(problem.records), dtype=np.bool_)
        self.loose: list[int] = []  # of groups that found no k-th record

    @property
    def labels(self) -> Ints:
        labels = np.empty(len(self.waiting), dtype=np.int64)
        for number, group in enumerate(self.groups):
            labels[group] = number
        return labels

    def form(self) -> None:
        """Begin with the pair met most often, and so on."""
        pairs = self.met.tocoo()
        most_first = np.lexsort((pairs.col, pairs.row, -pairs.data))
        subjects = self.problem.subjects
        for i, j in zip(pairs.row[most_first], pairs.col[most_first], strict=True):
            if self.waiting[i] and self.waiting[j] and subjects[i] != subjects[j]:
                self._grow([int(i), int(j)])

    def _grow(self, group: list[int]) -> None:
        pair = group.copy()
        self.waiting[group] = False
        while len(group) < self.problem.k:
            joining = self._met_most(pair, group)
            if joining is None:
                self.loose += group
                return
            group.append(joining)
            self.waiting[joining] = False
        self.groups.append(group)

    def _met_most(self, pair: list[int], group: list[int]) -> int | None:
        rows = self.met[pair]
        records, often = rows.indices, rows.data
        subjects = self.problem.subjects
        free = self.waiting[records] & ~np.isin(subjects[records], subjects[group])
        if not free.any():
            return None
        return int(records[free][often[free].argmax()])

    def place_the_rest(self) -> None:
        problem, k = self.problem, self.problem.k
        self.waiting[self.loose] = True
        rest = np.flatnonzero(self.waiting)
        room = sum(max(2 * k - 1 - len(group), 0) for group in self.groups)
        _, subjects = np.unique(problem.subjects[rest], return_inverse=True)
        if len(rest) <= room:
            self._join_nearest(rest, 2 * k - 1)
        elif subjects.max(initial=-1) + 1 >= k:
            labels = mdav(Problem(records=problem.records[rest], subjects=subjects, k=k))
            self.groups += [rest[labels == g].tolist() for g in range(labels.max() + 1)]
        else:
            self._join_nearest(rest, len(problem.records))

    def _join_nearest(self, rest: Ints, largest: int) -> None:
        records = self.problem.records
        centroids = np.array([records[group].mean(axis=0) for group in self.groups])
        sizes = np.array([len(group) for group in self.groups])
        for record in rest:
            away = ((centroids - records[record]) ** 2).sum(axis=1)
            nearest = int(np.where(sizes < largest, away, np.inf).argmin())
            self.groups[nearest].append(int(record))
            sizes[nearest] += 1
