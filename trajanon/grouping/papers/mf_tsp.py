"""MF-TSP: groups of records that are neighbours on many short paths."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from trajanon.common.arrays import Ints
from trajanon.common.method_parameters import MfTspParameters
from trajanon.common.progress import silent
from trajanon.common.settings import Effort
from trajanon.grouping.methods.distance_methods import mdav
from trajanon.grouping.methods.hm2 import HEURISTICS
from trajanon.grouping.problem import Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BATCH = 32  # paths at a time, to count their neighbours


def mf_tsp(problem: Problem) -> Ints:
    """Group records that stand near one another on the paths from every record.

    A path begins at each record. Two records meet on a path if it leads from one to the other in at
    most k - 1 steps; with ``path_neighbours`` next, in one step. The pair without a group that
    meets most often begins a group; the record that meets one of the two most often joins, until
    there are k. Records that find too few others without a group join the groups with the nearest
    centroids, up to 2k - 1 records; if they do not fit, MDAV groups them.

    With subjects, only records of different ones form a group, and a group that records join late
    may be larger than 2k - 1. The path heuristic does not kick: n paths are long work even so.

    References
    ----------
    Maya-López, Solanas (ApplePies 2019), Algorithm 1 and its text for the neighbours
    within k - 1; thesis (URV 2023), section 3.2, Algorithm 1, which counts the next ones alone: the
    hospital's printed groups follow from its matrix (3.2); those of the companies (Table VII) do
    not follow from the printed counts (Table V).

    Examples
    --------
    Again and again, the two that are neighbours on most paths become a group:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="mf-tsp", refine="none").labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    return group_by_paths(problem, paths_from_every_record(problem))


def paths_from_every_record(problem: Problem) -> Iterator[Ints]:
    """Find n paths, each the order of the records, (n,), from another one on."""
    n = len(problem.records)
    quiet = replace(problem, budget=Effort(), progress=silent)
    for start in range(n):
        problem.progress("Finding a path from every record", start, n)
        yield HEURISTICS[problem.settings.heuristic or "or-opt"](quiet, start)
    problem.progress("Finding a path from every record", n, n)


def group_by_paths(problem: Problem, paths: Iterable[Ints]) -> Ints:
    """Group records by how often two are neighbours on given paths."""
    from scipy.sparse import csr_array  # nothing else of the usual search needs it

    n = len(problem.records)
    met = csr_array((n, n), dtype=np.int64)
    near = problem.parameters_of(MfTspParameters).path_neighbours == "near"
    steps, waiting = range(1, min(problem.k, n) if near else min(2, n)), iter(paths)
    while batch := list(islice(waiting, _BATCH)):
        orders = np.array(batch)
        left = np.concatenate([orders[:, :-step].ravel() for step in steps])
        right = np.concatenate([orders[:, step:].ravel() for step in steps])
        pairs = csr_array((np.ones(len(left), np.int64), (left, right)), (n, n))
        met = met + pairs
        if near:  # else it counts which record follows the other
            met = met + pairs.T
    return group_by_counts(problem, csr_array(met))


def group_by_counts(problem: Problem, met: "csr_array") -> Ints:
    """Group records by how often the first of two has met the second, (n, n)."""
    from scipy.sparse import csr_array, vstack

    subjects, groups = problem.subjects, list[list[int]]()
    waiting = np.ones(len(subjects), dtype=np.bool_)
    loose: list[int] = []  # of groups that found no k-th record
    pairs, back = met.tocoo(), csr_array(met.T)
    most_first = np.lexsort((pairs.col, pairs.row, -pairs.data))
    for i, j in zip(pairs.row[most_first], pairs.col[most_first], strict=True):
        if waiting[i] and waiting[j] and subjects[i] != subjects[j]:
            near = vstack([met[[i]], back[[j]]], format="csr")
            group, of = [int(i), int(j)], subjects[near.indices]
            while len(group) < problem.k:
                free = waiting[near.indices] & ~np.isin(of, subjects[group])
                if not free.any():
                    break
                group.append(int(near.indices[free][near.data[free].argmax()]))
            waiting[group] = False
            if len(group) == problem.k:
                groups.append(group)
            else:
                loose += group
    waiting[loose] = True
    _place(problem, groups, np.flatnonzero(waiting))
    labels = np.empty(len(subjects), dtype=np.int64)
    for number, group in enumerate(groups):
        labels[group] = number
    return labels


def _place(problem: Problem, groups: list[list[int]], rest: Ints) -> None:
    """Let the rest join groups that have room, or form groups of its own, or join any groups."""
    k = problem.k
    room = sum(max(2 * k - 1 - len(group), 0) for group in groups)
    _, subjects = np.unique(problem.subjects[rest], return_inverse=True)
    if len(rest) > room and subjects.max(initial=-1) + 1 >= k:
        labels = mdav(Problem(records=problem.records[rest], subjects=subjects, k=k))
        groups += [rest[labels == g].tolist() for g in range(labels.max() + 1)]
        return
    largest = 2 * k - 1 if len(rest) <= room else len(problem.records)
    centroids = np.array([problem.records[group].mean(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    for record in rest:
        away = ((centroids - problem.records[record]) ** 2).sum(axis=1)
        nearest = int(np.where(sizes < largest, away, np.inf).argmin())
        groups[nearest].append(int(record))
        sizes[nearest] += 1
