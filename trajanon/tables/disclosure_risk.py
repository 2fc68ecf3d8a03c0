"""Disclosure risk of a table beside k: l-diversity, and special uniques (SUDA)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import comb, exp, prod

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Ints, dense
from trajanon.tables.cell_numbers import Cells

_CELLS = 30_000_000  # rows times sets of columns that are looked at
_ROWS_OF_A_SET = 1_000  # how many rows take as long as a set of columns by itself
_RISKIEST = 10  # rows that are named

ColumnSet = tuple[int, ...]
"""Places of columns, rising."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """How many values of a sensitive column the rows of a combination have, where it is least.

    Attributes
    ----------
    distinct
        The least number of different values: distinct l-diversity.
    entropy
        The least exponential of the entropy of the values: entropy l-diversity.
    disclosed
        Combinations whose rows all have one value.
    """

    distinct: int
    entropy: float
    disclosed: int


@dataclass(frozen=True, slots=True)
class RiskyRow:
    """A row that few columns single out.

    Attributes
    ----------
    row
        Its number in the table; the first record is 1.
    score
        Its SUDA score.
    columns
        The smallest sets of columns in which it is unique.
    """

    row: int
    score: int
    columns: list[list[str]]


@dataclass(frozen=True, slots=True)
class SpecialUniques:
    """Rows that are unique, and the smallest sets of columns in which they are.

    The scores are those of Elliot, Manning, Mayes, Gurd and Bane (2005), which `suda2` of sdcMicro
    has, too: of m columns, a minimal set of s scores (m - s) (m - s - 1) ... (m - M), and a row the
    sum of its sets. M is m - 1, or the largest size that was searched.

    Attributes
    ----------
    unique
        Rows that occur once.
    largest
        Up to how many columns sets were searched; fewer than all in large tables.
    by_size
        How many minimal sets there are of one column, of two, and so on.
    contributions
        For each column, the share of all scores that comes from sets with it, percent.
    riskiest
        The rows of the highest scores, at most ten.
    """

    unique: int = 0
    largest: int = 0
    by_size: dict[int, int] = field(default_factory=dict)
    contributions: dict[str, float] = field(default_factory=dict)
    riskiest: list[RiskyRow] = field(default_factory=list)


def diversity(combination: Ints, sensitive: Cells) -> Diversity:
    """Measure the l-diversity of a column within combinations of others, numbered (n,).

    >>> diversity(np.array([0, 0, 0, 0, 1, 1]), np.array(list("abcdee")))
    Diversity(distinct=1, entropy=1.0, disclosed=1)
    """
    counts = pd.DataFrame({"group": combination, "value": sensitive}).value_counts()
    by_group = counts.groupby(level="group")
    shares = counts / by_group.transform("sum")
    entropy = -(shares * np.log(shares)).groupby(level="group").sum()
    distinct = by_group.size()
    return Diversity(int(distinct.min()), exp(abs(entropy.min())), int((distinct == 1).sum()))


def special_uniques(table: pd.DataFrame) -> SpecialUniques:
    """Find the minimal sets of columns in which rows are unique, and score the rows.

    >>> table = pd.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    >>> special_uniques(table).contributions
    {'a': 50.0, 'b': 37.5, 'c': 37.5}
    """
    unique = ~table.duplicated(keep=False).to_numpy()
    rows = np.flatnonzero(unique)
    names = list(table)
    if not len(rows):
        return SpecialUniques()

    largest = _largest_size(len(table), len(names))
    minimal = list(_minimal_sets(table, unique, largest))
    worth = [_score(size, len(names), largest) for size in range(len(names) + 1)]

    scores = np.zeros(len(rows), dtype=np.int64)
    of_columns = np.zeros(len(names))
    by_size: dict[int, int] = {}
    for columns, where in minimal:
        score = worth[len(columns)]
        scores += score * where
        of_columns[list(columns)] += score * int(where.sum())
        by_size[len(columns)] = by_size.get(len(columns), 0) + int(where.sum())

    total = max(int(scores.sum()), 1)
    riskiest = [
        RiskyRow(
            row=int(rows[place]) + 1,
            score=int(scores[place]),
            columns=[[names[c] for c in columns] for columns, where in minimal if where[place]],
        )
        for place in np.argsort(-scores, kind="stable")[:_RISKIEST].tolist()
        if scores[place]
    ]
    contributions = dict(zip(names, (100.0 * of_columns / total).tolist(), strict=True))
    return SpecialUniques(len(rows), largest, by_size, contributions, riskiest)


def _largest_size(rows: int, columns: int) -> int:
    """Return up to how many columns the sets may have, for the work to stay small."""
    sets = np.cumsum([comb(columns, size) for size in range(1, columns + 1)])
    return max(int((sets * (rows + _ROWS_OF_A_SET) <= _CELLS).sum()), 1)


def _score(size: int, columns: int, largest: int) -> int:
    return prod(columns - smaller for smaller in range(size, min(largest, columns - 1) + 1))


def _minimal_sets(
    table: pd.DataFrame, candidates: Bools, largest: int
) -> Iterator[tuple[ColumnSet, Bools]]:
    """Yield sets of columns, smaller ones first, and which candidates they are minimal for."""
    codes = [pd.factorize(table[name], use_na_sentinel=False)[0] for name in table]
    unique: dict[ColumnSet, Bools] = {}
    for columns in chain(*(combinations(range(len(codes)), n + 1) for n in range(largest))):
        narrower = list(combinations(columns, len(columns) - 1)) if len(columns) > 1 else []
        # In a set that is not searched every row is unique in a smaller one already.
        if any(subset not in unique or unique[subset].all() for subset in narrower):
            continue

        # Numbered anew after each column, so that numbers stay small.
        together = codes[columns[0]]
        for column in columns[1:]:
            together = dense(together * (int(codes[column].max()) + 1) + codes[column])
        unique[columns] = (np.bincount(together)[together] == 1)[candidates]
        where = unique[columns] & ~np.any([unique[s] for s in narrower], axis=0)
        if where.any():
            yield columns, where
