"""The likeliest way over a map, of a trip observed with correlated noise."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare

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
def expect_noise(walk, factors, start, end):
    """Compute which noise follows at the next point on the ways to some places."""
    for place in range(start, end):
        walk.noise[place, 2] = walk.noise[place, 3] = 0.0

        before = place
        for lag in range(3):
            if before >= 0:
                walk.noise[place, 2] += factors[lag] * walk.noise[before, 0]
                walk.noise[place, 3] += factors[lag] * walk.noise[before, 1]
                before = walk.back[before]


@bare
def hop_cost(start, end, hop):
    """Compute how unlikely a hop between two places is, as a logarithm; infinite if impossible."""
    dx = end[0] - start[0]
    dy = end[1] - start[1]
    far = np.sqrt(dx * dx + dy * dy)
    if far < NEAREST * hop[0] or far > FARTHEST * hop[0]:
        return np.inf

    ahead_at_end = (dx * end[2] + dy * end[3]) / far
    ahead_at_start = (dx * start[2] + dy * start[3]) / far
    if ahead_at_end < AHEAD or ahead_at_start < AHEAD:
        return np.inf

    off = far / hop[0] - 1.0
    return 0.5 * (off * off / hop[1] + (2.0 - ahead_at_end - ahead_at_start) / hop[2])


@bare
def likeliest_ways(places, seen, white, factors, hop, walk):
    """Find the likeliest way to each place, point by point (A. Viterbi, 1967).

    Noise follows from that at the three points before by ``factors``, (m, 4), but for a variance,
    the last. ``hop`` (3,) holds the length of one, its variance as a share, and that of headings.
    """
    at = places.at
    first = places.first
    for point in range(seen.shape[0]):
        start = first[point]
        end = first[point + 1]
        variance = factors[point, 3]
        behind = first[max(point - 1, 0)]

        best = -1
        if point > 0:
            expect_noise(walk, factors[point], behind, start)
            best = behind
            for i in range(behind, start):
                if walk.worth[i] > walk.worth[best]:
                    best = i

        for j in range(start, end):
            dx = seen[point, 0] - at[j, 0]
            dy = seen[point, 1] - at[j, 1]
            x = white[point, 0, 0] * dx + white[point, 0, 1] * dy
            y = white[point, 1, 0] * dx + white[point, 1, 1] * dy
            walk.noise[j, 0] = x
            walk.noise[j, 1] = y

            most = -0.5 * (x * x + y * y) / variance
            came = -1
            if point > 0:
                ex = x - walk.noise[best, 2]
                ey = y - walk.noise[best, 3]
                most = walk.worth[best] - LOST - 0.5 * (ex * ex + ey * ey) / variance
                came = best

            # No term makes a way likelier, so what is behind already is left.
            hopeless = walk.worth[best] - GIVEN_UP
            for i in range(behind, start):
                if walk.worth[i] < hopeless or walk.worth[i] <= most:
                    continue

                ex = x - walk.noise[i, 2]
                ey = y - walk.noise[i, 3]
                worth = walk.worth[i] - 0.5 * (ex * ex + ey * ey) / variance
                if worth <= most:
                    continue
                worth -= hop_cost(at[i], at[j], hop)
                if worth > most:
                    most = worth
                    came = i

            walk.worth[j] = most + places.worth[j]
            walk.back[j] = came
