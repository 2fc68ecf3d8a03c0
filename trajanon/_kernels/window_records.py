"""Windows that may slide: their records wherever they start, and who may come near whom."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import keep_nearest, squared_distance
from trajanon._kernels.compiled import bare, kernel

TILE = 16  # starts whose rows are read at once


class Windows(NamedTuple):
    """Where windows may slide, and what record a window is at each place.

    A window that starts at s is the record of its run's points s, s + stride, ...; and of its
    departure, where that counts.
    """

    points: NDArray[np.int32]  # of all runs one after another in ticks, (t, 2)
    stride: int  # from one point of a window to the next
    place: NDArray[np.int64]  # of the first point of each window's run, (n,)
    most: NDArray[np.int64]  # last start of each window, (n,)
    before: NDArray[np.int64]  # the window before each one on its run, (n,); -1 for none
    after: NDArray[np.int64]  # the window after each one on its run, (n,); -1 for none
    apart: NDArray[np.int64]  # how far behind the start of the one before each must start, (n,)
    departure: NDArray[np.float64]  # seconds, at each point, (t,); (0,) if it does not count
    mean: NDArray[np.float64]  # what is subtracted from each number of a record, (p,)
    share: NDArray[np.float64]  # what the rest is multiplied by, (p,)


class Slides(NamedTuple):
    """The records of all windows at all their starts, and where each window is."""

    rows: NDArray[np.float64]  # of each window after the other, from its first start on, (v, q)
    first: NDArray[np.int64]  # row of each window, (n,)
    starts: NDArray[np.int64]  # how many each window has, (n,)
    start: NDArray[np.int64]  # of each window, (n,)
    meeting: NDArray[np.int64]  # start where each was nearest to each neighbour, (n, c)
    began: NDArray[np.int64]  # the starts of all then, (n,)


@bare
def read_record(windows, x, start, record):
    """Read the record of a window at a start."""
    numbers = 2 * (record.shape[0] // 2)
    first = windows.place[x] + start
    for lat in range(0, numbers, 2):
        lon, point = lat + 1, windows.points[first + windows.stride * (lat // 2)]
        record[lat] = (point[0] - windows.mean[lat]) * windows.share[lat]
        record[lon] = (point[1] - windows.mean[lon]) * windows.share[lon]
    if record.shape[0] > numbers:
        value = windows.departure[first] - windows.mean[numbers]
        record[numbers] = value * windows.share[numbers]


@bare
def read_records(windows, start, records):
    """Read the records of all windows at their starts, (n, p)."""
    for x in range(start.shape[0]):
        read_record(windows, x, start[x], records[x])


@bare
def lost_in_groups(windows, start, members, first, room):
    """Sum up what windows lose in groups; the members of a group stand together, (g + 1,).

    There is ``room`` for three records.
    """
    total = 0.0
    origin, record, away = room[0], room[1], room[2]
    for group in range(first.shape[0] - 1):
        # About a member, so that nothing is lost far from zero.
        head = members[first[group]]
        read_record(windows, head, start[head], origin)
        for number in range(away.shape[0]):
            away[number] = 0.0
        for x in members[first[group] + 1 : first[group + 1]]:
            read_record(windows, x, start[x], record)
            for number in range(record.shape[0]):
                step = record[number] - origin[number]
                away[number] += step
                total += step * step
        squares = 0.0
        for step in away:
            squares += step * step
        total -= squares / (first[group + 1] - first[group])
    return total


@bare
def build_rows(windows, by_axis, record, first, rows):
    """Read all windows at all their starts, turned to axes, (q, p); with room for a record."""
    for x in range(first.shape[0]):
        for start in range(windows.most[x] + 1):
            read_record(windows, x, start, record)
            for axis in range(by_axis.shape[0]):
                total = 0.0
                for number in range(record.shape[0]):
                    total += record[number] * by_axis[axis, number]
                rows[first[x] + start, axis] = total


@bare
def build_rows_at_once(windows, weights, centre, rest, room, first, rows):
    """Read all windows at all their starts, as `build_rows`, several starts at once.

    In single precision, about a place near all of them: points less ``centre``, (2,), times
    ``weights``, plus ``rest``, (q,). The departure is less its mean. Weights are (q, p); where the
    points are odd, with those of one more, which are 0. There is ``room`` for four numbers of each
    step of the longest, and of a window and a tile more, which are finite.
    """
    axes, m = weights.shape[0], windows.mean.shape[0] // 2
    lats, lons, ones, others = room[0], room[1], room[2], room[3]
    for x in range(first.shape[0]):
        starts = windows.most[x] + 1
        # What is left of a loop that does several at once is slow: it ends beyond the last start.
        wide = (starts + TILE - 1) // TILE * TILE
        for step in range(starts + windows.stride * (m - 1)):
            point = windows.points[windows.place[x] + step]
            lats[step] = point[0] - centre[0]
            lons[step] = point[1] - centre[1]
        # Two axes and two points at once: each number read serves twice.
        for axis in range(0, axes, 2):
            twin = min(axis + 1, axes - 1)
            one, other = ones[:wide], others[:wide]
            for start in range(wide):
                one[start], other[start] = rest[axis], rest[twin]
            for place in range(0, m, 2):
                number = 2 * place
                a, b = weights[axis, number], weights[axis, number + 1]
                c, d = weights[axis, number + 2], weights[axis, number + 3]
                e, f = weights[twin, number], weights[twin, number + 1]
                g, h = weights[twin, number + 2], weights[twin, number + 3]
                here = windows.stride * place
                there = here + windows.stride
                lat, lon = lats[here : here + wide], lons[here : here + wide]
                next_lat, next_lon = lats[there : there + wide], lons[there : there + wide]
                for start in range(wide):
                    north, east = lat[start], lon[start]
                    next_north, next_east = next_lat[start], next_lon[start]
                    one[start] += a * north + b * east + c * next_north + d * next_east
                    other[start] += e * north + f * east + g * next_north + h * next_east
            for start in range(starts):
                rows[first[x] + start, axis] = one[start]
                rows[first[x] + start, twin] = other[start]
        if windows.mean.shape[0] > 2 * m:
            for start in range(starts):
                late = np.float32(windows.departure[windows.place[x] + start] - windows.mean[-1])
                for axis in range(axes):
                    rows[first[x] + start, axis] += weights[axis, -1] * late


@bare
def find_meetings(slides, neighbours):
    """Find the start where each window is nearest to each of its neighbours."""
    for x in range(neighbours.shape[0]):
        for rank in range(neighbours.shape[1]):
            y = neighbours[x, rank]
            best, least = slides.start[x], np.inf
            if y != x:
                met = slides.rows[slides.first[y] + slides.start[y]]
                for start in range(slides.starts[x]):
                    away = squared_distance(slides.rows[slides.first[x] + start], met)
                    if away < least:
                        best, least = start, away
            slides.meeting[x, rank] = best


@kernel
def compare_places(rows, window, here, order, borders, nearest, away):
    """Compare each window where it is with the places, (v, q), that share a leaf with it."""
    for leaf in range(borders.shape[0] - 1):
        members = order[borders[leaf] : borders[leaf + 1]]
        owner, columns = window[members], rows[members].T.copy()
        distances = np.empty(members.shape[0], dtype=rows.dtype)
        for i in range(members.shape[0]):
            x = owner[i]
            if here[x] != members[i]:
                continue
            # Column by column, for all places: a loop that does several at once.
            distances[:] = 0.0
            for column in columns:
                for j in range(members.shape[0]):
                    difference = column[j] - column[i]
                    distances[j] += difference * difference
            for j in range(members.shape[0]):
                if distances[j] < away[x, -1] and owner[j] != x:
                    keep_nearest(nearest[x], away[x], owner[j], distances[j])


@bare
def tell_each_other(nearest, away):
    """Insert each window in the lists of those in its own, (n, c)."""
    for x in range(nearest.shape[0]):
        for rank in range(nearest.shape[1]):
            y = nearest[x, rank]
            if y >= 0 and away[x, rank] < away[y, -1]:
                keep_nearest(nearest[y], away[y], x, away[x, rank])
