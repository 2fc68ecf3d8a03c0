"""How far lines are from the runs of their windows."""

import numpy as np

from trajanon._kernels.compiled import bare


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
