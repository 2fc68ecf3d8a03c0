"""Trajectories in tables of numbers: columns lat1, lon1, lat2, lon2, ..., perhaps time1, ..."""

from collections.abc import Sequence
from itertools import chain, count, takewhile
from typing import Any

import numpy as np

from trajanon.arrays import Floats
from trajanon.errors import BadInput
from trajanon.files.parquet_parts import ParquetParts

_AT_ONCE = 100_000  # rows


def coordinate_columns(schema: Any) -> list[str]:
    """List the coordinates of a table of trajectories; none of what has geometries."""
    if b"geo" in (schema.metadata or {}):
        return []
    pairs = ([f"lat{number}", f"lon{number}"] for number in count(1))
    names = [*chain(*takewhile({*schema.names}.issuperset, pairs))]
    return names if len(names) > 2 else []


def time_columns(schema: Any, points: int) -> list[str]:
    """List the times of each point; none if they are not all there."""
    names = [f"time{number + 1}" for number in range(points)]
    return names if {*schema.names}.issuperset(names) else []


def read_columns(where: object, file: ParquetParts, names: Sequence[str]) -> Floats:
    """Read columns of numbers, (n, columns); a missing number is NaN."""
    import pyarrow as pa

    values, row = np.empty((file.n, len(names))), 0
    for batch in file.iter_batches(_AT_ONCE, names):
        for number, name in enumerate(names):
            column = batch[name]
            if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
                raise BadInput(f"{where} has a column {name} of {column.type}, and not of numbers")
            values[row : row + len(batch), number] = column.cast(pa.float64()).to_numpy(
                zero_copy_only=False
            )
        row += len(batch)
    return values
