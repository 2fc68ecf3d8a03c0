"""Paths through records: of any start, along nearest records, and through groups."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import pairwise, permutations
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.far_records import farthest
from trajanon._kernels.path_building import greedy_fragments, join_fragments
from trajanon._kernels.two_opt_or_opt_lin_kernighan import Tour, shorten, shorten_by_chains
from trajanon.common.arrays import Floats, Ints
from trajanon.common.workers import in_parts, in_threads
from trajanon.grouping.loss import group_means
from trajanon.grouping.methods.mdav_and_v_mdav import mdav
from trajanon.grouping.neighbours import BATCHES, Approximate, Neighbours, neighbours_of
from trajanon.grouping.problem import Problem

_STEPS_PER_SUM = 10_000  # that a thread measures
Heuristic = Callable[[Problem, int | None], Ints]
"""A problem, and the record the path begins with, or None, to the order of records on it, (n,)."""


def from_any_start(search: Callable[[Problem], Ints]) -> Heuristic:
    """Make of a search that chooses its own start one that takes a start, or None.

    The start then takes the place of the dummy, before the nearer end of the others' path.

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
        onward = search(
            replace(problem, records=records[others], subjects=problem.subjects[others])
        )

        away = ((records[others[onward[[0, -1]]]] - records[start]) ** 2).sum(axis=1)
        if away[1] < away[0]:
            onward = onward[::-1]
        return np.append(start, others[onward])

    return begun_at_start


def shortest(records: Floats) -> Ints:
    """Try every order of a handful of records."""
    orders = np.array(list(permutations(range(len(records)))))
    between = np.sqrt(((records[:, None] - records) ** 2).sum(axis=2))
    lengths = between[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return np.asarray(orders[lengths.argmin()])


def path_length(records: Floats, path: Ints) -> float:
    """Measure the length of a path through standardised records."""

    def length(places: Ints, stop: Event) -> float:
        steps = np.diff(records[path[places[0] : places[-1] + 2]], axis=0)
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

    cities = problem.random.permutation(n + 1)
    turn = cities[cities < n]
    first = turn[0]
    if cities[0] == n or n == 1:
        return walked(records, first)

    # The dummy came second, and a random record follows it.
    others = np.flatnonzero(np.arange(n) != first)
    return np.append(walked(records, turn[1], others), first)


def through_groups(method: Callable[[Problem], Ints]) -> Heuristic:
    """Return a heuristic that leads through the groups of a method (MD-, MDAV- and CBFS-MHM).

    References
    ----------
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), "Efficient multivariate
    data-oriented microaggregation"; thesis (URV 2023), section 2.2.2.
    """

    @from_any_start
    def path(problem: Problem) -> Ints:
        # Without the start, there may be a subject less than a group needs.
        k = min(problem.k, len(np.unique(problem.subjects)))
        return path_through(problem.records, method(replace(problem, k=k)))

    return path


def path_through(records: Floats, labels: Ints) -> Ints:
    """Walk through groups, by Nearest Point Next on their centroids; inside to the nearest."""
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    centroids = group_means(records, labels)

    # A group is entered at the member nearest to where the path has come from.
    path: list[Ints] = []
    for group in walked(centroids, outermost(centroids)):
        rows = members[group]
        inside = records[rows]
        if path:
            first = int(((inside - records[path[-1][-1]]) ** 2).sum(axis=1).argmin())
        else:
            first = farthest(inside, np.arange(len(rows)), records.mean(axis=0))
        path.append(rows[walked(inside, first)])
    return np.concatenate(path)


def walked(points: Floats, first: int, through: Ints | None = None) -> Ints:
    """Walk from a point through some rows, it among them, or through all."""
    rows = np.arange(len(points)) if through is None else through
    return joined(points, np.append(first, rows[rows != first]), np.full((len(points), 2), -1))


def joined(points: Floats, ends: Ints, links: Ints, count: int | None = None) -> Ints:
    """Walk through fragments from the first of their ends, on to the nearest that is free."""
    order = np.empty(len(ends) if count is None else count, dtype=np.int64)
    join_fragments(points, links, ends, np.zeros(len(points), dtype=np.bool_), order)
    return order


def outermost(points: Floats) -> int:
    """Find the point farthest from the centroid of all."""
    # Two points are equally far from it: rounding must not choose.
    if len(points) == 2:
        return 0
    return int(farthest(points, np.arange(len(points)), points.mean(axis=0)))


FEW = 5
"""Fewer records are tried in every order: a kick needs two stretches."""

NEIGHBOURS = 16
"""Candidates of a move. Ten are filled by the twelve months of one utility (EIA)."""

PATH_BLOCK = 1_000
"""Records of a block, about: the time to join links grows with its square."""

_LISTS_PER_PART = 500  # whose distances a thread measures at once

_KICKS_PER_REPORT = 20_000  # between two reports of progress, and two chances to interrupt

_JOURNAL = 100_000  # reversals that can be taken back

_FARTHEST = 10  # a tour leads no farther than 2 to this, in standard deviations from the mean

_TASK = "Finding a short path"


class NearLists(NamedTuple):
    """The nearest records of each record, (n, c), the nearest first, and how far they are."""

    nearest: Ints
    away: Floats  # not squared; infinite where there is no such record


@from_any_start
def or_opt(problem: Problem) -> Ints:
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
    if problem.neighbours_if_large is not None:
        return _path_in_blocks(problem, problem.neighbours_if_large.approximate)

    near = near_lists(problem.records, problem.neighbours)
    return _shortened(problem, partial(greedy, problem.records, near), near, or_opt=True)


@from_any_start
def two_opt(problem: Problem) -> Ints:
    """Exchange two links of a nearest neighbour path for two shorter ones while that can be done.

    A link may only be exchanged for one to a record's 16 nearest.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3.
    """
    return _shortened(problem, partial(nearest_neighbour, problem), or_opt=False)


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
    records = problem.records
    n = len(records)
    if n < FEW:
        return shortest(records)

    path = through_groups(mdav)(problem, None)
    tour = tour_through(records, path, near_lists(records), problem.random)
    tour.queue[: n + 1] = problem.random.permutation(n + 1)
    shorten_by_chains(tour)
    return _cut_at_dummy(tour)


def _shortened(
    problem: Problem, first: Callable[[], Ints], near: NearLists | None = None, *, or_opt: bool
) -> Ints:
    """Shorten a first path by 2-opt moves; or by or-opt moves and kicks as well."""
    records = problem.records
    if len(records) < FEW:
        return shortest(records)

    tour = tour_through(records, first(), near or near_lists(records), problem.random)
    shorten(tour, or_opt, 0)
    if or_opt:
        kicks = problem.budget.kicks_per_record * len(records)
        for done in range(0, kicks, _KICKS_PER_REPORT):
            problem.progress(_TASK, done, kicks)
            shorten(tour, or_opt, min(_KICKS_PER_REPORT, kicks - done))
        problem.progress(_TASK, kicks, kicks)
    return _cut_at_dummy(tour)


def _cut_at_dummy(tour: Tour) -> Ints:
    return np.roll(tour.order, -int(tour.position[-1]))[1:]


def near_lists(records: Floats, known: Neighbours | None = None) -> NearLists:
    """Find the nearest records of each record, unless they are known."""
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
    shortest_first = np.argsort(near.away.ravel(), kind="stable")
    shortest_first = shortest_first[: np.isfinite(near.away).sum()]

    links = np.full((n, 2), -1)
    greedy_fragments(edges[shortest_first], links, np.arange(n))

    return joined(records, np.flatnonzero(links[:, 1] < 0), links, n)


def tour_through(records: Floats, path: Ints, near: NearLists, random: np.random.Generator) -> Tour:
    """Make a path a tour through the dummy; a far one is scaled, as rounding would be gain."""
    n = len(records)
    away = near.away
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
        queue=np.concatenate([path, [n, 0, n + 1]]),  # all from the first on
        queued=np.ones(n + 1, dtype=np.bool_),
        journal=np.zeros(2 * _JOURNAL + 1, dtype=np.int64),
        plan=np.zeros((4, 2), dtype=np.int64),
        random=random.integers(1, 2**63, size=1, dtype=np.uint64),
    )
    tour.position[tour.order] = np.arange(n + 1)
    return tour


