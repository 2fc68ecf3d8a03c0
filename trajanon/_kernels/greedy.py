"""Greedy edges: a first path, from the shortest links up."""

import numpy as np

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance


@kernel
def greedy_fragments(edges, n):
    """Take edges, the shortest first, unless they fork or close a circle.

    ``edges`` (m, 2). Returns the links of each record, (n, 2), -1 where there is none.
    """
    links = np.full((n, 2), -1, dtype=np.int64)
    other_end = np.arange(n)  # of the fragment; valid at ends only
    for edge in range(edges.shape[0]):
        a, b = edges[edge, 0], edges[edge, 1]
        if links[a, 1] >= 0 or links[b, 1] >= 0 or other_end[a] == b:
            continue
        links[a, 0 if links[a, 0] < 0 else 1] = b
        links[b, 0 if links[b, 0] < 0 else 1] = a
        end_a, end_b = other_end[a], other_end[b]
        other_end[end_a], other_end[end_b] = end_b, end_a
    return links


@kernel
def join_fragments(records, links):
    """Walk fragment by fragment, always on to the nearest free end; the order."""
    n = records.shape[0]
    order = np.empty(n, dtype=np.int64)
    used = np.zeros(n, dtype=np.bool_)
    ends = np.flatnonzero(links[:, 1] < 0)
    free = ends.shape[0]
    city = ends[0]
    filled = 0
    while True:
        previous = -1
        while city >= 0:  # along the fragment to its other end
            order[filled] = city
            filled += 1
            used[city] = True
            onward = links[city, 0] if links[city, 0] != previous else links[city, 1]
            previous, city = city, onward
        if filled == n:
            return order
        nearest, best = -1, np.inf
        kept = 0
        for i in range(free):
            end = ends[i]
            if used[end]:
                continue
            ends[kept] = end
            kept += 1
            distance = squared_distance(records[end], records[previous])
            if distance < best:
                nearest, best = end, distance
        free = kept
        city = nearest
