"""Windows that slide on their runs: records that change, in groups that change."""

import numpy as np

from trajanon._kernels.annealing import (
    AT_ONE_HEAT,
    RARE,
    dissolve_or_create,
    draw_move,
    other_bits,
    other_member,
    some,
)
from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance
from trajanon._kernels.groups import exchange, leaving_change, may_leave, may_replace, move
from trajanon._kernels.windows import read_record

SIGHT = 2  # lengths of a window that it looks ahead and back at most by itself
_FAR = 4  # steps that it slides at most where no neighbour leads it
_LARGEST = 1_000_000  # costs of the windows of a run that are looked at together


# What a slide changes


@kernel
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
def slide(groups, x, record):
    """Let a record be another; the centroid of its group follows."""
    group = groups.labels[x]
    share = 1.0 / groups.sizes[group]
    for column in range(record.shape[0]):
        step = record[column] - groups.records[x, column]
        groups.centroids[group, column] += step * share
        groups.records[x, column] = record[column]


@kernel
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


# Slides of all windows of a run


@kernel
def cost_of_run(groups, windows, start, head, costs, record):
    """Write what each slide of each window of a run alone changes, (c, slack + 1).

    Column o is for windows that have left o steps more than they must behind them.
    """
    x, least, place = head, 0, 0
    while x >= 0:
        least += windows.apart[x]
        for slack in range(costs.shape[1]):
            costs[place, slack] = 0.0
            if least + slack != start[x]:
                read_record(windows, x, least + slack, record)
                costs[place, slack] = sliding_change(groups, x, record)
        x, place = windows.after[x], place + 1


@kernel
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


@kernel
def slide_run(groups, windows, start, head, slacks, record):
    """Slide the windows of a run; what that changes the SSE by.

    ``slacks`` are exchanged for those that lead back.
    """
    x, least, place, change = head, 0, 0, 0.0
    while x >= 0:
        least += windows.apart[x]
        before, start[x] = start[x] - least, least + slacks[place]
        read_record(windows, x, start[x], record)
        change += sliding_change(groups, x, record)
        slide(groups, x, record)
        slacks[place] = before
        x, place = windows.after[x], place + 1
    return change


@kernel
def run_changed(descent, windows, head, since):
    """Count the windows of a run; 0 if the groups of all are as they were."""
    count, changed, x = 0, False, head
    while x >= 0:
        changed = changed or descent.changed[descent.groups.labels[x]] > since
        count += 1
        x = windows.after[x]
    return count if changed else 0


