"""The lines of all shards -> the parts of a release, which are its files; and whose they are."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.common.arrays import Floats
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress
from trajanon.files.geoparquet import write_released
from trajanon.files.rounding_order_and_keys_of_lines import in_order
from trajanon.files.trajectory_files import part_name
from trajanon.release.release import LinesWithCopies, parts_of
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.sorted_lines import points_of, times_of
from trajanon.trajectories.release_timing import Timing


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

    def merge_and_count(self, lines: Any) -> LinesWithCopies:
        """Sort a block of lines, merge equal ones, and count them and their rows.

        Columns: ``line``; ``key``, equal for equal lines; ``rows``, the numbers of its originals;
        ``people``, their persons; perhaps ``times``, and ``on_roads``.
        """
        lines = lines.take(pa.array(in_order(points_of(lines), times_of(lines))))
        line_key = lines["key"].to_numpy()
        is_new_line = np.append(True, line_key[1:] != line_key[:-1])

        # A person who is on one line in two shards gets one row.
        rows_of_line = lines["rows"].combine_chunks().value_lengths().to_numpy()
        line_of_row = np.repeat(np.cumsum(is_new_line) - 1, rows_of_line)
        person = lines["people"].combine_chunks().flatten().to_numpy()
        pairs = pd.DataFrame({"line": line_of_row, "person": person})
        is_repeated = pairs.duplicated().to_numpy()
        rows = lines["rows"].combine_chunks().flatten().to_numpy()
        self.rows_already_on_line += rows[is_repeated].tolist()

        different = lines.filter(is_new_line)
        copies = np.bincount(line_of_row[~is_repeated])
        times = times_of(different)
        self.lines += len(different)
        self.rows += int(copies.sum())
        if "on_roads" in different.column_names:
            self.on_roads += int(different["on_roads"].to_numpy().sum())
        if times is not None and self.timing is not None:
            self.hours.update(self.timing.clock.begin_of_hour(times[:, 0]).tolist())
        return LinesWithCopies(points_of(different), times, copies)


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
    writer = None
    try:
        for bucket in table.scratch.buckets("members"):
            rows = bucket.sort_by("row")
            is_repeated = np.isin(rows["row"].to_numpy(), rows_already_on_line)
            has_row = rows["own_row"].to_numpy() & ~is_repeated
            column_number = rows.column_names.index("own_row")
            rows = rows.set_column(column_number, "own_row", pa.array(has_row)).drop_columns("row")
            if writer is None:
                writer = pq.ParquetWriter(
                    path, rows.schema, compression="zstd", write_page_checksum=True
                )
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()
