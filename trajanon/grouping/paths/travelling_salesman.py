"""Paths of the travelling salesman through the records: nearest neighbour, 2-opt, or-opt, MDAV-LK.

A Hamiltonian path meets each record once: it is an order of row numbers, (n,). The local searches
work on a tour of n + 1 cities: the records, and a dummy (number n) at distance 0 from all, where
the tour is cut. Large tables are visited block by block. Insertion is in a module of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import chain, pairwise, permutations
from math import ceil
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.far_records import farthest
from trajanon._kernels.path_building import greedy_fragments, join_fragments
from trajanon._kernels.two_opt_or_opt_lin_kernighan import CHAINS, Tour, shorten
from trajanon.common.arrays import Floats, Ints
from trajanon.common.threads_and_dask import in_parts
from trajanon.grouping.group_means import group_means, members_of_groups
from trajanon.grouping.methods.mdav_and_v_mdav import mdav
from trajanon.grouping.neighbours import BATCHES, Approximate, Neighbours, neighbours_of
from trajanon.grouping.problem import Problem

FEWEST_FOR_MOVES = 5
"""Fewer records are tried in every order: a kick needs two stretches."""

NEIGHBOURS = 16
"""Near records of each record, to which it may be linked. Ten are too few for the table EIA, where
the twelve months of a utility fill one another's lists."""

PATH_BLOCK = 1_000
"""Records of a block of a large table, about: the time to join links grows with its square."""

_STEPS_PER_SUM = 10_000  # whose lengths a thread adds up at once
_LISTS_PER_PART = 500  # whose distances a thread measures at once
_KICKS_PER_REPORT = 20_000  # between two reports of progress, and two chances to interrupt
_MOST_REVERSALS = 100_000  # reversals of a stretch that can be taken back

_TASK = "Finding a short path"

Heuristic = Callable[[Problem, int | None], Ints]
"""A problem, and the record that the path begins with, or None, to a path, (n,)."""


class NearLists(NamedTuple):
    """The nearest records of each record, (n, c), the nearest first, and how far they are."""

    nearest: Ints
    distances: Floats  # not squared; infinite where there is no such record


def from_any_start(search: Callable[[Problem], Ints]) -> Heuristic:
    """Make of a search that chooses its own start one that takes a start, or None.

    The start then takes the place of the dummy, before the nearer end of the others' path.

    Source: Maya-López, Solanas (ApplePies 2019), section II C.
    """

    @wraps(search)
    def search_from(problem: Problem, start: int | None = None) -> Ints:
        if start is None:
            return search(problem)

        records = problem.records
        others = np.delete(np.arange(len(records)), start)
        if len(others) == 0:
            return np.array([start], dtype=np.int64)
        path = others[search(problem.part(others))]

        first_square, last_square = ((records[path[[0, -1]]] - records[start]) ** 2).sum(axis=1)
        if last_square < first_square:
            path = path[::-1]
        return np.append(start, path)

    return search_from


