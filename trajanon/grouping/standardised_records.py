"""Standardised records: every column with mean 0 and sample standard deviation 1.

The distance between two records is the Euclidean one of their standardised numbers. Records are
rows, (n, p). Sums over many records are made in parts of fixed size, so that any number of threads
gives the same digits.
"""

import numpy as np
from numpy.typing import ArrayLike

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import HEAVIEST
from trajanon.common.threads_and_dask import in_parts

RECORDS_PER_SUM = 10_000
"""A thread sums up larger tables in parts."""

LARGEST_EXPONENT = 10
"""Records farther than 2^10 from the mean are searched in a larger unit."""


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

    squares = in_parts(lambda rows, _: (rows**2).sum(axis=0), centred, RECORDS_PER_SUM)
    deviation = np.sqrt(np.sum(squares, axis=0) / max(len(records) - 1, 1))
    centred /= np.where(deviation > 0.0, deviation, 1.0)
    if weights is not None:
        centred *= np.sqrt(weights)
    return centred


def unit_of(records: Floats) -> float:
    """Return the unit in which standardised records are searched, a power of two; 1 for most.

    A search stops at gains of a fixed size. In this unit the farthest record is between a half and
    2^10 from the mean, also where columns are very light or heavy.
    """
    largest = max(records.max(), -records.min())
    _, exponent = np.frexp(largest)
    return float(2.0 ** (exponent - np.clip(exponent, 0, LARGEST_EXPONENT)))


def _refuse_wide_columns(records: Floats) -> None:
    """Refuse a column in which a sum of differences may overflow."""
    if len(records) == 0:
        return

    with np.errstate(over="ignore"):
        largest_sum = np.ptp(records, axis=0) * len(records)
    too_wide = np.flatnonzero(~np.isfinite(largest_sum))
    if len(too_wide):
        raise BadInput(f"column {too_wide[0]} spans more than a number can hold; use a larger unit")


def as_records(X: ArrayLike) -> Floats:
    """Convert a table of finite numbers to an array of floats."""
    try:
        table = np.asarray(X)
        records = np.ascontiguousarray(table.real, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"records must be numbers, one row each: {error}") from error

    if isinstance(X, np.ma.MaskedArray):
        records = np.where(np.ma.getmaskarray(X), np.nan, records)
    if table.dtype.kind in "mM":  # of dates and spans, a missing one is a number, too
        records = np.where(np.isnat(table), np.nan, records)
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
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"`weights` must be {columns} numbers: {error}") from error

    in_range = ((numbers >= 0.0) & (numbers <= HEAVIEST)).all()
    if numbers.shape != (columns,) or not in_range or numbers.max() < 1.0 / HEAVIEST:
        raise BadInput(
            f"`weights` must be {columns} numbers from 0 to {HEAVIEST:g}, one of them at least "
            f"{1.0 / HEAVIEST:g} (got {numbers.tolist()})"
        )
    return numbers
