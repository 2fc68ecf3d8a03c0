"""Tables of numbers, a record a row: which columns are microaggregated, and which rows."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from itertools import combinations
from numbers import Real
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import pandas as pd

from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.inputs import (
    other_encoding,
    regular,
    seems_utf16,
    separator_line,
    separator_of,
)
from trajanon.common.number_text import number_of
from trajanon.common.settings import HEAVIEST, MissingName
from trajanon.files import arrow
from trajanon.trajectories.subjects import numbered

ALL = ["all"]

_FORMATS = (".csv", ".parquet")
_BYTES_TO_JUDGE = 4096  # the encoding by

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none"))
"""How programs write a cell without a value, in lower case."""

_COMMA = r"\s*([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)\s*"
_POINT = r"\s*[-+]?\d+\.\d+\s*"
_THOUSANDS = r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*"  # or three decimals

_NO_MEASURES = {
    "like an identifier": r"(^|[^a-z])((ids?|codes?|zip|zipcode|postcode|plz|uid|uuid|nr|phone|key)"
    r"([^a-z]|$)|(ssn|acct|account|owner|iban|passport)$)|[a-z]{5}(id|code|key)$",
    "like a survey weight: not used, each row counts once": r"(^|[^a-z])[pfs]?(weights?|wgts?|wt|w)"
    r"([^a-z]|$)|(wgt|weight|gewicht|gewichte|gewichtung)$",
}
"""Why the numbers of columns of such names, in lower case, are not averaged."""

_CODES = {
    *(sign * float("9" * digits) for sign in (1, -1) for digits in range(1, 8)),
    *(-float(digit * digits) for digit in "78" for digits in range(1, 5)),
    -1.0,
}
"""Numbers that statistical programs write for a missing value."""

_SEVERAL = 3  # other values, beside which one can be far; and a share of dates
_MOST = 0.9


class LeftOut(NamedTuple):
    """Columns that are neither averaged nor kept."""

    why: Mapping[str, str]  # the reason, of each column

    def sentence(self) -> str:
        """Name them, and the way out."""
        columns = [f"{name} ({reason})" for name, reason in self.why.items()]
        return f"Left out: {listed(columns)}. Name a column in `columns` to take it, too."


class Incomplete(NamedTuple):
    """Rows in which a value is missing where it is needed."""

    table_name: str
    rows: int  # of the table
    missing: int  # how many are incomplete
    lacking: Mapping[str, int]  # of each column, in how many

    def __str__(self) -> str:
        columns = [f"{name} {rows:,}" for name, rows in self.lacking.items()]
        of = f"of the {number_of(self.rows, 'row')} of {self.table_name} ({listed(columns)})"
        return f"values are missing in {self.missing:,} {of}"

    def sentence(self) -> str:
        """Report that they are dropped."""
        return f"Rows are dropped: {self}."


class PossibleCodes(NamedTuple):
    """Values of a column that may stand for no value, or numbers that may be dates."""

    column: str
    value: str  # one of them, as it is written
    rows: int  # in how many rows of all
    of: int
    are_dates: bool = False

    def sentence(self) -> str:
        """Name them, and the way out."""
        holds = f"Column {self.column!r} holds {self.value} in {self.rows:,} of {self.of:,} rows"
        if self.are_dates:
            return (
                f"{holds} or the like, which may be dates: their means are none; leave the column "
                "out of `columns`, or count days from the first."
            )
        return (
            f"{holds}, which may be a code for a missing value, and is averaged: leave such cells "
            "empty and their rows out with `missing='drop'`, or choose other `columns`."
        )


class TableColumns(NamedTuple):
    """A table, and the parts that its columns play, each in the order of the table."""

    table: pd.DataFrame  # all columns; the rows in which no value that is needed is missing
    records: Floats  # the numbers of the chosen columns, (n, p)
    chosen: list[str]  # those to microaggregate
    kept: list[str]  # those to keep as they are
    notices: list[LeftOut | Incomplete | PossibleCodes]  # what else the reader should know


class _NamedRoles(NamedTuple):
    """The columns that are named for each part."""

    columns: Sequence[str] | None  # None for those that seem to measure something
    keep: Sequence[str]
    subject: Sequence[str]
    strata: Sequence[str]

    @property
    def by_part(self) -> dict[str, Sequence[str]]:
        """Return the names alone, without the word for all columns."""
        return {
            "columns": [] if self.columns == ALL else self.columns or [],
            "keep": [] if self.keep == ALL else self.keep,
            "subject": self.subject,
            "strata": self.strata,
        }


def read_table_columns(
    source: Path | pd.DataFrame,
    columns: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    subject: str | None = None,
    strata: str | None = None,
    missing: MissingName = "refuse",
) -> TableColumns:
    """Read a table, find the role of each column, and take the complete rows."""
    table, separator = _of_frame(source) if isinstance(source, pd.DataFrame) else _read(source)
    table_name = named(source)
    known = get_args(MissingName)
    if missing not in known:
        raise BadInput(f"`missing` {missing!r} is not known; choose from {', '.join(known)}")
    roles = _NamedRoles(
        None if columns is None else list(columns),
        list(keep),
        subject=[] if subject is None else [subject],
        strata=[] if strata is None else [strata],
    )
    _check_roles(table_name, list(table), roles)

    plain, doubts = _with_points(table, separator)
    why_not = _why_not_chosen(plain, doubts, roles)
    chosen = [name for name, reason in why_not.items() if not reason]
    _refuse_doubtful(table_name, chosen, doubts, list(table))
    kept = _kept(list(table), chosen, roles)

    notices: list[LeftOut | Incomplete | PossibleCodes] = []
    left_out = {name: reason for name, reason in why_not.items() if name not in {*chosen, *kept}}
    if left_out:
        notices.append(LeftOut(left_out))

    gaps = {name: _missing(plain[name]) for name in chosen}
    gaps |= {name: numbered(table[name]).missing for name in (*roles.subject, *roles.strata)}
    is_incomplete = np.any(list(gaps.values()), axis=0)
    if is_incomplete.any():
        lacking = {name: int(where.sum()) for name, where in gaps.items() if where.any()}
        incomplete = Incomplete(table_name, len(table), int(is_incomplete.sum()), lacking)
        _refuse_incomplete(incomplete, missing)
        notices.append(incomplete)

    records = _records(table_name, plain[chosen][~is_incomplete])
    for name, values in zip(chosen, records.T, strict=True):
        notices += possible_codes(name, values)
    return TableColumns(table[~is_incomplete], records, chosen, kept, notices)


def _check_roles(table_name: str, names: Sequence[str], roles: _NamedRoles) -> None:
    """Refuse columns that are not there, or are named for two parts."""
    parts = roles.by_part
    refuse_unknown(table_name, names, [name for columns in parts.values() for name in columns])
    for part, second_part in combinations(parts, 2):
        twice = [name for name in parts[part] if name in parts[second_part]]
        if twice and {part, second_part} != {"keep", "strata"}:
            raise BadInput(
                f"column {twice[0]!r} is named in both `{part}` and `{second_part}`; name it once"
            )


def _why_not_chosen(
    plain: pd.DataFrame, doubts: Mapping[str, str], roles: _NamedRoles
) -> dict[str, str]:
    """Find for each column why it is not microaggregated; empty if it is."""
    why = {name: _why_not_averaged(name, plain, doubts, roles.columns) for name in plain}
    for part, words in (("keep", "kept"), ("strata", "the strata"), ("subject", "the subject")):
        why |= dict.fromkeys(roles.by_part[part], words)
    return why


def _why_not_averaged(
    name: str, plain: pd.DataFrame, doubts: Mapping[str, str], columns: Sequence[str] | None
) -> str:
    if columns is not None and columns != ALL:
        return "" if name in columns else "not named in `columns`"
    if name not in doubts and not holds_numbers(plain[name]):
        return "not numbers"
    if columns == ALL:
        return ""

    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()  # customerId is customer_id
    return next((reason for reason, form in _NO_MEASURES.items() if re.search(form, words)), "")


def _refuse_doubtful(
    table_name: str, chosen: Sequence[str], doubts: Mapping[str, str], names: Sequence[str]
) -> None:
    """Refuse a table with no column to microaggregate, or one that cannot be read for certain."""
    if not chosen:
        raise BadInput(
            f"{table_name} has no column to microaggregate; name some that hold numbers in "
            f"`columns`, out of {listed(names)}"
        )
    for name in filter(doubts.get, chosen):
        raise BadInput(
            f"column {name!r} of {table_name} holds {doubts[name]!r}, which may be several "
            "numbers: write it as 1250 or as 1.25, or choose other `columns`"
        )


def _kept(names: Sequence[str], chosen: Sequence[str], roles: _NamedRoles) -> list[str]:
    """List the columns to keep, in the order of the table."""
    if roles.keep != ALL:
        return [name for name in names if name in roles.keep]
    return [name for name in names if name not in (*chosen, *roles.subject)]


def possible_codes(name: str, values: Floats) -> list[PossibleCodes]:
    """Find values that stand apart as codes for a missing value do, and numbers like dates."""
    different, counts = np.unique(values, return_counts=True)
    are_dates = _are_dates(different)
    dates = int(counts[are_dates].sum())
    if len(different) > 1 and dates > _MOST * len(values):
        example = f"{different[are_dates][0]:.0f}"
        return [PossibleCodes(name, example, dates, len(values), are_dates=True)]

    codes: list[PossibleCodes] = []
    for place, values_between in ((0, different[1:]), (-1, different[:-1])):
        if len(values_between) >= _SEVERAL and _is_code(float(different[place]), values_between):
            value = f"{different[place]:.0f}"
            codes.append(PossibleCodes(name, value, int(counts[place]), len(values)))
    return codes


def _is_code(value: float, rest: Floats) -> bool:
    """Return whether programs write a value for none, and it is far from the others, in order."""
    low = float(rest[0])
    high = float(rest[-1])
    if value < 0.0:
        return value in _CODES and low >= 0.0
    return value in _CODES and value - high >= high - low


def _are_dates(values: Floats) -> Bools:
    """Mark days written as YYYYMMDD, of the years 1900 to 2100."""
    year = values // 10_000
    month = values // 100 % 100
    day = values % 100
    has_no_fraction = values % 1.0 == 0.0
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return np.asarray(has_no_fraction & valid & (year >= 1900) & (year <= 2100))


def _of_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, None]:
    """Return a table of a data frame; what its index names are columns like the others."""
    names = [name for name in frame.index.names if name is not None]
    table = frame.reset_index(level=names, allow_duplicates=True).reset_index(drop=True)
    table = table.set_axis(table.columns.map(str), axis=1)
    _check_names(table, named(frame))
    return table, None


def named(source: Path | pd.DataFrame) -> str:
    """Name a table in messages."""
    return "the data frame" if isinstance(source, pd.DataFrame) else str(source)


def check_table_format(path: Path) -> None:
    """Refuse a suffix that is not that of a table."""
    if path.suffix.lower() not in _FORMATS:
        raise BadInput(f"{path} does not end like a table; choose one of {', '.join(_FORMATS)}")


def _read(path: Path) -> tuple[pd.DataFrame, str | None]:
    """Read a table, the cells of CSV as texts; and what separates these."""
    check_table_format(path)
    if not regular(path).exists():
        raise FileProblem(f"there is no {path}; name a table that ends in {' or '.join(_FORMATS)}")
    if path.suffix.lower() == ".parquet":
        with arrow.parquet(path) as file:
            read = file.read()
        if b"geo" in (read.schema.metadata or {}):
            raise BadInput(f"{path} holds geometries: trajectories go to trajanon anonymize")
        # What pandas took for an index is a column like the others.
        table = arrow.frame(read, path)
        separator = None
    else:
        with arrow.reading(path, "a table", ValueError):
            table, separator = _read_csv(path)

        if (value := _value_in_header(table)) is not None:
            raise BadInput(
                f"{path} has no line with the names of its columns, because its first line holds "
                f"{value[:40]!r}, as a row does: write one above it, such as age,income; or, if "
                "these are names, begin each with a letter, such as y2019"
            )
    _check_names(table, path)
    return table, separator


def _read_csv(path: Path) -> tuple[pd.DataFrame, str]:
    with path.open("rb") as raw:
        if seems_utf16(head := raw.read(_BYTES_TO_JUDGE)):
            raise FileProblem(f"{path} {other_encoding(head)}")
    with path.open(encoding="utf-8-sig") as file:
        written = ((n, line) for n, line in enumerate(file, start=1) if line.strip())
        (above, header) = next(written, (0, ""))
        (_, row) = next(written, (0, ""))

    separator = separator_line(header)
    if not (row if separator else header):
        raise BadInput(f"{path} is empty; a table has a header and below it a row for each record")
    if separator is None:
        separator = separator_of(header, row)
        above = 0

    # The header is read as a row like the others, for pandas renames columns of equal or no name.
    # NA may be a country.
    table = pd.read_csv(
        path, dtype=str, header=None, sep=separator, skiprows=above, keep_default_na=False
    )
    table.columns = pd.Index([name.strip() for name in table.iloc[0]])
    return table.iloc[1:].reset_index(drop=True), separator


def _value_in_header(table: pd.DataFrame) -> str | None:
    """Find a name like a value: a row that is taken for a header is a person published."""
    for number, name in enumerate(table):
        below = [cell for cell in table.iloc[:100, number] if not _is_missing(cell)]
        form = _form(name)
        alike = re.search("[9@]", form) and below and form == _form(below[0])
        if name and (not re.match(r"[^\W\d]", name) or _is_missing(name) or name in below or alike):
            return str(name)
    return None


def _form(text: str) -> str:
    """Write letters as a and digits as 9, each run once."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text.strip()))