@kernel
def slide_alone(groups, windows, start, x, record, best, tiny):
    """Slide a window to where that gains most while the others stay; whether it does.

    ``record`` and ``best`` are room for a record each.
    """
    sight = SIGHT * windows.stride * (record.shape[0] // 2)
    first, last = max(0, start[x] - sight), min(windows.most[x], start[x] + sight)
    before, after = windows.before[x], windows.after[x]
    if before >= 0:
        first = max(first, start[before] + windows.apart[x])
    if after >= 0:
        last = min(last, start[after] - windows.apart[after])
    target, least = start[x], -tiny
    for here in range(first, last + 1):
        read_record(windows, x, here, record)
        change = sliding_change(groups, x, record)
        if change < least:
            target, least = here, change
            for number in range(record.shape[0]):
                best[number] = record[number]
    if target == start[x]:
        return False
    slide(groups, x, best)
    start[x] = target
    return True


@kernel
def slide_together(groups, windows, start, head, count, room, record, tiny):
    """Slide all windows of a run, so many with so much room; whether that gains.

    To the starts that keep them apart, with the least sum of what each slide alone changes. That is
    exact but where two of a group slide; they go back if it is a loss.
    """
    costs = np.empty((count, room + 1))
    cost_of_run(groups, windows, start, head, costs, record)
    slacks = np.empty(count, dtype=np.int64)
    if best_slacks(costs, slacks) >= -tiny:
        return False
    if slide_run(groups, windows, start, head, slacks, record) < -tiny:
        return True
    slide_run(groups, windows, start, head, slacks, record)  # back again
    return False


@kernel
def slide_pass(descent, windows, start, looked, moves, begin, end):
    """Slide the windows of runs to where that gains most; the moves made so far.

    Of each run whose first window is from ``begin`` to ``end``: all windows together, unless there
    is too much to look at, and then one by one.
    """
    groups = descent.groups
    record = np.empty(groups.records.shape[1])
    best = np.empty_like(record)
    for head in range(begin, end):
        if windows.before[head] >= 0:
            continue
        count = run_changed(descent, windows, head, looked[head])
        if count == 0:
            continue
        looked[head] = moves
        room, x = windows.most[head], windows.after[head]
        while x >= 0:
            room -= windows.apart[x]
            x = windows.after[x]
        together = count * (room + 1) <= _LARGEST
        slid = together and slide_together(
            groups, windows, start, head, count, room, record, descent.tiny
        )
        x = head
        while x >= 0 and (count > 1 or not together):
            if slide_alone(groups, windows, start, x, record, best, descent.tiny):
                slid = True
            x = windows.after[x]
        if not slid:
            continue
        moves += 1
        x = head
        while x >= 0:
            descent.changed[groups.labels[x]] = moves
            x = windows.after[x]
    return moves


# Random moves


@kernel
def slide_to(groups, slides, x, start):
    """Slide a window to a start."""
    if start != slides.start[x]:
        slide(groups, x, slides.rows[slides.first[x] + start])
        slides.start[x] = start


@kernel
def draw_start(slides, x, y, rank, together, bits):
    """Draw a start: where a window meets a neighbour, or if together, one near its own.

    The neighbour may have slid since the two met; then the window slides as far.
    """
    start = slides.start[x]
    if bits & np.uint64(2):
        start = slides.meeting[x, rank] + slides.start[y] - slides.began[y]
    elif together:
        start += some(other_bits(bits), 2 * _FAR + 1) - _FAR
    return min(max(start, 0), slides.starts[x] - 1)


@kernel
def anneal_sliding(annealing, slides, k, count, hot, cold):
    """Try random moves of windows that may slide, while the heat falls."""
    groups, neighbours = annealing.descent.groups, annealing.descent.neighbours
    near = np.empty(neighbours.shape[1], dtype=np.int64)
    cooling = (cold / hot) ** (AT_ONE_HEAT / count)
    heat = hot
    for step in range(count):
        if step % AT_ONE_HEAT == AT_ONE_HEAT - 1:
            heat *= cooling
        x, rank, limit, bits = draw_move(annealing, heat)
        if bits < RARE:
            dissolve_or_create(annealing, x, k, limit, bits, near)
            continue
        y = neighbours[x, rank]
        target = groups.labels[y]
        start = draw_start(slides, x, y, rank, target == groups.labels[x], bits)
        record = slides.rows[slides.first[x] + start]
        if target == groups.labels[x]:
            if start != slides.start[x] and sliding_change(groups, x, record) < limit:
                slide_to(groups, slides, x, start)
        elif (
            bits & np.uint64(1) and groups.different[target] < 2 * k - 1 and may_leave(groups, x, k)
        ):
            size = groups.sizes[target]
            joining = squared_distance(record, groups.centroids[target])
            joining *= size / (size + 1.0)
            if leaving_change(groups, x) + joining < limit:
                slide_to(groups, slides, x, start)
                move(groups, x, target)
        else:
            z = other_member(groups, y, other_bits(bits))
            if (
                slid_exchange_change(groups, x, record, z) < limit
                and may_replace(groups, x, z, k)
                and may_replace(groups, z, x, k)
            ):
                slide_to(groups, slides, x, start)
                exchange(groups, x, z)
