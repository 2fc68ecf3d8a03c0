"""The windows that come near each window when it slides, or they do."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from trajanon._kernels.sliding import Ground
from trajanon.align.ground import reach, records_at
from trajanon.neighbours import nearest_points, turn
from trajanon.tracks import STEPS

_PACE = 2 * STEPS
"""Steps between two places where a window is looked for: twice the spacing."""

_PLACES = 15
"""Of a window, about, at most: where there is more room, its places lie farther apart.
"""

_SEEN = 3
"""How many places are looked at for each window wanted, at least."""

_AT_ONCE = 20_000  # windows, as their records take memory


def near_windows(
    ground: Ground, start: NDArray[np.int64], axes: NDArray[np.float64], count: int
) -> NDArray[np.int64]:
    """Find windows that are near each one, if either of the two slides.

    Each window where it is, and all others at every eighth step that they may slide
    to, or at fewer where they have much room. Two that are near in one of these ways
    are neighbours of each other.

    Parameters
    ----------
    ground
        Where windows may slide.
    start
        Where they are, shape (n,).
    axes
        In which distances are measured, shape (p, q).
    count
        Neighbours wanted.

    Returns
    -------
    NDArray[np.int64]
        Shape (n, count), nearest first; the window itself stands where no more were
        found among the nearest places.
    """
    n = len(start)
    first, last = reach(ground, start)
    pace = np.maximum(_PACE, (last - first) // _PLACES)
    back, on = (start - first) // pace, (last - start) // pace
    places = back + on + 1
    window = np.repeat(np.arange(n), places)
    rank = np.arange(len(window)) - np.repeat(np.cumsum(places) - places, places)
    there = start[window] + (rank - back[window]) * pace[window]
    rows = np.concatenate(
        [
            _turned(ground, window[some], there[some], axes)
            for some in np.split(
                np.arange(len(window)), range(_AT_ONCE, len(window), _AT_ONCE)
            )
        ]
    )
    here = rows[back + np.cumsum(places) - places]
    # Several of the nearest places are of one window, the more it has.
    seen = min(max(_SEEN, -(-len(rows) // (2 * n))) * count, len(rows))
    away, found = nearest_points(cKDTree(rows), here, seen)
    one, other = np.repeat(np.arange(n), seen), window[found.ravel()]
    return _nearest_of_pairs(n, one, other, away.ravel(), count)


def _turned(
    ground: Ground,
    window: NDArray[np.int64],
    there: NDArray[np.int64],
    axes: NDArray[np.float64],
) -> NDArray[np.float64]:
    some = ground._replace(place=ground.place[window])
    return turn(records_at(some, there), axes)


def _nearest_of_pairs(
    n: int,
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    away: NDArray[np.float64],
    count: int,
) -> NDArray[np.int64]:
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
