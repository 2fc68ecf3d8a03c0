"""Which lines pass near the points that are known of a trajectory, and how many do."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon._kernels.chance import below
from trajanon._kernels.compiled import kernel

WORD = 64
"""Positions of a line that one number holds, a bit each."""


class Places(NamedTuple):
    """The points of all candidate lines, sorted by the cell of a grid they lie in.

    Attributes
    ----------
    where
        Latitude, longitude, and the metres of a degree north and east there, (q, 4).
    key
        Number of the cell, row by row, (q,), rising.
    line, position
        Whose point it is, and the how manieth of that line, (q,).
    corner, cell
        Degrees where the grid begins, and of a cell, (2,), as lat, lon.
    columns
        Columns of the grid.
    """

    where: NDArray[np.float64]
    key: NDArray[np.int64]
    line: NDArray[np.int64]
    position: NDArray[np.int64]
    corner: NDArray[np.float64]
    cell: NDArray[np.float64]
    columns: int


class Members(NamedTuple):
    """Whose the rows of each line are: line ``l`` has those from ``first[l]`` on.

    Attributes
    ----------
    first
        Shape (g + 1,).
    subjects
        Subject of each row, (n,), line by line.
    """

    first: NDArray[np.int64]
    subjects: NDArray[np.int64]


class Question(NamedTuple):
    """What the adversary knows.

    Attributes
    ----------
    known
        How many points of the target.
    tolerance
        Metres within which a line passes a known point.
    in_order
        Whether a line has to pass the known points one after another.
    itself
        Whether a target's own line is the target: it passes all that may be known.
    ways
        Ways to choose b of a, (p + 1, known + 1).
    sample
        Choices of points drawn for each target; 0 for all.
    """

    known: int
    tolerance: float
    in_order: bool
    itself: bool
    ways: NDArray[np.float64]
    sample: int


class Candidates(NamedTuple):
    """Lines that pass enough points of one target to be compatible with some choice.

    Attributes
    ----------
    last
        The last position at which each line passes each point of the target, (c, p); -1 if it does
        not. Without an order all is at position 0.
    at
        All positions at which it does, as bits, 64 to a word: (c, p, w); none without an order.
    rows, own
        Rows of each line, and how many of them are of the target's subject, (c,).
    home
        Which is the target's own line; -1 if that is none of them.
    """

    last: NDArray[np.int16]
    at: NDArray[np.uint64]
    rows: NDArray[np.int64]
    own: NDArray[np.int64]
    home: int


@kernel
def find_key(key, wanted):
    """The first place with at least a key."""
    low, high = 0, key.shape[0]
    while low < high:
        middle = (low + high) // 2
        if key[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def passes(target, places, tolerance):
    """Pairs of a target's point, and a place within so many metres: (h, 2).

    ``target`` is like ``where`` of the places, (p, 4).
    """
    hits, found = np.empty((64, 2), dtype=np.int64), 0
    for point in range(target.shape[0]):
        row = np.int64((target[point, 0] - places.corner[0]) // places.cell[0])
        column = np.int64((target[point, 1] - places.corner[1]) // places.cell[1])
        left, right = max(column - 1, 0), min(column + 1, places.columns - 1)
        if left > right:
            continue
        for beside in range(row - 1, row + 2):
            start = find_key(places.key, beside * places.columns + left)
            last = beside * places.columns + right
            for place in range(start, places.key.shape[0]):
                if places.key[place] > last:
                    break
                where = places.where[place]
                north = (where[0] - target[point, 0]) * 0.5
                north *= where[2] + target[point, 2]
                east = (where[1] - target[point, 1]) * 0.5
                east *= where[3] + target[point, 3]
                if north * north + east * east > tolerance * tolerance:
                    continue
                if found == hits.shape[0]:
                    larger = np.empty((2 * found, 2), dtype=np.int64)
                    larger[:found] = hits
                    hits = larger
                hits[found, 0], hits[found, 1] = point, place
                found += 1
    return hits[:found]


@kernel
def candidates(hits, places, members, question, whose, scratch):
    """The lines that pass at least as many points as are known.

    ``whose`` holds the target's own line, its subject, and its number of points. ``scratch``, (g,
    2), is 0 and -1 for each line, and is so again afterwards.
    """
    home, subject, points = whose
    passed, last = scratch[:, 0], scratch[:, 1]
    lines, count = np.empty(hits.shape[0], dtype=np.int64), 0
    for hit in range(hits.shape[0]):
        point, line = hits[hit, 0], places.line[hits[hit, 1]]
        if last[line] != point:  # hits come point by point
            last[line] = point
            passed[line] += 1
            if passed[line] == question.known:
                lines[count] = line
                count += 1
    lines, number = lines[:count], last
    for hit in range(hits.shape[0]):
        line = places.line[hits[hit, 1]]
        passed[line], number[line] = 0, -1
    for count in range(lines.shape[0]):
        number[lines[count]] = count
    ordered = lines.shape[0] if question.in_order else 0
    words = (points + WORD - 1) // WORD
    at = np.zeros((ordered, points, words), dtype=np.uint64)
    latest = np.full((lines.shape[0], points), np.int16(-1), dtype=np.int16)
    for hit in range(hits.shape[0]):
        point, place = hits[hit]
        line = number[places.line[place]]
        if line >= 0 and question.in_order:
            position = places.position[place]
            bit = np.uint64(1) << np.uint64(position % WORD)
            at[line, point, position // WORD] |= bit
            latest[line, point] = max(latest[line, point], position)
        elif line >= 0:
            latest[line, point] = 0
    rows, own = np.zeros_like(lines), np.zeros_like(lines)
    for line in range(lines.shape[0]):
        for row in range(members.first[lines[line]], members.first[lines[line] + 1]):
            rows[line] += 1
            own[line] += members.subjects[row] == subject
    own_line = number[home]
    number[lines] = -1
    return Candidates(latest, at, rows, own, own_line)


@kernel
def pass_on(found, line, position, point):
    """From where a line can pass what follows, once it passed a point it does pass."""
    if found.at.shape[0] == 0:
        return 0
    bits = found.at[line, point]
    while (bits[position // WORD] >> np.uint64(position % WORD)) & np.uint64(1) == 0:
        position += 1
    return position + 1


@kernel
def all_choices(found, question):
    """What every choice of points tells: sums of chances, and the highest chance.

    A choice grows point by point, with the lines that pass all of it so far. It is given up once
    none of them has a row of the target's subject.
    """
    last, known = found.last, question.known
    count, points = last.shape
    lines = np.empty((known, count), dtype=np.int64)
    place = np.zeros((known, count), dtype=np.int64)
    left = np.zeros(known, dtype=np.int64)
    following = np.zeros(known, dtype=np.int64)
    rows, own = np.zeros(points, dtype=np.int64), np.zeros(points, dtype=np.int64)
    chance, at_home, worst = 0.0, 0.0, 0.0
    lines[0] = np.arange(count)
    left[0] = count
    depth = 0 if found.own.sum() > 0 else -1
    while depth >= 0:
        first, missing = following[depth], known - depth
        line, position = lines[depth, 0], place[depth, 0]
        passes_all = question.itself and line == found.home
        if left[depth] == 1 and (passes_all or not question.in_order):
            open_points = 0
            for point in range(first, points):
                open_points += last[line, point] >= position
            ways = question.ways[open_points, missing]
            if ways > 0.0:
                share = found.own[line] / found.rows[line]
                chance += ways * share
                at_home += ways * (line == found.home)
                worst = max(worst, share)
            depth -= 1
        elif missing == 1:
            rows[:], own[:] = 0, 0
            home = points
            for entry in range(left[depth]):
                line, position = lines[depth, entry], place[depth, entry]
                many, theirs = found.rows[line], found.own[line]
                for point in range(first, points):
                    if last[line, point] >= position:
                        rows[point] += many
                        own[point] += theirs
                if line == found.home:
                    home = position
            for point in range(first, points):
                if own[point] > 0:
                    share = own[point] / rows[point]
                    chance += share
                    worst = max(worst, share)
                    if home < points and last[found.home, point] >= home:
                        at_home += found.rows[found.home] / rows[point]
            depth -= 1
        elif points - first < missing:
            depth -= 1
        else:
            following[depth] += 1
            kept, owned = 0, 0
            for entry in range(left[depth]):
                line, position = lines[depth, entry], place[depth, entry]
                if last[line, first] >= position:
                    lines[depth + 1, kept] = line
                    place[depth + 1, kept] = pass_on(found, line, position, first)
                    owned += found.own[line]
                    kept += 1
            if owned > 0:
                depth += 1
                left[depth], following[depth] = kept, first + 1
    return chance, at_home, worst


@kernel
def some_choices(found, question, random):
    """The same for choices drawn at random, each as likely as any other."""
    last, points = found.last, found.last.shape[1]
    chosen = np.empty(question.known, dtype=np.int64)
    chance, at_home, worst = 0.0, 0.0, 0.0
    for _ in range(question.sample):
        have = 0
        for point in range(points):
            if below(random, points - point) < question.known - have:
                chosen[have] = point
                have += 1
        rows, own, home = 0.0, 0.0, 0.0
        for line in range(found.rows.shape[0]):
            position, passed = 0, 0
            for point in chosen:
                if last[line, point] < position:
                    break
                position = pass_on(found, line, position, point)
                passed += 1
            if passed == question.known:
                rows += found.rows[line]
                own += found.own[line]
                if line == found.home:
                    home = found.rows[line]
        if own > 0.0:
            chance += own / rows
            at_home += home / rows
            worst = max(worst, own / rows)
    return chance, at_home, worst


@kernel
def ask(targets, whose, places, members, question, out):
    """Attack targets, (t, p, 4) as ``where``: mean chances, and the worst, (t, 3).

    ``whose`` holds the own line of each, its subject, and the state of its chance, (t, 3) unsigned.
    """
    points = targets.shape[1]
    scratch = np.zeros((members.first.shape[0] - 1, 2), dtype=np.int64)
    scratch[:, 1] = -1
    for target in range(targets.shape[0]):
        hits = passes(targets[target], places, question.tolerance)
        home, subject = np.int64(whose[target, 0]), np.int64(whose[target, 1])
        own = home, subject, points
        found = candidates(hits, places, members, question, own, scratch)
        if question.sample > 0:
            choices = np.float64(question.sample)
            told = some_choices(found, question, whose[target, 2:])
        else:
            choices = question.ways[points, question.known]
            told = all_choices(found, question)
        out[target, 0] = told[0] / choices
        out[target, 1] = told[1] / choices
        out[target, 2] = told[2]
