"""Which lines pass near the points known of a trajectory, how near, and whose rows they hold."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import below
from trajanon._kernels.compiled import bare, kernel


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
    sample: int  # choices of points drawn for each target; 0: all choices of 1 or 2 points
    hour: float  # seconds within which it has to be there then; infinity: whenever
    cycle: float  # seconds after which the clock begins anew; times are less apart


class Passing(NamedTuple):
    """The lines that pass near some point of one target; scratch of g lines."""

    number: NDArray[np.int64]  # place of a line in the arrays below; -1: passes no point, (g,)
    line: NDArray[np.int64]  # which line it is, (g,)
    rows: NDArray[np.int32]  # its rows, (g,)
    own: NDArray[np.int32]  # those of the target's subject, (g,)
    # First and last position at which it passes each point of the target, and the nearest of them;
    # -1: nowhere, (g, p).
    earliest: NDArray[np.int32]
    latest: NDArray[np.int32]
    nearest: NDArray[np.int32]
    away: NDArray[np.float64]  # squared metres to the nearest of them; infinity: nowhere, (g, p)
    near: NDArray[np.int32]  # places of the lines that pass each point, point after point, (g p,)
    begin: NDArray[np.int64]  # where those of each point begin there, and end, (p + 1,)


class SecondPoints(NamedTuple):
    """What is counted for each second point of a choice, beside one first point, (p,)."""

    rows: NDArray[np.int32]  # of lines that pass both
    own: NDArray[np.int32]  # of these, those of the target's subject
    tied: NDArray[np.int32]  # rows of the nearest lines
    own_tied: NDArray[np.int32]
    best: NDArray[np.float64]  # least sum of a line with a row of the target's subject
    at_home: NDArray[np.bool_]  # whether the target's line is among the nearest
    chosen: NDArray[np.int64]  # both points, (2,)
    sums: NDArray[np.float64]  # least sums of none, one and both, (3,)


@bare
def apart(one, other, known):
    """Squared metres between two points, on the plane half way; infinity if not near enough."""
    north = (other[0] - one[0]) * 0.5
    north *= other[2] + one[2]
    east = (other[1] - one[1]) * 0.5
    east *= other[3] + one[3]
    squared = north * north + east * east
    if squared > known.tolerance * known.tolerance:
        return np.inf
    later = abs(other[4] - one[4])
    return squared if min(later, known.cycle - later) <= known.hour else np.inf


@bare
def rounding(squared):
    """Difference up to which two sums of squared distances are equal, but for rounding."""
    return 1e-6 + 1e-9 * squared


@bare
def find_passing(target, subject, lines, known, passing):
    """Find the lines near a target's points, (p, 5), and count them and their rows."""
    count = 0
    passing.begin[0] = 0
    for point in range(target.shape[0]):
        passing.begin[point + 1] = passing.begin[point]
        row = np.int64((target[point, 0] - lines.corner[0]) // lines.side[0])
        column = np.int64((target[point, 1] - lines.corner[1]) // lines.side[1])
        left, right = max(column - 2, 0), min(column + 2, lines.columns - 1)
        if left > right:
            continue
        for beside in range(row - 2, row + 3):
            place = np.searchsorted(lines.cell, beside * lines.columns + left)
            last = beside * lines.columns + right
            while place < lines.cell.shape[0] and lines.cell[place] <= last:
                away = apart(target[point], lines.where[place], known)
                if away < np.inf:
                    line = lines.line[place]
                    if passing.number[line] < 0:
                        passing.number[line], passing.line[count] = count, line
                        passing.latest[count] = -1
                        passing.away[count] = np.inf
                        count += 1
                    entry = passing.number[line]
                    position = np.int32(lines.position[place])
                    if passing.latest[entry, point] < 0:
                        passing.near[passing.begin[point + 1]] = entry
                        passing.begin[point + 1] += 1
                        passing.earliest[entry, point] = position
                    passing.earliest[entry, point] = min(passing.earliest[entry, point], position)
                    passing.latest[entry, point] = max(passing.latest[entry, point], position)
                    if away < passing.away[entry, point]:
                        passing.away[entry, point] = away
                        passing.nearest[entry, point] = position
                place += 1
    for entry in range(count):
        first, end = lines.first[passing.line[entry]], lines.first[passing.line[entry] + 1]
        passing.rows[entry] = end - first
        passing.own[entry] = 0
        for row_of_line in range(first, end):
            passing.own[entry] += lines.subjects[row_of_line] == subject
    return count


@bare
def along(line, target, chosen, known, sums):
    """Least sum of squared distances at which a line, (p, 5), passes points one after another.

    ``sums`` has room for that of none, of one, ... and of all c of them, (c + 1,).
    """
    sums[:] = np.inf
    sums[0] = 0.0
    for position in range(line.shape[0]):
        for have in range(chosen.shape[0] - 1, -1, -1):
            away = sums[have] + apart(target[chosen[have]], line[position], known)
            sums[have + 1] = min(sums[have + 1], away)
    return sums[-1]


@bare
def of_two(entry, first, second, target, lines, known, in_order, passing, second_points):
    """The same of two points that an entry passes, in any order or in their own."""
    if in_order and passing.nearest[entry, first] >= passing.nearest[entry, second]:
        second_points.chosen[0], second_points.chosen[1] = first, second
        line = lines.points[passing.line[entry]]
        return along(line, target, second_points.chosen, known, second_points.sums)
    return passing.away[entry, first] + passing.away[entry, second]


@bare
def tally(chances, own, rows, home):
    """Add the chances of one choice: of the own rows, of the target's line, and the highest."""
    if own > 0:
        chances[0] += own / rows
        chances[1] += home / rows
        chances[2] = max(chances[2], own / rows)


@bare
def earliest_after(passing, entry, first, in_order):
    """The earliest position at which an entry may pass a second point."""
    return passing.earliest[entry, first] + np.int32(1) if in_order else np.int32(0)


@bare
def all_choices(home, target, lines, known, in_order, passing, second_points, out):
    """Sums of chances over every choice of one point or of two, and the highest: (2, 3).

    For each first point, one pass over the lines that pass it counts the rows for all second ones.
    """
    points = passing.latest.shape[1]
    rows, own, tied, own_tied, best, at_home = second_points[:6]
    for first in range(points):
        begin, end = first, first + 1  # one known point is its own second
        if known.points == 2:
            begin, end = first + 1, points
        rows[:], own[:], tied[:], own_tied[:], best[:] = 0, 0, 0, 0, np.inf
        at_home[:] = False
        farthest = -1.0
        for holder in passing.near[passing.begin[first] : passing.begin[first + 1]]:
            if passing.own[holder] == 0:
                continue
            position = earliest_after(passing, holder, first, in_order)
            for second in range(begin, end):
                if passing.latest[holder, second] >= position:
                    own[second] += passing.own[holder]
                    away = of_two(
                        holder,
                        first,
                        second,
                        target,
                        lines,
                        known,
                        in_order,
                        passing,
                        second_points,
                    )
                    best[second] = min(best[second], away)
        for second in range(begin, end):
            if own[second] > 0:
                farthest = max(farthest, best[second] + rounding(best[second]))
        if farthest < 0.0:
            continue  # what else passes has no row of the target's subject
        for entry in passing.near[passing.begin[first] : passing.begin[first + 1]]:
            position = earliest_after(passing, entry, first, in_order)
            of_entry = passing.rows[entry]
            for second in range(begin, end):
                if passing.latest[entry, second] >= position:
                    rows[second] += of_entry
            if passing.away[entry, first] > farthest:
                continue
            for second in range(begin, end):
                limit = best[second] + rounding(best[second])
                least = passing.away[entry, first] + passing.away[entry, second]
                if least > limit or passing.latest[entry, second] < position:
                    continue
                away = of_two(
                    entry, first, second, target, lines, known, in_order, passing, second_points
                )
                if away < best[second] - rounding(best[second]):
                    best[second] = -np.inf  # another line is nearer
                elif away <= limit:
                    tied[second] += of_entry
                    own_tied[second] += passing.own[entry]
                    at_home[second] |= entry == home
        for second in range(begin, end):
            passes = home >= 0 and passing.latest[home, first] >= 0
            if passes:
                position = earliest_after(passing, home, first, in_order)
                passes = passing.latest[home, second] >= position
            tally(out[0], own[second], rows[second], passing.rows[home] * passes)
            if np.isfinite(best[second]):
                of_home = passing.rows[home] * at_home[second]
                tally(out[1], own_tied[second], tied[second], of_home)


@kernel
def of_choice(entry, chosen, target, lines, known, in_order, passing):
    """Least sum of squared distances at which an entry passes the points chosen; or infinity."""
    away = 0.0
    for point in chosen:
        away += passing.away[entry, point]
        if away == np.inf:
            return away
    if in_order:
        sums = np.empty(chosen.shape[0] + 1)
        return along(lines.points[passing.line[entry]], target, chosen, known, sums)
    return away


@kernel
def some_choices(count, home, target, lines, known, in_order, passing, random, out):
    """The same for choices drawn at random, each as likely as any other."""
    points = passing.latest.shape[1]
    chosen = np.empty(known.points, dtype=np.int64)
    mine, ends = np.flatnonzero(passing.own[:count]), passing.begin[1:]
    for _ in range(known.sample):
        have = 0
        for point in range(points):
            if below(random, points - point) < known.points - have:
                chosen[have] = point
                have += 1
        best = np.inf
        for holder in mine:
            best = min(best, of_choice(holder, chosen, target, lines, known, in_order, passing))
        if best == np.inf:
            continue  # what else passes has no row of the target's subject
        rows, own, of_home, tied, own_tied, tied_home = 0, 0, 0, 0, 0, 0
        nearer = False
        rarest = chosen[0]
        for point in chosen:
            if ends[point] - passing.begin[point] < ends[rarest] - passing.begin[rarest]:
                rarest = point
        for entry in passing.near[passing.begin[rarest] : ends[rarest]]:
            away = of_choice(entry, chosen, target, lines, known, in_order, passing)
            if away == np.inf:
                continue
            rows += passing.rows[entry]
            own += passing.own[entry]
            of_home += passing.rows[entry] * (entry == home)
            nearer |= away < best - rounding(best)
            if away <= best + rounding(best):
                tied += passing.rows[entry]
                own_tied += passing.own[entry]
                tied_home += passing.rows[entry] * (entry == home)
        tally(out[0], own, rows, of_home)
        if not nearer:
            tally(out[1], own_tied, tied, tied_home)


@kernel
def attack_targets(targets, own_lines, subjects, states, lines, known, orders, out):
    """Attack targets, (t, p, 5) as the points of lines: mean chances, and the worst, (o, t, 2, 3).

    First of somebody who picks among all lines that pass, then of one who picks the nearest.
    ``own_lines`` and ``subjects`` hold the line that stands for each and its subject, (t,);
    ``states``, (t, 1), the state of its chance; ``orders``, (o,), whether a line has to pass two or
    more of the known points one after another.
    """
    g, points = lines.points.shape[0], targets.shape[1]
    passing = Passing(
        np.full(g, -1, dtype=np.int64),
        np.empty(g, dtype=np.int64),
        np.empty(g, dtype=np.int32),
        np.empty(g, dtype=np.int32),
        np.empty((g, points), dtype=np.int32),
        np.empty((g, points), dtype=np.int32),
        np.empty((g, points), dtype=np.int32),
        np.empty((g, points)),
        np.empty(g * points, dtype=np.int32),
        np.empty(points + 1, dtype=np.int64),
    )
    second_points = SecondPoints(
        np.empty(points, dtype=np.int32),
        np.empty(points, dtype=np.int32),
        np.empty(points, dtype=np.int32),
        np.empty(points, dtype=np.int32),
        np.empty(points),
        np.empty(points, dtype=np.bool_),
        np.empty(2, dtype=np.int64),
        np.empty(3),
    )
    choices = points * (points - 1) // 2 if known.points == 2 else points
    if known.sample > 0:
        choices = known.sample
    out[:] = 0.0
    for target in range(targets.shape[0]):
        seen = targets[target]
        count = find_passing(seen, subjects[target], lines, known, passing)
        home = passing.number[own_lines[target]]
        passing.number[passing.line[:count]] = -1
        for number, in_order in enumerate(orders):
            found = out[number, target]
            if known.sample > 0:
                random = states[target].copy()
                some_choices(count, home, seen, lines, known, in_order, passing, random, found)
            else:
                all_choices(home, seen, lines, known, in_order, passing, second_points, found)
            for way in range(found.shape[0]):
                found[way, 0] /= choices
                found[way, 1] /= choices
