"""How often the values of rows occur together in a table, where some may be missing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Ints, dense
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.tables.cell_numbers import Cells, is_missing, read_numbers

_PAIRS_PER_BLOCK = 30_000_000  # of values that are compared at once


class Combinations(NamedTuple):
    """The different rows of some columns."""

    of_row: Ints  # the number of each row's combination, (n,)
    codes: Ints  # the number of each value, by combination and column, (c, p); -1: it is missing

    @property
    def incomplete(self) -> Bools:
        """Mark the combinations in which a value is missing, (c,)."""
        return np.asarray((self.codes < 0).any(axis=1))


def combinations_of(columns: Sequence[Cells], separator: str | None = None) -> Combinations:
    """Number the rows of columns by their values, as these are written."""
    number: dict[tuple[str | None, ...], int] = {}
    rows = zip(*(_texts(cells, separator) for cells in columns), strict=True)
    of_row = np.array([number.setdefault(row, len(number)) for row in rows])

    codes = np.empty((len(number), len(columns)), dtype=np.int64)
    for column, texts in enumerate(zip(*number, strict=True)):
        code: dict[str | None, int] = {None: -1}
        codes[:, column] = [code.setdefault(text, len(code)) for text in texts]
    return Combinations(of_row, codes)


def _texts(cells: Cells, separator: str | None) -> list[str | None]:
    """Return the cells of a column as they are written; None where one is missing."""
    values = cells.tolist()
    texts: list[str | None] = list(map(str, values))
    if not any(map(is_missing, set(texts))):
        return texts

    # Of texts only blank ones are missing, as NA may be a country.
    numbers = read_numbers(cells, separator)
    for row in np.flatnonzero(numbers.missing).tolist():
        if numbers.hold or not isinstance(values[row], str) or not values[row].strip():
            texts[row] = None
    return texts


def occurrences(combinations: Combinations, people: Ints | None = None) -> Ints:
    """Count for each combination, (c,), the rows with its values, or the different people there.

    A missing value may be any. Of each value that is there we count the rows that hold it, too, and
    whose other values fit; the least of these counts. A combination without values tells nothing,
    and occurs as often as there are rows.

    >>> cells = [np.array([5, 5, 5, 7]), np.array([1.0, np.nan, 1.0, np.nan])]
    >>> occurrences(combinations_of(cells)).tolist()  # two rows hold 1, three hold 5, one holds 7
    [2, 3, 1]
    """
    of_row, codes = combinations
    if not combinations.incomplete.any():
        return np.bincount(of_row) if people is None else subjects_per_group(of_row, people)

    # The people of each combination, one behind the other.
    person = np.arange(len(of_row)) if people is None else dense(people)
    pairs = np.unique(of_row * len(of_row) + person)
    person = pairs % len(of_row)
    borders = np.searchsorted(pairs // len(of_row), np.arange(len(codes) + 1))

    # Combinations are compared in blocks, column by column; of each value only the rows that hold
    # it count, as a gap may be filled with anything.
    least = np.full(len(codes), len(of_row))
    block = max(_PAIRS_PER_BLOCK // codes.size, 1)
    for begin in range(0, len(codes), block):
        own = codes[begin : begin + block, None]
        fitting, other = np.nonzero(((own == codes) | (own < 0) | (codes < 0)).all(axis=2))
        fitting += begin
        for column in codes.T:
            both = (column[fitting] >= 0) & (column[other] >= 0)
            holders = other[both]
            sizes = np.diff(borders)[holders]
            first = borders[holders] - np.cumsum(sizes) + sizes
            theirs = person[np.arange(sizes.sum()) + np.repeat(first, sizes)]

            pairs = np.unique(np.repeat(fitting[both], sizes) * len(of_row) + theirs)
            holds, counts = np.unique(pairs // len(of_row), return_counts=True)
            least[holds] = np.minimum(least[holds], counts)
    return least
