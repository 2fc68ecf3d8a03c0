"""Our path: greedy edges, 2-opt and or-opt on neighbour lists, then kicks."""

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.greedy import greedy_fragments, join_fragments
from trajanon._kernels.tour import Tour, enqueue, improve, kicks
from trajanon.neighbours import nearest_records
from trajanon.progress import Progress, silent

NEIGHBOURS = 10
"""Candidates of a move; twice as many change the path by less than its kicks do."""

_CHUNK = 20_000  # kicks between two words about progress, and two chances to interrupt


def or_opt(
    records: NDArray[np.float64],
    kicks_per_record: int,
    random: np.random.Generator,
    progress: Progress = silent,
) -> NDArray[np.int64]:
    """Find a short Hamiltonian path through the records.

    The path is a tour through the records and a dummy city at distance 0 from all of
    them, cut there. Greedy edges give the first tour; 2-opt moves and moves of
    segments of up to three records (or-opt) to one of 10 nearest neighbours improve it
    until there is none left; kicks that exchange two short stretches at random are
    kept where the repaired tour is no longer than before.

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    kicks_per_record
        How many kicks, times n.
    random
        Source of the kicks.
    progress
        Told of the kicks.

    Returns
    -------
    NDArray[np.int64]
        Order of the records on the path, shape (n,).

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3 for the tour heuristics, chapter 4,
    Algorithm 2 for the dummy node. Bentley (1992), "Fast algorithms for geometric
    traveling salesman problems", for 2-opt with neighbour lists and a queue.
    """
    n = len(records)
    if n < 5:  # too few for a kick to have two stretches
        return _shortest(records)
    tour = _first_tour(records, random)
    # Neighbour lists are not symmetric: a city may gain by a move of another one.
    while improve(tour) > 0.0:
        for city in tour.order:
            enqueue(tour, city)
    total = kicks_per_record * n
    for done in range(0, total, _CHUNK):
        progress("Finding a short path", done, total)
        kicks(tour, min(_CHUNK, total - done))
    progress("Finding a short path", total, total)
    dummy = int(tour.position[n])
    path: NDArray[np.int64] = np.roll(tour.order, -dummy)[1:]
    return path


def _shortest(records: NDArray[np.float64]) -> NDArray[np.int64]:
    """Try every order of a handful of records."""

    def length(order: tuple[int, ...]) -> float:
        steps = np.diff(records[list(order)], axis=0)
        return float(np.sqrt((steps**2).sum(axis=1)).sum())

    return np.array(min(permutations(range(len(records))), key=length), dtype=np.int64)


def _first_tour(records: NDArray[np.float64], random: np.random.Generator) -> Tour:
    n = len(records)
    neighbours = nearest_records(records, NEIGHBOURS)
    away = records[:, None, :] - records[neighbours]
    near = np.sqrt((away**2).sum(axis=2))
    tour = Tour(
        records=records,
        neighbours=neighbours,
        near=near,
        order=np.append(_greedy(records, neighbours, near), n),
        position=np.empty(n + 1, dtype=np.int64),
        queue=np.zeros(n + 3, dtype=np.int64),
        queued=np.zeros(n + 1, dtype=np.bool_),
        journal=np.zeros(2 * 100_000 + 1, dtype=np.int64),
        random=random.integers(1, 2**63, size=1, dtype=np.uint64),
    )
    tour.position[tour.order] = np.arange(n + 1)
    for city in tour.order:
        enqueue(tour, city)
    return tour


def _greedy(
    records: NDArray[np.float64],
    neighbours: NDArray[np.int64],
    near: NDArray[np.float64],
) -> NDArray[np.int64]:
    n, count = neighbours.shape
    edges = np.column_stack([np.repeat(np.arange(n), count), neighbours.ravel()])
    shortest_first = np.argsort(near.ravel(), kind="stable")
    order: NDArray[np.int64] = join_fragments(
        records, greedy_fragments(edges[shortest_first], n)
    )
    return order