def _check_names(table: pd.DataFrame, table_name: object) -> None:
    """Refuse a table without rows, or with columns of no name or of one name."""
    names = list(table.columns)
    for number, name in enumerate(names, start=1):
        if not name:
            raise BadInput(
                f"column {number} of {table_name} has no name: name it, or remove it if it numbers "
                "rows"
            )
        if name in names[: number - 1]:
            raise BadInput(f"{table_name} has two columns {name!r}; rename one of them")
    if len(table) == 0:
        raise BadInput(f"{table_name} has a header but no rows; add a row for each record")


def _with_points(table: pd.DataFrame, separator: str | None) -> tuple[pd.DataFrame, dict[str, str]]:
    """Write decimal commas as points; also name a cell that makes a column uncertain."""
    plain = dict[str, pd.Series]()
    doubts = dict[str, str]()
    for name, column in table.items():
        if separator == "," or not _holds_texts(column):
            continue

        commas, points = (
            column[column.str.contains(mark, regex=False).fillna(False).astype(np.bool_)]
            for mark in (",", ".")
        )
        fractions = points
        if len(commas):
            read = column.str.replace(f"^{_COMMA}$", r"\1.\2", regex=True)
            plain[str(name)] = read
            with_point = [cell for cell in points if re.fullmatch(_POINT, cell)]
            if with_point and holds_numbers(read):
                doubts[str(name)] = with_point[0].strip()
            fractions = commas[: 0 if separator == ";" else None]

        if len(fractions) and all(re.fullmatch(_THOUSANDS, cell) for cell in fractions):
            doubts[str(name)] = fractions.iloc[0].strip()
    return table.assign(**plain), doubts


