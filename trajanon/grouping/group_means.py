"""The members of each group, and their mean."""

from threading import Event

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.threads_and_dask import in_parts
from trajanon.grouping.standardised_records import RECORDS_PER_SUM


def members_of_groups(labels: Ints) -> list[Ints]:
    """List the members of each group 0..g-1, as row numbers, rising."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def group_means(records: Floats, labels: Ints, weights: Floats | None = None) -> Floats:
    """Average the records of each group, plainly or by weights, (n,), that add up to 1 in each.

    Returns the means, (g, p).
    """
    if len(labels) == 0:
        return records[:0].copy()

    # All row numbers group by group, and the place in that order at which each group begins.
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    begin = np.cumsum(sizes) - sizes
    means = np.empty((len(sizes), records.shape[1]))

    def average(groups: Ints, stop: Event) -> None:
        """Fill in the means of groups that follow one another."""
        first_group = groups[0]
        part = slice(first_group, groups[-1] + 1)
        members = order[begin[first_group] : begin[groups[-1]] + sizes[groups[-1]]]

        # Subtract the first member of its group from each: sums far from zero lose precision.
        origins = records[order[begin[part]]]
        from_origin = records[members] - origins[labels[members] - first_group]
        if weights is not None:
            from_origin *= weights[members, None]

        # Sums of the rows from where each group begins up to the next one.
        sums = np.add.reduceat(from_origin, begin[part] - begin[first_group], axis=0)
        if weights is None:
            sums /= sizes[part, None]
        means[part] = origins + sums

    members_per_group = max(len(order) // len(sizes), 1)
    in_parts(average, np.arange(len(sizes)), max(RECORDS_PER_SUM // members_per_group, 1))
    return means
