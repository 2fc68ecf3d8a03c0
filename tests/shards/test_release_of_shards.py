"""Lines that several shards have, and where parts of a release end."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from trajanon.shards.release_of_shards import LineMerger, cut_into_parts
from trajanon.shards.scratch_and_resume import Scratch, buckets_of_numbers


def lines_of_shards(*lines: tuple[list[float], list[int], list[int]]) -> pa.Table:
    """A table of lines with the rows and people on each; equal lines have one key."""
    places, rows, people = zip(*lines, strict=True)
    keys = [hash(tuple(place)) for place in places]
    return pa.table(
        {
            "line": pa.array(places, pa.list_(pa.float64(), 4)),
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
    assert different["line"].to_pylist() == [south, north]
    assert different["copies"].to_pylist() == [2, 4]
    assert (seen.lines, seen.rows, seen.rows_already_on_line) == (2, 6, [10])


@given(
    copies=st.lists(st.integers(1, 9), min_size=1, max_size=40),
    cuts=st.sets(st.integers(1, 39), max_size=5),
)
def test_parts_hold_all_lines_in_order_whatever_the_buckets(
    copies: list[int], cuts: set[int]
) -> None:
    table = pa.table({"number": range(len(copies)), "copies": copies})
    ends = sorted({0, len(copies), *(cut for cut in cuts if cut < len(copies))})
    blocks = [table[begin:end] for begin, end in pairwise(ends)]
    parts = list(cut_into_parts(blocks, 10))
    assert pa.concat_tables(parts).equals(table)
    number = (np.cumsum(copies) - 1) // 10
    assert [len(part) for part in parts] == np.unique(number, return_counts=True)[1].tolist()


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