def shortest_of_few(records: Floats) -> Ints:
    """Find the shortest path through a handful of records, by trying every order."""
    orders = np.array(list(permutations(range(len(records)))))
    distances = np.sqrt(((records[:, None] - records) ** 2).sum(axis=2))
    lengths = distances[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    return np.asarray(orders[lengths.argmin()])


def path_length(records: Floats, path: Ints) -> float:
    """Measure the length of a path through standardised records."""

    def length(steps: Ints, stop: Event) -> float:
        """Add up the lengths of steps that follow one another: i leads from place i to i + 1."""
        differences = np.diff(records[path[steps[0] : steps[-1] + 2]], axis=0)
        return float(np.sqrt((differences**2).sum(axis=1)).sum())

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
        return walk_to_nearest(records, start)

    # The dummy is city n. If the tour begins with it, the path begins with the record drawn next.
    cities = problem.random.permutation(n + 1)
    drawn_records = cities[cities < n]
    first_drawn = drawn_records[0]
    if cities[0] == n or n == 1:
        return walk_to_nearest(records, first_drawn)

    # The tour begins with a record, the dummy is second, and another random record follows. Cut at
    # the dummy, the path begins with that one, and ends with the first of the tour.
    others = np.flatnonzero(np.arange(n) != first_drawn)
    return np.append(walk_to_nearest(records, drawn_records[1], others), first_drawn)


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
    """Walk through groups, by Nearest Point Next on their centroids; in a group to the nearest."""
    members = members_of_groups(labels)
    centroids = group_means(records, labels)

    # A group is entered at the member nearest to where the path has come from; the first group at
    # the member farthest from the centroid of all.
    pieces: list[Ints] = []
    for group in walk_to_nearest(centroids, outermost(centroids)):
        rows = members[group]
        group_records = records[rows]
        if pieces:
            last = records[pieces[-1][-1]]
            entry = int(((group_records - last) ** 2).sum(axis=1).argmin())
        else:
            entry = farthest(group_records, np.arange(len(rows)), records.mean(axis=0))
        pieces.append(rows[walk_to_nearest(group_records, entry)])
    return np.concatenate(pieces)


def walk_to_nearest(points: Floats, first_row: int, rows: Ints | None = None) -> Ints:
    """Walk through points, (n, p), from that in ``first_row`` ever to the nearest one left.

    Only the points in ``rows`` are met, of which it is one; without rows all. Returns the rows in
    the order of the walk.
    """
    rows = np.arange(len(points)) if rows is None else rows
    first_and_others = np.append(first_row, rows[rows != first_row])

    # Each point is a fragment of its own, without links.
    no_links = np.full((len(points), 2), -1)
    return _walk_along_fragments(points, no_links, ends=first_and_others, count=len(rows))


def _walk_along_fragments(points: Floats, links: Ints, ends: Ints, count: int) -> Ints:
    """Walk along fragments of a path from the first of their ends, on to the nearest free end.

    ``links`` are the one or two points linked with each, (n, 2), or -1; the walk meets ``count``
    points, and is returned, (count,).
    """
    order = np.empty(count, dtype=np.int64)
    is_met = np.zeros(len(points), dtype=np.bool_)
    join_fragments(points, links, ends, is_met, order)
    return order


def outermost(points: Floats) -> int:
    """Find the row of the point farthest from the centroid of all."""
    # Two points are equally far from it: rounding must not choose.
    if len(points) == 2:
        return 0
    return int(farthest(points, np.arange(len(points)), points.mean(axis=0)))


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

    lists = near_lists(problem.records, problem.neighbours)
    return _shortened(problem, partial(greedy_path, problem.records, lists), lists, or_opt=True)


@from_any_start
def two_opt(problem: Problem) -> Ints:
    """Exchange two links of a nearest neighbour path for two shorter ones while that can be done.

    A link may only be exchanged for one to a record's 16 nearest.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3.
    """
    lists = near_lists(problem.records)
    return _shortened(problem, partial(nearest_neighbour, problem), lists, or_opt=False)


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
    if n < FEWEST_FOR_MOVES:
        return shortest_of_few(records)

    path = through_groups(mdav)(problem, None)
    tour = tour_through(records, path, near_lists(records), problem.random)
    # The order in which cities are looked at is drawn.
    tour.queue[: n + 1] = problem.random.permutation(n + 1)
    shorten(tour, CHAINS, 0)
    return _cut_at_dummy(tour)


def _shortened(
    problem: Problem, find_first: Callable[[], Ints], lists: NearLists, *, or_opt: bool
) -> Ints:
    """Find a first path, and shorten it by 2-opt moves; if ``or_opt``, by those and kicks, too."""
    records = problem.records
    if len(records) < FEWEST_FOR_MOVES:
        return shortest_of_few(records)

    tour = tour_through(records, find_first(), lists, problem.random)
    shorten(tour, or_opt, 0)
    if or_opt:
        kicks = problem.budget.kicks_per_record * len(records)
        for done in range(0, kicks, _KICKS_PER_REPORT):
            problem.progress(_TASK, done, kicks)
            shorten(tour, or_opt, min(_KICKS_PER_REPORT, kicks - done))
        problem.progress(_TASK, kicks, kicks)
    return _cut_at_dummy(tour)


def _cut_at_dummy(tour: Tour) -> Ints:
    """Return the path that begins behind the dummy, the last city of ``tour.position``."""
    return np.roll(tour.order, -int(tour.position[-1]))[1:]


def near_lists(records: Floats, known: Neighbours | None = None) -> NearLists:
    """Find the nearest records of each record, unless they are known."""
    nearest = neighbours_of(records, NEIGHBOURS, known)

    def distances(rows: Ints, stop: Event) -> Floats:
        """Measure how far the neighbours of records are, (rows, c)."""
        differences = records[rows, None, :] - records[nearest[rows]]
        return np.asarray(np.sqrt((differences**2).sum(axis=2)))

    parts = in_parts(distances, np.arange(len(records)), _LISTS_PER_PART)
    return NearLists(nearest, np.concatenate(parts))


def greedy_path(records: Floats, lists: NearLists) -> Ints:
    """Join records by the shortest links between near ones that make no fork and no circle.

    The fragments are then joined, each to the nearest end of another.
    """
    # Infinitely long edges, which come last, lead nowhere.
    n, count = lists.nearest.shape
    edges = np.column_stack([np.repeat(np.arange(n), count), lists.nearest.ravel()])
    shortest_first = np.argsort(lists.distances.ravel(), kind="stable")
    shortest_first = shortest_first[: np.isfinite(lists.distances).sum()]

    # The kernel fills in the links; at first each record is the other end of its own fragment.
    links = np.full((n, 2), -1)
    greedy_fragments(edges[shortest_first], links, np.arange(n))

    ends = np.flatnonzero(links[:, 1] < 0)
    return _walk_along_fragments(records, links, ends, n)


def tour_through(
    records: Floats, path: Ints, lists: NearLists, random: np.random.Generator
) -> Tour:
    """Make a path a tour through the dummy, and lay it out for the kernels."""
    n = len(records)
    tour = Tour(
        records=records,
        neighbours=lists.nearest,
        distances=lists.distances,
        order=np.append(path, n),
        position=np.empty(n + 1, dtype=np.int64),
        queue=np.concatenate([path, [n, 0, n + 1]]),  # all n + 1 cities, from place 0 on
        queued=np.ones(n + 1, dtype=np.bool_),
        journal=np.zeros(2 * _MOST_REVERSALS + 1, dtype=np.int64),
        plan=np.zeros((4, 2), dtype=np.int64),
        random=random.integers(1, 2**63, size=1, dtype=np.uint64),
    )
    tour.position[tour.order] = np.arange(n + 1)
    return tour


def _path_in_blocks(problem: Problem, large: Approximate) -> Ints:
    """Find a path through a large table: block by block, each entered at its nearer end.

    A block is a number of leaves of a tree that follow each other.
    """
    n = len(large.order)
    place_in_order = np.argsort(large.order)
    leaves_per_block = max(PATH_BLOCK * (len(large.borders) - 1) // n, 1)
    block_borders = np.append(large.borders[:-1:leaves_per_block], n)

    def paths_of(blocks: Ints, stop: Event) -> list[Ints]:
        """Find the path through each of some blocks that follow one another."""
        paths = []
        for begin, end in pairwise(block_borders[blocks[0] : blocks[-1] + 2]):
            if stop.is_set():
                raise KeyboardInterrupt
            rows = large.order[begin:end]
            lists = _lists_within_block(large, rows, place_in_order[large.nearest[rows]] - begin)
            # A path asks for no subjects, and a block has no budget for kicks.
            block = Problem(records=large.points[rows], subjects=rows, k=problem.k)
            find_first = partial(greedy_path, block.records, lists)
            paths.append(rows[_shortened(block, find_first, lists, or_opt=True)])
        return paths

    watch = partial(problem.progress, _TASK, 0, None)
    watch()
    block_count = len(block_borders) - 1
    batches = in_parts(paths_of, np.arange(block_count), ceil(block_count / BATCHES), watch)
    return joined_paths(large.points, list(chain.from_iterable(batches)))


def _lists_within_block(large: Approximate, rows: Ints, places: Ints) -> NearLists:
    """Return the near lists of a block's rows, with the places of neighbours in the block.

    ``places`` are counted from its first record, (rows, c): neighbours outside, whose places are
    not in the block, go last, infinitely far.
    """
    is_outside = (places < 0) | (places >= len(rows))
    distances = np.where(is_outside, np.inf, np.sqrt(large.squares[rows]))
    # In place of a neighbour outside stands the record itself, to which no link is made.
    nearest = np.where(is_outside, np.arange(len(rows))[:, None], places)

    inside_first = np.argsort(is_outside, axis=1, kind="stable")
    return NearLists(
        nearest=np.take_along_axis(nearest, inside_first, axis=1),
        distances=np.take_along_axis(distances, inside_first, axis=1),
    )


def joined_paths(points: Floats, paths: Sequence[Ints]) -> Ints:
    """Join paths in their order, each entered at the end that is nearer to the last one."""
    directed = [paths[0]]
    for path in paths[1:]:
        last = points[directed[-1][-1]]
        begin_square, end_square = ((points[path[[0, -1]]] - last) ** 2).sum(axis=1)
        directed.append(path if begin_square <= end_square else path[::-1])
    return np.concatenate(directed)
