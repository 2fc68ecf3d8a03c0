"""Parquet files as Arrow reads them best: by itself, and with plain values."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Hashes, Ints
from trajanon.common.errors import BadInput, FileProblem, TrajanonError
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.number_text import number_of
from trajanon.common.text_encoding import encoding_problem


def opened_parquet(path: Path) -> pa.NativeFile:
    """Open a file that Arrow reads without Python."""
    # Arrow reads in threads of its own. One that lets go of a file object of Python's while the
    # interpreter ends takes the process with it (exit code 134), although all was read.
    with regular(path).open("rb"):
        return pa.OSFile(os.fsencode(path))


@contextmanager
def reading(source: object, file_type: str = "Parquet", *errors: type[Exception]) -> Iterator[None]:
    """Raise in one sentence what keeps a file from being read; ``errors`` beside Arrow's."""
    try:
        yield
    except TrajanonError:
        raise
    except IsADirectoryError as error:
        raise FileProblem(f"{source} is a folder; name a file") from error
    except (OSError, UnicodeError, pa.ArrowException, *errors) as error:
        reason = " ".join(str(error).split())[:200]
        if "magic bytes" in reason:
            reason = "it is another kind of file, or not whole"
        if "Parquet" in file_type and ("Invalid UTF8" in reason or isinstance(error, UnicodeError)):
            reason = "it holds texts that are not UTF-8: write it anew"
        elif isinstance(error, UnicodeDecodeError) or "Invalid UTF8" in reason:
            reason = f"it {encoding_problem(getattr(error, 'object', b''))}"
        raise FileProblem(f"cannot read {source} as {file_type}: {reason}") from error


@contextmanager
def parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; an error of reading it in the block becomes one sentence."""
    with reading(path), opened_parquet(path) as stream:
        yield parquet_file(stream, path)


def parquet_file(stream: object, source: object) -> pq.ParquetFile:
    """Return the Parquet file in a stream, whose pages are compared with their checksums."""
    # With a buffer it would keep all that it has read.
    file = pq.ParquetFile(stream, pre_buffer=False, page_checksum_verification=True)
    refuse_repeated_columns(file.schema_arrow, source)
    return file


def refuse_repeated_columns(schema: pa.Schema, source: object) -> None:
    """Refuse columns with equal names: a request for one would be ambiguous."""
    name, count = next(iter(Counter(schema.names).most_common(1)), ("", 0))
    if count > 1:
        raise BadInput(f"{source} has two columns {name!r}; rename one of them")


def frame(table: pa.Table | pa.RecordBatch, source: object, **options: bool) -> pd.DataFrame:
    """Read a table or batch as numbers, texts, times, truths and lists of these."""
    columns = []
    for name, written in zip(table.schema.names, table.columns, strict=True):
        with reading(f"the column {name!r} of {source}", "numbers or UTF-8 text"):
            column = sound(written)
            if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
                texts = (
                    None if value is None else value.decode("utf-8", "backslashreplace")
                    for value in column.to_pylist()
                )
                column = pa.array(texts, pa.large_string())
            columns.append(column)

    if not columns:
        return pd.DataFrame(index=range(table.num_rows))
    plain = pa.Table.from_arrays(columns, table.schema.names)
    with reading(source):
        read: pd.DataFrame = plain.to_pandas(use_threads=False, **options)
    return read


def sound(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Convert a column to one of a few types with plain values, and check that it is sound."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):  # where Arrow takes what is missing for the last value
        if pa.types.is_string_view(column.type.value_type):  # which Arrow cannot look up
            parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            coded = pa.dictionary(column.type.index_type, pa.large_string())
            column = pa.chunked_array([_with_large_texts(part) for part in parts], coded)
        column = column.cast(column.type.value_type)

    written = column.type
    if pa.types.is_fixed_size_binary(written) or pa.types.is_binary_view(written):
        column = column.cast(pa.large_binary())
    elif pa.types.is_float16(written):
        column = column.cast(pa.float32())
    elif pa.types.is_time(written) or pa.types.is_string_view(written):
        column = column.cast(pa.large_string())
    elif pa.types.is_timestamp(written) or pa.types.is_date(written):
        column = _within_calendar(column)
    elif pa.types.is_map(written):  # pandas has pairs of these, which Arrow does not take back
        column = column.cast(pa.list_(pa.struct([written.key_field, written.item_field])))
    column.validate(full=True)
    return column


def _with_large_texts(codes: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return codes of texts, as polars has them, with texts of another layout."""
    texts = codes.dictionary.cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(codes.indices, texts)


