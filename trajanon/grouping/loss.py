"""Standardised records, their principal axes, and what a partition of them loses: SSE and IL.

The distance between two records is the Euclidean one of their standardised numbers. Records are
rows, (n, p); ``labels`` number the group of each, (n,), from 0. Sums over many records are made in
parts of fixed size, so that any number of threads gives the same digits.
"""

from threading import Event

import numpy as np
from numpy.typing import ArrayLike

from trajanon.common.arrays import Floats, Ints
from trajanon.common.declared_options import HEAVIEST
from trajanon.common.errors import BadInput
from trajanon.common.threads_and_dask import in_parts

_RECORDS_PER_SUM = 10_000  # a thread sums up larger tables in parts


def standardise(X: ArrayLike, weights: Floats | None = None) -> Floats:
    """Scale every column to mean 0 and sample standard deviation 1, or the root of its weight.

    >>> standardise([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    records = as_records(X)
    _refuse_wide_columns(records)

    # Subtract the first record first: the mean of numbers far from zero loses digits.
    centred = records - records[:1]
    centred -= centred.mean(axis=0)
    is_constant = (records == records[:1]).all(axis=0)
    centred[:, is_constant] = 0.0

    # Divide by the largest deviation, so that squares neither over- nor underflow.
    largest = np.maximum(centred.max(axis=0, initial=0.0), -centred.min(axis=0, initial=0.0))
    centred /= np.where(largest > 0.0, largest, 1.0)

    squares = in_parts(lambda rows, _: (rows**2).sum(axis=0), centred, _RECORDS_PER_SUM)
    deviation = np.sqrt(np.sum(squares, axis=0) / max(len(records) - 1, 1))
    centred /= np.where(deviation > 0.0, deviation, 1.0)
    if weights is not None:
        centred *= np.sqrt(weights)
    return centred


def _refuse_wide_columns(records: Floats) -> None:
    """Refuse a column in which a sum of differences may overflow."""
    if len(records) == 0:
        return

    with np.errstate(over="ignore"):
        largest_sum = np.ptp(records, axis=0) * len(records)
    too_wide = np.flatnonzero(~np.isfinite(largest_sum))
    if len(too_wide):
        raise BadInput(f"column {too_wide[0]} spans more than a number can hold; use a larger unit")


def sum_of_squares(records: Floats) -> float:
    """Sum the squares of all numbers of standardised records: the SST."""
    return sum(in_parts(lambda rows, _: float((rows**2).sum()), records, _RECORDS_PER_SUM))


def as_records(X: ArrayLike) -> Floats:
    """Convert a table of finite numbers to an array of floats."""
    try:
        table = np.asarray(X)
        records = np.ascontiguousarray(table.real, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"records must be numbers, one row each: {error}") from error

    if np.iscomplexobj(table):
        raise BadInput("records must be real numbers; got complex ones")
    if records.ndim != 2 or records.shape[1] == 0:
        raise BadInput(f"records must have shape (n, p) with p >= 1; got {records.shape}")
    if not np.isfinite(records).all():
        row, column = np.argwhere(~np.isfinite(records))[0]
        raise BadInput(
            f"record {row}, column {column} is {records[row, column]}: drop it or fill it in"
        )
    return records


def as_weights(weights: ArrayLike, columns: int) -> Floats:
    """Convert a weight for each column to an array of floats."""
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"`weights` must be {columns} numbers: {error}") from error

    in_range = ((numbers >= 0.0) & (numbers <= HEAVIEST)).all() and numbers.any()
    if numbers.shape != (columns,) or not in_range:
        raise BadInput(
            f"`weights` must be {columns} numbers from 0 to {HEAVIEST:g}, one of them above 0 "
            f"(got {numbers.tolist()})"
        )
    return numbers


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
    in_parts(average, np.arange(len(sizes)), max(_RECORDS_PER_SUM // members_per_group, 1))
    return means


def squares_to_means(records: Floats, labels: Ints) -> Floats:
    """Compute the squared distance of each record to the mean of its group, (n,)."""
    means = group_means(records, labels)

    def squares(rows: Ints, stop: Event) -> Floats:
        """Square the distances of the records in rows that follow one another."""
        part = slice(rows[0], rows[-1] + 1)  # of which numpy makes no copy
        return np.asarray(((records[part] - means[labels[part]]) ** 2).sum(axis=1))

    return np.concatenate(in_parts(squares, np.arange(len(records)), _RECORDS_PER_SUM))


def sse(records: Floats, labels: Ints) -> float:
    """Sum the squared distances of records to the means of their groups."""
    return float(squares_to_means(records, labels).sum())


def sums_of_products(records: Floats) -> Floats:
    """Sum the products of each two columns of records, (n, p): their cross-products, (p, p)."""

    # By einsum, in a fixed order, which a library of matrices does not keep.
    def products(rows: Floats, stop: Event) -> Floats:
        return np.asarray(np.einsum("ij,ik->jk", rows, rows))

    return np.asarray(np.sum(in_parts(products, records, _RECORDS_PER_SUM), axis=0))


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
    sse_to_lines = sum(in_parts(squares, np.arange(len(records)), _RECORDS_PER_SUM))
    sst = float((len(records) - 1) * np.isfinite(variance).sum())
    return information_loss(sse_to_lines, sst)


def means_and_variances(records: Floats) -> tuple[Floats, Floats]:
    """Compute the mean and the sample variance of each column, (p,); infinite if it is constant."""
    sums = in_parts(lambda rows, _: rows.sum(axis=0), records, _RECORDS_PER_SUM)
    mean = np.sum(sums, axis=0) / len(records)

    squares = in_parts(lambda rows, _: ((rows - mean) ** 2).sum(axis=0), records, _RECORDS_PER_SUM)
    variance = np.sum(squares, axis=0) / (len(records) - 1)
    return mean, np.where((records != records[:1]).any(axis=0), variance, np.inf)


def axes_and_squares(products: Floats) -> tuple[Floats, Floats]:
    """Find principal axes, and the sum of squares of the records along each, (p,), largest first.

    ``products`` are the cross-products of centred records, (p, p); each column of the axes, (p, p),
    is one axis.
    """
    # The smallest comes first, and may be below 0 by rounding.
    squares, axes = np.linalg.eigh(products)
    return axes[:, ::-1], squares[::-1].clip(0.0)


def principal_axes(records: Floats) -> Floats:
    """Find the principal axes of centred records, (n, p): in columns, (p, p), longest first."""
    return axes_and_squares(sums_of_products(records))[0]


def leading_axes(products: Floats, left_out: float) -> Floats:
    """Find the fewest principal axes, (p, q), that leave out at most ``left_out`` of the squares.

    ``products`` are the cross-products of centred records, (p, p).
    """
    # What is left out when an axis is the last one: the squares along all behind it.
    axes, squares = axes_and_squares(products)
    squares_behind = squares[::-1].cumsum()[::-1] - squares
    last = int(np.argmax(squares_behind <= left_out))  # the first that leaves out so little
    return axes[:, : last + 1]


def turn(records: Floats, axes: Floats) -> Floats:
    """Compute the coordinates of records, (n, p), along axes, (p, q), in columns: (n, q).

    Along all p axes distances stay as they are.
    """
    # Not by a library of matrices, whose sums depend on the number of its threads.
    return np.ascontiguousarray(np.einsum("ij,jk->ik", records, axes))
