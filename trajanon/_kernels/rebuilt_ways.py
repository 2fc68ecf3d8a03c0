"""The likeliest way over a map, of a trip that was observed with correlated noise.

A way has a place at each of m points of the trip: one of the places listed for that point. Of all
ways the likeliest is found by dynamic programming (Viterbi 1967). Coordinates are in metres on a
plane; how likely something is, is given as a logarithm.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare, inlined

# Shares of its expected length that a hop, from a place to one of the next point, may have.
SHORTEST_HOP = 0.4
LONGEST_HOP = 1.3
LEAST_COSINE = 0.3  # of the angle between a hop and the heading at its ends
LOST = 30.0  # what a hop off the map costs, as a logarithm
GIVEN_UP = 20.0  # ways to places that are less likely than the best by so much are not followed


class Places(NamedTuple):
    """Where the trip may be at each of its m points: s places in all, point by point."""

    poses: NDArray[np.float64]  # x, y, and the heading there as a unit vector, (s, 4)
    worth: NDArray[np.float64]  # how likely each is by itself, as a logarithm, (s,)
    first: NDArray[np.int64]  # number of the first place of each point, and s, (m + 1,)


class Hops(NamedTuple):
    """What is expected of the hops of a trip."""

    length: float  # metres
    length_variance: float  # of a hop's length as a share of that
    heading_variance: float  # of the angles between a hop and the headings at its ends


class Walk(NamedTuple):
    """The likeliest way to each place."""

    noise: NDArray[np.float64]  # x and y there, and those expected at the next point, (s, 4)
    worth: NDArray[np.float64]  # how likely the way to there is, as a logarithm, (s,)
    back: NDArray[np.int64]  # the place before, (s,); -1 at the first point


@bare
def expect_noise(walk, factors, place):
    """Compute which noise is expected after a place, by the last three points on the way there.

    ``factors``, (4,), begin with what is taken over from each of these, the last point first.
    """
    walk.noise[place, 2] = 0.0
    walk.noise[place, 3] = 0.0

    before = place
    for lag in range(3):
        if before >= 0:
            walk.noise[place, 2] += factors[lag] * walk.noise[before, 0]
            walk.noise[place, 3] += factors[lag] * walk.noise[before, 1]
            before = walk.back[before]


@inlined
def hop_cost(poses, i, j, hops):
    """Compute how unlikely a hop from place i to j is, as a logarithm; infinite if impossible."""
    dx = poses[j, 0] - poses[i, 0]
    dy = poses[j, 1] - poses[i, 1]
    metres = np.sqrt(dx * dx + dy * dy)
    if metres < SHORTEST_HOP * hops.length or metres > LONGEST_HOP * hops.length:
        return np.inf

    # Cosines of the angles between the hop and the headings at both ends.
    end_cosine = (dx * poses[j, 2] + dy * poses[j, 3]) / metres
    start_cosine = (dx * poses[i, 2] + dy * poses[i, 3]) / metres
    if end_cosine < LEAST_COSINE or start_cosine < LEAST_COSINE:
        return np.inf

    # Both the length, as a share, and the turns are normal; 1 less the cosine of a small angle is
    # half of its square.
    off = metres / hops.length - 1.0
    turns = 2.0 - end_cosine - start_cosine
    return 0.5 * (off * off / hops.length_variance + turns / hops.heading_variance)


def likeliest_ways(
    places: Places,
    seen: NDArray[np.float64],
    whitening: NDArray[np.float64],
    factors: NDArray[np.float64],
    hops: Hops,
) -> Walk:
    """Find the likeliest way to each place, point by point (A. Viterbi, 1967).

    ``seen``, (m, 2), is the trip as it was observed; what it is off a place is whitened by a
    matrix for each point, ``whitening``, (m, 2, 2). ``factors``, (m, 4), say how noise follows from
    that at the three points before, the last first, and with which variance.
    """
    first = places.first
    count = len(places.poses)
    walk = Walk(np.zeros((count, 4)), np.zeros(count), np.zeros(count, dtype=np.int64))
    seen = np.ascontiguousarray(seen)
    whitening = np.ascontiguousarray(whitening)
    for point in range(len(seen)):
        first_before = first[max(point - 1, 0)]
        worths_before = walk.worth[first_before : first[point]]

        # Ways that are likelier so far are tried first: soon no other can be better.
        likeliest_first = first_before + np.argsort(-worths_before, kind="stable")
        ways_to_point(places, point, likeliest_first, seen, whitening, factors, hops, walk)
    return walk


@bare
def ways_to_point(places, point, likeliest_first, seen, whitening, factors, hops, walk):
    """Find the likeliest way to each place of a point, by way of those of the point before.

    ``likeliest_first`` are the latter; at the first point there are none. The results are written
    to ``walk``; all else is as in `likeliest_ways`.
    """
    poses = places.poses
    variance = factors[point, 3]
    for i in likeliest_first:
        expect_noise(walk, factors[point], i)

    for j in range(places.first[point], places.first[point + 1]):
        # The noise that would put the trip where it was seen, if it was at this place.
        dx = seen[point, 0] - poses[j, 0]
        dy = seen[point, 1] - poses[j, 1]
        x = whitening[point, 0, 0] * dx + whitening[point, 0, 1] * dy
        y = whitening[point, 1, 0] * dx + whitening[point, 1, 1] * dy
        walk.noise[j, 0] = x
        walk.noise[j, 1] = y

        # A hop off the map, from the likeliest place before, is always possible.
        most = -0.5 * (x * x + y * y) / variance
        best_before = -1
        hopeless = -np.inf
        if len(likeliest_first) > 0:
            likeliest = likeliest_first[0]
            unexpected_x = x - walk.noise[likeliest, 2]
            unexpected_y = y - walk.noise[likeliest, 3]
            square = unexpected_x * unexpected_x + unexpected_y * unexpected_y
            most = walk.worth[likeliest] - LOST - 0.5 * square / variance
            best_before = likeliest
            hopeless = walk.worth[likeliest] - GIVEN_UP

        for i in likeliest_first:
            # No term makes a way likelier, so neither this one nor a later one can be better.
            if walk.worth[i] < hopeless or walk.worth[i] <= most:
                break

            unexpected_x = x - walk.noise[i, 2]
            unexpected_y = y - walk.noise[i, 3]
            square = unexpected_x * unexpected_x + unexpected_y * unexpected_y
            worth = walk.worth[i] - 0.5 * square / variance
            if worth <= most:
                continue
            worth -= hop_cost(poses, i, j, hops)
            if worth > most:
                most = worth
                best_before = i

        walk.worth[j] = most + places.worth[j]
        walk.back[j] = best_before
