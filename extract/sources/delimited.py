"""Texts of separated values -> columns, block by block; broken lines are counted."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as pa_csv

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import BYTE_ORDER_MARK, DAMAGED, Reading
from trajanon.files.arrow import reading
from trajanon.files.numeric_table import has_decimal_commas, separator_line, separator_of
from trajanon.inputs import other_encoding, seems_utf16
from trajanon.number_text import number_of

TEXT = pa.string()
NAME = pa.dictionary(pa.int32(), pa.string())
NUMBER = pa.float64()

Types = Mapping[str, pa.DataType]
"""The columns that are read, and as what."""

POINTS = "a table of points"
UNREAD = "rows that could not be read"
CUT_OFF = "tables cut off in their last line"

ABOVE = (b"#", b"sep=")
"""How lines above the names of the columns begin: comments, and one of Excel's."""

csv.field_size_limit(1 << 28)  # more than a line of a table may be long

_HEAD, _MOST = 1 << 20, 1 << 24  # bytes, at first and at most, and
_JUDGED = 100  # rows, by which the layout is judged
_BLOCK = 1 << 22  # bytes that are parsed at a time
_LONGEST = 1 << 24  # bytes of a line that may be one of a table
_TOGETHER = 100  # lines that a quoted value may have

_NOTHING = [*pa_csv.ConvertOptions().null_values, "<NA>", "None"]

_VALUE = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")
_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"


class Layout(NamedTuple):
    """How a text is made of lines and fields."""

    names: Sequence[str]  # of the columns, in their order
    separator: str = ","  # what stands between two fields
    above: int = 0  # lines before the first row
    decimal: str = "."  # what stands before the fraction of a number
    rows: Sequence[bytes] = ()  # the first ones, by which the layout is judged

    def sample(self, size: int = _JUDGED) -> Mapping[str, Sequence[str]]:
        """Give the values of the first rows, by column."""
        lines = (line.decode(errors="replace") for line in self.rows[:size])
        fields = [fields_of(line, self.separator) for line in lines]
        whole = [row for row in fields if len(row) == len(self.names)]
        return {name: [row[i] for row in whole] for i, name in enumerate(self.names)}


def unreadable(path: Path, reason: str) -> FileProblem:
    """Say in one sentence why a file is no table, as `reading` does."""
    return FileProblem(f"cannot read {path} as {POINTS}: {reason}")


def layout_of(path: Path) -> Layout:
    """Find the names of the columns, and what separates them, in the first lines.

    Lines that begin with # are comments; the last of them may have the names.
    """
    with reading(path, POINTS, *DAMAGED), Reading().unpacked(path) as stream:
        head = more = stream.read(_HEAD)
        while more and len(head) < _MOST and not _shows_rows(head):
            more = stream.read(_HEAD)
            head += more
    if seems_utf16(head):
        raise unreadable(path, f"it {other_encoding(head)}")
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()
    written = [i for i, line in enumerate(lines) if line.strip()]
    if not written:
        raise unreadable(path, "it is empty")
    below = next((i for i in written if not lines[i].startswith(ABOVE)), written[-1])
    header = _header(path, lines[below])
    top = lines[written[0]].decode(errors="replace")
    separator = separator_line(top) or separator_of(header)
    names = fields_of(header, separator)
    above = below + 1
    if comments := [i for i in written if i < below]:
        comment = lines[comments[-1]].decode(errors="replace")
        commented = fields_of(comment.lstrip("# "), separator)
        if is_row(names) and len(commented) == len(names):
            names, above = commented, below
    names = [name.strip() for name in names]
    rows = [line for line in lines[above : above + _JUDGED] if line.strip()]
    if rows and rows[0].rstrip().endswith(separator.encode()):
        fields = fields_of(rows[0].decode(errors="replace"), separator)
        names += [""] * (len(fields) == len(names) + 1)  # a separator ends each row
    text = [line.decode(errors="replace") for line in rows]
    values = (field for line in text for field in fields_of(line, separator))
    commas = separator != "," or any('"' in line for line in text)
    return Layout(
        names, separator, above, "," if commas and has_decimal_commas(values) else ".", rows
    )


