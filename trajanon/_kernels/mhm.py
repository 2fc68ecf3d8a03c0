"""The optimal cut of a path into consecutive groups: MHM's dynamic programme."""

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare


@bare
def fill_latest_starts(subjects, k, held, latest):
    """For each end of a group on the path, the latest start that gives k subjects, -1 for none.

    ``held`` is 0 for each subject.
    """
    different = 0
    start = 0
    for end in range(subjects.shape[0]):
        held[subjects[end]] += 1
        if held[subjects[end]] == 1:
            different += 1
        # Shrink from the left while the rest still has k subjects.
        while different > k or (different == k and held[subjects[start]] > 1):
            held[subjects[start]] -= 1
            if held[subjects[start]] == 0:
                different -= 1
            start += 1
        latest[end] = start if different == k else -1


@bare
def mark_optimal_cut(records, path, latest, to_later, cost, best_start, starts):
    """Mark the start of each optimal group on the path, from the latest starts, (n,).

    ``to_later``, (n,), sums squared distances of a record to those behind it, from 0; ``cost`` is
    of the first records of the path, grouped best, (n + 1,), infinite but of none; ``best_start``,
    (n + 1,), and ``starts``, (n,), are 0.
    """
    n = path.shape[0]
    for end in range(n):
        earliest = 0
        if latest[end] > 0 and latest[latest[end] - 1] >= 0:
            earliest = latest[latest[end] - 1] + 1
        pairs = 0.0
        for start in range(end, earliest - 1, -1):
            if start < end:
                to_later[start] += squared_distance(records[path[start]], records[path[end]])
            pairs += to_later[start]
            if start <= latest[end]:
                total = cost[start] + pairs / (end - start + 1)
                if total < cost[end + 1]:
                    cost[end + 1] = total
                    best_start[end + 1] = start
    end = n
    while end > 0:
        end = best_start[end]
        starts[end] = True
