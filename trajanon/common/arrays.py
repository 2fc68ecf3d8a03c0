"""Names for the types of arrays and frames, and arrays of numbers that count and rank."""

from collections.abc import Hashable, Iterable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Metres = NDArray[np.float32]
"""Distances in single precision, to save memory: to a millimetre in 10 km."""
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
"""Hashes of anything, 64 bits each."""
Geometries = NDArray[np.object_]
"""Geometries of shapely, of which any may be None."""
Column = NDArray[Any]
"""A column as a file has it, of any values."""

Name = TypeVar("Name", bound=Hashable)


class DataFrame(Protocol):
    """What frames of pandas, polars, pyarrow and DuckDB have, and trajectories have not."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


def renumbered(labels: Column) -> Ints:
    """Renumber groups 0..g-1 in the order in which they first appear.

    >>> renumbered(np.array([7, 7, 3, 9, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    if len(labels) and labels.dtype.kind == "i":
        lowest = int(labels.min())
        value_count = int(labels.max()) - lowest + 1
        # Whole numbers that lie close together are counted: to sort them takes seven times as long.
        if value_count <= 2 * len(labels):
            # In 64 bits, as a difference of fewer may leave them.
            labels_from_0 = np.subtract(labels, lowest, dtype=np.int64)
            return _renumbered_of_range(labels_from_0, value_count)

    import pandas as pd  # tables without names do not wait for it

    return np.asarray(pd.factorize(labels)[0].astype(np.int64, copy=False))


def _renumbered_of_range(labels: Ints, value_count: int) -> Ints:
    """Renumber labels of 0..value_count-1 in the order in which they first appear."""
    first_place = np.full(value_count, len(labels))
    # Assigned from the last place to the first: of several places of a label, the first stays.
    first_place[labels[::-1]] = np.arange(len(labels) - 1, -1, -1)

    new_number = np.empty(value_count, dtype=np.int64)
    new_number[np.argsort(first_place)] = np.arange(value_count)  # what is missing comes last
    return new_number[labels]


def numbers_by_appearance(names: Iterable[Name], known: dict[Name, int]) -> Ints:
    """Return the numbers of names; new ones are added to those known, which they go on.

    >>> numbers_by_appearance(["b", "a", "b"], {"a": 0}).tolist()
    [1, 0, 1]
    """
    return np.array([known.setdefault(name, len(known)) for name in names], np.int64)


def indices_of_spans(begin: Ints | int, size: Ints) -> Ints:
    """List the indices begin, begin + 1, ... of each span, one span after another.

    >>> indices_of_spans(np.array([5, 20]), np.array([3, 2])).tolist()
    [5, 6, 7, 20, 21]
    >>> indices_of_spans(0, np.array([3, 2])).tolist()  # of each in its span
    [0, 1, 2, 0, 1]
    """
    listed_before = np.cumsum(size) - size
    return np.asarray(np.repeat(begin - listed_before, size) + np.arange(size.sum()))
