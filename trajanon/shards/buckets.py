"""Tables that tasks cut into buckets in scratch, and each bucket read again as a whole."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.common.arrays import Hashes, Ints
from trajanon.files import arrow
from trajanon.shards.scratch import Scratch, written

ROWS_PER_BUCKET = 100_000
"""Rows that are read at one time once all shards are searched."""

NUMBERS_PER_BUCKET = 2_000_000
"""People, or runs, that are compared at one time."""


def row_buckets(n: int) -> int:
    """Count the buckets of n rows, or of their lines."""
    return -(-n // ROWS_PER_BUCKET)


def number_buckets(n: int) -> int:
    """Count the buckets of n people or runs."""
    return -(-n // NUMBERS_PER_BUCKET)


def bucket_of_rows(row: Ints) -> Ints:
    """Find the buckets of rows by their numbers in the table."""
    return row // ROWS_PER_BUCKET


def bucket_of_numbers(number: Ints | Hashes, n: int) -> Ints:
    """Find the buckets of n people or runs at most; equal ones are in one."""
    return (number % number.dtype.type(number_buckets(n))).astype(np.int64)


def put(scratch: Scratch, what: str, bucket: Ints, task: int, table: Any) -> None:
    """Write each row of a table to its bucket: a task has a file in each."""
    import pyarrow as pa

    order = np.argsort(bucket, kind="stable")
    numbers, begins = np.unique(bucket[order], return_index=True)
    rows = table.take(pa.array(order))
    for number, begin, end in zip(numbers.tolist(), begins, [*begins[1:], len(order)], strict=True):
        path = scratch.bucket(what, number) / f"{task:05d}.parquet"
        write_table(path, rows[begin:end])
    pa.default_memory_pool().release_unused()


def write_table(path: Path, table: Any) -> None:
    """Write a table to scratch: it is whole or not there."""
    import pyarrow.parquet as pq

    with written(path) as draft:
        pq.write_table(
            table,
            draft,
            row_group_size=max(len(table), 1),
            compression="zstd",
            write_statistics=False,
            write_page_checksum=True,
        )


def read_table(path: Path) -> Any:
    """Read what `write_table` wrote."""
    with arrow.parquet(path) as file:
        return file.read(use_threads=False)


def files_of(scratch: Scratch, what: str, number: int) -> list[Path]:
    """List the files of a bucket in the order of tasks; drafts end otherwise."""
    return sorted(scratch.bucket(what, number).glob("*.parquet"))


def buckets(scratch: Scratch, what: str, count: int) -> Iterator[Any]:
    """Read the buckets that have rows, one after another; rows are in the order of tasks."""
    import pyarrow as pa

    for number in range(count):
        if paths := files_of(scratch, what, number):
            yield pa.concat_tables(map(read_table, paths)).combine_chunks()


def count_different(scratch: Scratch, what: str, n: int, *columns: str) -> list[int]:
    """Count the different numbers, of n at most; also those of two columns together, and so on."""
    counts = np.zeros(len(columns), dtype=np.int64)
    for table in buckets(scratch, what, number_buckets(n)):
        for last in range(len(columns)):
            counts[last] += len(table.group_by([*columns[: last + 1]]).aggregate([]))
    return counts.tolist()