def _shows_rows(head: bytes) -> bool:
    """Say whether a head holds two whole lines, of names and of values, below all comments."""
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()[:-1]
    return sum(bool(line.strip()) and not line.startswith(ABOVE) for line in lines) > 1


def _header(path: Path, line: bytes) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise unreadable(path, f"it {other_encoding(line)}") from error
    if not text.strip("\0 "):
        reason = "it begins with NUL bytes, as if never wholly written; copy it again"
        raise unreadable(path, reason)
    return text


def fields_of(line: str, separator: str) -> list[str]:
    """Split a line into its fields."""
    return next(csv.reader([line.replace("\0", "")], delimiter=separator), [])


def is_row(fields: Sequence[str]) -> bool:
    """Say whether fields are values rather than names of columns: two are numbers."""
    return sum(_VALUE.fullmatch(field) is not None for field in fields) >= 2


class _Part(NamedTuple):
    """Some lines of a text, those taken out that no parser should see."""

    text: bytes  # all lines
    kept: bytes  # those to be parsed
    broken: list[tuple[int, str]]  # place and fault of each other line
    rest: bytes  # what follows a quote that the next lines may close


def read_columns(path: Path, layout: Layout, types: Types, how: Reading) -> Iterator[pa.Table]:
    """Read columns of a text of separated values.

    A row with too many or too few fields, with NUL bytes, with a quote that is never closed, or not
    in UTF-8 is counted and left out. Empty lines are no rows.
    """
    line, rows, broken, first, fault, end = layout.above + 1, 0, 0, "", "", b""
    with reading(path, POINTS, *DAMAGED):
        for part in _parts(path, layout, how):
            table, wrong = _parsed(path, part.kept, layout, types)
            wrong += len(part.broken)
            if wrong:
                how.counts[UNREAD] += wrong
            if wrong and not fault:
                place, fault = _first_fault(part, layout)
                first = f"line {line + place:,}"
            line += part.text.count(b"\n")
            rows, broken = rows + table.num_rows, broken + wrong
            end = part.text[-_LONGEST:].rpartition(b"\n")[2]  # a line that nothing ends
            yield table
    if broken and not rows:
        raise unreadable(path, f"none of its rows, {broken:,} in all, can be read: {first} {fault}")
    if end.strip() and not _is_row(end, layout):
        how.counts[CUT_OFF] += 1
    if fault:
        msg = f"{first} of {path} {fault}; such lines are left out"
        how.warn(UNREAD, msg, str(path))


def _parts(path: Path, layout: Layout, how: Reading) -> Iterator[_Part]:
    """Cut a text, without the lines above its rows, into parts of whole lines."""
    above: int | None = layout.above  # lines to pass over, at the beginning
    rest = b""
    with how.unpacked(path) as stream:
        while True:
            block = stream.read(_BLOCK)
            rest += block
            if block and rest.count(b"\n") <= (above or 0):
                if len(rest) > _LONGEST + _BLOCK:
                    raise OSError(f"it has lines of over {_LONGEST:,} bytes")
                continue
            end = rest.rfind(b"\n") + 1 if block else len(rest)
            text, rest = rest[:end], rest[end:]
            if above is not None:
                lines = text.removeprefix(BYTE_ORDER_MARK).splitlines(keepends=True)
                text, above = b"".join(lines[above:]), None
                del lines
            elif not text:
                return
            part = _screened(text, layout, last=not block)
            yield part
            rest = part.rest + rest
            if not block:
                return


