"""Lines of shards: each shard's are sorted in a file, and all are merged in bounded memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from trajanon.common.arrays import Floats
from trajanon.files.arrow import lists_of
from trajanon.files.rounding_order_and_keys_of_lines import come_before, in_order, numbers_of
from trajanon.shards.scratch_and_resume import Scratch, read_table, write_table

LINES_PER_GROUP = 250
"""Lines of a row group: of each shard, one may have to wait in memory."""

GROUPS_PER_BLOCK = 60
"""Row groups that are read at one time."""


def points_of(lines: Any) -> Floats:
    """Return the points of lines, (l, m, 2)."""
    return lists_of(lines["line"], "line")[0].reshape(len(lines), -1, 2)


def times_of(lines: Any) -> Floats | None:
    """Return the times of lines, (l, m)."""
    if "times" not in lines.column_names:
        return None
    return lists_of(lines["times"], "times")[0].reshape(len(lines), -1)


def write_sorted(scratch: Scratch, shard: int, lines: Any) -> Floats:
    """Write the lines of a shard in the order of a release.

    Return the first line of each row group, (g, p), as `numbers_of` does.
    """
    points = points_of(lines)
    times = times_of(lines)
    order = in_order(points, times)
    write_table(scratch.lines(shard), lines.take(pa.array(order)), LINES_PER_GROUP)
    return numbers_of(points, times)[order[::LINES_PER_GROUP]]


def lines_in_order(scratch: Scratch, first_lines: Sequence[Floats]) -> Iterator[Any]:
    """Read the lines of all shards in blocks: any line of a block comes before those of the next.

    ``first_lines`` are those of the row groups of each shard, from `write_sorted`. In a row group
    no line comes before the first one, so those before all first lines to come need not wait.
    """
    sizes = [len(first) for first in first_lines]
    shard = np.repeat(np.arange(len(sizes)), sizes)
    group = np.concatenate([np.arange(size) for size in sizes])
    first = np.concatenate(first_lines)
    order = np.lexsort(first.T[::-1])

    waiting: list[Any] = []
    for begin in range(0, len(order), GROUPS_PER_BLOCK):
        end = begin + GROUPS_PER_BLOCK
        read_now = order[begin:end]
        for number in np.unique(shard[read_now]).tolist():
            groups = np.sort(group[read_now[shard[read_now] == number]]).tolist()
            waiting.append(read_table(scratch.lines(number), groups))

        lines = pa.concat_tables(waiting).combine_chunks()
        if end < len(order):
            is_ready = come_before(points_of(lines), times_of(lines), first[order[end]])
            waiting = [lines.filter(pa.array(~is_ready))]
            lines = lines.filter(pa.array(is_ready))
        if len(lines):
            # Equal lines are in the order of their shards.
            by_shard = np.argsort(lines["shard"].to_numpy(), kind="stable")
            yield lines.take(pa.array(by_shard)).drop_columns("shard")
            del lines
        # Arrow would keep the memory for itself.
        pa.default_memory_pool().release_unused()
