"""Parquet files as Arrow reads them best: by itself, and with plain values."""

import os
from pathlib import Path
from typing import Any

from numpy.typing import NDArray


def opened(path: Path) -> Any:
    """Open a file that Arrow reads without Python.

    Arrow reads in threads of its own. One that lets go of a file object of Python's
    while the interpreter ends takes the process with it (exit code 134), although all
    was read.

    Raises
    ------
    OSError
        As `Path.open` does, in its words.
    """
    import pyarrow as pa

    with path.open("rb"):
        return pa.OSFile(os.fsencode(path))


def values(column: Any) -> NDArray[Any]:
    """Read the values of a column of Arrow; missing ones are None or NaN.

    Categories are read as the values they stand for: as they are, Arrow takes a
    missing one for the last category, and can read nothing if all are missing.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    read: NDArray[Any] = column.to_numpy()
    return read