def _screened(text: bytes, layout: Layout, *, last: bool) -> _Part:
    """Take out lines with NUL bytes, not in UTF-8, or with a quote never closed.

    What is taken out does not depend on where the text is cut.
    """
    plain = _is_utf8(text) and b"\0" not in text
    if plain and b'"' not in text:
        return _Part(text, text, [], b"")
    lines = text.splitlines(keepends=True)
    broken = {} if plain else {i: why for i, line in enumerate(lines) if (why := _no_text(line))}
    odd = [i for i, line in enumerate(lines) if line.count(b'"') % 2]
    odd = [i for i in odd if i not in broken and not _is_row(lines[i], layout)]
    end = len(lines)
    while odd:
        opened, *odd = odd
        if odd and odd[0] - opened < _TOGETHER:
            if _is_row(b"".join(lines[opened : odd[0] + 1]), layout):
                odd = odd[1:]
                continue
        elif not odd and not last and len(lines) - opened < _TOGETHER:
            end = opened
            break
        broken[opened] = "has a quote that is never closed"
    kept = b"".join(line for i, line in enumerate(lines[:end]) if i not in broken)
    faults = sorted((i, why) for i, why in broken.items() if i < end)
    return _Part(b"".join(lines[:end]), kept, faults, b"".join(lines[end:]))


def _no_text(line: bytes) -> str:
    if b"\0" in line:
        return "holds a NUL byte"
    return "" if _is_utf8(line) else other_encoding(line)


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def _is_row(text: bytes, layout: Layout) -> bool:
    """Say whether a text is one row, its quotes as they should be."""
    lines = io.StringIO(text.decode(errors="replace"), newline="")
    try:
        rows = list(csv.reader(lines, delimiter=layout.separator, strict=True))
    except csv.Error:
        return False
    return [len(row) for row in rows] == [len(layout.names)]


def _first_fault(part: _Part, layout: Layout) -> tuple[int, str]:
    """Find the first broken line, line by line: its place, and its fault."""
    screened = [*part.broken, (part.text.count(b"\n"), "cannot be read")][0]
    lines = part.text.splitlines(keepends=True)[: screened[0]]
    text = io.StringIO(b"".join(lines).decode(), newline="")
    reader = csv.reader(text, delimiter=layout.separator)
    place, expected = 0, len(layout.names)
    for fields in reader:
        if len(fields) != expected and (len(fields) > 1 or "".join(fields).strip()):
            found = number_of(len(fields), "field")
            return place, f"has {found} where {expected} are expected"
        place = reader.line_num
    return screened


def _parsed(path: Path, text: bytes, layout: Layout, types: Types) -> tuple[pa.Table, int]:
    """Parse lines; those with too many or too few fields are counted."""
    wrong = 0

    def leave_out(row: pa_csv.InvalidRow) -> str:
        nonlocal wrong
        wrong += bool(row.text.strip())
        return "skip"

    # Columns go by their places, as names may be equal.
    place = {name: str(layout.names.index(name)) for name in types}
    for number in (NUMBER, TEXT):  # as texts if a number somewhere is none
        wrong = 0
        as_kinds = {place[name]: number if kind == NUMBER else kind for name, kind in types.items()}
        try:
            table = pa_csv.read_csv(
                pa.BufferReader(text or b"\n"),  # of nothing, it makes an error
                pa_csv.ReadOptions(
                    column_names=[str(i) for i in range(len(layout.names))],
                    use_threads=False,
                    block_size=len(text) + 1,
                ),
                pa_csv.ParseOptions(delimiter=layout.separator, invalid_row_handler=leave_out),
                pa_csv.ConvertOptions(
                    column_types=as_kinds,
                    include_columns=list(place.values()),
                    strings_can_be_null=True,
                    null_values=_NOTHING,
                    decimal_point=layout.decimal,
                ),
            )
        except pa.ArrowInvalid:
            continue
        columns = {name: table[place[name]] for name in types}
        for name, kind in types.items():
            if kind == NUMBER:
                columns[name] = _numbers(columns[name], layout.decimal)
        return pa.table(columns), wrong
    raise unreadable(path, "its rows cannot be told apart")


def _numbers(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Read finite numbers; other values become null."""
    if column.type != NUMBER:
        if decimal != ".":
            column = pc.replace_substring(column, decimal, ".")
        is_number = pc.match_substring_regex(column, _NUMBER)
        column = pc.if_else(is_number, pc.utf8_trim_whitespace(column), None)
        column = pc.cast(pc.utf8_ltrim(column, characters="+"), NUMBER)
    return pc.if_else(pc.is_finite(column), column, None)
