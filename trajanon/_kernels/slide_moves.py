"""Windows that slide on their runs: records that change, in groups that change."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.compiled import bare, inlined
from trajanon._kernels.window_records import Windows, read_record

SIGHT = 2  # lengths of a window that it looks ahead and back at most by itself
_LARGEST = 1_000_000  # costs of the windows of a run that are looked at together


class Room(NamedTuple):
    """What a pass of slides writes on."""

    run: NDArray[np.int64]  # the windows of a run, from its first one on, (n,)
    least: NDArray[np.int64]  # the first start of each, (n,)
    slacks: NDArray[np.int64]  # how many steps behind it each starts, (n,)
    costs: NDArray[np.float64]  # what windows change the SSE by, at some starts
    lats: NDArray[np.float64]  # of the points of these
    lons: NDArray[np.float64]
    record: NDArray[np.float64]  # (p,)
    away: NDArray[np.float64]  # twice what is between a record and its centroid, (p,)


def room_for(windows: Windows) -> Room:
    """Make room for slides of windows."""
    longest, p = int(windows.most.max()) + 1, len(windows.mean)
    run, least, slacks = np.empty((3, len(windows.most)), dtype=np.int64)
    lats, lons = np.empty((2, longest + windows.stride * (p // 2)))
    costs, record, away = np.empty(max(longest, _LARGEST)), np.empty(p), np.empty(p)
    return Room(run, least, slacks, costs, lats, lons, record, away)


@bare
def sliding_change(groups, x, record):
    """What a record's group changes by with the record being another."""
    group = groups.labels[x]
    along, apart = 0.0, 0.0
    for column in range(record.shape[0]):
        step = record[column] - groups.records[x, column]
        away = groups.records[x, column] - groups.centroids[group, column]
        along += step * away
        apart += step * step
    return 2.0 * along + apart * (1.0 - 1.0 / groups.sizes[group])


