"""Windows that slide on their runs: records that change, in groups that change."""

from trajanon._kernels.compiled import bare, inlined
from trajanon._kernels.window_records import read_record

SIGHT = 2  # lengths of a window that it looks ahead and back at most by itself


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
def slide_alone(descent, windows, start, x, record):
    """Slide a window to where that gains most while the others stay; whether it does.

    There is room for two records.
    """
    groups, (here, best) = descent.groups, record
    sight = SIGHT * windows.stride * (here.shape[0] // 2)
    first, last = max(0, start[x] - sight), min(windows.most[x], start[x] + sight)
    before, after = windows.before[x], windows.after[x]
    if before >= 0:
        first = max(first, start[before] + windows.apart[x])
    if after >= 0:
        last = min(last, start[after] - windows.apart[after])
    target, least = start[x], -descent.tiny
    for there in range(first, last + 1):
        read_record(windows, x, there, here)
        change = sliding_change(groups, x, here)
        if change < least:
            target, least = there, change
            for number in range(here.shape[0]):
                best[number] = here[number]
    if target == start[x]:
        return False
    slide(groups, x, best)
    start[x] = target
    return True


@bare
def slide_pass(descent, windows, start, looked, record, moves, begin, end):
    """Slide the windows of the range; the moves made so far."""
    labels = descent.groups.labels
    for x in range(begin, end):
        if descent.changed[labels[x]] <= looked[x]:
            continue
        looked[x] = moves
        if slide_alone(descent, windows, start, x, record):
            moves += 1
            descent.changed[labels[x]] = moves
            for near in (windows.before[x], windows.after[x]):  # they have other room now
                if near >= 0:
                    looked[near] = -1
    return moves
