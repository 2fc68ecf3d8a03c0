"""Windows that share a leaf with a place where another might be."""

from trajanon._kernels.compiled import kernel
from trajanon._kernels.distance import squared_distance


@kernel
def keep_nearest(nearest, away, window, distance):
    """Insert a window in a list of the nearest, each at its least distance.

    ``away`` are their squared distances, rising; a free place holds -1.
    """
    place = away.shape[0] - 1
    for rank in range(place):
        if nearest[rank] == window:
            place = rank
            break
    if away[place] <= distance:
        return
    while place > 0 and away[place - 1] > distance:
        away[place], nearest[place] = away[place - 1], nearest[place - 1]
        place -= 1
    away[place], nearest[place] = distance, window


@kernel
def compare_places(rows, window, here, order, borders, nearest, away):
    """Compare each window where it is with the places that share a leaf with it.

    Rows are places, (v, q), each of a window, (v,); a window is at one of its places, (n,). The
    windows of the nearest places of others are kept for each, (n, c).
    """
    for leaf in range(borders.shape[0] - 1):
        members = order[borders[leaf] : borders[leaf + 1]]
        there = rows[members]
        for i in range(members.shape[0]):
            x = window[members[i]]
            if here[x] != members[i]:
                continue
            for j in range(members.shape[0]):
                y = window[members[j]]
                if y == x:
                    continue
                distance = squared_distance(there[i], there[j])
                if distance < away[x, -1]:
                    keep_nearest(nearest[x], away[x], y, distance)


@kernel
def tell_each_other(nearest, away, mutual, apart):
    """Insert each window in the lists of those in its own, (n, c).

    ``mutual`` and ``apart`` are lists as ``nearest`` and ``away``, equal at first.
    """
    for x in range(nearest.shape[0]):
        for rank in range(nearest.shape[1]):
            y = nearest[x, rank]
            if y >= 0 and away[x, rank] < apart[y, -1]:
                keep_nearest(mutual[y], apart[y], x, away[x, rank])
