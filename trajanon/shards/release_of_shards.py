"""The lines of all shards -> the parts of a release, which are its files; and whose they are."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.common.arrays import Floats
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress
from trajanon.files.arrow import lists_of
from trajanon.files.geoparquet import write_released
from trajanon.files.trajectory_files import part_name
from trajanon.release.release import LinesWithCopies, parts_of
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.scratch_and_resume import Scratch, read_table, row_groups_of
from trajanon.trajectories.release_timing import Timing

LINES_IN_MEMORY = 15_000
"""Lines of all shards together that are in memory while they are merged."""

LINES_PER_BLOCK = 5_000
"""Lines that are merged before they are written."""


class LineOfShard(NamedTuple):
    """A line of a shard; equal lines of several shards are merged."""

    numbers: list[float]  # its points and times, in the order in which lines are compared
    rows: list[int]  # the numbers of its originals
    people: list[int]  # the person of each of these
    on_roads: bool


def lines_per_group(shards: int) -> int:
    """Return how many lines of a shard are a row group in scratch, of which one is in memory."""
    return max(LINES_IN_MEMORY // shards, 1)


def lines_in_order(scratch: Scratch, shards: int) -> Iterator[LineOfShard]:
    """Read the lines of all shards in the order of a release; equal ones are in that of shards."""
    lines_of_shards = [_lines_of(scratch.lines(shard)) for shard in range(shards)]
    return merge(*lines_of_shards, key=attrgetter("numbers"))


def _lines_of(path: Path) -> Iterator[LineOfShard]:
    """Read the lines of a shard, some at a time."""
    for group in range(row_groups_of(path)):
        lines = read_table(path, [group])
        numbers = lists_of(lines["numbers"], "numbers")[0].reshape(len(lines), -1)
        others = [lines[name].to_pylist() for name in ("rows", "people", "on_roads")]
        yield from map(LineOfShard, numbers.tolist(), *others)


@dataclass
class LineMerger:
    """Merges equal lines of several shards, and counts what it has merged."""

    timing: Timing | None
    lines: int = 0
    rows: int = 0
    on_roads: int = 0
    # Numbers of originals whose people have a row of their line already, from another shard.
    rows_already_on_line: list[int] = field(default_factory=list)
    hours: Counter[float] = field(default_factory=Counter)  # lines that depart in each

    @property
    def departures(self) -> Floats:
        """Return each hour with a departure, twice if several lines depart in it, (d, 1).

        That is enough to find the hours in which one line departs alone.
        """
        hours = [hour for hour, lines in self.hours.items() for _ in range(min(lines, 2))]
        return np.array(hours).reshape(-1, 1)

    def merged(self, lines: Iterable[LineOfShard]) -> Iterator[LinesWithCopies]:
        """Merge equal lines, which follow one another; yield blocks of lines that all differ."""
        equal_lines = groupby(lines, attrgetter("numbers"))
        different = ((numbers, self._copies_of(equal)) for numbers, equal in equal_lines)
        while block := [*islice(different, LINES_PER_BLOCK)]:
            numbers, copies = map(np.array, zip(*block, strict=True))
            places = numbers
            times = None
            if self.timing is not None:  # each point has a latitude, a longitude and a time
                places, times = np.split(numbers, [numbers.shape[1] // 3 * 2], axis=1)
                self.hours.update(self.timing.clock.begin_of_hour(times[:, 0]).tolist())
            yield LinesWithCopies(places.reshape(len(block), -1, 2), times, copies)

    def _copies_of(self, equal_lines: Iterable[LineOfShard]) -> int:
        """Count the rows of a line: a person who is on it in several shards has one."""
        first, *others = equal_lines
        people = {*first.people}
        for line in others:
            for row, person in zip(line.rows, line.people, strict=True):
                if person in people:
                    self.rows_already_on_line.append(row)
            people.update(line.people)

        self.lines += 1
        self.rows += len(people)
        self.on_roads += first.on_roads
        return len(people)


def write_parts(
    blocks: Iterable[LinesWithCopies],
    words: Mapping[str, str | None],
    out: Folder,
    progress: Progress,
) -> None:
    """Write the parts of a release, whose lines come in blocks; ``words`` are for the footers."""
    for number, (rows, first_id) in enumerate(parts_of(blocks, words)):
        progress("Writing the release", number, None)
        with out.writing(part_name(number)) as file:
            write_released(file, rows, first_id)
        del rows  # free before the generator makes the next part


def write_members(table: PartsTable, rows_already_on_line: Sequence[int], path: Path) -> None:
    """Write the table beside the report: the line of each original, in the order of the parts."""
    with ExitStack() as closing:
        writer: Any = None
        for bucket in table.scratch.buckets("members"):
            rows = bucket.sort_values("row")
            rows["own_row"] &= ~rows.pop("row").isin(rows_already_on_line)
            members = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata()
            if writer is None:
                writer = pq.ParquetWriter(
                    path, members.schema, compression="zstd", write_page_checksum=True
                )
                closing.enter_context(writer)
            writer.write_table(members)
