"""The likeliest way over a map, of a trip observed with correlated noise."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare

NEAREST, FARTHEST = 0.4, 1.3  # of a hop's length, the distance of its ends
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
    """Say which noise follows at the next point on the ways to some places."""
    for place in range(start, end):
        walk.noise[place, 2] = walk.noise[place, 3] = 0.0
        before = place
        for lag in range(3):
            if before >= 0:
                walk.noise[place, 2] += factors[lag] * walk.noise[before, 0]
                walk.noise[place, 3] += factors[lag] * walk.noise[before, 1]
                before = walk.back[before]


@bare
def likeliest_ways(places, seen, white, factors, hop, walk):
    """Find the likeliest way to each place, point by point (A. Viterbi, 1967).

    Noise follows from that at the three points before by ``factors``, (m, 4), but for a variance,
    the last. ``hop`` (3,) holds the length of one, its variance as a share, and that of headings.
    """
    at, first = places.at, places.first
    for point in range(seen.shape[0]):
        start, end = first[point], first[point + 1]
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
            dx, dy = seen[point, 0] - at[j, 0], seen[point, 1] - at[j, 1]
            x = white[point, 0, 0] * dx + white[point, 0, 1] * dy
            y = white[point, 1, 0] * dx + white[point, 1, 1] * dy
            walk.noise[j, 0], walk.noise[j, 1] = x, y
            most, came = -0.5 * (x * x + y * y) / variance, -1
            if point > 0:
                ex, ey = x - walk.noise[best, 2], y - walk.noise[best, 3]
                most = walk.worth[best] - LOST - 0.5 * (ex * ex + ey * ey) / variance
                came = best
            # No term makes a way likelier, so what is behind already is left.
            hopeless = walk.worth[best] - GIVEN_UP
            for i in range(behind, start):
                if walk.worth[i] < hopeless or walk.worth[i] <= most:
                    continue
                ex, ey = x - walk.noise[i, 2], y - walk.noise[i, 3]
                worth = walk.worth[i] - 0.5 * (ex * ex + ey * ey) / variance
                if worth <= most:
                    continue
                dx, dy = at[j, 0] - at[i, 0], at[j, 1] - at[i, 1]
                far = np.sqrt(dx * dx + dy * dy)
                if far < NEAREST * hop[0] or far > FARTHEST * hop[0]:
                    continue
                here = (dx * at[j, 2] + dy * at[j, 3]) / far
                there = (dx * at[i, 2] + dy * at[i, 3]) / far
                if here < AHEAD or there < AHEAD:
                    continue
                off = far / hop[0] - 1.0
                worth -= 0.5 * (off * off / hop[1] + (2.0 - here - there) / hop[2])
                if worth > most:
                    most, came = worth, i
            walk.worth[j], walk.back[j] = most + places.worth[j], came
