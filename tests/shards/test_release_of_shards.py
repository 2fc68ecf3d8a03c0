"""Lines that several shards have, and where parts of a release end."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Floats
from trajanon.files.arrow import column_of_rows
from trajanon.files.rounding_order_and_keys_of_lines import numbers_of
from trajanon.release.release import LinesWithCopies, cut_into_parts
from trajanon.shards import release_of_shards
from trajanon.shards.release_of_shards import LineMerger, LineOfShard, lines_in_order
from trajanon.shards.scratch_and_resume import Scratch, buckets_of_numbers, read_table, write_table
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.release_timing import Timing


def write_lines(scratch: Scratch, shard: int, numbers: Floats) -> None:
    """Write the lines of a shard, each with an original of its own, in row groups of four."""
    row = column_of_rows(np.arange(len(numbers)).reshape(-1, 1))
    on_roads = np.zeros(len(numbers), dtype=np.bool_)
    columns = {"numbers": column_of_rows(numbers), "rows": row, "people": row, "on_roads": on_roads}
    order = np.lexsort(numbers.T[::-1])
    write_table(scratch.lines(shard), pa.table(columns).take(order), 4)


def test_who_is_on_a_line_in_two_shards_has_one_row_of_it() -> None:
    north, south = [41.0, 2.0, 41.1, 2.0], [40.0, 2.0, 40.1, 2.0]
    lines = [
        LineOfShard(south, [8, 9], [1, 4], on_roads=False),
        LineOfShard(north, [5, 6, 7], [1, 2, 3], on_roads=True),
        LineOfShard(north, [10, 11], [3, 5], on_roads=True),
    ]
    seen = LineMerger(timing=None)
    (different,) = seen.merged(lines)
    assert different.points.reshape(2, -1).tolist() == [south, north]
    assert different.copies.tolist() == [2, 4]
    assert (seen.lines, seen.rows, seen.rows_already_on_line) == (2, 6, [10])
    assert seen.on_roads == 1


@given(
    copies=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    cuts=st.sets(st.integers(1, 39), max_size=5),
)
def test_parts_hold_all_lines_in_order_whatever_the_buckets(
    copies: list[int], cuts: set[int]
) -> None:
    numbers = np.arange(float(len(copies))).repeat(4).reshape(-1, 2, 2)
    lines = LinesWithCopies(numbers, numbers[:, :, 0], np.array(copies))
    ends = sorted({0, len(copies), *(cut for cut in cuts if cut < len(copies))})
    blocks = [lines.between(begin, end) for begin, end in pairwise(ends)]
    parts = list(cut_into_parts(blocks, 10))
    assert np.concatenate([part.points for part in parts]).tolist() == numbers.tolist()
    times = [part.times for part in parts if part.times is not None]
    assert np.concatenate(times).tolist() == numbers[:, :, 0].tolist()
    assert np.concatenate([part.copies for part in parts]).tolist() == copies
    number = (np.cumsum(copies) - 1) // 10
    assert [len(part.copies) for part in parts] == np.unique(number, return_counts=True)[1].tolist()


@given(
    shards=st.lists(
        st.lists(st.tuples(*[st.integers(0, 2)] * 6), max_size=30), min_size=1, max_size=6
    ),
    timed=st.booleans(),
)
def test_lines_of_shards_come_in_order_and_equal_ones_once(
    tmp_path_factory: pytest.TempPathFactory, shards: list[list[tuple[int, ...]]], timed: bool
) -> None:
    """However many begin in one place."""
    scratch = Scratch(tmp_path_factory.mktemp("scratch"))
    scratch.rows.mkdir()
    width = 6 if timed else 4
    written = [np.array(places or [(0,) * 6], dtype=np.float64)[:, :width] for places in shards]
    for number, lines in enumerate(written):
        write_lines(scratch, number, lines)

    merger = LineMerger(Timing(Clock("date", "UTC", 60), 3.0) if timed else None)
    with patch.object(release_of_shards, "LINES_PER_BLOCK", 7):
        blocks = [*merger.merged(lines_in_order(scratch, len(shards)))]
    found = []
    for block in blocks:
        assert (block.times is not None) is timed
        numbers = block.points.reshape(len(block.points), -1)
        found += numbers_of(block.points, block.times).tolist()
        assert len(numbers) <= 7
    assert found == np.unique(np.concatenate(written), axis=0).tolist()


def test_of_each_shard_few_lines_are_in_memory(tmp_path: Path) -> None:
    """Also where all lines begin in one place."""
    scratch = Scratch(tmp_path)
    scratch.rows.mkdir()
    random = np.random.default_rng(0)
    for number in range(6):
        lines = random.random((200, 4))
        lines[:, :2] = 40.0, -3.7
        write_lines(scratch, number, lines)

    read = Counter[Path]()

    def counted(path: Path, groups: list[int]) -> Any:
        read[path] += len(groups)
        return read_table(path, groups)

    with patch.object(release_of_shards, "read_table", counted):
        seen = 0
        for seen, _ in enumerate(lines_in_order(scratch, 6), 1):
            assert 4 * read.total() <= seen + 4 * 6
    assert seen == 1200


def test_rows_of_a_bucket_come_back_in_the_order_of_tasks(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.rows.mkdir()
    numbers = np.array([7, 3, 7, 12], dtype=np.uint64)
    for task in (1, 0):
        table = pa.table({"number": numbers, "task": np.full(4, task)})
        scratch.put("people", buckets_of_numbers(numbers, 4), task, table)
    (bucket,) = scratch.buckets("people")
    assert bucket["task"].tolist() == [0] * 4 + [1] * 4
    assert bucket["number"].tolist() == [7, 3, 7, 12] * 2