def _path_in_blocks(problem: Problem, near: Approximate) -> Ints:
    """Visit blocks of a large table, leaves of a tree, in turn, each from its nearer end."""
    place = np.empty(len(near.order), dtype=np.int64)
    place[near.order] = np.arange(len(place))
    leaves = max(PATH_BLOCK * (len(near.borders) - 1) // len(place), 1)
    borders = np.append(near.borders[:-1:leaves], len(place))

    def paths_of(batch_borders: Ints, stop: Event) -> list[Ints]:
        paths = []
        for start, behind in pairwise(batch_borders):
            if stop.is_set():
                raise KeyboardInterrupt
            rows = near.order[start:behind]
            block = Problem(records=near.points[rows], subjects=rows, k=problem.k)
            within = _within_block(near, rows, place[near.nearest[rows]] - start)
            path = _shortened(block, partial(greedy, block.records, within), within, or_opt=True)
            paths.append(rows[path])
        return paths

    size = -(-len(borders) // BATCHES)
    jobs = [
        partial(paths_of, borders[start : start + size + 1])
        for start in range(0, len(borders) - 1, size)
    ]
    problem.progress(_TASK, 0, None)
    batches = in_threads(jobs, lambda: problem.progress(_TASK, 0, None))
    return joined_paths(near.points, [path for batch in batches for path in batch])


def _within_block(near: Approximate, rows: Ints, neighbours: Ints) -> NearLists:
    """Return the neighbours within a block, numbered from its first record; others go last."""
    outside = (neighbours < 0) | (neighbours >= len(rows))
    away = np.where(outside, np.inf, np.sqrt(near.squared[rows]))
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
        begin, end = ((points[path[[0, -1]]] - last) ** 2).sum(axis=1)
        turned.append(path if begin <= end else path[::-1])
    return np.concatenate(turned)
