"""Windows that slide on their runs: records that change, in groups that change."""

import numpy as np

from trajanon._kernels.compiled import bare, inlined, kernel
from trajanon._kernels.windows import read_record

SIGHT = 2  # lengths of a window that it looks ahead and back at most by itself
_LARGEST = 1_000_000  # costs of the windows of a run that are looked at together


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


@kernel
def sliding_changes(groups, windows, x, first, costs):
    """What a window's group changes by with the window at each of some starts, from the first on.

    As `sliding_change` says, for all of them at once.
    """
    group = groups.labels[x]
    share = 1.0 - 1.0 / groups.sizes[group]
    here, mean, scale = groups.records[x], windows.mean, windows.share
    away = np.empty(here.shape[0])
    for number in range(here.shape[0]):
        away[number] = 2.0 * (here[number] - groups.centroids[group, number])
    begin, count = windows.place[x] + first, costs.shape[0]
    reach = count + windows.stride * (here.shape[0] // 2 - 1)
    lats, lons = np.empty(reach), np.empty(reach)
    for step in range(reach):
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


@kernel
def windows_of_run(windows, head):
    """The windows of a run from its first one on, and the first start of each."""
    count, x = 0, head
    while x >= 0:
        x, count = windows.after[x], count + 1
    run, least = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    run[0], least[0] = head, windows.apart[head]
    for place in range(1, count):
        x = run[place] = windows.after[run[place - 1]]
        least[place] = least[place - 1] + windows.apart[x]
    return run, least


@bare
def best_slacks(costs, slacks):
    """Choose a column of each row, none before that of the row above; the least sum."""
    for place in range(costs.shape[0]):
        least = np.inf
        for slack in range(costs.shape[1]):
            if place > 0:
                costs[place, slack] += costs[place - 1, slack]
            # From here on: the least sum down to this row, up to this column.
            least = min(least, costs[place, slack])
            costs[place, slack] = least
    column = costs.shape[1] - 1
    total = costs[-1, column]
    for place in range(costs.shape[0] - 1, -1, -1):
        while column > 0 and costs[place, column - 1] == costs[place, column]:
            column -= 1
        slacks[place] = column
    return total


@bare
def slide_run(groups, windows, start, run, least, slacks, record):
    """Slide the windows of a run; what that changes the SSE by. Its ``slacks`` then lead back."""
    change = 0.0
    for place in range(run.shape[0]):
        x = run[place]
        before, start[x] = start[x] - least[place], least[place] + slacks[place]
        read_record(windows, x, start[x], record)
        change += sliding_change(groups, x, record)
        slide(groups, x, record)
        slacks[place] = before
    return change


@kernel
def slide_alone(groups, windows, start, x, record, tiny):
    """Slide a window to where that gains most while the others stay; whether it does."""
    sight = SIGHT * windows.stride * (record.shape[0] // 2)
    first, last = max(0, start[x] - sight), min(windows.most[x], start[x] + sight)
    before, after = windows.before[x], windows.after[x]
    if before >= 0:
        first = max(first, start[before] + windows.apart[x])
    if after >= 0:
        last = min(last, start[after] - windows.apart[after])
    costs = np.empty(last + 1 - first)
    sliding_changes(groups, windows, x, first, costs)
    target, least = start[x], -tiny
    for here in range(first, last + 1):
        if costs[here - first] < least:
            target, least = here, costs[here - first]
    if target == start[x]:
        return False
    read_record(windows, x, target, record)
    slide(groups, x, record)
    start[x] = target
    return True


@kernel
def slide_together(groups, windows, start, run, least, room, record, tiny):
    """Slide all windows of a run, with so much room; whether that gains.

    To the starts that keep them apart, with the least sum of what each slide alone changes. That is
    exact but where two of a group slide; they go back if it is a loss.
    """
    # What each slide of each window alone changes, (c, room + 1): column o is for windows that have
    # left o steps more than they must behind them.
    costs, slacks = np.empty((run.shape[0], room + 1)), np.empty_like(run)
    for place in range(run.shape[0]):
        x = run[place]
        sliding_changes(groups, windows, x, least[place], costs[place])
        costs[place, start[x] - least[place]] = 0.0  # where it is, but for rounding
    if best_slacks(costs, slacks) >= -tiny:
        return False
    if slide_run(groups, windows, start, run, least, slacks, record) < -tiny:
        return True
    slide_run(groups, windows, start, run, least, slacks, record)  # back again
    return False


@kernel
def slide_pass(descent, windows, start, looked, moves, begin, end):
    """Slide the windows of the runs of which the first is in the range; the moves made so far."""
    groups = descent.groups
    record = np.empty(groups.records.shape[1])
    for head in range(begin, end):
        if windows.before[head] >= 0:
            continue
        run, least = windows_of_run(windows, head)
        changed = False
        for x in run:
            changed = changed or descent.changed[groups.labels[x]] > looked[head]
        if not changed:
            continue
        looked[head] = moves
        room = windows.most[head] - least[-1]
        together = run.shape[0] * (room + 1) <= _LARGEST
        slid = together and slide_together(
            groups, windows, start, run, least, room, record, descent.tiny
        )
        if run.shape[0] > 1 or not together:
            for x in run:
                if slide_alone(groups, windows, start, x, record, descent.tiny):
                    slid = True
        if not slid:
            continue
        moves += 1
        for x in run:
            descent.changed[groups.labels[x]] = moves
    return moves
