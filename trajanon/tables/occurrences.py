"""How often the values of rows occur together in a table, where some may be missing.

This is the k of a table as an adversary sees it. A "combination" is what a row holds in the columns
looked at.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Ints, indices_of_spans, numbers_by_appearance, renumbered
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.tables.cell_numbers_and_missing import Cells, is_missing, read_numbers

_PAIRS_PER_BLOCK = 30_000_000  # of values, in all columns, that are compared at once


class Combinations(NamedTuple):
    """The c different combinations in n rows of p columns."""

    of_row: Ints  # the number of each row's combination, (n,)
    codes: Ints  # the number of each value, by combination and column, (c, p); -1: it is missing

    @property
    def incomplete(self) -> Bools:
        """Mark the combinations in which a value is missing, (c,)."""
        return np.asarray((self.codes < 0).any(axis=1))


def combinations_of(columns: Sequence[Cells], separator: str | None = None) -> Combinations:
    """Number the rows of columns by their values, as these are written."""
    number_of_row: dict[tuple[str | None, ...], int] = {}
    rows = zip(*(texts_as_written(cells, separator) for cells in columns), strict=True)
    of_row = numbers_by_appearance(rows, number_of_row)

    codes = np.empty((len(number_of_row), len(columns)), dtype=np.int64)
    # The numbers of values only tell them apart; -1 is that of a missing one.
    for column, texts in enumerate(zip(*number_of_row, strict=True)):
        codes[:, column] = numbers_by_appearance(texts, {None: -1})
    return Combinations(of_row, codes)


def texts_as_written(cells: Cells, separator: str | None) -> list[str | None]:
    """Return the cells of a column as they are written; None where one is missing."""
    values = cells.tolist()
    texts: list[str | None] = list(map(str, values))
    if not any(map(is_missing, set(texts))):
        return texts

    # In a column of numbers NA is a gap. In one of texts it may be a country, so only blanks and
    # what is no text, such as None, are gaps there.
    numbers = read_numbers(cells, separator)
    for row in np.flatnonzero(numbers.missing).tolist():
        may_be_a_value = isinstance(values[row], str) and values[row].strip()
        if numbers.are_most or not may_be_a_value:
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

    # The people of each combination, one combination after the other: those of number c are
    # persons[borders[c] : borders[c + 1]]. A pair of them is one number, combination * n + person,
    # as there are at most n persons, who are numbered from 0.
    n = len(of_row)
    person = np.arange(n) if people is None else renumbered(people)
    pairs = np.unique(of_row * n + person)
    persons = pairs % n
    borders = np.searchsorted(pairs // n, np.arange(len(codes) + 1))
    person_counts = np.diff(borders)

    # Combinations are compared in blocks. Two fit if no column has different values in them.
    least = np.full(len(codes), n)
    block = max(_PAIRS_PER_BLOCK // codes.size, 1)  # each is compared with all, in all columns
    for begin in range(0, len(codes), block):
        block_codes = codes[begin : begin + block, None]
        fits = ((block_codes == codes) | (block_codes < 0) | (codes < 0)).all(axis=2)
        combination, fitting = np.nonzero(fits)
        combination += begin

        # Of each value only the combinations that hold it count, as a gap may be filled with
        # anything: their people are listed for each combination, and the different ones counted.
        for column in codes.T:
            both_hold = (column[combination] >= 0) & (column[fitting] >= 0)
            holders = fitting[both_hold]
            counts = person_counts[holders]
            holding_persons = persons[indices_of_spans(borders[holders], counts)]

            pairs = np.unique(np.repeat(combination[both_hold], counts) * n + holding_persons)
            counted, different = np.unique(pairs // n, return_counts=True)
            least[counted] = np.minimum(least[counted], different)
    return least
