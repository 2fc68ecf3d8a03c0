"""Slow twins of what the lower bound needs."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from naive import squared_distance

from trajanon.common.arrays import Floats


def violated_cuts(
    n: int, groups: Sequence[tuple[int, ...]], shares: Floats
) -> dict[tuple[int, ...], float]:
    """Three records of which groups hold two or more, in all more than once; by how
    much more.
    """
    excess = {
        cut: sum(
            float(share)
            for group, share in zip(groups, shares, strict=True)
            if len(set(group) & set(cut)) > 1
        )
        - 1.0
        for cut in combinations(range(n), 3)
    }
    return {cut: more for cut, more in excess.items() if more > 0.0}


def nearest_bound(records: Floats, k: int) -> float:
    """Half the squared distances of each record to its k - 1 nearest, divided by k."""
    total = 0.0
    for i, record in enumerate(records):
        to_others = [squared_distance(record, other) for j, other in enumerate(records) if j != i]
        total += float(np.sum(sorted(to_others)[: k - 1])) / (2 * k)
    return total