def _holds_texts(column: pd.Series) -> bool:
    categories = isinstance(column.dtype, pd.CategoricalDtype)
    return pd.api.types.is_string_dtype(column) and not categories


def holds_numbers(column: pd.Series) -> bool:
    """Return whether most values of a column are numbers: then others are errors."""
    return bool(2 * (~np.isnan(_as_numbers(column))).sum() > (~_missing(column)).sum())


def _missing(column: pd.Series) -> Bools:
    """Mark where a column of numbers has no value, shape (n,)."""
    gone = np.array(column.isna(), dtype=np.bool_)
    # Cell by cell, for a cell of a Parquet file may be a list; but for numbers, which are none.
    doubtful = np.flatnonzero(np.isnan(_as_numbers(column)) & ~gone)
    gone[doubtful] = [_is_missing(column.iloc[row]) for row in doubtful]
    return gone


def _is_missing(cell: object) -> bool:
    """Return whether a text stands for no value."""
    return isinstance(cell, str) and cell.strip().lower() in _MISSING


def _as_numbers(column: pd.Series) -> Floats:
    """Read numbers; what is none becomes NaN."""
    types = pd.api.types
    if types.infer_dtype(column, skipna=True) == "decimal":  # money in Parquet
        column = column.astype(np.float64)
    elif _holds_texts(column):
        column = pd.to_numeric(column, errors="coerce")
    elif types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
        return np.full(len(column), np.nan)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _records(table_name: str, table: pd.DataFrame) -> Floats:
    """Read numbers, all of them finite."""
    X = np.column_stack([_as_numbers(table[name]) for name in table])
    if np.isfinite(X).all():
        return X
    row, number = np.argwhere(~np.isfinite(X))[0]
    column = table.iloc[:, number]
    raise BadInput(
        f"column {column.name!r} of {table_name} holds {str(column.iloc[row])[:40]!r} in "
        f"data row {column.index[row] + 1}, which is no finite number; mend it, drop "
        "the row, or choose other `columns`"
    )


