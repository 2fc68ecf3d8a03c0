"""The records of windows at all their starts, for many windows."""

import numpy as np

from trajanon._kernels.compiled import kernel


@kernel
def lay_rows_at_once(ground, weights, centre, rest, first, rows):
    """Read all windows at all their starts, as `lay_rows`, several starts at once.

    In single precision, about a place near all of them: points less ``centre``, (2,), times
    ``weights``, (q, p), plus ``rest``, (q,).
    """
    axes, m = weights.shape[0], weights.shape[1] // 2
    longest = ground.most.max() + 1
    along = np.empty((2, longest + ground.stride * (m - 1)), dtype=np.float32)
    sums = np.empty((axes, longest), dtype=np.float32)
    for x in range(first.shape[0]):
        starts = ground.most[x] + 1
        for step in range(starts + ground.stride * (m - 1)):
            point = ground.points[ground.place[x] + step]
            along[0, step] = point[0] - centre[0]
            along[1, step] = point[1] - centre[1]
        for axis in range(axes):
            row = sums[axis, :starts]
            row[:] = rest[axis]
            for place in range(m):
                behind = ground.stride * place
                lat = along[0, behind : behind + starts]
                lon = along[1, behind : behind + starts]
                of_lat = weights[axis, 2 * place]
                of_lon = weights[axis, 2 * place + 1]
                for start in range(starts):
                    row[start] += of_lat * lat[start] + of_lon * lon[start]
        for start in range(starts):
            for axis in range(axes):
                rows[first[x] + start, axis] = sums[axis, start]
