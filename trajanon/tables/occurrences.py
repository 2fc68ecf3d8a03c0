"""How often the values of rows occur together in a table, where some may be missing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Ints, dense
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.tables.cell_numbers import Cells, is_missing, read_numbers

_PAIRS_PER_BLOCK = 4_000_000  # of combinations that are compared at once


class Combinations(NamedTuple):
    """The different rows of some columns."""

    of_row: Ints  # the number of each row's combination, (n,)
    codes: Ints  # the number of each value, by combination and column, (c, p)
    present: Bools  # whether it is there, (c, p)


def combinations_of(columns: Sequence[Cells], separator: str | None = None) -> Combinations:
    """Number the rows of columns by their values, as these are written."""
    codes = np.column_stack([_codes(cells, separator) for cells in columns])
    missing = codes < 0

    of_row = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        finer = of_row * (int(column.max()) + 2) + column + 1
        _, first, of_row = np.unique(finer, return_index=True, return_inverse=True)
    return Combinations(of_row, codes[first], ~missing[first])


def _codes(cells: Cells, separator: str | None) -> Ints:
    """Number the cells of a column by their texts, (n,); -1 where one is missing."""
    number: dict[str, int] = {}
    codes = np.array([number.setdefault(text, len(number)) for text in map(str, cells.tolist())])
    gaps = [text for text in number if is_missing(text)]
    if not gaps:
        return codes

    # Of texts only blank ones are missing, as NA may be a country.
    numbers = read_numbers(cells, separator)
    if numbers.hold:
        codes[numbers.missing] = -1
        return codes
    not_texts = np.array([not isinstance(cell, str) for cell in cells.tolist()])
    blank = [number[text] for text in gaps if not text.strip()]
    codes[np.isin(codes, blank) | (numbers.missing & not_texts)] = -1
    return codes


def occurrences(combinations: Combinations, people: Ints | None = None) -> Ints:
    """Count for each combination, (c,), the rows with its values, or the different people there.

    A missing value may be any. Of each value that is there we count the rows that hold it, too, and
    whose other values fit; the least of these counts. A combination without values tells nothing,
    and occurs as often as there are rows.

    >>> cells = [np.array([5, 5, 5, 7]), np.array([1.0, np.nan, 1.0, np.nan])]
    >>> occurrences(combinations_of(cells)).tolist()  # three rows hold 5, two hold 1, one holds 7
    [3, 2, 1]
    """
    of_row, codes, present = combinations
    if present.all():
        return np.bincount(of_row) if people is None else subjects_per_group(of_row, people)

    owner = np.arange(len(of_row)) if people is None else dense(people)
    pairs = np.unique(of_row * len(of_row) + owner)  # of a combination and a person
    person = pairs % len(of_row)
    sizes = np.bincount(pairs // len(of_row))
    begins = np.cumsum(sizes) - sizes

    least = np.full(len(codes), len(of_row))
    block = max(_PAIRS_PER_BLOCK // len(codes), 1)
    for begin in range(0, len(codes), block):
        rows = slice(begin, begin + block)
        fitting, other = np.nonzero(_fit(codes[rows], codes))
        for column in np.flatnonzero(present.any(axis=0)):
            both = present[rows][fitting, column] & present[other, column]
            mine = np.repeat(fitting[both], sizes[other[both]])
            within = np.arange(len(mine)) - np.repeat(
                np.cumsum(sizes[other[both]]) - sizes[other[both]], sizes[other[both]]
            )
            theirs = person[np.repeat(begins[other[both]], sizes[other[both]]) + within]
            different = np.unique(mine * len(of_row) + theirs) // len(of_row)
            count = np.bincount(different, minlength=len(least[rows]))
            least[rows] = np.where(
                present[rows, column], np.minimum(least[rows], count), least[rows]
            )
    return least


def _fit(some: Ints, others: Ints) -> Bools:
    """Mark the pairs of combinations whose values are equal wherever both have one."""
    fit = np.ones((len(some), len(others)), np.bool_)
    for mine, theirs in zip(some.T, others.T, strict=True):
        equal = mine[:, None] == theirs
        equal |= (mine < 0)[:, None]
        equal |= theirs < 0
        fit &= equal
    return fit
