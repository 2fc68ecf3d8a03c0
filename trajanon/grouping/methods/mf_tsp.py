"""MF-TSP: groups of records that are neighbours on many short paths.

Maya-López and Solanas (ApplePies 2019); thesis (URV 2023), chapter 3. The counts of neighbours are
a sparse matrix, (n, n).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from trajanon.common.arrays import Ints
from trajanon.common.effort_of_the_search import Effort
from trajanon.common.progress import silent
from trajanon.grouping.group_means import members_of_groups
from trajanon.grouping.methods.hm2_and_compression import HEURISTICS
from trajanon.grouping.methods.mdav_and_v_mdav import mdav
from trajanon.grouping.problem import Problem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_PATHS_PER_COUNT = 32  # whose neighbours are counted at a time


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
    """Find n paths, each an order of the records, (n,), that begins with another one."""
    n = len(problem.records)
    quiet = replace(problem, budget=Effort(), progress=silent)
    for start in range(n):
        problem.progress("Finding a path from every record", start, n)
        yield HEURISTICS[problem.settings.heuristic or "or-opt"](quiet, start)
    problem.progress("Finding a path from every record", n, n)


def group_by_paths(problem: Problem, paths: Iterable[Ints]) -> Ints:
    """Group records by how often two are neighbours on given paths, each (n,)."""
    from scipy.sparse import csr_array  # nothing else of the usual search needs it

    n = len(problem.records)
    counts_near_ones = problem.settings.path_neighbours == "near"
    most_steps = problem.k - 1 if counts_near_ones else 1
    steps = range(1, min(most_steps, n - 1) + 1)
    counts = csr_array((n, n), dtype=np.int64)

    paths_left = iter(paths)
    while batch := list(islice(paths_left, _PATHS_PER_COUNT)):
        orders = np.array(batch)
        earlier = np.concatenate([orders[:, :-step].ravel() for step in steps])
        later = np.concatenate([orders[:, step:].ravel() for step in steps])
        meetings = csr_array((np.ones(len(earlier), np.int64), (earlier, later)), (n, n))
        # The next ones alone are counted in one direction: which record follows the other.
        counts = counts + meetings + meetings.T if counts_near_ones else counts + meetings
    return group_by_counts(problem, csr_array(counts))


def group_by_counts(problem: Problem, counts: "csr_array") -> Ints:
    """Group records by counts, (n, n): on how many paths the second of two follows the first."""
    from scipy.sparse import csr_array, vstack

    subjects = problem.subjects
    pairs = counts.tocoo()
    counts_by_second = csr_array(counts.T)
    most_first = np.lexsort((pairs.col, pairs.row, -pairs.data))

    groups: list[list[int]] = []
    loose: list[int] = []  # records of groups that found no k-th one
    is_waiting = np.ones(len(subjects), dtype=np.bool_)
    for i, j in zip(pairs.row[most_first], pairs.col[most_first], strict=True):
        if not is_waiting[i] or not is_waiting[j] or subjects[i] == subjects[j]:
            continue

        # Records that follow i, and that j follows: counts of one direction are not symmetric. The
        # one that is counted most often joins, if it waits and is of a new subject.
        near_counts = vstack([counts[[i]], counts_by_second[[j]]], format="csr")
        near = near_counts.indices  # row numbers, one for each count
        group = [int(i), int(j)]
        while len(group) < problem.k:
            may_join = is_waiting[near] & ~np.isin(subjects[near], subjects[group])
            if not may_join.any():
                break
            group.append(int(near[may_join][near_counts.data[may_join].argmax()]))

        # Records of a group that stayed too small begin no other one; they are placed in the end.
        is_waiting[group] = False
        if len(group) == problem.k:
            groups.append(group)
        else:
            loose += group
    is_waiting[loose] = True
    groups = _with_loose_records(problem, groups, np.flatnonzero(is_waiting))

    labels = np.empty(len(subjects), dtype=np.int64)
    for number, group in enumerate(groups):
        labels[group] = number
    return labels


def _with_loose_records(problem: Problem, groups: list[list[int]], loose: Ints) -> list[list[int]]:
    """Put loose records into the nearest groups, up to 2k - 1 records, or else group them by MDAV.

    Where they are of too few subjects for a group, groups may get larger. Groups are lists of row
    numbers, and ``loose`` are row numbers; returned are all groups.
    """
    k = problem.k
    room = sum(max(2 * k - 1 - len(group), 0) for group in groups)
    _, subjects = np.unique(problem.subjects[loose], return_inverse=True)
    if len(loose) > room and subjects.max(initial=-1) + 1 >= k:
        labels = mdav(Problem(records=problem.records[loose], subjects=subjects, k=k))
        return groups + [loose[rows].tolist() for rows in members_of_groups(labels)]

    largest = 2 * k - 1 if len(loose) <= room else len(problem.records)
    centroids = np.array([problem.records[group].mean(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    for record in loose:
        squares = ((centroids - problem.records[record]) ** 2).sum(axis=1)
        nearest = int(np.where(sizes < largest, squares, np.inf).argmin())
        groups[nearest].append(int(record))
        sizes[nearest] += 1
    return groups
