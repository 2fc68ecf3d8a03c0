"""Which lines pass near the points known of a trajectory, how near, and whose rows they hold."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.common import below
from trajanon._kernels.compiled import bare


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
    near: NDArray[np.int64]  # places of the lines that pass each point, point after point, (g p,)
    begin: NDArray[np.int64]  # where those of each point begin there, and end, (p + 1,)


class SecondPoints(NamedTuple):
    """What is counted for each second point of a choice, beside one first point, (p,)."""

    rows: NDArray[np.int64]  # of lines that pass both
    own: NDArray[np.int64]  # of these, those of the target's subject
    tied: NDArray[np.int64]  # rows of the nearest lines
    own_tied: NDArray[np.int64]
    best: NDArray[np.float64]  # least sum of a line with a row of the target's subject
    at_home: NDArray[np.bool_]  # whether the target's line is among the nearest
    chosen: NDArray[np.int64]  # the points of a choice, (c,)
    sums: NDArray[np.float64]  # least sums of none, one, ... and all of them, (c + 1,)


class Trial(NamedTuple):
    """A target among the lines, and what is counted of it."""

    target: NDArray[np.float64]  # its points, as those of lines, (p, 5)
    home: int  # place of its line among those that pass; -1: does not
    in_order: bool  # whether a line has to pass the known points one after another
    points: NDArray[np.float64]  # of all lines, (g, p, 5)
    known: Known
    passing: Passing
    second_points: SecondPoints


def room_for(lines: int, points: int, known: int) -> tuple[Passing, SecondPoints]:
    """Make room for so many lines of so many points, of which so many are known."""
    rows, own = np.empty((2, lines), dtype=np.int32)
    earliest, latest, nearest = np.empty((3, lines, points), dtype=np.int32)
    away, near = np.empty((lines, points)), np.empty(lines * points, dtype=np.int64)
    number, line = np.full(lines, -1), np.empty(lines, dtype=np.int64)
    begin, chosen = np.empty(points + 1, dtype=np.int64), np.empty(known, dtype=np.int64)
    counts = np.empty((4, points), dtype=np.int64)
    best, at_home = np.empty(points), np.empty(points, dtype=np.bool_)
    return (
        Passing(number, line, rows, own, earliest, latest, nearest, away, near, begin),
        SecondPoints(
            counts[0], counts[1], counts[2], counts[3], best, at_home, chosen, np.empty(known + 1)
        ),
    )


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
def first_place(cells, number):
    """The first of cells, which rise, that has no lower number."""
    low, high = 0, cells.shape[0]
    while low < high:
        middle = (low + high) // 2
        if cells[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


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
            place = first_place(lines.cell, beside * lines.columns + left)
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
def of_two(trial, entry, first, second):
    """The same of two points that an entry passes, in any order or in their own."""
    passing, chosen = trial.passing, trial.second_points.chosen
    if trial.in_order and passing.nearest[entry, first] >= passing.nearest[entry, second]:
        chosen[0], chosen[1] = first, second
        line = trial.points[passing.line[entry]]
        return along(line, trial.target, chosen, trial.known, trial.second_points.sums)
    return passing.away[entry, first] + passing.away[entry, second]


@bare
def tally(chances, own, rows, home):
    """Add the chances of one choice: of the own rows, of the target's line, and the highest."""
    if own > 0:
        chances[0] += own / rows
        chances[1] += home / rows
        chances[2] = max(chances[2], own / rows)


@bare
def earliest_after(trial, entry, first):
    """The earliest position at which an entry may pass a second point."""
    return trial.passing.earliest[entry, first] + np.int32(1) if trial.in_order else np.int32(0)


@bare
def look_at_own(trial, first, begin, end):
    """Find what lines with a row of the target's subject are away from a first point and others.

    Returns what no line is farther from the first point than that ties with the nearest of them.
    """
    passing, (rows, own, tied, own_tied, best, at_home, _, _) = trial.passing, trial.second_points
    for second in range(begin, end):
        rows[second] = own[second] = tied[second] = own_tied[second] = 0
        best[second], at_home[second] = np.inf, False
    for holder in passing.near[passing.begin[first] : passing.begin[first + 1]]:
        if passing.own[holder] == 0:
            continue
        position = earliest_after(trial, holder, first)
        for second in range(begin, end):
            if passing.latest[holder, second] >= position:
                own[second] += passing.own[holder]
                best[second] = min(best[second], of_two(trial, holder, first, second))
    farthest = -1.0
    for second in range(begin, end):
        if own[second] > 0:
            farthest = max(farthest, best[second] + rounding(best[second]))
    return farthest


