"""Which lines pass near the points known of a trajectory, and whose rows they hold."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import below
from trajanon._kernels.compiled import kernel


class SortedLines(NamedTuple):
    """All g lines, of p points each, and the subjects of their rows."""

    # Latitude, longitude, metres of a degree north and east there, and seconds, (g, p, 5).
    points: NDArray[np.float64]
    where: NDArray[np.float64]  # the same, sorted by the cell of a grid they lie in, (g p, 5)
    cell: NDArray[np.int64]  # number of the cell of each of these, row by row, (g p,), rising
    line: NDArray[np.int64]  # line of each of these, (g p,)
    position: NDArray[np.int64]  # and its position on the line, (g p,)
    corner: NDArray[np.float64]  # degrees where the grid begins, (2,), as lat, lon
    side: NDArray[np.float64]  # degrees of a cell, (2,)
    columns: int  # of the grid
    first: NDArray[np.int64]  # line ``l`` has the rows from first[l] to first[l + 1], (g + 1,)
    subjects: NDArray[np.int64]  # of each row, (n,), line by line


class Known(NamedTuple):
    """What the adversary knows of a target."""

    points: int  # how many of its points
    tolerance: float  # metres within which a line passes a known point
    in_order: bool  # whether a line has to pass two or more of them one after another
    sample: int  # choices of points drawn for each target; 0: all choices of 1 or 2 points
    hour: float  # seconds within which it has to be there then; infinity: whenever
    cycle: float  # seconds after which the clock begins anew; times are less apart


class Passing(NamedTuple):
    """The lines that pass near some point of one target; scratch of g lines."""

    number: NDArray[np.int64]  # place of a line in the arrays below; -1: passes no point, (g,)
    line: NDArray[np.int64]  # which line it is, (g,)
    rows: NDArray[np.int64]  # its rows, (g,)
    own: NDArray[np.int64]  # those of the target's subject, (g,)
    # First and last position at which it passes each point of the target; -1: nowhere, (g, p).
    # Without an order all is at position 0.
    earliest: NDArray[np.int16]
    latest: NDArray[np.int16]


@kernel
def near(one, other, known):
    """Whether two points are near enough, on the plane half way between them, and in time."""
    north = (other[0] - one[0]) * 0.5
    north *= other[2] + one[2]
    east = (other[1] - one[1]) * 0.5
    east *= other[3] + one[3]
    if north * north + east * east > known.tolerance * known.tolerance:
        return False
    apart = abs(other[4] - one[4])
    return min(apart, known.cycle - apart) <= known.hour


@kernel
def find_passing(target, subject, lines, known, passing):
    """Find the lines near a target's points, (p, 5), and count them and their rows."""
    count = 0
    for point in range(target.shape[0]):
        row = np.int64((target[point, 0] - lines.corner[0]) // lines.side[0])
        column = np.int64((target[point, 1] - lines.corner[1]) // lines.side[1])
        left, right = max(column - 1, 0), min(column + 1, lines.columns - 1)
        if left > right:
            continue
        for beside in range(row - 1, row + 2):
            place = np.searchsorted(lines.cell, beside * lines.columns + left)
            last = beside * lines.columns + right
            while place < lines.cell.shape[0] and lines.cell[place] <= last:
                if near(target[point], lines.where[place], known):
                    line = lines.line[place]
                    if passing.number[line] < 0:
                        passing.number[line], passing.line[count] = count, line
                        passing.latest[count] = -1
                        count += 1
                    entry = passing.number[line]
                    position = lines.position[place] * known.in_order
                    if passing.latest[entry, point] < 0:
                        passing.earliest[entry, point] = position
                    passing.earliest[entry, point] = min(passing.earliest[entry, point], position)
                    passing.latest[entry, point] = max(passing.latest[entry, point], position)
                place += 1
    for entry in range(count):
        first, end = lines.first[passing.line[entry]], lines.first[passing.line[entry] + 1]
        passing.rows[entry] = end - first
        passing.own[entry] = (lines.subjects[first:end] == subject).sum()
    return count


@kernel
def all_choices(count, home, known, passing):
    """Sums of chances over every choice of one point or of two, and the highest chance.

    For each first point, one pass over the lines that pass it counts the rows for all second ones.
    """
    points = passing.latest.shape[1]
    rows, own = np.empty(points, dtype=np.int64), np.empty(points, dtype=np.int64)
    chance, at_home, worst = 0.0, 0.0, 0.0
    for first in range(points):
        begin, end = first, first + 1  # one known point is its own second
        if known.points == 2:
            begin, end = first + 1, points
        rows[:], own[:] = 0, 0
        from_home = -1  # the position from which the target's own line may pass the second point
        for entry in range(count):
            if passing.latest[entry, first] < 0:
                continue
            position = passing.earliest[entry, first] + known.in_order
            for second in range(begin, end):
                if passing.latest[entry, second] >= position:
                    rows[second] += passing.rows[entry]
                    own[second] += passing.own[entry]
            if entry == home:
                from_home = position
        for second in range(begin, end):
            if own[second] > 0:
                share = own[second] / rows[second]
                chance += share
                worst = max(worst, share)
                if from_home >= 0 and passing.latest[home, second] >= from_home:
                    at_home += passing.rows[home] / rows[second]
    return chance, at_home, worst


@kernel
def passes(line, target, chosen, known):
    """Whether a line, (p, 5), passes the points chosen of a target one after another."""
    position = 0
    for point in chosen:
        while position < line.shape[0] and not near(target[point], line[position], known):
            position += 1
        if position == line.shape[0]:
            return False
        position += 1
    return True


@kernel
def some_choices(count, home, known, passing, target, lines, random):
    """The same for choices drawn at random, each as likely as any other."""
    points = passing.latest.shape[1]
    chosen = np.empty(known.points, dtype=np.int64)
    chance, at_home, worst = 0.0, 0.0, 0.0
    for _ in range(known.sample):
        have = 0
        for point in range(points):
            if below(random, points - point) < known.points - have:
                chosen[have] = point
                have += 1
        rows, own, own_line = 0.0, 0.0, 0.0
        for entry in range(count):
            met = 0
            while met < known.points and passing.latest[entry, chosen[met]] >= 0:
                met += 1
            if met < known.points:
                continue
            line = lines.points[passing.line[entry]]
            if known.in_order and not passes(line, target, chosen, known):
                continue
            rows += passing.rows[entry]
            own += passing.own[entry]
            if entry == home:
                own_line = passing.rows[entry]
        if own > 0.0:
            chance += own / rows
            at_home += own_line / rows
            worst = max(worst, own / rows)
    return chance, at_home, worst


@kernel
def attack_targets(targets, own_lines, subjects, states, lines, known, out):
    """Attack targets, (t, p, 5) as the points of lines: mean chances, and the worst, (t, 3).

    ``own_lines`` and ``subjects`` hold the line that stands for each and its subject, (t,);
    ``states``, (t, 1), the state of its chance.
    """
    g, points = lines.points.shape[0], targets.shape[1]
    passing = Passing(
        np.full(g, -1, dtype=np.int64),
        np.empty(g, dtype=np.int64),
        np.empty(g, dtype=np.int64),
        np.empty(g, dtype=np.int64),
        np.empty((g, points), dtype=np.int16),
        np.empty((g, points), dtype=np.int16),
    )
    for target in range(targets.shape[0]):
        count = find_passing(targets[target], subjects[target], lines, known, passing)
        home = passing.number[own_lines[target]]
        passing.number[passing.line[:count]] = -1
        if known.sample > 0:
            choices = known.sample
            random = states[target]
            found = some_choices(count, home, known, passing, targets[target], lines, random)
        else:
            choices = points * (points - 1) // 2 if known.points == 2 else points
            found = all_choices(count, home, known, passing)
        out[target, :] = found
        out[target, :2] /= choices
