"""The optimal cut of a path into groups: multivariate Hansen-Mukherjee (MHM).

Records are rows, (n, p), numbered from 0. A path is the order in which it meets them, (n,).
"""

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import bare


@bare
def fill_latest_starts(subjects, k, member_counts, latest):
    """Fill in ``latest``, (n,): for a group that ends at each place, the latest start, or -1.

    A group start..end is a stretch of places on the path; such a one has k different subjects.
    ``subjects``, (n,), are in the order of the path; ``member_counts``, zeros at first, is room to
    count the members of each subject.
    """
    subject_count = 0
    start = 0
    for end in range(subjects.shape[0]):
        member_counts[subjects[end]] += 1
        if member_counts[subjects[end]] == 1:
            subject_count += 1

        # The start moves up while the rest still has k subjects.
        while subject_count > k or (subject_count == k and member_counts[subjects[start]] > 1):
            member_counts[subjects[start]] -= 1
            if member_counts[subjects[start]] == 0:
                subject_count -= 1
            start += 1
        latest[end] = start if subject_count == k else -1


@bare
def mark_optimal_cut(records, path, latest, to_later, cost, best_start, is_start):
    """Mark in ``is_start``, (n,), where the groups of the optimal cut of a path start.

    A group is a stretch start..end of places on the path, and costs its SSE: the sum of the squared
    distances of all its pairs, divided by its size. ``latest`` is what `fill_latest_starts` found.
    Filled in are ``to_later``, (n,), the squared distances of a place to the later ones up to the
    present end; ``cost``, (n + 1,), the least SSE of the first 0, 1, ... places; and
    ``best_start``, (n + 1,), where the last of their groups then starts.
    """
    n = path.shape[0]
    for end in range(n):
        # A group that starts before ``earliest`` could be divided in two that keep the promise, and
        # two never lose more than one.
        earliest = 0
        if latest[end] > 0 and latest[latest[end] - 1] >= 0:
            earliest = latest[latest[end] - 1] + 1

        # The start moves down, and with it the pairs of start..end get more.
        squares_of_pairs = 0.0
        for start in range(end, earliest - 1, -1):
            if start < end:
                to_later[start] += squared_distance(records[path[start]], records[path[end]])
            squares_of_pairs += to_later[start]
            if start <= latest[end]:
                total = cost[start] + squares_of_pairs / (end - start + 1)
                if total < cost[end + 1]:
                    cost[end + 1] = total
                    best_start[end + 1] = start

    # From the end of the path back, each best start is the end of the group before.
    end = n
    while end > 0:
        end = best_start[end]
        is_start[end] = True
