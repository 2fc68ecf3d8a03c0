"""Missing values, as a search for groups sees them."""

from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.tables.moments import columns_of

GAP_COST = 3.0
"""What a gap beside values costs a search, in squared standard deviations: about as much as values
that cannot be written, because fewer than k are left."""

_DISTANCES_PER_BLOCK = 4_000_000


class Searched(NamedTuple):
    """Records without gaps, and how much their columns count."""

    records: Floats  # (n, p + q): the q last columns mark the gaps of columns that have some
    importance: Floats | None  # (p + q,)


def without_gaps(records: Floats, importance: Floats | None, k: int) -> Searched:
    """Fill gaps by the nearest rows, and mark them, so that rows with equal gaps are near."""
    missing = np.isnan(records)
    gappy = np.flatnonzero(missing.any(axis=0))
    if not len(gappy):
        return Searched(records, importance)

    filled = records.copy()
    for column in gappy:
        if missing[:, column].all():
            filled[:, column] = 0.0
            continue
        rows = np.flatnonzero(missing[:, column])
        filled[rows, column] = _nearest_means(records, rows, int(column), k)

    # Standardised, a mark would count as much as a column however rare gaps are.
    share = missing[:, gappy].mean(axis=0)
    counts = np.ones(records.shape[1]) if importance is None else importance
    of_marks = GAP_COST * share * (1.0 - share) * counts[gappy]
    marks = missing[:, gappy].astype(np.float64)
    return Searched(np.hstack([filled, marks]), np.append(counts, of_marks))


def _nearest_means(records: Floats, rows: Ints, column: int, k: int) -> Floats:
    """Average the values that the k nearest rows have in a column, for each of some rows."""
    columns = columns_of(records)
    present = ~np.isnan(records)
    holders = np.flatnonzero(present[:, column])
    nearest = min(k, len(holders))

    means = np.empty(len(rows))
    block = max(_DISTANCES_PER_BLOCK // len(holders), 1)
    for begin in range(0, len(rows), block):
        some = rows[begin : begin + block]
        away = gower(columns.standardised, present, some, holders)
        near = np.argpartition(away, nearest - 1, axis=1)[:, :nearest]
        means[begin : begin + block] = records[holders[near], column].mean(axis=1)
    return means


def gower(standard: Floats, present: Bools, rows: Ints, others: Ints) -> Floats:
    """Square the distances of rows to others, over the columns that both have, per column.

    ``standard`` has 0 where a value is missing. Source: Gower (Biometrics 27, 1971).
    """
    has = present.astype(np.float64)
    both = np.einsum("ik,jk->ij", has[rows], has[others])
    squares = np.einsum("ik,jk->ij", standard[rows] ** 2, has[others])
    squares += np.einsum("ik,jk->ij", has[rows], standard[others] ** 2)
    squares -= 2.0 * np.einsum("ik,jk->ij", standard[rows], standard[others])
    return np.where(both > 0.0, squares / np.maximum(both, 1.0), np.inf)
