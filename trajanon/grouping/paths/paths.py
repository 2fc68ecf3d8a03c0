"""Hamiltonian paths through records: to the nearest record, through groups, and made shorter.

The dummy is a city at distance 0 from every record. A tour through it and all records, cut open at
the dummy, is a path that may begin and end anywhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import pairwise, permutations
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.far_records import farthest
from trajanon._kernels.path_building import Walks, greedy_fragments, join_fragments, shortest_walk
from trajanon._kernels.tour_moves import LINKS, Tour, shorten
from trajanon.common.arrays import Floats, Ints
from trajanon.common.workers import in_parts, in_threads
from trajanon.grouping.loss import group_means
from trajanon.grouping.methods.distance_methods import mdav
from trajanon.grouping.neighbours import Approximate, Neighbours, batches_of, neighbours_of
from trajanon.grouping.problem import Problem

_STEPS_PER_SUM = 10_000  # steps of a path that a thread measures at once

Heuristic = Callable[[Problem, int | None], Ints]
"""From a problem, and the record to begin with or None, to the order of records on a path, (n,)."""


def from_any_start(search: Callable[[Problem], Ints]) -> Heuristic:
    """Return a heuristic with any start, or None, from a search that chooses the start itself.

    A given start is put before the nearer end of a path through the other records, and so takes
    the place of the dummy.

    Source: Maya-López, Solanas (ApplePies 2019), section II C.
    """

    @wraps(search)
    def begun_at_start(problem: Problem, start: int | None = None) -> Ints:
        if start is None:
            return search(problem)

        records = problem.records
        others = np.delete(np.arange(len(records)), start)
        if len(others) == 0:
            return np.array([start], dtype=np.int64)
        path = search(replace(problem, records=records[others], subjects=problem.subjects[others]))

        both_ends = records[others[path[[0, -1]]]]
        to_first, to_last = ((both_ends - records[start]) ** 2).sum(axis=1)
        if to_last < to_first:
            path = path[::-1]
        return np.append(start, others[path])

    return begun_at_start


def shortest(records: Floats) -> Ints:
    """Find the shortest path through a handful of records by trying every order."""
    orders = np.array(list(permutations(range(len(records)))))
    between = np.sqrt(((records[:, None] - records) ** 2).sum(axis=2))
    lengths = between[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return np.asarray(orders[lengths.argmin()])


def path_length(records: Floats, path: Ints) -> float:
    """Measure the length of a path through standardised records."""

    def length(numbers: Ints, stop: Event) -> float:
        # Step i leads from place i of the path to place i + 1.
        steps = np.diff(records[path[numbers[0] : numbers[-1] + 2]], axis=0)
        return float(np.sqrt((steps**2).sum(axis=1)).sum())

    return sum(in_parts(length, np.arange(max(len(path) - 1, 1)), _STEPS_PER_SUM))


def nearest_neighbour(problem: Problem, start: int | None = None) -> Ints:
    """Walk on to the nearest record not yet met.

    A tour through the records and the dummy begins with a random one of these cities. The dummy is
    at distance 0 and comes next; from there all records are equally far, and a random one follows.
    So the first city stands at the end of the path, however far it is from its neighbour there. The
    published averages show this. With a ``start`` there is no dummy, and the path loses less.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3, and chapter 4, Algorithm 2 for the
    dummy node.
    """
    records = problem.records
    n = len(records)
    if start is not None:
        return walked(records, start)

    # City n is the dummy. If the tour begins with it, the path begins with a random record.
    cities = problem.random.permutation(n + 1)
    random_records = cities[cities < n]
    first = random_records[0]
    if cities[0] == n or n == 1:
        return walked(records, first)

    # Otherwise the dummy comes second and a random record third; the first city ends the path.
    return walked(records, random_records[1], first)


def through_groups(method: Callable[[Problem], Ints]) -> Heuristic:
    """Return a heuristic that leads through the groups of a method (MD-, MDAV- and CBFS-MHM).

    References
    ----------
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), "Efficient multivariate
    data-oriented microaggregation"; thesis (URV 2023), section 2.2.2.
    """

    @from_any_start
    def path(problem: Problem) -> Ints:
        # Without the start, there may be one subject less than a group needs.
        k = min(problem.k, len(np.unique(problem.subjects)))
        return path_through(problem.records, method(replace(problem, k=k)))

    return path


def path_through(records: Floats, labels: Ints) -> Ints:
    """Walk from group to group by Nearest Point Next on their centroids.

    In a group the walk enters at the record nearest to the last one, and goes on to the nearest.
    """
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    centroids = group_means(records, labels)

    path: list[Ints] = []
    for group in walked(centroids, outermost(centroids)):
        rows = members[group]
        group_records = records[rows]
        if path:
            last = records[path[-1][-1]]
            first = int(((group_records - last) ** 2).sum(axis=1).argmin())
        else:
            first = farthest(group_records, np.arange(len(rows)), records.mean(axis=0))
        path.append(rows[walked(group_records, first)])
    return np.concatenate(path)


def walked(points: Floats, first: int, last: int = -1) -> Ints:
    """Walk from the first point through all, each time to the nearest that is left.

    Of equally near points the one that stands before is taken. The walk ends at ``last``; -1: at
    any point.
    """
    no_lists = NearLists(np.empty((len(points), 0), np.int64), np.empty((len(points), 0)))
    walks = walks_among(points, no_lists)
    shortest_walk(walks, np.array([first]), np.array([last]), np.inf)
    return walks.best


def walks_among(points: Floats, near: "NearLists") -> Walks:
    """Make room for walks along lists of near points.

    Where a walk has met all points of a list, it searches all points that are left.
    """
    n = len(points)
    # For the order on a walk, and on the shortest one.
    room = np.empty((2, n), dtype=np.int64)
    return Walks(points, near.nearest, near.away, np.empty(n, np.bool_), room[0], room[1])


def outermost(points: Floats) -> int:
    """Find the point farthest from the centroid of all."""
    # Of two points both are equally far from it: rounding must not choose.
    if len(points) == 2:
        return 0
    return int(farthest(points, np.arange(len(points)), points.mean(axis=0)))


FEW = 5
"""Fewer records are tried in every order: a kick needs two stretches of a tour."""

NEIGHBOURS = 16
"""Nearest records to which a move may link one. Ten would all be months of one utility (EIA)."""

PATH_BLOCK = 1_000
"""About how many records a block has: the time to join its links grows with their square."""

_LISTS_PER_PART = 500  # lists of near records whose distances a thread measures at once

_KICKS_PER_REPORT = 20_000  # between two reports of progress, and two chances to interrupt

_JOURNAL = 100_000  # reversals of a tour that can be taken back

_FARTHEST = 10  # an exponent of 2: records with larger coordinates are scaled down for a tour

_TASK = "Finding a short path"


class NearLists(NamedTuple):
    """The nearest records of each record, (n, c), the nearest first, and how far they are."""

    nearest: Ints
    away: Floats  # not squared; infinite where there is no such record


def or_opt(problem: Problem, start: int | None = None) -> Ints:
    """Find a short Hamiltonian path through the records.

    Greedy edges give the first tour; 2-opt moves and moves of segments of up to three records
    (or-opt) to one of 16 nearest neighbours improve it until there is none left; kicks that
    exchange two short stretches at random are kept where the repaired tour is no longer than
    before. A large table with known neighbours is visited block by block, without kicks.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3 for the tour heuristics, chapter 4,
    Algorithm 2 for the dummy node. Bentley (1992), "Fast algorithms for geometric
    traveling salesman problems", for 2-opt with neighbour lists and a queue.
    """
    if start is None and problem.large is not None:
        return _path_in_blocks(problem, problem.large.approximate)
    return _or_opt(problem, start)


@from_any_start
def _or_opt(problem: Problem) -> Ints:
    near = near_lists(problem.records, problem.neighbours)
    return _shortened(problem, greedy(problem.records, near), near, or_opt=True)


@from_any_start
def two_opt(problem: Problem) -> Ints:
    """Exchange two links of a nearest neighbour path for two shorter ones while that can be done.

    A link may only be exchanged for one to a record's 16 nearest.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3.
    """
    return _shortened(problem, nearest_neighbour(problem), near_lists(problem.records))


@from_any_start
def mdav_lk(problem: Problem) -> Ints:
    """Walk through the groups of MDAV, and shorten the path by Lin and Kernighan's heuristic.

    A chain gives up a link of a record, joins the freed end to a near record, gives up that one's
    link in turn, and so on, five times at most, while all links given up are longer than all new
    ones; the tour is closed where it is shortest. The seed says in which order records are looked
    at, until none has a chain that gains.

    References
    ----------
    MDAV-LK-MHM: Heaton, Mukherjee (2011), "Record ordering heuristics for disclosure
    control through microaggregation". Lin, Kernighan (1973), "An effective heuristic
    algorithm for the traveling-salesman problem".
    """
    path = through_groups(mdav)(problem, None)
    turn = problem.random.permutation(len(path) + 1)
    return _shortened(problem, path, near_lists(problem.records), links=LINKS, turn=turn)


def _shortened(
    problem: Problem,
    path: Ints,
    near: NearLists,
    *,
    links: int = 1,
    or_opt: bool = False,
    turn: Ints | None = None,
) -> Ints:
    """Shorten a path by chains of so many links, or by or-opt moves and kicks.

    ``turn`` is the order in which cities are looked at, by default that of the path.
    """
    records = problem.records
    n = len(records)
    if n < FEW:
        return shortest(records)

    tour = tour_through(records, path, near, problem.random)
    if turn is not None:
        tour.queue[: n + 1] = turn

    shorten(tour, links, or_opt, 0)  # without kicks
    if or_opt:
        kicks = problem.budget.kicks_per_record * n
        for kicks_done in range(0, kicks, _KICKS_PER_REPORT):
            problem.progress(_TASK, kicks_done, kicks)
            shorten(tour, links, or_opt, min(_KICKS_PER_REPORT, kicks - kicks_done))
        problem.progress(_TASK, kicks, kicks)

    # The path begins behind the dummy, the last city.
    return np.roll(tour.order, -int(tour.position[-1]))[1:]


def near_lists(records: Floats, known: Neighbours | None = None) -> NearLists:
    """Find the nearest records of each record, unless they are known, and their distances."""
    nearest = neighbours_of(records, NEIGHBOURS, known)

    def distances(rows: Ints, stop: Event) -> Floats:
        apart = records[rows, None, :] - records[nearest[rows]]
        return np.asarray(np.sqrt((apart**2).sum(axis=2)))

    parts = in_parts(distances, np.arange(len(records)), _LISTS_PER_PART)
    return NearLists(nearest, np.concatenate(parts))


def greedy(records: Floats, near: NearLists) -> Ints:
    """Join records by the shortest links between near ones that make no fork and no circle."""
    n, count = near.nearest.shape
    edges = np.column_stack([np.repeat(np.arange(n), count), near.nearest.ravel()])

    # Edges of infinite length, which come last, lead nowhere.
    shortest_first = np.argsort(near.away.ravel(), kind="stable")
    shortest_first = shortest_first[: np.isfinite(near.away).sum()]

    # Up to two neighbours on the path of each record; -1 where there is none.
    links = np.full((n, 2), -1)
    greedy_fragments(edges[shortest_first], links, np.arange(n))

    # What is left are fragments of the path; each goes on at the nearest end of another.
    ends = np.flatnonzero(links[:, 1] < 0)
    order = np.empty(n, dtype=np.int64)
    join_fragments(records, links, ends, np.zeros(n, dtype=np.bool_), order)
    return order


def tour_through(records: Floats, path: Ints, near: NearLists, random: np.random.Generator) -> Tour:
    """Make a tour of a path by closing it through the dummy."""
    n = len(records)
    away = near.away

    # In very long links, rounding would look like a gain. Scaled by a power of 2 no bit is lost.
    _, exponent = np.frexp(np.abs(records).max())
    if exponent > _FARTHEST:
        records = np.ldexp(records, _FARTHEST - exponent)
        away = np.ldexp(away, _FARTHEST - exponent)

    tour = Tour(
        records=records,
        neighbours=near.nearest,
        near=away,
        order=np.append(path, n),
        position=np.empty(n + 1, dtype=np.int64),
        queue=np.concatenate([path, [n, 0, n + 1]]),  # all cities; head 0, length n + 1
        queued=np.ones(n + 1, dtype=np.bool_),
        journal=np.zeros(2 * _JOURNAL + 1, dtype=np.int64),
        random=random.integers(1, 2**63, size=1, dtype=np.uint64),
    )
    tour.position[tour.order] = np.arange(n + 1)
    return tour


def _path_in_blocks(problem: Problem, approximate: Approximate) -> Ints:
    """Find a path in each block of a large table, and join these paths in the order of blocks.

    A block is as many leaves of the tree, near one another, as have about 1,000 records.
    """
    n = len(approximate.order)
    place = np.empty(n, dtype=np.int64)
    place[approximate.order] = np.arange(n)

    leaves_per_block = max(PATH_BLOCK * (len(approximate.borders) - 1) // n, 1)
    borders = np.append(approximate.borders[:-1:leaves_per_block], n)

    def paths_of(batch_borders: Ints, stop: Event) -> list[Ints]:
        paths = []
        for start, behind in pairwise(batch_borders):
            if stop.is_set():
                raise KeyboardInterrupt

            rows = approximate.order[start:behind]
            block = Problem(records=approximate.points[rows], subjects=rows, k=problem.k)
            within = _within_block(approximate, rows, place[approximate.nearest[rows]] - start)
            path = _shortened(block, greedy(block.records, within), within, or_opt=True)
            paths.append(rows[path])
        return paths

    jobs = [partial(paths_of, batch) for batch in batches_of(borders)]
    problem.progress(_TASK, 0, None)
    batches = in_threads(jobs, lambda: problem.progress(_TASK, 0, None))
    return joined_paths(approximate.points, [path for batch in batches for path in batch])


def _within_block(approximate: Approximate, rows: Ints, neighbours: Ints) -> NearLists:
    """Return the neighbours within a block, numbered from its first record.

    Neighbours outside come last in their lists: the record itself, infinitely far.
    """
    outside = (neighbours < 0) | (neighbours >= len(rows))
    away = np.where(outside, np.inf, np.sqrt(approximate.squared[rows]))
    within = np.where(outside, np.arange(len(rows))[:, None], neighbours)

    inside_first = np.argsort(outside, axis=1, kind="stable")
    return NearLists(
        nearest=np.take_along_axis(within, inside_first, axis=1),
        away=np.take_along_axis(away, inside_first, axis=1),
    )


def joined_paths(points: Floats, paths: Sequence[Ints]) -> Ints:
    """Join paths in their order, each in the direction that begins nearer."""
    turned = [paths[0]]
    for path in paths[1:]:
        last = points[turned[-1][-1]]
        to_begin, to_end = ((points[path[[0, -1]]] - last) ** 2).sum(axis=1)
        turned.append(path if to_begin <= to_end else path[::-1])
    return np.concatenate(turned)
