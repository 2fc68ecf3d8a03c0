"""Metres from points to the nearest place on a way, which leads straight from point to point."""

import numpy as np

from trajanon._kernels.compiled import bare


@bare
def distances_to_ways(points, ways, scale, metres):
    """Fill in ``metres``, (n, m): from each point to the way in the same row.

    ``points``, (n, m, 2), and ``ways``, (n, w, 2), are latitudes and longitudes in degrees;
    ``scale``, (n, 2), is metres of a degree north and east, on a plane of each row.
    """
    for row in range(points.shape[0]):
        for point in range(points.shape[1]):
            # Metres from the point to the begin of the way's first step, and the square of those to
            # the nearest place so far.
            north = (ways[row, 0, 0] - points[row, point, 0]) * scale[row, 0]
            east = (ways[row, 0, 1] - points[row, point, 1]) * scale[row, 1]
            least_square = north * north + east * east

            for end in range(1, ways.shape[1]):
                step_north = (ways[row, end, 0] - ways[row, end - 1, 0]) * scale[row, 0]
                step_east = (ways[row, end, 1] - ways[row, end - 1, 1]) * scale[row, 1]
                step_square = step_north * step_north + step_east * step_east
                # Where the perpendicular from the point meets the step, as a share of it; beyond
                # its ends, the end. A step of no length has only one place.
                share = 0.0
                if step_square > 0.0:
                    share = -(north * step_north + east * step_east) / step_square
                share = min(max(share, 0.0), 1.0)

                # Metres from the point to there.
                foot_north = north + share * step_north
                foot_east = east + share * step_east
                foot_square = foot_north * foot_north + foot_east * foot_east
                least_square = min(least_square, foot_square)

                # The next step begins where this one ends.
                north += step_north
                east += step_east
            metres[row, point] = np.sqrt(least_square)
