"""Ranges of rows of a folder of parts: what is read, and what is not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.object_stores import Folder
from trajanon.files import arrow
from trajanon.files.parquet_parts import ParquetParts, parquet_of


def write_numbers(folder: Path, parts: int, rows: int, per_group: int) -> Path:
    """Write parts of so many rows, with the number of each and a long text."""
    folder.mkdir()
    for part in range(parts):
        numbers = np.arange(part * rows, (part + 1) * rows)
        table = pa.table({"number": numbers, "text": [f"{n:01000d}" for n in numbers]})
        path = folder / f"part-{part:05d}.parquet"
        pq.write_table(
            table,
            path,
            row_group_size=per_group,
            compression="none",
            use_dictionary=False,
            write_statistics=False,
            write_page_checksum=True,
        )
    return folder


def opened(folder: Path) -> ParquetParts:
    with parquet_of(Folder(folder), lambda *_: None) as file:
        return file


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> ParquetParts:
    """Three parts of 40 rows, in groups of 15, 15 and 10."""
    return opened(write_numbers(tmp_path_factory.mktemp("parts") / "numbers", 3, 40, 15))


@given(ends=st.tuples(st.integers(0, 120), st.integers(0, 120)), batch=st.integers(1, 50))
def test_a_range_has_its_rows(numbers: ParquetParts, ends: tuple[int, int], batch: int) -> None:
    first, end = sorted(ends)
    if first == end:
        return
    rows = numbers.between(first, end)
    expected = list(range(first, end))
    assert rows.first_row == first
    assert rows.read(["number"])["number"].to_pylist() == expected
    batches = [one["number"].to_pylist() for one in rows.iter_batches(batch, ["number"])]
    assert [number for one in batches for number in one] == expected
    assert max(map(len, batches)) <= batch


def test_row_groups_without_rows_of_a_range_are_not_read(tmp_path: Path) -> None:
    """They may be damaged."""
    folder = write_numbers(tmp_path / "numbers", 2, 40, 10)
    for path, groups in zip(sorted(folder.iterdir()), ([0, 1], [2, 3]), strict=True):
        content = bytearray(path.read_bytes())
        for begin, end in places_of_texts(path, groups):
            content[begin + 100 : end] = bytes(end - begin - 100)
        path.write_bytes(content)
    rows = opened(folder).between(25, 55)
    expected = [f"{n:01000d}" for n in range(25, 55)]
    assert rows.read(["text"])["text"].to_pylist() == expected
    batches = [one["text"].to_pylist() for one in rows.iter_batches(7, ["text"])]
    assert [text for one in batches for text in one] == expected


def places_of_texts(path: Path, groups: list[int]) -> Iterator[tuple[int, int]]:
    """Where the texts of row groups begin and end in a file."""
    with pq.ParquetFile(path) as file:
        for group in groups:
            column = file.metadata.row_group(group).column(1)
            begin = column.data_page_offset
            yield begin, begin + column.total_compressed_size


def test_ranges_together_are_read_about_once(tmp_path: Path) -> None:
    folder = write_numbers(tmp_path / "numbers", 4, 2000, 20)
    file = opened(folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    read = list[int]()

    def count(path: Path) -> Any:
        return Counting(path.open("rb"), read)

    with patch.object(arrow, "opened_parquet", count):
        for begin in range(0, 8000, 410):
            file.between(begin, min(begin + 410, 8000)).read(["text"])
    assert size < sum(read) < 1.4 * size  # with the footers


class Counting:
    """A file whose bytes are counted."""

    def __init__(self, file: Any, read: list[int]) -> None:
        self.file, self.sizes = file, read

    def read(self, *size: int) -> bytes:
        content: bytes = self.file.read(*size)
        self.sizes.append(len(content))
        return content

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> "Counting":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
