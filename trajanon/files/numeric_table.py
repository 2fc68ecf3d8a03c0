"""Tables of numbers, a record a row <-> CSV and Parquet."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem, TrajanonError
from trajanon.files import native
from trajanon.inputs import regular

FORMATS = (".csv", ".parquet")


def check_format(path: Path) -> None:
    """Refuse a path whose suffix is not that of a table.

    Raises
    ------
    BadInput
        Naming the suffixes there are.
    """
    if path.suffix.lower() not in FORMATS:
        msg = f"{path} does not end like a table; choose one of {', '.join(FORMATS)}"
        raise BadInput(msg)


def read(path: Path) -> pd.DataFrame:
    """Read a table: the cells of CSV as the texts they are, those of Parquet typed.

    Parameters
    ----------
    path
        Ends in .csv (UTF-8, commas, a header) or .parquet.

    Raises
    ------
    BadInput
        If it has no rows, a column without a name of its own, or another separator
        than commas.
    FileProblem
        If it cannot be read.
    """
    check_format(path)
    if not regular(path).exists():
        msg = f"there is no {path}; name a table that ends in {' or '.join(FORMATS)}"
        raise FileProblem(msg)
    try:
        table = _read_parquet(path) if _is_parquet(path) else _read_csv(path)
    except TrajanonError:
        raise
    except pd.errors.EmptyDataError as error:
        msg = (
            f"{path} is empty; a table has a header and below it a row for each record"
        )
        raise BadInput(msg) from error
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        if isinstance(error, UnicodeDecodeError):
            reason += "; save it as UTF-8"
        if isinstance(error, pd.errors.ParserError):
            reason += "; each row needs as many values as the header has names"
        msg = f"cannot read {path} as a table: {reason}"
        raise FileProblem(msg) from error
    _refuse_names(path, list(table.columns))
    if len(table) == 0:
        msg = f"{path} has a header but no rows; add a row for each record"
        raise BadInput(msg)
    return table


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _read_csv(path: Path) -> pd.DataFrame:
    # The header alone first: with another separator, rows may seem longer than it.
    (header,) = _texts(path, rows=1).to_numpy().tolist()
    _refuse_other_separator(path, header)
    # As a row like the others, for pandas renames columns of equal or no name.
    table = _texts(path).iloc[1:].reset_index(drop=True)
    table.columns = pd.Index(header)
    return table


def _texts(path: Path, rows: int | None = None) -> pd.DataFrame:
    return pd.read_csv(
        path,
        header=None,
        nrows=rows,
        dtype=str,
        keep_default_na=False,  # NA may be a country
        skipinitialspace=True,
    )


def _refuse_other_separator(path: Path, header: Sequence[str]) -> None:
    separator = max(";\t|", key=header[0].count)
    if len(header) == 1 and separator in header[0]:
        msg = (
            f"{path} has one column, {header[0][:40]!r}: its values seem to be "
            f"separated by {separator!r}; save it with commas and decimal points"
        )
        raise BadInput(msg)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow.parquet as pq

    with native.reading(path), native.opened(path) as file:
        table = pq.ParquetFile(file).read()
    if b"geo" in (table.schema.metadata or {}):
        msg = (
            f"{path} holds geometries, which are no table of numbers; trajectories go "
            "to trajanon anonymize"
        )
        raise BadInput(msg)
    # What pandas took for an index is a column like the others.
    return native.frame(table, path)


def _refuse_names(path: Path, names: Sequence[str]) -> None:
    for number, name in enumerate(names, start=1):
        if not name:
            msg = (
                f"column {number} of {path} has no name; name it in the header, or "
                "remove the column if it numbers the rows"
            )
            raise BadInput(msg)
        if name in names[: number - 1]:
            msg = f"{path} has two columns {name!r}; rename one of them"
            raise BadInput(msg)


def holds_numbers(column: pd.Series) -> bool:
    """Whether most of what a column holds are numbers.

    Most, for one slip of the pen shall be found, not hide the column among the texts.
    """
    return bool(2 * (~np.isnan(_numbers(column))).sum() > (~blank(column)).sum())


def blank(column: pd.Series) -> pd.Series:
    """Where nothing is written."""
    # Cell by cell, for a cell of a Parquet file may be a list.
    return column.isna() | column.map(lambda cell: isinstance(cell, str) and not cell)


def records(path: Path, table: pd.DataFrame) -> NDArray[np.float64]:
    """Read numbers, all of them finite.

    Parameters
    ----------
    path
        The table, for messages.
    table
        Columns of it.

    Returns
    -------
    NDArray[np.float64]
        Shape (n, p).

    Raises
    ------
    BadInput
        Naming the first cell that is no finite number.
    """
    X = np.column_stack([_numbers(table[name]) for name in table])
    if np.isfinite(X).all():
        return X
    row, number = np.argwhere(~np.isfinite(X))[0]
    column = table.iloc[:, number]
    where = f"column {column.name!r} of {path}"
    if blank(column)[row]:
        msg = (
            f"{where} is empty in data row {row + 1}; fill it in, drop the row, or "
            "choose other columns with --columns"
        )
    else:
        msg = (
            f"{where} holds {str(column[row])[:40]!r} in data row {row + 1}, which is "
            "no finite number; mend it, drop the row, or choose other columns with "
            "--columns"
        )
    raise BadInput(msg)


def _numbers(column: pd.Series) -> NDArray[np.float64]:
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


def write(path: Path, table: pd.DataFrame) -> None:
    """Write a table; CSV with as many digits as give each number back exactly."""
    if _is_parquet(path):
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)


def rarest(path: Path, columns: Sequence[str]) -> int:
    """Count how often the rarest row of some columns occurs, as written in a file."""
    import pyarrow.parquet as pq

    if _is_parquet(path):
        with native.opened(path) as file:
            table = pq.read_table(file, columns=list(columns))
        written = table.to_pandas(ignore_metadata=True)
    else:
        # As text, for two ways to write a number tell two rows apart.
        written = pd.read_csv(path, usecols=list(columns), dtype=str)
    return int(written.value_counts(dropna=False).min())
