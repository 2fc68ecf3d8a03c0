"""Windows that may slide on their runs: their records at any start, where they meet, and slides.

A window starts at a step of its run, counted from 0; its points are ``stride`` steps apart. Its
record, (p,), holds the coordinates of its points, lat and lon in turn, and perhaps its departure. A
"place" is the number of a point among those of all runs. x and y are windows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import keep_nearest, scalar_product, squared_distance
from trajanon._kernels.compiled import bare, inlined, kernel

SIGHT = 2  # lengths of a window that it looks ahead and back at most by itself
LOOKS = 5  # parts in which a window is compared with a record: every fifth point, and so on


class Windows(NamedTuple):
    """The n windows on their runs: one that starts at s has its run's points s, s + stride, ..."""

    points: NDArray[np.int32]  # of all runs one after another in ticks, (t, 2)
    stride: int  # from one point of a window to the next
    place: NDArray[np.int64]  # in `points`, of the first point of each window's run, (n,)
    most: NDArray[np.int64]  # last start of each window, (n,)
    before: NDArray[np.int64]  # the window before each one on its run, (n,); -1 for none
    after: NDArray[np.int64]  # the window after each one on its run, (n,); -1 for none
    apart: NDArray[np.int64]  # how far behind the start of the one before each must start, (n,)
    departure: NDArray[np.float64]  # seconds, at each point, (t,); (0,) if it does not count
    mean: NDArray[np.float64]  # subtracted from each number of a record, (p,)
    share: NDArray[np.float64]  # what the rest is multiplied by, (p,)


class Slides(NamedTuple):
    """The records of all windows at all their starts, and where each window is."""

    rows: NDArray[np.float64]  # records of each window in turn, from its first start on, (v, q)
    first: NDArray[np.int64]  # the row of each window at its first start, (n,)
    starts: NDArray[np.int64]  # how many starts each window has, (n,)
    start: NDArray[np.int64]  # where each window is, (n,)
    began: NDArray[np.int64]  # where each window was at the beginning, (n,)
    # The start where each was nearest to each neighbour then, (n, c); -1 until it is needed: few
    # moves a window draw few of its neighbours.
    meeting: NDArray[np.int32]


