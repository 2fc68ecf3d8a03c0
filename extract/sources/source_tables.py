"""Tables that hold a point a row, as text or Parquet -> traces; broken lines are counted."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv as pa_csv

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.column_use import check_use, with_recordings
from trajanon.extract.sources.columns import Rows, check_single, is_row, known_as, roles
from trajanon.extract.sources.coordinates import are_in_letters, with_signs
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.streams import BYTE_ORDER_MARK, DAMAGED, TABLE_CUT_OFF, Reading
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, reading
from trajanon.inputs import (
    has_decimal_commas,
    other_encoding,
    regular,
    seems_utf16,
    separator_line,
    separator_of,
)
from trajanon.number_text import number_of

PARQUET = b"PAR1"
NAMES_OF_TEXTS = (".csv", ".tsv")
_NAMES_OF_PARQUET = (".parquet", ".geoparquet")

TEXT = pa.string()
NAME = pa.dictionary(pa.int32(), pa.string())
NUMBER = pa.float64()

Types = Mapping[str, pa.DataType]  # the columns that are read, and as what

TYPES: Types = {
    **dict.fromkeys(("lat", "lon"), NUMBER),
    **dict.fromkeys(("time", "date"), TEXT),
    **dict.fromkeys(("id", "part", "subject"), NAME),
}
"""Names and times are read as they are written: 7 and 07 are two names."""

POINTS = "a table of points"
UNREAD = "rows that could not be read"

_ABOVE = (b"#", b"sep=")
"""How lines above the names of the columns begin: comments, and one of Excel's."""

csv.field_size_limit(1 << 28)  # more than a line of a table may be long

_HEAD, _MOST = 1 << 20, 1 << 24  # bytes, at first and at most, and
_JUDGED = 100  # rows, by which the layout is judged
_BLOCK = 1 << 22  # bytes that are parsed at a time
_LONGEST = 1 << 24  # bytes of a line that may be one of a table
_TOGETHER = 100  # lines that a quoted value may have
_CHUNK = 250_000  # rows of Parquet that are read at a time
_UNUSED = 100_000  # rows by which unused columns of Parquet are judged

_NOTHING = [*pa_csv.ConvertOptions().null_values, "<NA>", "None"]

_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"

Frames = Callable[[Sequence[str]], Iterator[pd.DataFrame]]
"""Reads some columns of a table, some rows at a time."""


def fields_below(head: bytes) -> list[list[str]]:
    """Give the fields of the first two lines below all comments."""
    lines = head.removeprefix(BYTE_ORDER_MARK).decode(errors="replace").splitlines()
    rows = [line for line in lines if line.strip() and not line.encode().startswith(_ABOVE)][:2]
    return [fields_of(row, separator_of(rows[0])) for row in rows]


