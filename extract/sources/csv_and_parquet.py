"""Tables, as text or Parquet -> traces; a row is a point, or has a place or line in one field."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from numpy.typing import NDArray
from pyarrow import csv as pa_csv

from trajanon.common.csv_separators import has_decimal_commas, separator_named_by, separator_of
from trajanon.common.errors import FileProblem
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.number_text import number_of
from trajanon.common.text_encoding import encoding_problem, seems_utf16
from trajanon.extract.sources.archives import (
    BYTE_ORDER_MARK,
    BYTES_OF_POINT,
    DAMAGED,
    LONGEST_LINE,
    Stream,
    check_ratio,
)
from trajanon.extract.sources.column_role_names import known_as, plain
from trajanon.extract.sources.columns_chosen_for_roles import is_row, used_columns
from trajanon.extract.sources.coordinates import numbers
from trajanon.extract.sources.features import traces_of_features
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.rows_to_traces import FIRST_ROWS, traces_of_points
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, refuse_repeated_columns, sound
from trajanon.files.arrow import reading as explained_errors

PARQUET = b"PAR1"
_NAMES_OF_PARQUET = (".parquet", ".geoparquet")

FILE_TYPE = "a table of points"  # as errors call it
UNREAD = "rows that could not be read"
HEADERS = "lines that repeat the names of columns"

_ABOVE = (b"#", b"sep=")  # how lines above the names begin: comments, and one of Excel's

csv.field_size_limit(1 << 28)  # more than a line of a table may be long

_CR_ALONE = "its lines end in CR alone: save it with LF or CRLF"
_BLANK = b" \t\r\n\v\f\0"  # bytes of lines that hold nothing

_BYTES_JUDGED = 1 << 20  # of a text, by which its layout is found
_BYTES_PARSED = 1 << 24  # at a time
_LINES_OF_A_VALUE = 100  # that a quoted value may have
_ROWS_JUDGED = 100  # by which decimal commas are found
_ROWS_OF_PARQUET = 250_000  # that are read at a time

_NULL_VALUES = [*pa_csv.ConvertOptions().null_values, "<NA>", "None"]

# How places are written in one field: WKT, perhaps with a reference system; WKB; or two numbers.
# GeoJSON begins with a brace.
_SYSTEM = re.compile(r"SRID=(\d+)\s*;\s*", re.IGNORECASE)
_WKT = re.compile(r"\s*(SRID=\d+\s*;)?\s*(MULTI)?(POINT|LINESTRING)\b", re.IGNORECASE)
_WKB = re.compile(r"[0-9A-Fa-f]{42,}")
_NUMBER = r"\s*([-+]?\d+(?:\.\d+)?)\s*"
_PAIR = rf"^\s*[(\[]?{_NUMBER}[,;\s]{_NUMBER}[)\]]?\s*$"
_WGS_84 = "EPSG:4326"

Chunks = Callable[[Sequence[str]], Iterator[pd.DataFrame]]
"""Reads columns of a table, some rows at a time."""


def looks_like(name: str, head: bytes) -> bool:
    """Return whether a file is Parquet, or a text that is named as a table or names lat and lon."""
    if head.startswith(PARQUET) or name.endswith((*_NAMES_OF_PARQUET, ".csv", ".tsv")):
        return True
    lines = head.removeprefix(BYTE_ORDER_MARK).decode(errors="replace").splitlines()
    lines = [line for line in lines if line.strip()]
    not_comments = [line for line in lines if not line.encode().startswith(_ABOVE)]
    header = next(iter(not_comments or lines[-1:]), "")  # the last comment may have the names
    fields = fields_of(header, separator_of(header))
    return {"lat", "lon"} <= {role for field in fields for role in known_as(field.lstrip("# "))}


def read(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read the traces of a table."""
    is_parquet = path.name.lower().endswith(_NAMES_OF_PARQUET)
    # Only a look: by a new Reading, so that these bytes do not count as progress.
    with Reading().open(regular(path)) as stream:
        is_parquet = is_parquet or stream.peek().startswith(PARQUET)
    yield from (_traces_of_parquet if is_parquet else _traces_of_text)(path, reading)


def traces_of_table(
    names: Sequence[str], first: pd.DataFrame, chunks: Chunks, reading: Reading
) -> Iterator[Trace]:
    """Read the traces of a table with these columns; its first rows show what they mean."""
    known_roles = {role for name in names for role in known_as(name)} | set(reading.columns)
    if not {"lat", "lon", "place"} & known_roles:
        # Without a usual name, the first column whose first value is WKT holds the places.
        wkt = [name for name in first if _WKT.match(str(next(iter(first[name].dropna()), "")))]
        reading = reading.with_columns(place=wkt[0]) if wkt else reading

    column_of = used_columns(names, first, reading)
    if "place" not in column_of:
        parts = chunks(list(dict.fromkeys(column_of.values())))
        points = (
            pd.DataFrame({role: part[name] for role, name in column_of.items()}, copy=False)
            for part in parts
        )
        yield from traces_of_points(points, reading, column_of)
        return

    rows = pd.concat([first[:0], *chunks(list(first))], ignore_index=True)
    place = column_of["place"]
    geometry, system = _geometries(rows[place], place, reading)
    yield from traces_of_features(geometry, rows.drop(columns=place), system, reading)