@bare
def look_at_all(trial, first, begin, end, farthest):
    """Count the rows of the lines that pass a first point and others, and of the nearest."""
    passing, (rows, _, tied, own_tied, best, at_home, _, _) = trial.passing, trial.second_points
    for entry in passing.near[passing.begin[first] : passing.begin[first + 1]]:
        position = earliest_after(trial, entry, first)
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
            away = of_two(trial, entry, first, second)
            if away < best[second] - rounding(best[second]):
                best[second] = -np.inf  # another line is nearer
            elif away <= limit:
                tied[second] += of_entry
                own_tied[second] += passing.own[entry]
                at_home[second] |= entry == trial.home


@bare
def all_choices(trial, out):
    """Sums of chances over every choice of one point or of two, and the highest: (2, 3).

    For each first point, one pass over the lines that pass it counts the rows for all second ones.
    """
    passing, second_points, home = trial.passing, trial.second_points, trial.home
    points = passing.latest.shape[1]
    for first in range(points):
        begin, end = first, first + 1  # one known point is its own second
        if trial.known.points == 2:
            begin, end = first + 1, points
        farthest = look_at_own(trial, first, begin, end)
        if farthest < 0.0:
            continue  # what else passes has no row of the target's subject
        look_at_all(trial, first, begin, end, farthest)
        for second in range(begin, end):
            passes = home >= 0 and passing.latest[home, first] >= 0
            if passes:
                passes = passing.latest[home, second] >= earliest_after(trial, home, first)
            of_home = passing.rows[home] * passes
            tally(out[0], second_points.own[second], second_points.rows[second], of_home)
            if np.isfinite(second_points.best[second]):
                of_home = passing.rows[home] * second_points.at_home[second]
                tied = second_points.tied[second]
                tally(out[1], second_points.own_tied[second], tied, of_home)


@bare
def of_choice(trial, entry):
    """Least sum of squared distances at which an entry passes the points chosen; or infinity."""
    passing, chosen, away = trial.passing, trial.second_points.chosen, 0.0
    for point in chosen:
        away += passing.away[entry, point]
        if away == np.inf:
            return away
    if trial.in_order:
        line = trial.points[passing.line[entry]]
        return along(line, trial.target, chosen, trial.known, trial.second_points.sums)
    return away


@bare
def some_choices(trial, count, random, out):
    """The same for choices drawn at random, each as likely as any other."""
    passing, home, chosen = trial.passing, trial.home, trial.second_points.chosen
    points, ends = passing.latest.shape[1], passing.begin[1:]
    for _ in range(trial.known.sample):
        have = 0
        for point in range(points):
            if below(random, points - point) < chosen.shape[0] - have:
                chosen[have] = point
                have += 1
        best = np.inf
        for holder in range(count):
            if passing.own[holder] > 0:
                best = min(best, of_choice(trial, holder))
        if best == np.inf:
            continue  # what else passes has no row of the target's subject
        rows, own, of_home, tied, own_tied, tied_home = 0, 0, 0, 0, 0, 0
        nearer = False
        rarest = chosen[0]
        for point in chosen:
            if ends[point] - passing.begin[point] < ends[rarest] - passing.begin[rarest]:
                rarest = point
        for entry in passing.near[passing.begin[rarest] : ends[rarest]]:
            away = of_choice(trial, entry)
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


@bare
def attack_targets(targets, own_lines, subjects, states, lines, known, orders, room, out):
    """Attack targets, (t, p, 5) as the points of lines: mean chances, and the worst, (o, t, 2, 3).

    First of somebody who picks among all lines that pass, then of one who picks the nearest.
    ``own_lines`` and ``subjects`` hold the line that stands for each and its subject, (t,);
    ``orders``, (o,), whether a line has to pass two or more of the known points one after another;
    ``states``, (o, t, 1), the states of their chance. ``out`` is 0 before.
    """
    passing, second_points = room
    points = targets.shape[1]
    choices = points * (points - 1) // 2 if known.points == 2 else points
    if known.sample > 0:
        choices = known.sample
    for target in range(targets.shape[0]):
        seen = targets[target]
        count = find_passing(seen, subjects[target], lines, known, passing)
        home = passing.number[own_lines[target]]
        for entry in range(count):
            passing.number[passing.line[entry]] = -1
        for number, in_order in enumerate(orders):
            trial = Trial(seen, home, in_order, lines.points, known, passing, second_points)
            found = out[number, target]
            if known.sample > 0:
                some_choices(trial, count, states[number, target], found)
            else:
                all_choices(trial, found)
            for way in range(found.shape[0]):
                found[way, 0] /= choices
                found[way, 1] /= choices
