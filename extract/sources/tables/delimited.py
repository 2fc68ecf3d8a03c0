"""Lines of separated values -> columns, block by block; broken lines are counted."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import DAMAGED, Reading
from trajanon.extract.sources.tables.damaged_lines import Screened, screened
from trajanon.extract.sources.tables.layout import (
    ABOVE,
    BYTE_ORDER_MARK,
    Layout,
    layout_of,
    unreadable,
)
from trajanon.words import number_of

TEXT = pa.string()
NAME = pa.dictionary(pa.int32(), pa.string())
NUMBER = pa.float64()

UNREAD = "rows that could not be read"

_BLOCK = 1 << 22  # bytes that are parsed at a time
_LONGEST = 1 << 24  # bytes of a line that may be one of a table

_NOTHING = [*pa_csv.ConvertOptions().null_values, "<NA>", "None"]

_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"

Choice = Callable[[Sequence[str]], Mapping[str, pa.DataType]]
"""Of the names of all columns: which are read, and as what."""


def read(
    path: Path, choose: Choice, how: Reading, layout: Layout | None = None
) -> Iterator[pa.Table]:
    """Read columns of a text of separated values.

    A row with too many or too few fields, with NUL bytes, with a quote that is never closed, or not
    in UTF-8 is counted and left out. Empty lines are no rows.
    """
    try:
        with how.unpacked(path) as stream:
            parts = _blocks(stream, 2 if layout is None else layout.above + 1)
            first = next(parts, b"")
            if layout is None:
                layout = layout_of(path, first)
            yield from _Text(path, layout, choose(layout.names), how).tables(first, parts)
    except FileProblem:
        raise
    except DAMAGED as error:
        raise unreadable(path, str(error)) from error


def _blocks(stream: io.BufferedIOBase, least: int) -> Iterator[bytes]:
    """Cut a stream into blocks of whole lines."""
    rest = b""
    while block := stream.read(_BLOCK):
        rest += block
        end = rest.rfind(b"\n") + 1
        if end == 0 or not _has_rows(rest[:end], least):
            if len(rest) > _LONGEST + _BLOCK:
                msg = f"it has lines of over {_LONGEST:,} bytes"
                raise OSError(msg)
            continue
        yield rest[:end]
        rest, least = rest[end:], 0
    if rest:
        yield rest


def _has_rows(block: bytes, least: int) -> bool:
    """Say whether a block has some lines that are neither empty nor comments."""
    lines = iter(block.removeprefix(BYTE_ORDER_MARK).splitlines() if least else ())
    written = (True for line in lines if line.strip() and not line.startswith(ABOVE))
    return len(list(islice(written, least))) == least


class _Text:
    """A text that is being read."""

    def __init__(
        self, path: Path, layout: Layout, types: Mapping[str, pa.DataType], how: Reading
    ) -> None:
        self._path = path
        self._layout = layout
        self._place = {name: str(layout.names.index(name)) for name in types}
        self._types = {self._place[name]: kind for name, kind in types.items()}
        self._numeric = [name for name, kind in types.items() if kind == NUMBER]
        self._how = how
        self._line = layout.above  # lines before the block
        self._broken = 0
        self._first_broken = ""
        self._rows = 0

    def tables(self, first: bytes, following: Iterator[bytes]) -> Iterator[pa.Table]:
        """Read block by block."""
        lines = first.removeprefix(BYTE_ORDER_MARK).splitlines(keepends=True)
        block: bytes | None = b"".join(lines[self._layout.above :])
        del lines
        while block is not None:
            after = next(following, None)
            part = screened(block, self._layout, last=after is None)
            yield self._table(part, block)
            self._line += block.count(b"\n") - part.rest.count(b"\n")
            block = None if after is None else part.rest + after
        if self._broken and not self._rows:
            reason = f"none of its rows, {self._broken:,} in all, can be read: "
            raise unreadable(self._path, reason + self._first_broken)

    def _table(self, part: Screened, block: bytes) -> pa.Table:
        table, wrong = self._parsed(part.kept, self._types)
        if table is None:  # a number somewhere is none
            texts = {place: TEXT if kind == NUMBER else kind for place, kind in self._types.items()}
            table, wrong = self._parsed(part.kept, texts)
        if table is None:
            raise unreadable(self._path, "its rows cannot be told apart")
        columns = {
            name: _numbers(table[place], self._layout.decimal)
            if self._types[place] == NUMBER
            else table[place]
            for name, place in self._place.items()
        }
        self._rows += table.num_rows
        broken = len(part.broken) + wrong
        if broken or (self._how.strict and any(columns[name].null_count for name in self._numeric)):
            self._leave_out(broken, *self._first_fault(part, block))
        return pa.table(columns)

    def _leave_out(self, count: int, first: int, why: str) -> None:
        line = self._line + first + 1
        if self._how.strict:
            msg = f"line {line:,} of {self._path} {why}; mend it, or read not strictly"
            raise FileProblem(msg)
        self._first_broken = self._first_broken or f"line {line:,} {why}"
        self._broken += count
        self._how.counts[UNREAD] += count

    def _first_fault(self, part: Screened, block: bytes) -> tuple[int, str]:
        """Find the first broken line of a block, line by line, and its fault."""
        if self._first_broken and not self._how.strict:
            return 0, ""  # it was told before
        faults = [*part.broken, (block.count(b"\n"), "cannot be read")]
        lines = block.removesuffix(part.rest).splitlines(keepends=True)[: faults[0][0]]
        text = io.StringIO(b"".join(lines).decode(), newline="")
        reader = csv.reader(text, delimiter=self._layout.separator)
        line = 0
        for fields in reader:
            if why := self._fault(fields):
                return line, why
            line = reader.line_num
        return faults[0]

    def _fault(self, fields: Sequence[str]) -> str:
        """Name the fault of a row; an empty row has none."""
        expected = len(self._layout.names)
        if len(fields) != expected:
            empty = len(fields) < 2 and not "".join(fields).strip()
            fault = f"has {number_of(len(fields), 'field')} where {expected} are expected"
            return "" if empty else fault
        for name in self._numeric if self._how.strict else ():
            value = fields[int(self._place[name])]
            number = value.replace(self._layout.decimal, ".")
            if not re.match(_NUMBER, number) or not math.isfinite(float(number)):
                return f"has {value!r} for {name}, which is no number"
        return ""

    def _parsed(
        self, block: bytes, types: Mapping[str, pa.DataType]
    ) -> tuple[pa.Table | None, int]:
        """Parse lines; None if a value is wrong. Lines with too many or few fields are counted."""
        wrong = 0

        def leave_out(row: pa_csv.InvalidRow) -> str:
            nonlocal wrong
            wrong += bool(row.text.strip())
            return "skip"

        names = [str(place) for place in range(len(self._layout.names))]
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(block or b"\n"),  # of nothing, it makes an error
                pa_csv.ReadOptions(
                    column_names=names, use_threads=False, block_size=len(block) + 1
                ),
                pa_csv.ParseOptions(
                    delimiter=self._layout.separator, invalid_row_handler=leave_out
                ),
                pa_csv.ConvertOptions(
                    column_types=types,
                    include_columns=list(types),
                    strings_can_be_null=True,
                    null_values=_NOTHING,
                    decimal_point=self._layout.decimal,
                ),
            )
        except pa.ArrowInvalid:
            return None, 0
        return table, wrong


def _numbers(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Read finite numbers; other values become null."""
    if column.type != NUMBER:
        if decimal != ".":
            column = pc.replace_substring(column, decimal, ".")
        is_number = pc.match_substring_regex(column, _NUMBER)
        column = pc.if_else(is_number, pc.utf8_trim_whitespace(column), None)
        column = pc.cast(pc.utf8_ltrim(column, characters="+"), NUMBER)
    return pc.if_else(pc.is_finite(column), column, None)
