"""The neighbours of a window: the windows that come near it when either slides."""

from functools import partial
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from trajanon._kernels.windows import Windows, compare_places, tell_each_other
from trajanon.align.windows import records_at, start_ranges, take
from trajanon.arrays import Floats, Ints
from trajanon.axes import turn
from trajanon.neighbours import grow_trees, in_leaves, leaf_size, nearest_points
from trajanon.tracks import STEPS
from trajanon.workers import in_parts

_PACE = 2 * STEPS
"""Steps between two places where a window is looked for: twice the spacing."""

_PLACES = 15
"""About the most places of a window: with more room, its places lie farther apart."""

_SEEN = 3
"""How many places are looked at for each window wanted, at least."""

_GROWN = 2  # trees at once: the order of all places is kept for each

_AT_ONCE = 20_000  # windows, as their records take memory


def exact_window_neighbours(windows: Windows, start: Ints, axes: Floats, count: int) -> Ints:
    """Find windows that are near each one, if either of the two slides.

    Each window where it is, and all others at every eighth step that they may slide to, or at fewer
    where they have much room. Two that are near in one of these ways are neighbours of each other.
    """
    n = len(start)
    places = _build_places(windows, start, axes, np.float64)
    here = places.rows[places.here]
    # Several of the nearest places are of one window, the more it has.
    seen = max(_SEEN, -(-len(places.rows) // (2 * n))) * count
    seen = min(seen, len(places.rows))
    away, found = nearest_points(cKDTree(places.rows), here, seen)
    one, other = np.repeat(np.arange(n), seen), places.window[found.ravel()]
    return _nearest_of_pairs(n, one, other, away.ravel(), count)


def approximate_window_neighbours(windows: Windows, start: Ints, axes: Floats, count: int) -> Ints:
    """Find windows that are near each one, as `exact_window_neighbours`, among very many.

    Trees halve all places, and each window where it is is compared with the places that share a
    leaf with it in any of them.
    """
    n = len(start)
    places = _build_places(windows, start, axes, np.float32)
    near, away = np.full((n, count), -1, np.int32), np.full((n, count), np.inf)
    compare = partial(compare_places, *places)
    # A window is in one leaf of a tree where it is, so no two threads write its list.
    for order, borders in grow_trees(places.rows, leaf_size(count), _GROWN):
        in_leaves(compare, order, borders, near, away)
    mutual = near.copy()
    tell_each_other(near, away, mutual, away.copy())
    return np.where(mutual < 0, np.arange(n)[:, None], mutual)


class _Places(NamedTuple):
    """Where windows are looked for."""

    rows: NDArray[Any]  # records in the axes, (v, q)
    window: Ints  # the window of each place, (v,), rising
    here: Ints  # the place of each window where it is, (n,)


def _build_places(
    windows: Windows, start: Ints, axes: Floats, precision: type[np.floating[Any]]
) -> _Places:
    first, last = start_ranges(windows, start)
    pace = np.maximum(_PACE, (last - first) // _PLACES)
    back, on = (start - first) // pace, (last - start) // pace
    places = back + on + 1
    window = np.repeat(np.arange(len(start)), places)
    rank = np.arange(len(window)) - np.repeat(np.cumsum(places) - places, places)
    there = start[window] + (rank - back[window]) * pace[window]

    def turned(some: Ints, stop: Event) -> NDArray[Any]:
        rows = turn(records_at(take(windows, window[some]), there[some]), axes)
        return rows.astype(precision, copy=False)

    parts = in_parts(turned, np.arange(len(window)), _AT_ONCE)
    return _Places(np.concatenate(parts), window, back + np.cumsum(places) - places)


def _nearest_of_pairs(n: int, one: Ints, other: Ints, away: Floats, count: int) -> Ints:
    """List each window's nearest partners in pairs, each counted once and both ways."""
    pairs = one != other
    away = np.tile(away[pairs], 2)
    one, other = (
        np.concatenate([one[pairs], other[pairs]]),
        np.concatenate([other[pairs], one[pairs]]),
    )
    pair = one * n + other
    order = np.lexsort((away, pair))
    order = order[np.append(True, np.diff(pair[order]) != 0)[: len(order)]]
    order = order[np.lexsort((away[order], one[order]))]  # equally near ones by number
    one, other = one[order], other[order]
    rank = np.arange(len(one)) - np.searchsorted(one, one)
    near = np.repeat(np.arange(n)[:, None], count, axis=1)
    kept = rank < count
    near[one[kept], rank[kept]] = other[kept]
    return near
