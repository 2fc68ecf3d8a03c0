"""How far curves are from one another, and lines from the runs of their windows."""

import numpy as np

from trajanon._kernels.compiled import bare


@bare
def closest_couplings(ones, others, room, frechet, warping):
    """Fill in the discrete Fréchet and the DTW distance of each pair of curves.

    ``ones`` (n, a, 2) and ``others`` (n, b, 2) in a plane; ``room`` (2, b); ``frechet``,
    ``warping`` (n,).
    """
    a, b = ones.shape[1], others.shape[1]
    greatest, total = room[0], room[1]
    for pair in range(ones.shape[0]):
        for i in range(a):
            # What stood at (i - 1, j - 1), before the row is written over.
            greatest_before = total_before = 0.0
            for j in range(b):
                dx = ones[pair, i, 0] - others[pair, j, 0]
                dy = ones[pair, i, 1] - others[pair, j, 1]
                distance = np.sqrt(dx * dx + dy * dy)
                if i == 0 and j == 0:
                    way, sum_of_way = 0.0, 0.0
                elif i == 0:
                    way, sum_of_way = greatest[j - 1], total[j - 1]
                elif j == 0:
                    way, sum_of_way = greatest[j], total[j]
                else:
                    way = min(greatest[j], greatest[j - 1], greatest_before)
                    sum_of_way = min(total[j], total[j - 1], total_before)
                if i > 0:
                    greatest_before, total_before = greatest[j], total[j]
                greatest[j] = max(way, distance)
                total[j] = sum_of_way + distance
        frechet[pair] = greatest[b - 1]
        warping[pair] = total[b - 1]


@bare
def nearest_on_runs(points, first, run, lines, labels, scale, away):
    """Fill in how far the points of each window's line are from its run."""
    last, north, east = -1, 0.0, 0.0
    for window in range(len(run)):
        begin, end = first[run[window]], first[run[window] + 1]
        if run[window] != last:
            last, north, east = run[window], 0.0, 0.0
            for place in range(begin + 1, end):
                north = max(north, abs(points[place, 0] - points[place - 1, 0]))
                east = max(east, abs(points[place, 1] - points[place - 1, 1]))
        line = labels[window]
        for j in range(lines.shape[1]):
            up, right = scale[line, j, 0], scale[line, j, 1]
            step = np.sqrt((north * up) ** 2 + (east * right) ** 2)
            nearest, place = np.inf, begin
            while place < end:
                dy = (points[place, 0] - lines[line, j, 0]) * up
                dx = (points[place, 1] - lines[line, j, 1]) * right
                distance = np.sqrt(dy * dy + dx * dx)
                hops = 1.0
                if distance < nearest:
                    nearest = distance
                elif distance - nearest > step:
                    hops = min((distance - nearest) / max(step, 1e-9), end - begin)
                place += int(hops)
            away[window, j] = nearest