def looks_like(name: str, head: bytes) -> bool:
    """Say whether a file is Parquet, or a text that is named as a table or names lat and lon."""
    if head.startswith(PARQUET) or name.endswith((*_NAMES_OF_PARQUET, *NAMES_OF_TEXTS)):
        return True
    for line in head.removeprefix(BYTE_ORDER_MARK).splitlines():
        text = line.decode(errors="replace")
        fields = (field.strip(' "') for field in text.split(separator_of(text)))
        if {"lat", "lon"} <= {role for field in fields for role in known_as(field)}:
            return True
        if line.strip() and not line.startswith(_ABOVE):
            return False
    return False


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a table that holds a point a row; see `traces_of_points`."""
    named = path.name.lower().endswith(_NAMES_OF_PARQUET)
    if named:
        regular(path)
    with Reading().open(path) as stream:
        is_parquet = named or stream.peek().startswith(PARQUET)
    chunks = _chunks_of_parquet if is_parquet else _chunks_of_text
    yield from traces_of_points(chunks(path, how), label, how)


def _chunks_of_text(path: Path, how: Reading) -> Iterator[Rows]:
    layout = layout_of(path)
    names, what, begin = layout.names, str(path), layout.sample(2)

    def first(some: Sequence[str]) -> pd.DataFrame:
        return next(frames_of_text(path, layout, Reading(warned=how.warned))(some))

    column_of = with_signs(roles(names, how.columns, what), how.columns, begin, layout.sample)
    column_of = with_recordings(names, column_of, first, what, how, begin)
    check_use(names, column_of, first, what, how)
    # As texts, if a column is a name and a time.
    types = {name: TYPES.get(role, TEXT) for role, name in reversed(column_of.items())}
    for role in ("lat", "lon"):
        if are_in_letters(begin[column_of[role]], role):
            types[column_of[role]] = TEXT
    for table in read_columns(path, layout, types, how):
        yield {role: table[name] for role, name in column_of.items()}


def frames_of_text(path: Path, layout: "Layout", how: Reading) -> Frames:
    """Give what reads some columns of a text, as texts."""

    def read_some(names: Sequence[str]) -> Iterator[pd.DataFrame]:
        tables = read_columns(path, layout, dict.fromkeys(names, TEXT), how)
        return (table.to_pandas(use_threads=False) for table in tables)

    return read_some


def _chunks_of_parquet(path: Path, how: Reading) -> Iterator[Rows]:
    what = str(path)
    with how.open(path) as stream:
        with reading(path, POINTS):
            file = pq.ParquetFile(stream, buffer_size=1 << 20, pre_buffer=False)
            schema, names = file.schema_arrow, file.schema_arrow.names
        column_of = roles(names, how.columns, what)
        check_single(names, column_of.values(), what)
        for name in column_of.values():
            if pa.types.is_nested(schema.field(name).type):
                raise BadInput(
                    f"the column {name!r} of {path} holds {schema.field(name).type}, not a value a "
                    "row; name another in `columns`"
                )

        def first(some: Sequence[str]) -> pd.DataFrame:
            batches = file.iter_batches(_UNUSED, columns=list(some), use_threads=False)
            return frame(next(batches), path)[list(some)]

        begin: dict[str, list[str]] = {}  # the first texts
        for name, count in Counter(names).items():
            if count == 1 and schema.field(name).type in (pa.string(), pa.large_string()):
                with suppress(FileProblem, StopIteration):  # no one asked for a damaged column
                    rows = next(frames_of_parquet(file, path, _JUDGED)([name]))
                    begin[name] = rows[name].dropna().map(str).tolist()
        column_of = with_signs(column_of, how.columns, begin, lambda: begin)
        column_of = with_recordings(names, column_of, first, what, how)
        check_use(names, column_of, first, what, how)
        for part in frames_of_parquet(file, path)(list(dict.fromkeys(column_of.values()))):
            yield pd.DataFrame({role: part[name] for role, name in column_of.items()}, copy=False)


def frames_of_parquet(file: pq.ParquetFile, path: Path, size: int | None = None) -> Frames:
    """Give what reads some columns of Parquet."""

    def read_some(names: Sequence[str]) -> Iterator[pd.DataFrame]:
        with reading(path, POINTS):
            for part in file.iter_batches(size or _CHUNK, columns=list(names), use_threads=False):
                # As floats, long ids would become one.
                yield frame(part, path, date_as_object=False, integer_object_nulls=True)

    return read_some


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


def _unreadable(path: Path, reason: str) -> FileProblem:
    """Say in one sentence why a file is no table, as `reading` does."""
    return FileProblem(f"cannot read {path} as {POINTS}: {reason}")


def layout_of(path: Path) -> Layout:
    """Find the layout in the first lines; the last comment above the rows may have the names."""
    with reading(path, POINTS, *DAMAGED), Reading().unpacked(path) as stream:
        head = more = stream.read(_HEAD)
        # Until there are two whole lines below all comments, of names and of values.
        while more and len(head) < _MOST and len(fields_below(head[: head.rfind(b"\n") + 1])) < 2:
            more = stream.read(_HEAD)
            head += more
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()
    written = [i for i, line in enumerate(lines) if line.strip()]
    if seems_utf16(head) or not written:
        raise _unreadable(path, f"it {other_encoding(head)}" if written else "it is empty")
    below = next((i for i in written if not lines[i].startswith(_ABOVE)), written[-1])
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
    text = [line.decode(errors="replace") for line in rows]
    if rows and rows[0].rstrip().endswith(separator.encode()):  # which ends each row
        names += [""] * (len(fields_of(text[0], separator)) == len(names) + 1)
    values = (field for line in text for field in fields_of(line, separator))
    commas = separator != "," or any('"' in line for line in text)
    decimal = "," if commas and has_decimal_commas(values) else "."
    return Layout(names, separator, above, decimal, rows)


def _header(path: Path, line: bytes) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"it {other_encoding(line)}") from error
    if not text.strip("\0 "):
        reason = "it begins with NUL bytes, as if never wholly written; copy it again"
        raise _unreadable(path, reason)
    return text


def fields_of(line: str, separator: str) -> list[str]:
    """Split a line into its fields."""
    return next(csv.reader([line.replace("\0", "")], delimiter=separator), [])


def read_columns(path: Path, layout: Layout, types: Types, how: Reading) -> Iterator[pa.Table]:
    """Read columns of a text of separated values; rows that are broken are counted and left out."""
    rows, broken, fault, end = 0, 0, "", b""
    with reading(path, POINTS, *DAMAGED):
        for text, kept, faults in _parts(path, layout, how):
            table, wrong, odd = _parsed(path, kept, layout, types)
            wrong += len(faults)
            if wrong:
                how.counts[UNREAD] += wrong
            fault = fault or next(iter(faults), odd)
            rows, broken = rows + table.num_rows, broken + wrong
            end = text[-_LONGEST:].rpartition(b"\n")[2]  # a line that nothing ends
            yield table
    if broken and not rows:
        raise _unreadable(path, f"none of its rows, {broken:,} in all, can be read: {fault}")
    if end.strip() and not _is_row(end, layout):
        how.counts[TABLE_CUT_OFF] += 1
    if fault:
        msg = f"{number_of(broken, 'row')} of {path} cannot be read and left out: {fault}"
        how.warn(UNREAD, msg, str(path))


def _parts(
    path: Path, layout: Layout, how: Reading
) -> Iterator[tuple[bytes, bytes, Sequence[str]]]:
    """Give parts of whole lines: the text, the same cleaned for the parser, and its faults."""
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
            kept, faults, size = _screened(text, layout, last=not block)
            yield text[:size], kept, faults
            rest = text[size:] + rest
            if not block:
                return


def _screened(text: bytes, layout: Layout, *, last: bool) -> tuple[bytes, Sequence[str], int]:
    """Take out lines with NUL bytes, not in UTF-8, or with a quote that no next line closes."""
    plain = _is_utf8(text) and b"\0" not in text
    if plain and b'"' not in text:
        return text, (), len(text)
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
        broken[opened] = f"{_shown(lines[opened])} has a quote that is never closed"
    kept = b"".join(line for i, line in enumerate(lines[:end]) if i not in broken)
    faults = [why for i, why in sorted(broken.items()) if i < end]
    return kept, faults, sum(map(len, lines[:end]))


def _no_text(line: bytes) -> str:
    if b"\0" in line:
        return f"{_shown(line)} holds a NUL byte"
    return "" if _is_utf8(line) else f"{_shown(line)} {other_encoding(line)}"


def _shown(line: bytes) -> str:
    return repr(line.decode(errors="replace").strip()[:40])


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


def _parsed(path: Path, text: bytes, layout: Layout, types: Types) -> tuple[pa.Table, int, str]:
    """Parse lines; those with too many or too few fields are counted, and the first is shown."""
    wrong, fault = 0, ""

    def leave_out(row: pa_csv.InvalidRow) -> str:
        nonlocal wrong, fault
        if row.text.strip():
            wrong += 1
            found = number_of(row.actual_columns, "field")
            odd = f"has {found} where {row.expected_columns} are expected"
            fault = fault or f"{_shown(row.text.encode())} {odd}"
        return "skip"

    # Columns go by their places, as names may be equal.
    place = {name: str(layout.names.index(name)) for name in types}
    for number in (NUMBER, TEXT):  # as texts if a number somewhere is none
        wrong, fault = 0, ""
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
        return pa.table(columns), wrong, fault
    raise _unreadable(path, "it cannot be divided into rows")


def _numbers(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Read finite numbers; other values become null."""
    if column.type != NUMBER:
        if decimal != ".":
            column = pc.replace_substring(column, decimal, ".")
        is_number = pc.match_substring_regex(column, _NUMBER)
        column = pc.if_else(is_number, pc.utf8_trim_whitespace(column), None)
        column = pc.cast(pc.utf8_ltrim(column, characters="+"), NUMBER)
    return pc.if_else(pc.is_finite(column), column, None)