@bare
def read_record(windows, x, start, record):
    """Read the record of window x at a start into ``record``, (p,)."""
    numbers = 2 * (record.shape[0] // 2)
    first = windows.place[x] + start

    for lat in range(0, numbers, 2):
        lon = lat + 1
        point = windows.points[first + windows.stride * (lat // 2)]
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
def build_rows(windows, axes, record, pace, first, rows):
    """Read the records of all windows at all their starts, turned to axes, (q, p), into ``rows``.

    Starts lie a ``pace`` of steps apart; ``first``, (n,), is the row of each window at its first
    start. ``record``, (p,), is room.
    """
    for x in range(first.shape[0]):
        for start in range(windows.most[x] + 1):
            read_record(windows, x, pace * start, record)
            row = rows[first[x] + start]
            for axis in range(axes.shape[0]):
                row[axis] = scalar_product(record, axes[axis])


@bare
def find_meeting(slides, x, y):
    """Find the start at which window x is nearest to where window y was at the beginning."""
    best = slides.began[x]
    if y == x:
        return best

    met = slides.rows[slides.first[y] + slides.began[y]]
    least = np.inf
    for start in range(slides.starts[x]):
        away = squared_distance(slides.rows[slides.first[x] + start], met)
        if away < least:
            best = start
            least = away
    return best


@kernel
def compare_places(rows, window, place_now, order, borders, nearest, away):
    """Compare each window where it is with all possible starts of others that share a leaf with it.

    ``rows``, (v, q), are the records at possible starts, ``window``, (v,), says whose they are, and
    ``place_now``, (n,), which row is where each window is. ``order`` and ``borders`` are the leaves
    of a tree of the rows; ``nearest`` and ``away``, (n, c), the lists of near windows, get better.
    """
    for leaf in range(borders.shape[0] - 1):
        members = order[borders[leaf] : borders[leaf + 1]]
        owner = window[members]
        columns = rows[members].T.copy()

        distances = np.empty(members.shape[0], dtype=rows.dtype)

        for i in range(members.shape[0]):
            x = owner[i]
            if place_now[x] != members[i]:
                continue
            # Column by column, for all rows of the leaf: the processor does several at once.
            distances[:] = 0.0
            for column in columns:
                for j in range(members.shape[0]):
                    difference = column[j] - column[i]
                    distances[j] += difference * difference

            for j in range(members.shape[0]):
                if distances[j] < away[x, -1] and owner[j] != x:
                    keep_nearest(nearest[x], away[x], owner[j], distances[j])


@bare
def list_each_other(nearest, away):
    """Insert each window in the lists of the windows that its own list, (n, c), has."""
    for x in range(nearest.shape[0]):
        for rank in range(nearest.shape[1]):
            y = nearest[x, rank]
            if y >= 0 and away[x, rank] < away[y, -1]:
                keep_nearest(nearest[y], away[y], x, away[x, rank])


@bare
def sliding_change(groups, x, record):
    """Compute by how much the SSE changes when window x becomes another ``record``, (p,)."""
    group = groups.members[x].group

    along = 0.0
    apart = 0.0
    for column in range(record.shape[0]):
        step = record[column] - groups.records[x, column]
        away = groups.records[x, column] - groups.centroids[group, column]
        along += step * away
        apart += step * step
    return 2.0 * along + apart * (1.0 - 1.0 / groups.heads[group].size)


@bare
def slide(groups, x, record):
    """Change the record of window x to another, (p,); the centroid of its group follows."""
    group = groups.members[x].group
    share = 1.0 / groups.heads[group].size
    for column in range(record.shape[0]):
        step = record[column] - groups.records[x, column]
        groups.centroids[group, column] += step * share
        groups.records[x, column] = record[column]


@inlined
def slid_exchange_change(groups, x, record, z):
    """Compute by how much the SSE changes when x, as another ``record``, is exchanged with z."""
    a = groups.members[x].group
    b = groups.members[z].group

    along = 0.0
    a_apart = 0.0
    b_apart = 0.0

    for column in range(record.shape[0]):
        leaves = groups.records[x, column]
        enters = groups.records[z, column]
        a_step = enters - leaves
        b_step = record[column] - enters
        along += a_step * (leaves - groups.centroids[a, column])
        along += b_step * (enters - groups.centroids[b, column])
        a_apart += a_step * a_step
        b_apart += b_step * b_step

    change = a_apart * (1.0 - 1.0 / groups.heads[a].size)
    change += b_apart * (1.0 - 1.0 / groups.heads[b].size)
    return 2.0 * along + change


@bare
def read_mean_of_others(groups, x, mean):
    """Read the mean of the other members of the group of x, which has several, into ``mean``."""
    group = groups.members[x].group
    size = groups.heads[group].size
    for column in range(mean.shape[0]):
        centroid = groups.centroids[group, column]
        mean[column] = centroid + (centroid - groups.records[x, column]) / (size - 1)


@bare
def squares_up_to(windows, x, start, record, limit):
    """Sum the squared differences of window x at a start and a record, (p,).

    The sum ends once it is not below a limit. As points of the whole way come first, most starts
    are left after a few.
    """
    points = record.shape[0] // 2
    first = windows.place[x] + start
    total = 0.0

    if record.shape[0] > 2 * points:
        last = record.shape[0] - 1
        value = (windows.departure[first] - windows.mean[last]) * windows.share[last]
        total = (value - record[last]) ** 2

    for begin in range(LOOKS):
        if total >= limit:
            return total
        for point in range(begin, points, LOOKS):
            lat = 2 * point
            lon = lat + 1
            place = windows.points[first + windows.stride * point]
            north = (place[0] - windows.mean[lat]) * windows.share[lat] - record[lat]
            east = (place[1] - windows.mean[lon]) * windows.share[lon] - record[lon]
            total += north * north + east * east
    return total


@bare
def slide_alone(descent, windows, start, x, room):
    """Slide window x to where that gains most while the others stay; return whether it slides.

    ``room``, (2, p), is for two records.
    """
    groups = descent.groups
    size = groups.heads[groups.members[x].group].size
    if size == 1:
        return False
    (others, best) = room

    # It looks so far ahead and back, up to the windows beside it on its run.
    sight = SIGHT * windows.stride * (others.shape[0] // 2)
    first = max(0, start[x] - sight)
    last = min(windows.most[x], start[x] + sight)

    before = windows.before[x]
    after = windows.after[x]
    if before >= 0:
        first = max(first, start[before] + windows.apart[x])
    if after >= 0:
        last = min(last, start[after] - windows.apart[after])

    # The SSE changes by (1 - 1/size) of what the square of its distance to the mean of the others
    # changes by.
    read_mean_of_others(groups, x, others)
    target = start[x]
    least = squared_distance(groups.records[x], others) - descent.tiny * size / (size - 1)
    for new_start in range(first, last + 1):
        squares = squares_up_to(windows, x, new_start, others, least)
        if squares < least:
            target = new_start
            least = squares

    if target == start[x]:
        return False
    read_record(windows, x, target, best)
    slide(groups, x, best)
    start[x] = target
    return True


@bare
def slide_pass(descent, windows, start, looked, record, moves, begin, end):
    """Slide the windows begin..end - 1; return the moves made so far.

    ``looked``, (n,), is how many moves had been made when each window was last looked at: one whose
    group has not changed since stays.
    """
    groups = descent.groups
    for x in range(begin, end):
        group = groups.members[x].group
        if groups.heads[group].changed <= looked[x]:
            continue

        looked[x] = moves
        if slide_alone(descent, windows, start, x, record):
            moves += 1
            groups.heads[group].changed = moves

            # The windows beside it have other room now: they are looked at again.
            for neighbour in (windows.before[x], windows.after[x]):
                if neighbour >= 0:
                    looked[neighbour] = -1
    return moves
