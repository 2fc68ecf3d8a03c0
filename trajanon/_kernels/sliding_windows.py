"""Windows that may slide: their records wherever they start, their meetings, and slides."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import keep_nearest, squared_distance
from trajanon._kernels.compiled import bare, inlined, kernel


class Windows(NamedTuple):
    """Where windows may slide: one at s has its run's points s, s + stride, ..., and departure."""

    points: NDArray[np.int32]  # of all runs one after another in ticks, (t, 2)
    stride: int  # from one point of a window to the next
    place: NDArray[np.int64]  # of the first point of each window's run, (n,)
    most: NDArray[np.int64]  # last start of each window, (n,)
    before: NDArray[np.int64]  # the window before each one on its run, (n,); -1 for none
    after: NDArray[np.int64]  # the window after each one on its run, (n,); -1 for none
    apart: NDArray[np.int64]  # how far behind the start of the one before each must start, (n,)
    departure: NDArray[np.float64]  # seconds, at each point, (t,); (0,) if it does not count
    mean: NDArray[np.float64]  # subtracted from each number of a record, (p,)
    share: NDArray[np.float64]  # what the rest is multiplied by, (p,)


class Slides(NamedTuple):
    """The records of all windows at all their starts, and where each window is."""

    rows: NDArray[np.float64]  # of each window after the other, from its first start on, (v, q)
    first: NDArray[np.int64]  # row of each window, (n,)
    starts: NDArray[np.int64]  # how many each window has, (n,)
    start: NDArray[np.int64]  # of each window, (n,)
    began: NDArray[np.int64]  # the starts of all at the beginning, (n,)
    # Start where each was nearest to each neighbour then, (n, c); -1 until it is asked for: few
    # moves a window draw few of its neighbours.
    meeting: NDArray[np.int32]


@bare
def read_record(windows, x, start, record):
    """Read the record of a window at a start."""
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
    """Read all windows at all their starts, which lie a pace apart, turned to axes, (q, p).

    The record is room for one.
    """
    for x in range(first.shape[0]):
        for start in range(windows.most[x] + 1):
            read_record(windows, x, pace * start, record)
            row = rows[first[x] + start]
            for axis in range(axes.shape[0]):
                along = record.dtype.type(0)
                for number in range(record.shape[0]):
                    along += record[number] * axes[axis, number]
                row[axis] = along


@bare
def find_meeting(slides, x, y):
    """Find the start where a window was nearest to another at the beginning."""
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
    """Compare each window where it is with the places, (v, q), that share a leaf with it."""
    for leaf in range(borders.shape[0] - 1):
        members = order[borders[leaf] : borders[leaf + 1]]
        owner = window[members]
        columns = rows[members].T.copy()

        distances = np.empty(members.shape[0], dtype=rows.dtype)

        for i in range(members.shape[0]):
            x = owner[i]
            if place_now[x] != members[i]:
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
def list_each_other(nearest, away):
    """Insert each window in the lists of those in its own, (n, c)."""
    for x in range(nearest.shape[0]):
        for rank in range(nearest.shape[1]):
            y = nearest[x, rank]
            if y >= 0 and away[x, rank] < away[y, -1]:
                keep_nearest(nearest[y], away[y], x, away[x, rank])


SIGHT = 2  # lengths of a window that it looks ahead and back at most by itself


@bare
def sliding_change(groups, x, record):
    """Compute what a record's group changes by with the record being another."""
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
    """Change a record to another; the centroid of its group follows."""
    group = groups.members[x].group
    share = 1.0 / groups.heads[group].size
    for column in range(record.shape[0]):
        step = record[column] - groups.records[x, column]
        groups.centroids[group, column] += step * share
        groups.records[x, column] = record[column]


@inlined
def slid_exchange_change(groups, x, record, z):
    """Compute what exchanging two records of different groups changes, x being another."""
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
def slide_alone(descent, windows, start, x, record):
    """Slide a window to where that gains most while the others stay; return whether it does."""
    groups = descent.groups
    (trial, best) = record

    sight = SIGHT * windows.stride * (trial.shape[0] // 2)
    first = max(0, start[x] - sight)
    last = min(windows.most[x], start[x] + sight)

    before = windows.before[x]
    after = windows.after[x]
    if before >= 0:
        first = max(first, start[before] + windows.apart[x])
    if after >= 0:
        last = min(last, start[after] - windows.apart[after])

    target = start[x]
    least = -descent.tiny
    for new_start in range(first, last + 1):
        read_record(windows, x, new_start, trial)
        change = sliding_change(groups, x, trial)
        if change < least:
            target = new_start
            least = change
            for number in range(trial.shape[0]):
                best[number] = trial[number]

    if target == start[x]:
        return False
    slide(groups, x, best)
    start[x] = target
    return True


@bare
def slide_pass(descent, windows, start, looked, record, moves, begin, end):
    """Slide the windows of the range; return the moves made so far."""
    groups = descent.groups
    for x in range(begin, end):
        group = groups.members[x].group
        if groups.heads[group].changed <= looked[x]:
            continue

        looked[x] = moves
        if slide_alone(descent, windows, start, x, record):
            moves += 1
            groups.heads[group].changed = moves

            # They have other room now.
            for neighbour in (windows.before[x], windows.after[x]):
                if neighbour >= 0:
                    looked[neighbour] = -1
    return moves
