"""Tables of numbers, a record a row <-> CSV and Parquet."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.files import arrow, number_texts
from trajanon.inputs import named_rightly, other_encoding, seems_utf16

_HEAD = 4096  # bytes, by which the encoding is judged


def check_table_format(path: Path) -> None:
    """Refuse a suffix that is not that of a table."""
    if path.suffix.lower() not in TABLE_FORMATS:
        raise BadInput(
            f"{path} does not end like a table; choose one of {', '.join(TABLE_FORMATS)}"
        )


def read_table(path: Path) -> pd.DataFrame:
    """Read a table: the cells of CSV as the texts they are, those of Parquet typed."""
    return _read(path)[0]


def read_numbers(source: Path | pd.DataFrame) -> tuple[pd.DataFrame, number_texts.Readings]:
    """Read a table, or take it as it is, and the numbers in its texts."""
    if isinstance(source, pd.DataFrame):
        table, separator = _of_frame(source), None
    else:
        table, separator = _read(source)
    return table, number_texts.read_numbers(table, separator)


def named(source: Path | pd.DataFrame) -> str:
    """Name a table in messages."""
    return "the data frame" if isinstance(source, pd.DataFrame) else str(source)


def _of_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Take a data frame; what its index names are columns like the others."""
    try:
        table = frame.reset_index(level=[name for name in frame.index.names if name is not None])
    except ValueError as error:  # of pandas
        raise BadInput(
            f"{named(frame)} has a column and an index of one name ({error}); rename one of them"
        ) from error
    table = table.reset_index(drop=True).set_axis(table.columns.map(str), axis=1)
    _check_names(table, named(frame))
    return table


def _read(path: Path) -> tuple[pd.DataFrame, str | None]:
    """Read a table, and what separates its values if it is a text."""
    check_table_format(path)
    if not named_rightly(path).exists():
        raise FileProblem(
            f"there is no {path}; name a table that ends in {' or '.join(TABLE_FORMATS)}"
        )
    with arrow.reading(path, "a table", ValueError):
        table, separator = TABLE_FORMATS[path.suffix.lower()](path)
    names = list(table.columns)
    if separator is not None and (value := number_texts.value_in_header(names, table)) is not None:
        raise BadInput(
            f"{path} has no line with the names of its columns, because its first line holds "
            f"{value[:40]!r}, as a row does: write one above it, such as age,income; or, if these "
            "are names, begin each with a letter, such as y2019"
        )
    _check_names(table, path)
    return table, separator


def _check_names(table: pd.DataFrame, what: object) -> None:
    """Refuse a table without rows, or with columns of no name or of one name."""
    names = list(table.columns)
    for number, name in enumerate(names, start=1):
        if not name:
            raise BadInput(
                f"column {number} of {what} has no name: name it, or remove it if it numbers rows"
            )
        if name in names[: number - 1]:
            raise BadInput(f"{what} has two columns {name!r}; rename one of them")
    if len(table) == 0:
        raise BadInput(f"{what} has a header but no rows; add a row for each record")


def _read_csv(path: Path) -> tuple[pd.DataFrame, str]:
    return _texts(path, skipinitialspace=True)


def _texts(path: Path, **how: bool) -> tuple[pd.DataFrame, str]:
    """Read the cells of a CSV as they are, and what separates them."""
    with path.open("rb") as raw:
        if seems_utf16(head := raw.read(_HEAD)):
            raise FileProblem(f"{path} {other_encoding(head)}")
    with path.open(encoding="utf-8-sig") as file:
        written = ((n, line) for n, line in enumerate(file, start=1) if line.strip())
        (above, header), (_, row) = next(written, (0, "")), next(written, (0, ""))
    separator = number_texts.separator_line(header)
    if not (row if separator else header):
        raise BadInput(f"{path} is empty; a table has a header and below it a row for each record")
    if separator is None:
        separator, above = number_texts.separator_of(header, row), 0
    # As a row like the others, for pandas renames columns of equal or no name.
    table = pd.read_csv(
        path,
        header=None,
        sep=separator,
        skiprows=above,
        dtype=str,
        keep_default_na=False,  # NA may be a country
        **how,
    )
    table.columns = pd.Index([name.strip() for name in table.iloc[0]])
    return table.iloc[1:].reset_index(drop=True), separator


def _read_parquet(path: Path) -> tuple[pd.DataFrame, None]:
    with arrow.parquet(path) as file:
        table = file.read()
    if b"geo" in (table.schema.metadata or {}):
        raise BadInput(
            f"{path} holds geometries, no numbers: trajectories go to trajanon anonymize"
        )
    # What pandas took for an index is a column like the others.
    return arrow.frame(table, path), None


TABLE_FORMATS = {".csv": _read_csv, ".parquet": _read_parquet}


def holds_numbers(column: pd.Series) -> bool:
    """Say whether most of what a column holds are numbers: a slip of the pen shall be found."""
    return bool(2 * (~np.isnan(as_numbers(column))).sum() > (~missing(column)).sum())


def missing(column: pd.Series) -> Bools:
    """Where a column of numbers has no value, shape (n,)."""
    gone = np.array(column.isna(), dtype=np.bool_)
    # Cell by cell, for a cell of a Parquet file may be a list; but for numbers, which are none.
    doubtful = np.flatnonzero(np.isnan(as_numbers(column)) & ~gone)
    gone[doubtful] = [number_texts.is_missing(column.iloc[row]) for row in doubtful]
    return gone


def records(what: object, table: pd.DataFrame) -> Floats:
    """Read numbers, all of them finite."""
    X = np.column_stack([as_numbers(table[name]) for name in table])
    if np.isfinite(X).all():
        return X
    row, number = np.argwhere(~np.isfinite(X))[0]
    column = table.iloc[:, number]
    raise BadInput(
        f"column {column.name!r} of {what} holds {str(column.iloc[row])[:40]!r} in "
        f"data row {column.index[row] + 1}, which is no finite number; mend it, drop "
        "the row, or choose other `columns`"
    )


def as_numbers(column: pd.Series) -> Floats:
    """Read numbers; what is none becomes NaN."""
    types = pd.api.types
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    if types.infer_dtype(column, skipna=True) == "decimal":  # money in Parquet
        column = column.astype(np.float64)
    elif types.is_string_dtype(column) and not categories:
        column = pd.to_numeric(column, errors="coerce")
    elif types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
        return np.full(len(column), np.nan)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table; CSV with as many digits as give each number back exactly."""
    if path.suffix.lower() == ".parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)


def occurrences(path: Path, columns: Sequence[str]) -> Ints:
    """Count how often each different row of some columns occurs, as written."""
    import pyarrow.parquet as pq

    if path.suffix.lower() == ".parquet":
        with arrow.opened(path) as file:
            table = pq.read_table(file, columns=list(columns))
        written = table.to_pandas(ignore_metadata=True)
    else:
        with arrow.reading(path, "a table", ValueError):
            written = _texts(path)[0][list(columns)]
    return np.asarray(written.value_counts(dropna=False), dtype=np.int64)