@bare
def sliding_changes(groups, windows, x, first, room, costs):
    """What a window's group changes by with the window at each of some starts, from the first on.

    As `sliding_change` says, for all of them at once.
    """
    group = groups.labels[x]
    share = 1.0 - 1.0 / groups.sizes[group]
    here, mean, scale, away = groups.records[x], windows.mean, windows.share, room.away
    for number in range(here.shape[0]):
        away[number] = 2.0 * (here[number] - groups.centroids[group, number])
    begin, count = windows.place[x] + first, costs.shape[0]
    lats, lons = room.lats, room.lons
    for step in range(count + windows.stride * (here.shape[0] // 2 - 1)):
        lats[step], lons[step] = windows.points[begin + step]
    costs[:] = 0.0
    for lat in range(0, here.shape[0] - 1, 2):
        lon, behind = lat + 1, windows.stride * (lat // 2)
        norths, easts = lats[behind : behind + count], lons[behind : behind + count]
        # What does not change is read once: the loop then does several starts at once.
        lat_mean, lat_scale, lat_here, lat_away = mean[lat], scale[lat], here[lat], away[lat]
        lon_mean, lon_scale, lon_here, lon_away = mean[lon], scale[lon], here[lon], away[lon]
        for there in range(count):
            north = (norths[there] - lat_mean) * lat_scale - lat_here
            east = (easts[there] - lon_mean) * lon_scale - lon_here
            costs[there] += north * (lat_away + north * share) + east * (lon_away + east * share)
    if here.shape[0] % 2 > 0:
        for there in range(count):
            late = (windows.departure[begin + there] - mean[-1]) * scale[-1] - here[-1]
            costs[there] += late * (away[-1] + late * share)


@bare
def slide(groups, x, record):
    """Let a record be another; the centroid of its group follows."""
    group = groups.labels[x]
    share = 1.0 / groups.sizes[group]
    for column in range(record.shape[0]):
        step = record[column] - groups.records[x, column]
        groups.centroids[group, column] += step * share
        groups.records[x, column] = record[column]


@inlined
def slid_exchange_change(groups, x, record, z):
    """What exchanging two records of different groups changes, x being another."""
    a, b = groups.labels[x], groups.labels[z]
    along, a_apart, b_apart = 0.0, 0.0, 0.0
    for column in range(record.shape[0]):
        leaves, enters = groups.records[x, column], groups.records[z, column]
        a_step = enters - leaves
        b_step = record[column] - enters
        along += a_step * (leaves - groups.centroids[a, column])
        along += b_step * (enters - groups.centroids[b, column])
        a_apart += a_step * a_step
        b_apart += b_step * b_step
    change = a_apart * (1.0 - 1.0 / groups.sizes[a])
    change += b_apart * (1.0 - 1.0 / groups.sizes[b])
    return 2.0 * along + change


@bare
def windows_of_run(windows, head, room):
    """List the windows of a run from its first one on, and the first start of each; how many."""
    count, least, x = 0, 0, head
    while x >= 0:
        least += windows.apart[x]
        room.run[count], room.least[count] = x, least
        x, count = windows.after[x], count + 1
    return count


@bare
def best_slacks(costs, columns, slacks):
    """Choose a column of each row, none before that of the row above; the least sum.

    The rows of ``costs``, of so many columns, stand one after another.
    """
    for place in range(slacks.shape[0]):
        least, row = np.inf, place * columns
        for cell in range(row, row + columns):
            if place > 0:
                costs[cell] += costs[cell - columns]
            # From here on: the least sum down to this row, up to this column.
            least = min(least, costs[cell])
            costs[cell] = least
    column = columns - 1
    total = costs[slacks.shape[0] * columns - 1]
    for place in range(slacks.shape[0] - 1, -1, -1):
        row = place * columns
        while column > 0 and costs[row + column - 1] == costs[row + column]:
            column -= 1
        slacks[place] = column
    return total


@bare
def slide_run(groups, windows, start, count, room):
    """Slide the windows of a run; what that changes the SSE by. Its ``slacks`` then lead back."""
    least, slacks, record, change = room.least, room.slacks, room.record, 0.0
    for place in range(count):
        x = room.run[place]
        before, start[x] = start[x] - least[place], least[place] + slacks[place]
        read_record(windows, x, start[x], record)
        change += sliding_change(groups, x, record)
        slide(groups, x, record)
        slacks[place] = before
    return change


@bare
def slide_alone(groups, windows, start, x, room, tiny):
    """Slide a window to where that gains most while the others stay; whether it does."""
    sight = SIGHT * windows.stride * (room.record.shape[0] // 2)
    first, last = max(0, start[x] - sight), min(windows.most[x], start[x] + sight)
    before, after = windows.before[x], windows.after[x]
    if before >= 0:
        first = max(first, start[before] + windows.apart[x])
    if after >= 0:
        last = min(last, start[after] - windows.apart[after])
    costs = room.costs[: last + 1 - first]
    sliding_changes(groups, windows, x, first, room, costs)
    target, least = start[x], -tiny
    for here in range(first, last + 1):
        if costs[here - first] < least:
            target, least = here, costs[here - first]
    if target == start[x]:
        return False
    read_record(windows, x, target, room.record)
    slide(groups, x, room.record)
    start[x] = target
    return True


@bare
def slide_together(groups, windows, start, count, columns, room, tiny):
    """Slide all windows of a run, each to one of so many starts; whether that gains.

    To the starts that keep them apart, with the least sum of what each slide alone changes. That is
    exact but where two of a group slide; they go back if it is a loss.
    """
    # What each slide of each window alone changes, row by row: column o is for windows that have
    # left o steps more than they must behind them.
    for place in range(count):
        x, least = room.run[place], room.least[place]
        costs = room.costs[place * columns : (place + 1) * columns]
        sliding_changes(groups, windows, x, least, room, costs)
        costs[start[x] - least] = 0.0  # where it is, but for rounding
    if best_slacks(room.costs, columns, room.slacks[:count]) >= -tiny:
        return False
    if slide_run(groups, windows, start, count, room) < -tiny:
        return True
    slide_run(groups, windows, start, count, room)  # back again
    return False


@bare
def slide_pass(descent, windows, start, looked, room, moves, begin, end):
    """Slide the windows of the runs of which the first is in the range; the moves made so far."""
    groups = descent.groups
    for head in range(begin, end):
        if windows.before[head] >= 0:
            continue
        count = windows_of_run(windows, head, room)
        run, changed = room.run[:count], False
        for x in run:
            changed = changed or descent.changed[groups.labels[x]] > looked[head]
        if not changed:
            continue
        looked[head] = moves
        columns = windows.most[head] - room.least[count - 1] + 1
        together = count * columns <= _LARGEST
        slid = together and slide_together(
            groups, windows, start, count, columns, room, descent.tiny
        )
        if count > 1 or not together:
            for x in run:
                if slide_alone(groups, windows, start, x, room, descent.tiny):
                    slid = True
        if not slid:
            continue
        moves += 1
        for x in run:
            descent.changed[groups.labels[x]] = moves
    return moves
