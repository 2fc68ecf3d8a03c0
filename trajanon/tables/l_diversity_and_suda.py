"""Disclosure risk of a table beside k: l-diversity, and special uniques (SUDA).

l-diversity: Machanavajjhala et al. (TKDD 2007). SUDA: Elliot, Manning, Mayes, Gurd and Bane (2005).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import comb, exp, prod

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Ints, renumbered
from trajanon.tables.cell_numbers_and_missing import Cells

_MOST_CELLS = 30_000_000  # rows times sets of columns that are searched; takes some seconds
_ROWS_OF_A_SET = 1_000  # a set costs as much as so many rows, however few the table has
_MOST_NAMED = 10  # riskiest rows that are listed

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
        For each column, the share of all scores that comes from sets with it, percent; together
        more than 100, as a set counts for each of its columns.
    riskiest
        The rows of the highest scores, at most ten.
    """

    unique: int = 0
    largest: int = 0
    by_size: dict[int, int] = field(default_factory=dict)
    contributions: dict[str, float] = field(default_factory=dict)
    riskiest: list[RiskyRow] = field(default_factory=list)


def diversity(combination: Ints, sensitive: Cells) -> Diversity:
    """Measure the l-diversity of a column, (n,), within combinations of others.

    ``combination``, (n,), numbers that of each row.

    >>> diversity(np.array([0, 0, 0, 0, 1, 1]), np.array(list("abcdee")))
    Diversity(distinct=1, entropy=1.0, disclosed=1)
    """
    counts = pd.DataFrame({"group": combination, "value": sensitive}).value_counts()
    by_group = counts.groupby(level="group")
    shares = counts / by_group.transform("sum")
    entropy = -(shares * np.log(shares)).groupby(level="group").sum()
    distinct = by_group.size()
    return Diversity(int(distinct.min()), exp(entropy.min()), int((distinct == 1).sum()))


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
    score_of_size = [_score(size, len(names), largest) for size in range(len(names) + 1)]

    # Add up the scores by row and by column. Of each set, `is_minimal` marks the unique rows, (u,),
    # in the order of `rows`, for which it is minimal.
    scores = np.zeros(len(rows), dtype=np.int64)
    scores_of_columns = np.zeros(len(names))
    by_size: dict[int, int] = {}
    for columns, is_minimal in minimal:
        score = score_of_size[len(columns)]
        count = int(is_minimal.sum())
        scores += score * is_minimal
        scores_of_columns[list(columns)] += score * count
        by_size[len(columns)] = by_size.get(len(columns), 0) + count

    total = max(int(scores.sum()), 1)  # all scores are 0 if no set is small enough to be searched
    riskiest = [
        RiskyRow(
            row=int(rows[place]) + 1,
            score=int(scores[place]),
            columns=[
                [names[column] for column in columns]
                for columns, is_minimal in minimal
                if is_minimal[place]
            ],
        )
        for place in np.argsort(-scores, kind="stable")[:_MOST_NAMED].tolist()
        if scores[place]
    ]
    contributions = dict(zip(names, (100.0 * scores_of_columns / total).tolist(), strict=True))
    return SpecialUniques(len(rows), largest, by_size, contributions, riskiest)


def _largest_size(rows: int, columns: int) -> int:
    """Return up to how many columns the sets may have, for the work to stay small."""
    sets_up_to_size = np.cumsum([comb(columns, size) for size in range(1, columns + 1)])
    return max(int((sets_up_to_size * (rows + _ROWS_OF_A_SET) <= _MOST_CELLS).sum()), 1)


def _score(size: int, columns: int, largest: int) -> int:
    """Compute the SUDA score of a minimal set by its size, of so many columns; 1 of all of them."""
    return prod(columns - larger for larger in range(size, min(largest, columns - 1) + 1))


def _minimal_sets(
    table: pd.DataFrame, candidates: Bools, largest: int
) -> Iterator[tuple[ColumnSet, Bools]]:
    """Yield sets of columns, smaller ones first, and for which candidates they are minimal, (c,).

    ``candidates`` marks c of the rows, (n,); a set is minimal for a row that is unique in it, and
    in no smaller set of its columns.
    """
    codes = [pd.factorize(table[name], use_na_sentinel=False)[0] for name in table]
    sets_of_sizes = (combinations(range(len(codes)), size) for size in range(1, largest + 1))
    is_unique: dict[ColumnSet, Bools] = {}  # in each set that was looked at: the candidates, (c,)
    for columns in chain.from_iterable(sets_of_sizes):
        # The sets with one column less; of a single column there is none, and no row is unique in
        # it. Smaller sets come first, so all of these were looked at, or left out.
        narrower = list(combinations(columns, len(columns) - 1)) if len(columns) > 1 else []
        # Where all candidates are unique in a narrower set, this one is minimal for none; nor is it
        # if a narrower one was left out for that.
        if any(subset not in is_unique or is_unique[subset].all() for subset in narrower):
            continue

        # The rows by their values in these columns: numbered anew after each column, so that
        # numbers stay small.
        together = codes[columns[0]]
        for column in columns[1:]:
            together = renumbered(together * (int(codes[column].max()) + 1) + codes[column])
        is_unique[columns] = (np.bincount(together)[together] == 1)[candidates]

        unique_in_narrower = np.any([is_unique[subset] for subset in narrower], axis=0)
        is_minimal = is_unique[columns] & ~unique_in_narrower
        if is_minimal.any():
            yield columns, is_minimal
