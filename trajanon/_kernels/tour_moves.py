"""2-opt and or-opt moves on a tour."""

from trajanon._kernels.compiled import kernel
from trajanon._kernels.tour import (
    TINY,
    after,
    between,
    enqueue,
    exchange_stretches,
    reverse_stretch,
)

_LONGEST_SEGMENT = 3  # records that or-opt moves together


@kernel
def two_opt_move(tour, a):
    """Link a with a near record instead of a next one; the gain, 0 if there is none."""
    for step in (1, -1):
        b = after(tour, a, step)
        from_b = between(tour, a, b)
        for i in range(tour.neighbours.shape[1]):
            c = tour.neighbours[a, i]
            if tour.near[a, i] > from_b + TINY:
                break
            d = after(tour, c, step)
            gain = from_b + between(tour, c, d) - tour.near[a, i] - between(tour, b, d)
            if gain > TINY:
                reverse_stretch(tour, b, c, step)
                for city in (a, b, c, d):
                    enqueue(tour, city)
                return gain
    return 0.0


@kernel
def place_segment(tour, a, e, c, d, step):
    """Move the segment a..e (along ``step``) between the neighbours c and d, a by c."""
    if after(tour, c, step) == d:
        # c before d: the segment keeps its direction.
        if is_reached(tour, e, c, step):
            exchange_stretches(tour, a, e, c, step)
        else:
            exchange_stretches(tour, d, after(tour, a, -step), e, step)
        return
    if is_reached(tour, e, c, step):
        # d before c, behind the segment: a..e, x..d | c becomes x..d, e..a | c.
        behind = after(tour, e, step)
        step = reverse_stretch(tour, a, d, step)
        reverse_stretch(tour, d, behind, step)
    else:
        # d | c..x, a..e becomes d | e..a, c..x.
        before = after(tour, a, -step)
        step = reverse_stretch(tour, c, e, step)
        reverse_stretch(tour, before, c, step)


@kernel
def is_reached(tour, e, c, step):
    """Whether c comes within half a tour behind e along ``step``."""
    size = tour.order.shape[0]
    ahead = (tour.position[c] - tour.position[e]) * step
    if ahead < 0:
        ahead += size
    return 2 * ahead <= size


@kernel
def or_opt_move(tour, a):
    """Move a segment that begins at a next to a near record; the gain, or 0."""
    for step in (1, -1):
        before = after(tour, a, -step)
        from_before = between(tour, before, a)
        e = a
        for _ in range(_LONGEST_SEGMENT):
            behind = after(tour, e, step)
            if behind == before or after(tour, behind, step) == before:
                break
            removed = from_before + between(tour, e, behind) - between(tour, before, behind)
            for i in range(tour.neighbours.shape[1]):
                c = tour.neighbours[a, i]
                if tour.near[a, i] > removed + TINY:
                    break
                if segment_holds(tour, a, e, c, step):
                    continue
                for side in (1, -1):
                    d = after(tour, c, side)
                    if segment_holds(tour, a, e, d, step):
                        continue
                    gain = removed + between(tour, c, d)
                    gain -= tour.near[a, i] + between(tour, e, d)
                    if gain > TINY:
                        place_segment(tour, a, e, c, d, step)
                        for city in (before, behind, a, e, c, d):
                            enqueue(tour, city)
                        return gain
            e = behind
            if e == tour.records.shape[0]:
                break
    return 0.0


@kernel
def segment_holds(tour, a, e, city, step):
    """Whether a city lies on the stretch a..e along ``step``."""
    size = tour.order.shape[0]
    length = (tour.position[e] - tour.position[a]) * step
    ahead = (tour.position[city] - tour.position[a]) * step
    if length < 0:
        length += size
    if ahead < 0:
        ahead += size
    return ahead <= length
