"""Missing values in a table that is microaggregated: gaps are filled, and rows regrouped.

The search needs complete records, so gaps are filled with the means of near rows. A group then has
fewer values in a column with gaps, and with fewer than k none is written: rows are moved until less
is lost by that. A missing value is NaN in records, (n, p), and 0 in standardised ones.
"""

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.tables.averages import columns_of

_DISTANCES_PER_BLOCK = 4_000_000  # in memory at once
_NEAR_ROWS = 16  # whose groups a row, or a whole group, may move to
_ROUNDS = 4  # of moves; more gain nearly nothing
_LEAST_GAIN = 1e-9  # in squared standard deviations: less is rounding


def filled(records: Floats, k: int) -> Floats:
    """Fill each gap with the mean of its column in the k nearest rows that have a value there."""
    present = ~np.isnan(records)
    if present.all():
        return records

    columns = columns_of(records)
    complete = np.where(present, records, columns.mean)
    for column in np.flatnonzero(~present.all(axis=0)):
        rows_with_value = np.flatnonzero(present[:, column])
        count = min(k, len(rows_with_value))
        if count == 0:
            continue  # a column without any value stays so

        rows = np.flatnonzero(~present[:, column])
        block = max(_DISTANCES_PER_BLOCK // len(rows_with_value), 1)
        for begin in range(0, len(rows), block):
            lacking = rows[begin : begin + block]
            away = gower(columns.standardised, present, lacking, rows_with_value)
            near = rows_with_value[np.argpartition(away, count - 1, axis=1)[:, :count]]
            complete[lacking, column] = records[near, column].mean(axis=1)
    return complete


def gower(standard: Floats, present: Bools, rows: Ints, others: Ints) -> Floats:
    """Compute the mean squared difference of rows and others over the columns that both have.

    ``rows``, (r,), and ``others``, (o,), are numbers of records; the result is (r, o), and infinite
    where two have no column in common. Source: Gower (Biometrics 27, 1971).
    """
    has = present[rows].astype(np.float64)
    others_have = present[others].astype(np.float64)
    # By einsum, in a fixed order, which a library of matrices does not keep.
    columns_of_both = np.einsum("ik,jk->ij", has, others_have)

    squares = shared_squares(standard, present, rows, others)
    return np.where(columns_of_both > 0.0, squares / np.maximum(columns_of_both, 1.0), np.inf)


def shared_squares(standard: Floats, present: Bools, rows: Ints, others: Ints) -> Floats:
    """Sum the squared differences of rows and others over the columns that both have, (r, o)."""
    # (x - y)² as x² - 2xy + y², each over the columns that both have: three products of matrices. A
    # missing value is 0 in standardised records, so xy needs no mask.
    squares = np.einsum("ik,jk->ij", standard[rows] ** 2, present[others] * 1.0)
    squares += np.einsum("ik,jk->ij", present[rows] * 1.0, standard[others] ** 2)
    squares -= 2.0 * np.einsum("ik,jk->ij", standard[rows], standard[others])
    return np.asarray(np.maximum(squares, 0.0))


def regroup_for_missing_values(
    records: Floats, complete: Floats, labels: Ints, k: int, subjects: Ints, importance: Floats
) -> Ints:
    """Move rows, and merge groups in which too few have a value, while that lowers the loss.

    A group loses the squares round the mean of the values in it, or, where they are fewer than k
    and stay unwritten, round that of the column. ``complete`` are the records without gaps, (n, p);
    ``importance`` is how much each column counts, (p,), and ``subjects`` number those of the rows,
    (n,), of which each group keeps k.
    """
    scale = np.sqrt(importance)
    # The numbers of the nearest other rows of each row, (n, _NEAR_ROWS), or of all if few.
    near = exact_neighbours(columns_of(complete).standardised * scale, _NEAR_ROWS)
    groups = _Groups(columns_of(records).standardised * scale, ~np.isnan(records), labels, k)

    # Whole groups are moved first, which merges them: a single row could not make k values.
    for _ in range(_ROUNDS):
        moves = 0
        for group in range(int(labels.max()) + 1):
            if groups.has_unwritten(group):
                moves += groups.move(np.flatnonzero(groups.labels == group), near)

        # A row may leave a group that keeps k subjects without it.
        for row in range(len(records)):
            members = np.flatnonzero(groups.labels == groups.labels[row])
            if len(np.unique(subjects[members[members != row]])) >= k:
                moves += groups.move(np.array([row]), near)
        if not moves:
            break
    return renumbered(groups.labels)


class _Groups:
    """Groups of records with gaps, and what they lose, while rows move between them.

    Values are counted here. Means are written only of k subjects, so that where subjects have
    several rows this is near to the loss, not equal.
    """

    def __init__(self, standard: Floats, present: Bools, labels: Ints, k: int) -> None:
        self.labels = labels.copy()
        self._k = k
        # Of each record and each group, by column: how many values, their sum, and that of squares.
        self._of_records = np.stack([present * 1.0, standard, standard**2])  # (3, n, p)
        self._of_groups = np.zeros((3, int(labels.max()) + 1, standard.shape[1]))
        for totals, numbers in zip(self._of_groups, self._of_records, strict=True):
            np.add.at(totals, labels, numbers)

    def has_unwritten(self, group: int) -> bool:
        """Return whether a group has values that are not written, as they are too few."""
        count = self._of_groups[0, group]
        return bool(((count > 0) & (count < self._k)).any())

    def move(self, rows: Ints, near: Ints) -> bool:
        """Move rows of one group to the group of a near row, where that lowers the loss most.

        ``near`` are the numbers of the near rows of all rows. Returned is whether rows were moved.
        """
        group = self.labels[rows[0]]
        others = np.unique(self.labels[near[rows]])
        others = others[others != group]
        if not len(others):
            return False

        moved = self._of_records[:, rows].sum(axis=1)
        of_others = self._of_groups[:, others]
        of_group = self._of_groups[:, group]
        added = self._lost(of_others + moved[:, None]) - self._lost(of_others)
        saved = self._lost(of_group) - self._lost(of_group - moved)
        best = int(added.argmin())
        if added[best] > saved - _LEAST_GAIN:
            return False

        self._of_groups[:, group] -= moved
        self._of_groups[:, others[best]] += moved
        self.labels[rows] = others[best]
        return True

    def _lost(self, totals: Floats) -> Floats:
        """Sum the squares that groups lose over columns, by their totals, (3, ..., p)."""
        count, total, squares = totals
        # Where a mean is written, the squares round it are lost; else those round the mean of the
        # column, which is 0 here.
        kept = np.where(count >= self._k, total**2 / np.maximum(count, 1.0), 0.0)
        return np.asarray((squares - kept).sum(axis=-1))