def _refuse_incomplete(rows: Incomplete, missing: MissingName) -> None:
    """Refuse a table with missing values, unless other rows are left and these may be dropped."""
    if missing == "refuse" or rows.missing == rows.rows:
        raise BadInput(
            f"{rows}; fill them in, leave these rows out with `missing='drop'`, or choose other "
            "`columns`"
        )


def weights_of(
    weights: Mapping[str, float], source: TableColumns, table_name: object
) -> dict[str, float]:
    """Return the weight of each microaggregated column; those not named have 1."""
    for name, weight in weights.items():
        if name not in source.chosen:
            raise BadInput(
                f"column {name!r} of `weights` is not averaged; {table_name} has "
                f"{listed(source.chosen)}"
            )

        if not isinstance(weight, Real) or not 0.0 <= weight <= HEAVIEST:
            raise BadInput(
                f"the weight of {name!r} in `weights` must be a number from 0 to {HEAVIEST:g} "
                f"(got {weight!r})"
            )
    return {name: float(weights.get(name, 1.0)) for name in source.chosen}


def rows_as_written(
    path: Path, columns: Sequence[str], sensitive: Sequence[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """Read the cells of a table as texts, and name the columns that are looked at."""
    table, _ = _read(path)
    names = list(table)
    refuse_unknown(path, names, sensitive)

    chosen = list(dict.fromkeys(columns))
    if list(columns) == ALL:
        chosen = [name for name in names if name not in sensitive]
    refuse_unknown(path, names, chosen)
    if not chosen:
        raise BadInput(f"name the columns of {path} to look at in `columns`, or all")
    for name in set(sensitive) & set(chosen):
        raise BadInput(
            f"column {name!r} of {path} is named twice: the values of a sensitive column are "
            "counted within the combinations of others"
        )
    return table.astype(str), chosen


def refuse_unknown(table_name: object, names: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse names that are not those of columns."""
    for name in columns:
        if name not in names:
            raise BadInput(f"{table_name} has no column {name!r}; its columns are {listed(names)}")


def listed(names: Sequence[str]) -> str:
    """List names, not all of them if they are many."""
    return textwrap.shorten(", ".join(names), 400, placeholder=" ...")