# Parquet.


def _traces_of_parquet(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a file of Parquet by the roles of its columns."""
    with reading.open(path) as stream:
        with explained_errors(path, FILE_TYPE):
            file = pq.ParquetFile(stream, buffer_size=1 << 20, pre_buffer=False)
            check_ratio(BYTES_OF_POINT * file.metadata.num_rows, path.stat().st_size)
            schema = file.schema_arrow

        refuse_repeated_columns(schema, path)

        def chunks(columns: Sequence[str], size: int = _ROWS_OF_PARQUET) -> Iterator[pd.DataFrame]:
            with explained_errors(path, FILE_TYPE):
                for part in file.iter_batches(size, columns=list(columns), use_threads=False):
                    rows = _with_hex_places(part, reading)
                    # Whole numbers with gaps stay objects: as floats, two long ids may be equal.
                    yield frame(rows, path, date_as_object=False, integer_object_nulls=True)

        # It does not matter that a column is damaged if it is not named, and another has its roles.
        first_rows: dict[str, pd.Series] = {}
        damaged: dict[str, FileProblem] = {}
        for name in (field.name for field in schema if not pa.types.is_nested(field.type)):
            try:
                without_rows = pd.DataFrame(columns=[name])
                first_rows[name] = next(chunks([name], FIRST_ROWS), without_rows)[name]
            except FileProblem as error:
                damaged[name] = error

        readable = {role for name in first_rows for role in known_as(name)}
        for name, problem in damaged.items():
            if name in reading.columns.values() or not readable.issuperset(known_as(name)):
                raise problem
        yield from traces_of_table(schema.names, pd.DataFrame(first_rows), chunks, reading)


def _with_hex_places(batch: pa.RecordBatch, reading: Reading) -> pa.RecordBatch:
    """Write WKB as texts, as databases do."""
    for number, field in enumerate(batch.schema):
        if field.name != reading.columns.get("place") and "place" not in known_as(field.name):
            continue
        places = sound(batch.column(number))
        if pa.types.is_binary(places.type) or pa.types.is_large_binary(places.type):
            texts = [place and place.hex() for place in places.to_pylist()]
            batch = batch.set_column(number, field.name, pa.array(texts, pa.string()))
    return batch


# Texts.


class TableLayout(NamedTuple):
    """How a text is made of lines and fields."""

    names: Sequence[str]  # of the columns, in their order
    separator: str = ","  # what stands between two fields
    above: int = 0  # lines before the first row
    decimal: str = "."  # what stands before the fraction of a number


def _traces_of_text(path: Path, reading: Reading) -> Iterator[Trace]:
    """Read a text by the roles of its columns."""
    layout, head = layout_of(path)
    with explained_errors(path, FILE_TYPE):
        first = _parsed(head, layout, list(dict.fromkeys(layout.names)))

    def chunks(columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        return read_columns(path, layout, columns, reading)

    yield from traces_of_table(layout.names, first.rows, chunks, reading)


def layout_of(path: Path) -> tuple[TableLayout, bytes]:
    """Find the layout of a text, and its first rows; the last comment may have the names."""
    lines = _first_lines(path)
    with explained_errors(path, FILE_TYPE):
        not_blank = [number for number, line in enumerate(lines) if line.strip(_BLANK)]
        not_comments = (number for number in not_blank if not lines[number].startswith(_ABOVE))
        header_number = next(not_comments, not_blank[-1])
        header = lines[header_number].decode().strip("\r\n")
        if "\r" in header:
            raise OSError(_CR_ALONE)

    texts = [line.decode(errors="replace") for line in lines[: header_number + 1 + _ROWS_JUDGED]]
    separator = separator_named_by(texts[not_blank[0]].strip()) or separator_of(header)
    names = fields_of(header, separator)

    above = header_number + 1
    comments = [texts[number] for number in not_blank if number < header_number]
    commented_names = fields_of(comments[-1].lstrip("# "), separator) if comments else []
    if is_row(names) and len(commented_names) == len(names):
        names = commented_names
        above = header_number
    names = [name.strip() for name in names]

    rows = [fields_of(text, separator) for text in texts[above:] if text.strip()]
    if rows and len(rows[0]) == len(names) + 1 and not rows[0][-1]:  # a separator ends each row
        names.append("")

    # Between commas, a number with a decimal comma stands in quotes.
    may_have_commas = separator != "," or any('"' in text for text in texts[above:])
    decimal = "."
    if may_have_commas and has_decimal_commas(chain.from_iterable(rows)):
        decimal = ","
    return TableLayout(names, separator, above, decimal), b"".join(lines[above:])


def _first_lines(path: Path) -> list[bytes]:
    """Read whole lines from the beginning of a text; refuse what is none."""
    with explained_errors(path, FILE_TYPE, *DAMAGED), Reading().unpacked(path) as stream:
        head = stream.read(_BYTES_JUDGED)
        is_whole = len(head) < _BYTES_JUDGED

        if seems_utf16(head):
            raise OSError(f"it {encoding_problem(head)}")
        head = head.removeprefix(BYTE_ORDER_MARK)
        if not head.strip(_BLANK):
            raise OSError("it is empty" if is_whole else "its first 1 MB is blank")
        if b"\n" not in head.rstrip() and b"\r" in head.rstrip():
            raise OSError(_CR_ALONE)

        if not is_whole:  # the last line is cut off in its middle
            head = head[: head.rfind(b"\n") + 1]
            if not head.strip(_BLANK):
                raise OSError("its first line has more than 1 MB: no table has such a one")
        # As the rows are read: lines that end in CR CR LF are one each.
        return io.BytesIO(head).readlines()


def fields_of(line: str, separator: str) -> list[str]:
    """Split a line into its fields; a CR within it, which the parser refuses, becomes a blank."""
    plain_line = line.rstrip("\r\n").replace("\0", "").replace("\r", " ")
    return next(csv.reader([plain_line], delimiter=separator), [])


class _Parsed(NamedTuple):
    """Rows of a text, and what is wrong with others."""

    rows: pd.DataFrame
    broken: int  # how many rows are left out
    fault: str  # of the first of these


def read_columns(
    path: Path, layout: TableLayout, names: Sequence[str], reading: Reading
) -> Iterator[pd.DataFrame]:
    """Read columns, as texts; broken rows are left out."""
    row_count = 0
    broken = 0
    fault = ""
    last_line = ""  # what follows the last line end: a row that may be cut off
    with explained_errors(path, FILE_TYPE, *DAMAGED), reading.unpacked(path) as stream:
        for _ in range(layout.above):
            stream.readline()
        while text := stream.read(_BYTES_PARSED):
            text = _with_whole_row(text + stream.readline(), stream)
            part = _parsed(text, layout, names)
            rows = part.rows
            # A quick look first: a repeated header has the longest name, too.
            if max(layout.names, key=len).encode() in text:
                rows = _without_headers(rows, layout, reading)
            row_count += len(rows)
            broken += part.broken
            fault = fault or part.fault
            last_line = text.rpartition(b"\n")[2].decode()
            stream.check_values(row_count)
            yield rows
        if broken and not row_count:
            raise OSError(f"none of its rows, {broken:,} in all, can be read: {fault}")

    if last_line.strip() and len(fields_of(last_line, layout.separator)) != len(layout.names):
        reading.counts[TABLE_CUT_OFF] += 1
    reading.found(UNREAD, broken, rows=number_of(broken, "row"), path=path, fault=fault)


def _with_whole_row(text: bytes, stream: Stream) -> bytes:
    """Add lines until the last row is whole, as a quote in it may go on."""
    lines = [text]
    quotes = text.count(b'"')
    size = 0
    while quotes % 2 and len(lines) <= _LINES_OF_A_VALUE:
        lines.append(stream.readline())
        quotes += lines[-1].count(b'"')
        size += len(lines[-1])
        if size > LONGEST_LINE:
            raise OSError("it has a row of more than 64 MB")
    return b"".join(lines)


def _without_headers(rows: pd.DataFrame, layout: TableLayout, reading: Reading) -> pd.DataFrame:
    """Leave out rows that repeat the names of columns; refuse those with another order."""
    texts = rows.apply(lambda column: column.str.strip())
    is_header = texts.isin(list(layout.names)).all(axis=1)
    if (texts[is_header] != list(rows)).any(axis=None):
        fields = ", ".join(texts[is_header].iloc[-1])
        raise OSError(f"it has a second header in another order, {fields}: split it")
    reading.count(HEADERS, is_header)
    return rows[~is_header]


def _parsed(text: bytes, layout: TableLayout, names: Sequence[str]) -> _Parsed:
    """Parse lines; those with too many or too few fields are counted, and the first is shown."""
    broken = 0
    fault = ""

    def leave_out(row: pa_csv.InvalidRow) -> str:
        nonlocal broken, fault
        if row.text.strip():
            # A quote that is never closed swallows further rows: each of its lines is one.
            broken += 1 + row.text.count("\n")
            fields = number_of(row.actual_columns, "field")
            shown = repr(row.text.strip()[:40])
            fault = fault or f"{shown} has {fields} where {row.expected_columns} are expected"
        return "skip"

    if not text.isascii():
        text.decode()  # an error names the encoding

    # Columns go by their positions, as names may be equal.
    position = {name: str(layout.names.index(name)) for name in names}
    table = pa_csv.read_csv(
        pa.BufferReader(text or b"\n"),  # of nothing, it makes an error
        pa_csv.ReadOptions(
            column_names=[str(i) for i in range(len(layout.names))],
            use_threads=False,
            block_size=len(text) + 1,  # one block, so that no row straddles two
        ),
        pa_csv.ParseOptions(delimiter=layout.separator, invalid_row_handler=leave_out),
        pa_csv.ConvertOptions(
            column_types=dict.fromkeys(position.values(), pa.string()),
            include_columns=list(position.values()),
            strings_can_be_null=True,
            null_values=_NULL_VALUES,
        ),
    )
    if b'"' in text and _quote_holds_rows(text, layout, table.num_rows + broken):
        raise OSError("it has a quote that is never closed")

    rows = table.rename_columns(list(position)).to_pandas(use_threads=False)
    for name in rows if layout.decimal == "," else ():
        rows[name] = rows[name].str.replace(r"^(\s*[-+]?\d+),(\d+)", r"\1.\2", regex=True)
    return _Parsed(rows, broken, fault)


def _quote_holds_rows(text: bytes, layout: TableLayout, rows: int) -> bool:
    """Return whether a row seems to stand within quotes, as there are more lines than rows."""
    if sum(not line.isspace() for line in text.splitlines()) <= rows:
        return False

    separators = len(layout.names) - 1
    quotes = re.findall(rb'"[^"]*(?:"|\Z)', text)
    lines_within = chain.from_iterable(quote.split(b"\n")[1:] for quote in quotes)
    return any(line.count(layout.separator.encode()) == separators for line in lines_within)


# Places in one field.


def _geometries(values: pd.Series, name: str, reading: Reading) -> tuple[NDArray[np.object_], str]:
    """Read places as the first is written, and their system; unreadable ones become None."""
    texts_given = values.dropna()
    example = str(texts_given.iloc[0]).strip() if len(texts_given) else ""
    texts = np.asarray(values.astype(object).where(values.notna(), None), dtype=object)
    if _WKT.match(example):
        matches = (_SYSTEM.match(str(place).strip()) for place in texts_given)
        codes = {match[1] for match in matches if match}
        texts = np.array([place and _SYSTEM.sub("", str(place)) for place in texts], dtype=object)
        geometry = shapely.from_wkt(texts, on_invalid="ignore")
        return geometry, _one_system(codes, name, reading) or _WGS_84
    if _WKB.fullmatch(example):
        geometry = shapely.from_wkb(texts, on_invalid="ignore")
        return geometry, system_of(geometry, name, reading) or _WGS_84
    if example.startswith("{"):
        return shapely.from_geojson(texts, on_invalid="ignore"), _WGS_84
    return _pairs(values, name, example, reading), _WGS_84


def system_of(geometry: NDArray[np.object_], name: str, reading: Reading) -> str | None:
    """Return the reference system that WKB names; None if it names none, and several are refused.

    ``name`` is that of the column.
    """
    codes = {str(code) for code in shapely.get_srid(geometry).tolist() if code > 0}
    return _one_system(codes, name, reading)


def _one_system(codes: set[str], name: str, reading: Reading) -> str | None:
    """Return the reference system of the only code, or None without any; refuse several."""
    if len(codes) > 1:
        several = " and ".join(f"EPSG:{code}" for code in sorted(codes)[:2])
        raise reading.refusal("places in several systems", systems=several, name=name)
    return f"EPSG:{next(iter(codes))}" if codes else None


def _pairs(values: pd.Series, name: str, example: str, reading: Reading) -> NDArray[np.object_]:
    """Read places that are two numbers, in the order that the name of the column says."""
    pairs = values.astype("string").str.extract(_PAIR)
    as_written = np.column_stack([numbers(pairs[column]) for column in pairs])
    is_known = np.isfinite(as_written).all(axis=1)
    if not is_known.any():
        raise reading.refusal("no places", name=name, example=example[:40])

    plain_name = plain(name)
    lat_begins = plain_name.find("lat")
    lon_begins = max(plain_name.find("lon"), plain_name.find("lng"))
    if lat_begins < 0 or lon_begins < 0:
        raise reading.refusal("order of coordinates", name=name, example=example)

    points = np.full(len(as_written), None, dtype=object)
    known = as_written[is_known]
    points[is_known] = shapely.points(known[:, ::-1] if lat_begins < lon_begins else known)
    return points
