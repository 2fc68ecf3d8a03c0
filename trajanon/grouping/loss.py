"""Standardised records, and what a partition of them loses."""

from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.settings import HEAVIEST
from trajanon.common.workers import in_parts

_AT_ONCE = 10_000  # records that a thread sums up: of larger tables, in parts


def standardise(X: ArrayLike, weights: Floats | None = None) -> Floats:
    """Give every column mean 0 and sample standard deviation 1, or the root of its weight.

    >>> standardise([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]).tolist()
    [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]
    """
    records = as_records(X)
    if len(records) > 0:
        with np.errstate(over="ignore"):
            widest = np.ptp(records, axis=0) * len(records)  # no sum of differences is larger
        if not np.isfinite(widest).all():
            column = int(np.flatnonzero(~np.isfinite(widest))[0])
            raise BadInput(f"column {column} spans more than a number can hold; use a larger unit")
    # Subtract the first record first: the mean of numbers far from zero loses digits;
    # then divide by the largest deviation: squares neither over- nor underflow.
    centred = records - records[:1]
    centred -= centred.mean(axis=0)
    constant = (records == records[:1]).all(axis=0)
    centred[:, constant] = 0.0
    unit = np.maximum(centred.max(axis=0, initial=0.0), -centred.min(axis=0, initial=0.0))
    centred /= np.where(unit > 0.0, unit, 1.0)
    squares = in_parts(lambda some, _: (some**2).sum(axis=0), centred, _AT_ONCE)
    spread = np.sqrt(np.sum(squares, axis=0) / max(len(records) - 1, 1))
    centred /= np.where(spread > 0.0, spread, 1.0)
    if weights is not None:
        centred *= np.sqrt(weights)
    return centred


def sum_of_squares(records: Floats) -> float:
    """Sum the squares of all numbers of standardised records: the SST."""
    return sum(in_parts(lambda some, _: float((some**2).sum()), records, _AT_ONCE))


def as_records(X: ArrayLike) -> Floats:
    """Take a table of finite numbers as an array of floats."""
    try:
        given = np.asarray(X)
        records = np.ascontiguousarray(given.real, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"records must be numbers, one row each: {error}") from error
    if np.iscomplexobj(given):
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
    """Take a weight for each column as an array of floats."""
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"`weights` must be {columns} numbers: {error}") from error
    inside = ((given >= 0.0) & (given <= HEAVIEST)).all() and given.any()
    if given.shape != (columns,) or not inside:
        raise BadInput(
            f"`weights` must be {columns} numbers from 0 to {HEAVIEST:g}, one of them above 0 "
            f"(got {given.tolist()})"
        )
    return given


def group_means(records: Floats, labels: Ints, weights: Floats | None = None) -> Floats:
    """Average the records of each group, plainly or by weights, (n,), that add up to 1 in each."""
    if len(labels) == 0:
        return records[:0].copy()
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    first = np.cumsum(sizes) - sizes
    many = max(_AT_ONCE // max(len(order) // len(sizes), 1), 1)
    means = np.empty((len(sizes), records.shape[1]))

    def average(some: Ints, stop: Event) -> None:
        start, behind = some[0], some[-1] + 1
        members = order[first[start] : first[behind - 1] + sizes[behind - 1]]
        origin = records[order[first[start:behind]]]
        # Subtract one member first: sums far from zero lose precision.
        away = records[members] - origin[labels[members] - start]
        if weights is not None:
            away *= weights[members, None]
        total = np.add.reduceat(away, first[start:behind] - first[start], axis=0)
        if weights is None:
            total /= sizes[start:behind, None]
        means[start:behind] = origin + total

    in_parts(average, np.arange(len(sizes)), many)
    return means


def sse(records: Floats, labels: Ints, weights: Floats | None = None) -> float:
    """Sum of squared distances of the records to the means of their groups, as in `group_means`."""
    means = group_means(records, labels, weights)

    def lost(rows: Ints, stop: Event) -> float:
        some = slice(rows[0], rows[-1] + 1)
        return float(((records[some] - means[labels[some]]) ** 2).sum())

    return sum(in_parts(lost, np.arange(len(records)), _AT_ONCE))


def sse_of_groups(records: Floats, labels: Ints, unit: Floats | float = 1.0) -> Floats:
    """Sum up, group by group, the squared distances to its mean, (g,), in units of each column."""
    means = group_means(records, labels)

    def squares(rows: Ints, stop: Event) -> Any:
        return (((records[rows] - means[labels[rows]]) / unit) ** 2).sum(axis=1)

    lost = np.zeros(len(means))
    parts = in_parts(squares, np.arange(len(records)), _AT_ONCE)
    np.add.at(lost, labels, np.concatenate(parts))
    return lost


def sums_of_products(records: Floats) -> Floats:
    """Sum the products of each two columns, (p, p), alike on any number of cores."""
    # In a fixed order, which a library of matrices does not keep.
    parts = in_parts(lambda some, _: np.einsum("ij,ik->jk", some, some), records, _AT_ONCE)
    return np.asarray(np.sum(parts, axis=0))


def information_loss(sse: float, sst: float) -> float:
    """IL = 100 SSE / SST in percent; 0 where all records are equal."""
    return 100.0 * sse / sst if sst > 0.0 else 0.0


def loss_to(records: Floats, released: Floats, labels: Ints) -> float:
    """IL in percent of records, or trajectories, released as their groups' lines, means or not."""
    records, released = (rows.reshape(len(rows), -1) for rows in (records, released))

    def lost(some: slice) -> Floats:
        moved: Floats = released[labels[some]] - records[some]
        moved *= moved
        return moved

    n, (_, variance) = len(records), means_and_variances(records)
    shares = _summed(n, lost) / variance
    return information_loss(float(shares.sum()), float((n - 1) * np.isfinite(variance).sum()))


def means_and_variances(records: Floats) -> tuple[Floats, Floats]:
    """Average each column, and its squared deviations; infinite where all records are equal."""
    n = len(records)
    mean = _summed(n, lambda some: records[some]) / n
    variance = _summed(n, lambda some: np.square(records[some] - mean)) / (n - 1)
    return mean, np.where((records != records[:1]).any(axis=0), variance, np.inf)


def _summed(n: int, rows: Callable[[slice], Floats]) -> Floats:
    """Sum n rows, some at a time for memory: each sum goes on from the last, as one would."""
    total: Floats = rows(slice(0, 1))[0]
    for start in range(1, n, _AT_ONCE):
        total = np.vstack([total, rows(slice(start, start + _AT_ONCE))]).sum(axis=0)
    return total
