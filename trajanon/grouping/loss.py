"""What a partition of standardised records loses: SSE, SST and IL; means and variances of columns.

Records are rows, (n, p); ``labels`` number the group of each, (n,), from 0. Sums over many records
are made in parts of fixed size, so that any number of threads gives the same digits.
"""

from threading import Event

import numpy as np

from trajanon._kernels.squares_to_group_means import measure_squares_to_means
from trajanon.common.arrays import Floats, Ints
from trajanon.common.threads_and_dask import in_parts
from trajanon.grouping.group_means import group_means
from trajanon.grouping.standardised_records import RECORDS_PER_SUM


def sum_of_squares(records: Floats) -> float:
    """Sum the squares of all numbers of standardised records: the SST."""
    return sum(in_parts(lambda rows, _: float((rows**2).sum()), records, RECORDS_PER_SUM))


def squares_to_means(records: Floats, labels: Ints) -> Floats:
    """Compute the squared distance of each record to the mean of its group, (n,)."""
    # A small table is done before a kernel is loaded, which plain methods do without.
    if len(records) <= RECORDS_PER_SUM:
        from_mean = records - group_means(records, labels)[labels]
        return np.asarray((from_mean**2).sum(axis=1))

    members = np.argsort(labels, kind="stable")
    begin = np.append(0, np.cumsum(np.bincount(labels)))
    squares = np.empty(len(records))

    def measure(groups: Ints, stop: Event) -> None:
        """Measure the members of groups that follow one another."""
        measure_squares_to_means(records, members, begin[groups[0] : groups[-1] + 2], squares)

    groups = np.arange(len(begin) - 1)
    members_per_group = len(records) // len(groups)
    in_parts(measure, groups, max(RECORDS_PER_SUM // members_per_group, 1))
    return squares


def sse(records: Floats, labels: Ints) -> float:
    """Sum the squared distances of records to the means of their groups."""
    return float(squares_to_means(records, labels).sum())


def information_loss(sse: float, sst: float) -> float:
    """Compute IL = 100 SSE / SST in percent; 0 where all records are equal."""
    return 100.0 * sse / sst if sst > 0.0 else 0.0


def loss_to(records: Floats, released: Floats, labels: Ints) -> float:
    """Compute the IL, percent, of records (or trajectories) released as the lines of their groups.

    ``released`` has a line for each group, (g, p) or (g, m, 2).
    """
    # In standard deviations of the originals; a column that is equal in all of them counts nothing,
    # as its variance is infinite.
    records = records.reshape(len(records), -1)
    lines = released.reshape(len(released), -1)
    _, variance = means_and_variances(records)

    def squares(rows: Ints, stop: Event) -> float:
        return float(((lines[labels[rows]] - records[rows]) ** 2 / variance).sum())

    # Each column that varies has n - 1 as its sum of squares.
    sse_to_lines = sum(in_parts(squares, np.arange(len(records)), RECORDS_PER_SUM))
    sst = float((len(records) - 1) * np.isfinite(variance).sum())
    return information_loss(sse_to_lines, sst)


def means_and_variances(records: Floats) -> tuple[Floats, Floats]:
    """Compute the mean and the sample variance of each column, (p,); infinite if it is constant."""
    sums = in_parts(lambda rows, _: rows.sum(axis=0), records, RECORDS_PER_SUM)
    mean = np.sum(sums, axis=0) / len(records)

    squares = in_parts(lambda rows, _: ((rows - mean) ** 2).sum(axis=0), records, RECORDS_PER_SUM)
    variance = np.sum(squares, axis=0) / (len(records) - 1)
    return mean, np.where((records != records[:1]).any(axis=0), variance, np.inf)
