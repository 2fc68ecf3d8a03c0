"""Tables of numbers, a record a row <-> CSV, as people write it, and Parquet."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.files import arrow
from trajanon.inputs import other_encoding, regular, seems_utf16

_HEAD = 4096  # bytes, by which the encoding is judged
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none"))
"""How programs write a cell without a value, in lower case."""

_DECIMAL_COMMA = r"\s*([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)\s*"
_DECIMAL_POINT = r"\s*[-+]?\d+\.\d+(?:[eE][-+]?\d+)?\s*"
_WHOLE = r"\s*[-+]?\d+(?:[eE][-+]?\d+)?\s*"
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}([.,])\d{3}\s*")  # or three decimals
_ANY = re.compile(
    r"\s*[-+(<>~\u2212\u2264\u2265\u2248]?\s*[$\u20ac\u00a3\u00a5]?\s*"
    r"(?:[1-9]\d{0,2}(?:[.,'\u2019 \u00a0\u202f]\d{3})+|\d+|(?=[.,]\d))(?:[.,]\d*)?"
    r"(?:[eE][-+]?\d+)?"
    r"\s*[$\u20ac\u00a3\u00a5%)]?\s*"
)
"""A number as people write it, with signs of money, percent and thousands."""

_OF_EXCEL = re.compile(r"sep=([,;|:\t ])\s*")

_JUDGED = 100  # rows, by which the names of columns are
_NEARLY = re.compile(r"\s*[(<>~\u2264\u2265\u2248]\s*[-+]?\d.*")  # a number, but for a sign
_NO_VALUE = re.compile(r"[.?*:-]*")  # as some programs write it


def check_table_format(path: Path) -> None:
    """Refuse a suffix that is not that of a table."""
    if path.suffix.lower() not in TABLE_FORMATS:
        raise BadInput(
            f"{path} does not end like a table; choose one of {', '.join(TABLE_FORMATS)}"
        )


def read_table(path: Path) -> pd.DataFrame:
    """Read a table: the cells of CSV as the texts they are, those of Parquet typed."""
    return _read(path)[0]


def read_numbers(source: Path | pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Read a table, or take it as it is; also name a cell of each column that is uncertain."""
    if isinstance(source, pd.DataFrame):
        return with_points(_of_frame(source), None)
    return with_points(*_read(source))


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
    if not regular(path).exists():
        raise FileProblem(
            f"there is no {path}; name a table that ends in {' or '.join(TABLE_FORMATS)}"
        )
    with arrow.reading(path, "a table", ValueError):
        table, separator = TABLE_FORMATS[path.suffix.lower()](path)
    names = list(table.columns)
    if separator is not None and (value := value_in_header(names, table)) is not None:
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
    separator = separator_line(header)
    if not (row if separator else header):
        raise BadInput(f"{path} is empty; a table has a header and below it a row for each record")
    if separator is None:
        separator, above = separator_of(header, row), 0
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
    """Whether most values of a column are numbers: then others are reported as errors."""
    return bool(2 * (~np.isnan(as_numbers(column))).sum() > (~missing(column)).sum())


def missing(column: pd.Series) -> Bools:
    """Where a column of numbers has no value, shape (n,)."""
    gone = np.array(column.isna(), dtype=np.bool_)
    # Cell by cell, for a cell of a Parquet file may be a list; but for numbers, which are none.
    doubtful = np.flatnonzero(np.isnan(as_numbers(column)) & ~gone)
    gone[doubtful] = [is_missing(column.iloc[row]) for row in doubtful]
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


def separator_line(line: str) -> str | None:
    """Read the separator that Excel names in the first line, if this is such a line."""
    named = _OF_EXCEL.fullmatch(line)
    return named[1] if named else None


