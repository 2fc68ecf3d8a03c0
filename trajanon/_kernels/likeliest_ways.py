"""The likeliest way over a map, of a trip observed with correlated noise."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare, inlined

# of a hop's length, the distance of its ends
NEAREST = 0.4
FARTHEST = 1.3
AHEAD = 0.3  # cosine of what a heading may differ from a hop
LOST = 30.0  # what a hop off the map costs, as a logarithm
GIVEN_UP = 20.0  # places that are less likely than the best by so much lead nowhere


class Places(NamedTuple):
    """Where one may be at each point of a way."""

    at: NDArray[np.float64]  # place, and heading as a unit vector, (s, 4)
    worth: NDArray[np.float64]  # how likely each is by itself, as a logarithm, (s,)
    first: NDArray[np.int64]  # of each point, and all, (m + 1,)


class Walk(NamedTuple):
    """The likeliest way to each place."""

    noise: NDArray[np.float64]  # there, and expected at the next point, (s, 4)
    worth: NDArray[np.float64]  # of the way to there, as a logarithm, (s,)
    back: NDArray[np.int64]  # the place before, (s,); -1 at the first point


@bare
def expect_noise(walk, factors, place):
    """Compute which noise follows at the next point on the way to a place."""
    walk.noise[place, 2] = walk.noise[place, 3] = 0.0

    before = place
    for lag in range(3):
        if before >= 0:
            walk.noise[place, 2] += factors[lag] * walk.noise[before, 0]
            walk.noise[place, 3] += factors[lag] * walk.noise[before, 1]
            before = walk.back[before]


@inlined
def hop_cost(at, i, j, hop):
    """Compute how unlikely a hop between two places is, as a logarithm; infinite if impossible."""
    dx = at[j, 0] - at[i, 0]
    dy = at[j, 1] - at[i, 1]
    far = np.sqrt(dx * dx + dy * dy)
    if far < NEAREST * hop[0] or far > FARTHEST * hop[0]:
        return np.inf

    ahead_at_end = (dx * at[j, 2] + dy * at[j, 3]) / far
    ahead_at_start = (dx * at[i, 2] + dy * at[i, 3]) / far
    if ahead_at_end < AHEAD or ahead_at_start < AHEAD:
        return np.inf

    # Normal logarithms: of the length as a share, and of the turns at both ends.
    off = far / hop[0] - 1.0
    return 0.5 * (off * off / hop[1] + (2.0 - ahead_at_end - ahead_at_start) / hop[2])


def likeliest_ways(
    places: Places,
    seen: NDArray[np.float64],
    white: NDArray[np.float64],
    factors: NDArray[np.float64],
    hop: NDArray[np.float64],
) -> Walk:
    """Find the likeliest way to each place, point by point (A. Viterbi, 1967).

    Noise follows from that at the three points before by ``factors``, (m, 4), but for a variance,
    the last. ``hop`` (3,) holds the length of one, its variance as a share, and that of headings.
    """
    first = places.first
    count = len(places.at)
    walk = Walk(np.zeros((count, 4)), np.zeros(count), np.zeros(count, dtype=np.int64))
    seen = np.ascontiguousarray(seen)
    white = np.ascontiguousarray(white)
    for point in range(len(seen)):
        behind = first[max(point - 1, 0)]
        start = first[point]

        # Ways that are likelier so far are tried first: soon no other can be better.
        order = behind + np.argsort(-walk.worth[behind:start], kind="stable")
        here = np.array([start, first[point + 1]])
        ways_to_point(places, here, order, seen[point], white[point], factors[point], hop, walk)
    return walk


@bare
def ways_to_point(places, here, order, seen, white, factors, hop, walk):
    """Find the likeliest way to each place of a point, by way of those of the point before.

    ``order`` lists these, the likeliest first; at the first point there are none.
    """
    at = places.at
    variance = factors[3]
    for i in order:
        expect_noise(walk, factors, i)

    for j in range(here[0], here[1]):
        dx = seen[0] - at[j, 0]
        dy = seen[1] - at[j, 1]
        x = white[0, 0] * dx + white[0, 1] * dy
        y = white[1, 0] * dx + white[1, 1] * dy
        walk.noise[j, 0] = x
        walk.noise[j, 1] = y

        most = -0.5 * (x * x + y * y) / variance
        came = -1
        hopeless = -np.inf
        if len(order) > 0:
            best = order[0]
            ex = x - walk.noise[best, 2]
            ey = y - walk.noise[best, 3]
            most = walk.worth[best] - LOST - 0.5 * (ex * ex + ey * ey) / variance
            came = best
            hopeless = walk.worth[best] - GIVEN_UP

        for i in order:
            # No term makes a way likelier, so neither this one nor a later one can be better.
            if walk.worth[i] < hopeless or walk.worth[i] <= most:
                break

            ex = x - walk.noise[i, 2]
            ey = y - walk.noise[i, 3]
            worth = walk.worth[i] - 0.5 * (ex * ex + ey * ey) / variance
            if worth <= most:
                continue
            worth -= hop_cost(at, i, j, hop)
            if worth > most:
                most = worth
                came = i

        walk.worth[j] = most + places.worth[j]
        walk.back[j] = came
