"""Tables of any columns, a record a row: read from CSV, Parquet or a data frame.

Cells of CSV are texts; columns of the others keep their types.
"""

from __future__ import annotations

import csv
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trajanon.common.arrays import DataFrame
from trajanon.common.csv_separators import separator_named_by, separator_of
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.number_text import number_of
from trajanon.common.object_stores import fetched, is_url
from trajanon.common.text_encoding import encoding_problem, seems_utf16
from trajanon.tables.cell_numbers_and_missing import (
    DECIMAL_COMMA,
    Cells,
    Numbers,
    is_missing,
    read_numbers,
)

if TYPE_CHECKING:
    import pandas as pd

FORMATS = (".csv", ".parquet")
_ROWS_TO_JUDGE = 100  # whether the first line is a row


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table as it was read."""

    name: str  # in messages
    columns: Mapping[str, Cells]  # by their names, in their order
    separator: str | None = None  # of the cells of CSV
    frame: pd.DataFrame | None = None  # for the types of columns, and the index; None for CSV
    _numbers: dict[str, Numbers] = field(default_factory=dict)  # columns read as numbers so far

    @property
    def rows(self) -> int:
        """Count the rows."""
        return len(next(iter(self.columns.values())))

    @property
    def has_own_index(self) -> bool:
        """Return whether it is a data frame whose index does more than number rows."""
        # Only an index that numbers rows (`pandas.RangeIndex`) has a step.
        return self.frame is not None and not hasattr(self.frame.index, "step")

    def numbers(self, name: str) -> Numbers:
        """Read a column as numbers; categories are none, however they are written."""
        if name not in self._numbers:
            cells = self.columns[name]
            if self.frame is not None and self.frame[name].dtype == "category":
                cells = np.full(len(cells), "category", dtype=object)
            self._numbers[name] = read_numbers(cells, self.separator)
        return self._numbers[name]

    def refuse_unknown(self, names: Sequence[str]) -> None:
        """Refuse names that are not those of columns."""
        for name in names:
            if name not in self.columns:
                known = listed(list(self.columns))
                raise BadInput(f"{self.name} has no column {name!r}; its columns are {known}")


def listed(names: Sequence[str]) -> str:
    """List names, not all of them if they are many."""
    return textwrap.shorten(", ".join(names), 400, placeholder=" ...")


def check_table_format(path: Path) -> None:
    """Refuse a suffix that is not that of a table."""
    if path.suffix.lower() not in FORMATS:
        raise BadInput(f"{path} does not end like a table; choose one of {', '.join(FORMATS)}")


def read_table(
    source: str | os.PathLike[str] | DataFrame, names: Sequence[str] | None = None
) -> Table:
    """Read a table; of a data frame, what its index names are columns like the others.

    With ``names``, CSV is known to have a header, of just these names.
    """
    if isinstance(source, str) and is_url(source):
        check_table_format(Path(source))
        with fetched(source) as copy:
            return replace(read_table(copy), name=source)

    if not isinstance(source, str | os.PathLike):
        from trajanon.files.data_frames import to_pandas

        frame = to_pandas(source, "the data frame")
        # A level without a name stays the index. Names that stand twice are refused below.
        named = [name for name in frame.index.names if name is not None]
        return _of_frame(frame.reset_index(level=named, allow_duplicates=True), "the data frame")

    path = Path(source)
    check_table_format(path)
    if not regular(path).exists():
        raise FileProblem(f"there is no {path}; name a table that ends in {' or '.join(FORMATS)}")
    if path.is_dir():
        raise FileProblem(f"{path} is a folder; name a file")
    is_parquet = path.suffix.lower() == ".parquet"
    return _read_parquet(path) if is_parquet else _read_csv(path, names)


def _read_parquet(path: Path) -> Table:
    """Read a table from Parquet; refuse trajectories."""
    import pyarrow as pa  # tables of CSV do not wait for it

    from trajanon.files import arrow

    with arrow.parquet(path) as file:
        read = file.read()
    if b"geo" in (read.schema.metadata or {}):
        raise BadInput(f"{path} holds geometries: trajectories go to trajanon anonymize")

    # As floats, which have room for gaps, long whole numbers lose digits: two could become one. So
    # they get types of pandas that have gaps, such as Int64 for int64.
    frame = arrow.frame(read, path, integer_object_nulls=True)
    with_gaps = {
        field.name: str(field.type).replace("int", "Int").replace("u", "U")
        for field in read.schema
        if pa.types.is_integer(field.type) and frame[field.name].dtype == np.object_
    }
    return _of_frame(frame.astype(with_gaps), str(path))


def _of_frame(frame: pd.DataFrame, name: str) -> Table:
    """Read a table whose columns have types: numbers as they are, and all else as objects."""
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    _check_names(list(frame), len(frame), name)
    columns = {}
    for column in frame:
        kind = frame[column].dtype
        is_number = isinstance(kind, np.dtype) and kind.kind in "iuf"
        columns[column] = np.asarray(frame[column], dtype=None if is_number else object)
    return Table(name, columns, frame=frame)


def _read_csv(path: Path, known_names: Sequence[str] | None) -> Table:
    """Read the cells of CSV as texts."""
    try:
        rows, separator = _rows_of_csv(path)
    except csv.Error as error:
        raise FileProblem(f"cannot read {path} as a table: {error}") from error
    except UnicodeDecodeError as error:
        reason = encoding_problem(error.object)
        raise FileProblem(f"cannot read {path} as a table: it {reason}") from error
    except FileProblem:
        raise
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror}; name another file") from error

    names = known_names or [name.strip() for name in rows[0]]
    columns = [np.array(cells, dtype=object)[1:] for cells in zip(*rows, strict=True)]
    value = None if known_names else _value_in_header(names, columns)
    if value is not None:
        raise BadInput(
            f"{path} has no line with the names of its columns, because its first line holds "
            f"{value[:40]!r}, as a row does: write one above it, such as age,income; or, if "
            "these are names, begin each with a letter, such as y2019, and write none like a value "
            "below it"
        )
    _check_names(names, len(rows) - 1, str(path))
    return Table(str(path), dict(zip(names, columns, strict=True)), separator)


def _rows_of_csv(path: Path) -> tuple[list[list[str]], str]:
    """Read the rows of CSV, the header as the first of them; and what separates cells."""
    with path.open("rb") as raw:
        if seems_utf16(head := raw.read(4096)):
            raise FileProblem(f"{path} {encoding_problem(head)}")

    rows: list[list[str]] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = next(filter(str.strip, file), "").rstrip("\r\n")
        # Below Excel's "sep=;" the header follows; else the first line was the header.
        separator = separator_named_by(first)
        if separator is None:
            second = next(filter(str.strip, file), "").rstrip("\r\n")
            separator = separator_of(first, second)
            file.seek(0)
            # A single column has no separator; its decimal commas separate nothing, either.
            if separator not in first:
                with_comma = [line for line in file if "," in line]
                file.seek(0)
                if with_comma and all(map(DECIMAL_COMMA.fullmatch, with_comma)):
                    separator = "\t"

        reader = csv.reader(file, delimiter=separator, strict=True)
        for row in reader:
            width = len(rows[0]) if rows else len(row)
            is_blank = len(row) == 1 and not row[0].strip()
            if not row or (is_blank and width > 1):
                continue  # in a table of one column, spaces are a row without a value
            if len(row) != width:
                cells = number_of(len(row), "cell")
                raise csv.Error(f"line {reader.line_num} has {cells}, and the header {width}")
            rows.append(row)

    if not rows:
        raise BadInput(f"{path} is empty; a table has a header and below it a row for each record")
    return rows, separator


def _value_in_header(names: Sequence[str], columns: Sequence[Cells]) -> str | None:
    """Find a name that looks like a value: a row taken for a header is a person published."""
    for name, cells in zip(names, columns, strict=True):
        if not name:
            continue

        values = [cell for cell in cells[:_ROWS_TO_JUDGE] if not is_missing(cell)]
        begins_with_letter = re.match(r"[^\W\d]", name)
        # Of the same form as the value below it, such as 9.9.9 for a date, or a@a for an address.
        form = _form(name)
        has_form_of_value = re.search("[9@]", form) and values and form == _form(values[0])
        if not begins_with_letter or is_missing(name) or name in values or has_form_of_value:
            return name
    return None


def _form(text: str) -> str:
    """Write each run of letters as one a, and each run of digits as one 9."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text.strip()))


def _check_names(names: Sequence[str], rows: int, table_name: str) -> None:
    """Refuse a table without rows, or with columns of no name or of one name."""
    for number, name in enumerate(names, start=1):
        if not name:
            raise BadInput(
                f"column {number} of {table_name} has no name: name it, or remove it if it numbers "
                "rows"
            )
        if name in names[: number - 1]:
            raise BadInput(f"{table_name} has two columns {name!r}; rename one of them")
    if rows == 0:
        raise BadInput(f"{table_name} has a header but no rows; add a row for each record")
