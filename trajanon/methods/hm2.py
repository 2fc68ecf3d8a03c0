"""HM2-Micro: a short path through the records, cut optimally."""

from dataclasses import replace

import numpy as np

from trajanon._kernels.mhm import latest_starts, optimal_cut
from trajanon.arrays import Ints
from trajanon.loss import group_means
from trajanon.methods.mdav import mdav
from trajanon.paths import HEURISTICS
from trajanon.paths.tours import path_length
from trajanon.problem import Problem


def hm2(problem: Problem) -> Ints:
    """Cut a short Hamiltonian path into consecutive groups at the least SSE.

    The cut is MHM: the shortest path in a graph whose edges are the allowed groups. With every
    record its own subject these hold k to 2k - 1 records. With subjects an allowed group has at
    least k different ones and cannot be divided into two that do, and the cut is still the best of
    all cuts of this path.

    References
    ----------
    Maya-López, Casino, Solanas (Symmetry 2021), Algorithm 1; thesis (URV 2023),
    Algorithm 2. MHM: Domingo-Ferrer et al., thesis section 2.2.2, after Hansen and
    Mukherjee (2003).

    Examples
    --------
    The path goes along the ages. Its best cut gives groups of three, two and three:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="hm2", refine="none").labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """
    path = find_path(problem)
    problem.log.end_step("path")
    problem.log.path_length = path_length(problem.records, path)
    return cut_path(problem, path)


def cut_path(problem: Problem, path: Ints) -> Ints:
    """Cut a path by MHM: the group of each record, shape (n,)."""
    latest = latest_starts(problem.subjects[path], problem.k)
    starts = optimal_cut(problem.records, path, latest)
    labels = np.empty(len(path), dtype=np.int64)
    labels[path] = np.cumsum(starts) - 1
    return labels


def find_path(problem: Problem) -> Ints:
    """Find a short path: the order of the records, (n,).

    If it is compressed, it is the path through the centroids of MDAV's groups, of c to 2c - 1
    records whatever their subjects: MHM takes care of these. Their members stand together, so at
    k = c the cut loses no more than MDAV where records are counted.

    Source: Maya-López, Martínez-Ballesté, Casino (Expert Systems with Applications 2023), Algorithm
    1, which inserts members by distance; the published path lengths point to the order of the rows.
    """
    find = HEURISTICS[problem.settings.heuristic]
    n, c = len(problem.records), problem.settings.compression
    if c == 1:
        return find(problem, None)
    labels = mdav(replace(problem, subjects=np.arange(n), k=c))
    cities = group_means(problem.records, labels)
    of_cities = replace(
        problem,
        records=cities,
        subjects=np.arange(len(cities)),
        k=max(-(-problem.k // c), 2),  # cities that make a group of k records
        neighbours=None,
    )
    route = find(of_cities, None)
    if route[0] > route[-1]:  # both ways are equally short: rounding must not choose
        route = route[::-1]
    place = np.empty(len(cities), dtype=np.int64)
    place[route] = np.arange(len(cities))
    # Standardised records have their centroid at 0.
    away = (problem.records**2).sum(axis=1)
    inside = away if problem.settings.expansion == "distance" else np.zeros(n)
    return np.lexsort((np.arange(n), inside, place[labels]))
