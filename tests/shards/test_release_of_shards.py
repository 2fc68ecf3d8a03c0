"""Lines that several shards have, and where parts of a release end."""

from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.files.arrow import column_of_rows
from trajanon.release.release import LinesWithCopies, cut_into_parts
from trajanon.shards import sorted_lines
from trajanon.shards.release_of_shards import LineMerger
from trajanon.shards.scratch_and_resume import Scratch, buckets_of_numbers
from trajanon.shards.sorted_lines import lines_in_order, write_sorted


def lines_of_shards(*lines: tuple[list[float], list[int], list[int]]) -> pa.Table:
    """A table of lines with the rows and people on each; equal lines have one key."""
    places, rows, people = zip(*lines, strict=True)
    keys = [hash(tuple(place)) for place in places]
    return pa.table(
        {
            "line": pa.array(places, pa.large_list(pa.float64())),
            "key": keys,
            "rows": pa.array(rows, pa.large_list(pa.int64())),
            "people": pa.array(people, pa.large_list(pa.int64())),
        }
    )


def test_who_is_on_a_line_in_two_shards_has_one_row_of_it() -> None:
    north, south = [41.0, 2.0, 41.1, 2.0], [40.0, 2.0, 40.1, 2.0]
    table = lines_of_shards(
        (north, [5, 6, 7], [1, 2, 3]), (south, [8, 9], [1, 4]), (north, [10, 11], [3, 5])
    )
    seen = LineMerger(timing=None)
    different = seen.merge_and_count(table)
    assert different.points.reshape(2, -1).tolist() == [south, north]
    assert different.copies.tolist() == [2, 4]
    assert (seen.lines, seen.rows, seen.rows_already_on_line) == (2, 6, [10])


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
        st.lists(st.tuples(*[st.integers(0, 2)] * 4), max_size=30), min_size=1, max_size=6
    ),
    timed=st.booleans(),
)
def test_lines_of_shards_come_in_order_and_equal_ones_together(
    tmp_path_factory: pytest.TempPathFactory, shards: list[list[tuple[int, ...]]], timed: bool
) -> None:
    """However many begin in one place."""
    scratch = Scratch(tmp_path_factory.mktemp("scratch"))
    scratch.rows.mkdir()
    with (
        patch.object(sorted_lines, "LINES_PER_GROUP", 4),
        patch.object(sorted_lines, "GROUPS_PER_BLOCK", 2),
    ):
        firsts = []
        for number, places in enumerate(shards):
            lines = np.array(places or [(0, 0, 0, 0)], dtype=np.float64)
            columns = {"line": column_of_rows(lines), "shard": np.full(len(lines), number)}
            if timed:
                columns["times"] = column_of_rows(lines[:, 2:])
            firsts.append(write_sorted(scratch, number, pa.table(columns)))
        blocks = [block["line"].to_pylist() for block in lines_in_order(scratch, firsts)]

    expected = sorted(
        list(map(float, place)) for places in shards for place in places or [(0,) * 4]
    )
    assert sorted(line for block in blocks for line in block) == expected
    for block, following in pairwise(blocks):
        assert max(block) < min(following)


def test_a_block_is_bounded_where_all_lines_begin_in_one_place(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.rows.mkdir()
    random = np.random.default_rng(0)
    with (
        patch.object(sorted_lines, "LINES_PER_GROUP", 5),
        patch.object(sorted_lines, "GROUPS_PER_BLOCK", 8),
    ):
        firsts = []
        for number in range(6):
            lines = random.random((200, 4))
            lines[:, :2] = 40.0, -3.7
            columns = {"line": column_of_rows(lines), "shard": np.full(200, number)}
            firsts.append(write_sorted(scratch, number, pa.table(columns)))
        sizes = [len(block) for block in lines_in_order(scratch, firsts)]
    assert sum(sizes) == 1200
    assert max(sizes) <= 5 * (8 + 6)


def test_rows_of_a_bucket_come_back_in_the_order_of_tasks(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.rows.mkdir()
    numbers = np.array([7, 3, 7, 12], dtype=np.uint64)
    for task in (1, 0):
        table = pa.table({"number": numbers, "task": np.full(4, task)})
        scratch.put("people", buckets_of_numbers(numbers, 4), task, table)
    (bucket,) = scratch.buckets("people")
    assert bucket["task"].to_pylist() == [0] * 4 + [1] * 4
    assert bucket["number"].to_pylist() == [7, 3, 7, 12] * 2