def rows_of_size(values: Floats, sizes: Ints, size: int) -> Floats:
    """Return lists of as many numbers, or of none, as rows of an array; NaN for none."""
    if (wrong := ~np.isin(sizes, (0, size))).any():
        row = int(np.argmax(wrong))
        raise BadInput(f"row {row} has {number_of(sizes[row], 'time')} for {size} points")

    rows = np.full((len(sizes), size), np.nan)
    rows[sizes == size] = values.reshape(-1, size)
    return rows


def column_of_lists(values: Floats | Ints | Hashes, size: Ints) -> pa.LargeListArray:
    """Write lists of numbers, one after another, as a column."""
    return pa.LargeListArray.from_arrays(np.append(0, np.cumsum(size)), pa.array(values))


def column_of_rows(rows: Floats | Ints | Hashes) -> pa.LargeListArray:
    """Write the rows of an array as lists of as many numbers, as a column."""
    flat = rows.reshape(len(rows), -1)
    return column_of_lists(flat.ravel(), np.full(len(flat), flat.shape[1]))


def holds_lists(column_type: pa.DataType) -> bool:
    """Check whether a column of this type holds lists of numbers."""
    are_lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if not any(is_list(column_type) for is_list in are_lists):
        return False
    values = column_type.value_type
    return bool(pa.types.is_integer(values) or pa.types.is_floating(values))


def lists_of(column: pa.Array | pa.ChunkedArray, name: str) -> tuple[NDArray[Any], Ints]:
    """Read a column of lists of numbers: all values, and how many each row has; 0 without a list.

    Hashes stay whole numbers.
    """
    if not holds_lists(column.type):
        raise BadInput(f"its column {name} holds {column.type}, and not lists of numbers")
    column = sound(column)
    size = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    flat = pc.list_flatten(column)
    if flat.type != pa.uint64() or flat.null_count:
        flat = flat.cast(pa.float64(), safe=False)  # also from 2**53 on
    return flat.to_numpy(), size.astype(np.int64)


def geometries_of(
    column: pa.Array | pa.ChunkedArray, on_invalid: Literal["raise", "ignore"] = "raise"
) -> NDArray[np.object_]:
    """Read geometries in WKB."""
    import shapely

    if not (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
        raise TypeError(f"geometries are bytes (WKB), and these are {column.type}")
    with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
        values = column.to_numpy(zero_copy_only=False)
        return np.asarray(shapely.from_wkb(values, on_invalid=on_invalid))


def _within_calendar(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Remove times beyond the years 1 to 9999, which no calendar of Python knows."""
    time_type = column.type
    if pa.types.is_timestamp(time_type) and time_type.tz is not None:
        time_type = pa.timestamp(time_type.unit, "UTC")  # whatever zone is named
        column = column.cast(time_type)
    if getattr(time_type, "unit", "") == "ns":  # the years 1677 to 2262
        return column

    calendar = datetime if pa.types.is_timestamp(time_type) else date
    first = pa.scalar(calendar.min, time_type)
    last = pa.scalar(calendar.max, time_type)
    inside = pc.and_(pc.greater_equal(column, first), pc.less_equal(column, last))
    return pc.if_else(inside, column, None)