def separator_of(header: str, row: str | None = None) -> str:
    """Find what separates the names of columns: as often as the values of a row, or most often."""
    lines = [re.sub(r'"[^"]*"', "", line) for line in (header, header if row is None else row)]

    def likely(separator: str) -> tuple[bool, int]:
        names, values = (line.count(separator) for line in lines)
        return names == values > 0, min(names, values)

    return max(",;\t|", key=likely)


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Say whether more numbers have a decimal comma than a point."""
    cells = list(cells)
    commas, points = (
        sum(re.fullmatch(form, cell) is not None for cell in cells)
        for form in (_DECIMAL_COMMA, _DECIMAL_POINT)
    )
    return commas > points


def is_missing(cell: object) -> bool:
    """Whether a text stands for no value."""
    return isinstance(cell, str) and cell.strip().lower() in _MISSING


def is_number(text: str) -> bool:
    """Whether a text is a number in any notation."""
    return _ANY.fullmatch(text) is not None


def with_points(table: pd.DataFrame, separator: str | None) -> tuple[pd.DataFrame, dict[str, str]]:
    """Write numbers of decimal commas with points; also name a cell that makes a column uncertain.

    Three digits behind a mark may be thousands or decimals: if a column has no other fractions, a
    point means decimals between commas, and a comma does between semicolons.
    """
    plain, doubts = dict[str, pd.Series](), dict[str, str]()
    for name, column in table.items():
        if not pd.api.types.is_string_dtype(column) or isinstance(
            column.dtype, pd.CategoricalDtype
        ):
            continue
        counts = column.value_counts()
        counts = counts[[not is_missing(cell) for cell in counts.index]]
        cells, certain = [*counts.index], {",": ".", ";": ","}.get(separator or "")
        if pd.to_numeric(counts.index.to_series(), errors="coerce").notna().all():
            mark, fractions = ".", [cell for cell in cells if "." in cell]
        else:
            numbers = [cell for cell in cells if is_number(cell)]
            if 2 * counts[numbers].sum() <= counts.sum():
                continue
            mark, fractions = ",", [one for one in numbers if re.fullmatch(_DECIMAL_COMMA, one)]
            odd = [one for one in numbers if not re.fullmatch(f"{_DECIMAL_COMMA}|{_WHOLE}", one)]
            if odd or (fractions and separator == ","):
                doubts[str(name)] = [*odd, *fractions][0]
                continue
        if mark != certain and fractions and all(map(_THOUSANDS.fullmatch, fractions)):
            doubts[str(name)] = fractions[0]
        elif mark == ",":
            plain[str(name)] = column.str.replace(f"^{_DECIMAL_COMMA}$", r"\1.\2", regex=True)
    return table.assign(**plain), doubts


def value_in_header(names: Sequence[str], table: pd.DataFrame) -> str | None:
    """Find a name that is like the values below it, as if the first line were a row of values.

    In doubt it is one: a header taken for a row costs the user a line to write, a row taken for a
    header is a person published.
    """
    below = {number: _texts_below(table, number) for number in range(len(names))}
    for number, texts in below.items():
        if _like(names[number], texts):
            return names[number]
    of_numbers = [names[number] for number, texts in below.items() if _most(texts, is_number)]
    if of_numbers and all(is_missing(name) or _NO_VALUE.fullmatch(name) for name in of_numbers):
        return next(filter(None, of_numbers), None)  # what has no name is refused as such
    return None


def _texts_below(table: pd.DataFrame, column: int) -> list[str]:
    return [cell for cell in table.iloc[:_JUDGED, column] if not is_missing(cell)]


def _like(name: str, texts: Sequence[str]) -> bool:
    """Whether a name is a number, or a text of the kind of those below it."""
    if is_number(name) or _NEARLY.fullmatch(name):
        return True
    if not name or _most(texts, is_number):
        return False
    if re.search(r"\d", name) and not re.search(r"[^\W\d_]", name):
        return True  # a day, a time of day, a telephone number
    pattern = _pattern(name)
    typical = "9" in pattern or "@" in pattern
    return name in texts or (typical and _most(texts, lambda text: _pattern(text) == pattern))


def _pattern(text: str) -> str:
    """Write letters as a and digits as 9, each run once."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text.strip()))


def _most(texts: Sequence[str], holds: Callable[[str], object]) -> bool:
    return 2 * sum(bool(holds(text)) for text in texts) > len(texts)
