"""A path through a large table: block by block, each visited on a short path."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from threading import Event

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.neighbours import BATCHES, Approximate, Neighbours
from trajanon.paths.tours import NearLists
from trajanon.progress import Progress, silent
from trajanon.workers import in_threads

PATH_BLOCK = 1_000
"""Records of a block, about. Joining the first links takes time with the square of it;
and what is lost at a border, the search that follows mends."""

Visit = Callable[[Floats, NearLists], Ints]
"""The records of a block, and those near each of them, to a path through them, (n,)."""


def path_in_blocks(neighbours: Neighbours, visit: Visit, progress: Progress = silent) -> Ints:
    """Visit the blocks of a large table one after the other.

    A block is some leaves of a tree that follow each other; its path is found among the leading
    axes, and runs in the direction that begins nearer to the end of the last.
    """
    near = neighbours.approximate
    place = np.empty(len(near.order), dtype=np.int64)
    place[near.order] = np.arange(len(place))
    leaves = max(PATH_BLOCK * (len(near.borders) - 1) // len(place), 1)
    borders = np.append(near.borders[:-1:leaves], len(place))
    batch = -(-len(borders) // BATCHES)
    jobs = [
        partial(_paths, near, place, borders[start : start + batch + 1], visit)
        for start in range(0, len(borders) - 1, batch)
    ]
    progress("Finding a short path", 0, None)
    found = in_threads(jobs, lambda: progress("Finding a short path", 0, None))
    return joined_paths(near.points, [path for paths in found for path in paths])


def _paths(near: Approximate, place: Ints, borders: Ints, visit: Visit, stop: Event) -> list[Ints]:
    """Visit some blocks, each on its own."""
    paths = []
    for start, behind in pairwise(borders):
        if stop.is_set():
            raise KeyboardInterrupt
        rows = near.order[start:behind]
        neighbours = place[near.nearest[rows]] - start
        outside = (neighbours < 0) | (neighbours >= len(rows))
        away = np.where(outside, np.inf, np.sqrt(near.squared[rows]))
        within = np.where(outside, np.arange(len(rows))[:, None], neighbours)
        inner = np.argsort(outside, axis=1, kind="stable")
        lists = NearLists(*(np.take_along_axis(part, inner, axis=1) for part in (within, away)))
        paths.append(rows[visit(near.points[rows], lists)])
    return paths


def joined_paths(points: Floats, paths: Sequence[Ints]) -> Ints:
    """Join paths in their order, each in the direction that begins nearer."""
    turned = [paths[0]]
    for path in paths[1:]:
        last = points[turned[-1][-1]]
        begin, end = ((points[path[[0, -1]]] - last) ** 2).sum(axis=1)
        turned.append(path if begin <= end else path[::-1])
    return np.concatenate(turned)
