"""The optimal cut of a path into consecutive groups: MHM's dynamic programme."""

import numpy as np

from trajanon._kernels.common import squared_distance
from trajanon._kernels.compiled import kernel


@kernel
def latest_starts(subjects, k):
    """For each end of a group on the path, the latest start that gives k subjects, -1 for none."""
    n = subjects.shape[0]
    latest = np.empty(n, dtype=np.int64)
    highest = np.int64(0)
    for subject in subjects:
        highest = max(highest, subject)
    held = np.zeros(highest + 1, dtype=np.int64)
    different = 0
    start = 0
    for end in range(n):
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
    return latest


@kernel
def optimal_cut(records, path, latest):
    """Start of each optimal group on the path, as a mask, from the `latest_starts`, (n,)."""
    n = path.shape[0]
    to_later = np.zeros(n)  # squared distances of a record to those behind it
    cost = np.full(n + 1, np.inf)  # of the first records of the path, grouped best
    cost[0] = 0.0
    best_start = np.zeros(n + 1, dtype=np.int64)
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
    starts = np.zeros(n, dtype=np.bool_)
    end = n
    while end > 0:
        end = best_start[end]
        starts[end] = True
    return starts
