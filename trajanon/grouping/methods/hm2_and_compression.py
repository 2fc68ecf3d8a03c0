"""HM2-Micro, and its compression: a short path through the records is cut into groups.

A path is an order of the records: row numbers, (n,). With compression c the path leads through
"cities", the centroids of groups of c records, and is then expanded to the records.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import ceil

import numpy as np

from trajanon.common.arrays import Ints
from trajanon.common.search_and_release_options import HeuristicName
from trajanon.grouping.group_means import group_means
from trajanon.grouping.methods.mdav_and_v_mdav import cbfs, md, mdav, v_mdav
from trajanon.grouping.paths.external_solvers import concorde, concorde_command, lkh
from trajanon.grouping.paths.insertion_and_nearest_neighbour import INSERTIONS, npn, repetitive_nn
from trajanon.grouping.paths.optimal_cut import best_cut
from trajanon.grouping.paths.travelling_salesman import (
    Heuristic,
    mdav_lk,
    nearest_neighbour,
    or_opt,
    path_length,
    through_groups,
    two_opt,
)
from trajanon.grouping.problem import Problem, SearchLog

CONCORDE_CITIES = 5_000
"""Most cities of a path for which Concorde is chosen without being named; more may take hours."""

DISTANCE_METHODS = {"mdav": mdav, "v-mdav": v_mdav, "md": md, "cbfs": cbfs}
"""Methods by distance, which may also make the cities of a compressed path."""

HEURISTICS: Mapping[str, Heuristic] = {
    "or-opt": or_opt,
    "two-opt": two_opt,
    "nearest-neighbor": nearest_neighbour,
    "repetitive-nn": repetitive_nn,
    **INSERTIONS,
    "mdav-lk": mdav_lk,
    "npn": npn,
    "md": through_groups(md),
    "mdav": through_groups(mdav),
    "cbfs": through_groups(cbfs),
    "concorde": concorde,
    "lkh": lkh,
}
"""Paths by the names in the settings."""


def hm2(problem: Problem) -> Ints:
    """Cut a short Hamiltonian path into consecutive groups at the least SSE.

    The cut is MHM: the shortest path in a graph with the allowed groups as edges. With every
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
    paths = find_paths(problem)
    problem.log.end_step("path")
    labels, path = best_cut(problem, paths)
    problem.log.path_length = path_length(problem.records, path)
    return labels


def find_paths(problem: Problem) -> list[Ints]:
    """Find a short path, (n,); with compression, several to choose from.

    A compressed path leads through cities, the centroids of MDAV's groups of c or more records,
    whatever their subjects. Then the members of a city take its place, once in the order of their
    distance to the centroid of all records, once in that of their rows; and the cities are gone
    through forward and backward: four paths. The parameters of the compression name another method
    than MDAV, or one order or direction alone.

    Source: Maya-López, Martínez-Ballesté, Casino (Expert Systems with Applications 2023), Algorithm
    1, which inserts members by distance; its program does by row, and cuts one direction.
    """
    c = min(problem.settings.compression, len(problem.records))
    if c == 1:
        return [_short_path(problem)]

    settings = problem.settings
    cities, route = _route_through_cities(problem, c)
    place_on_route = np.argsort(route)
    place_of_city = place_on_route[cities]  # of each record, (n,)

    # What the members of a city are ordered by; standardised records have their centroid at 0.
    rows = np.arange(len(cities))
    keys = {"distance": (problem.records**2).sum(axis=1), "row": rows}
    signs = {"forward": 1, "backward": -1}

    expansions = [name for name in keys if settings.expansion in (name, "both")]
    directions = [name for name in signs if settings.direction in (name, "both")]
    # Records are sorted by the place of their city, in it by the key, and then by row.
    return [
        np.lexsort((rows, keys[expansion], signs[direction] * place_of_city))
        for expansion, direction in product(expansions, directions)
    ]


def _route_through_cities(problem: Problem, c: int) -> tuple[Ints, Ints]:
    """Group c records or more to a city, and find a path through the cities.

    Returns the number of each record's city, (n,), and the cities in the order of the path.
    """
    n = len(problem.records)
    group = DISTANCE_METHODS[problem.settings.compress_by]
    cities = group(replace(problem, subjects=np.arange(n), k=c, log=SearchLog()))
    centroids = group_means(problem.records, cities)
    problem_of_cities = replace(
        problem,
        records=centroids,
        subjects=np.arange(len(centroids)),
        k=max(ceil(problem.k / c), 2),  # cities that make a group of k records
        neighbours=None,
    )

    route = _short_path(problem_of_cities)
    # A route may be found in either direction: forward begins at the end with the lower number.
    if route[0] > route[-1]:
        route = route[::-1]
    return cities, route


def _short_path(problem: Problem) -> Ints:
    """Find a path by the heuristic of the settings; if they name none, choose and log one."""
    heuristic = problem.settings.heuristic
    if heuristic is not None:
        return HEURISTICS[heuristic](problem, None)

    # Where descent or annealing follows, a path that is somewhat longer leads to groups as good.
    is_refined = problem.settings.refine in ("anneal", "descent")
    heuristic = "or-opt" if is_refined else published_heuristic(len(problem.records))
    path = HEURISTICS[heuristic](problem, None)
    problem.log.chosen["heuristic"] = heuristic
    return path


def published_heuristic(cities: int) -> HeuristicName:
    """Name the path of HM2-Micro as published: Concorde, if it is installed and takes no hours."""
    if cities <= CONCORDE_CITIES and concorde_command() is not None:
        return "concorde"
    return "or-opt"
