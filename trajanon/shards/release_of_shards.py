"""The lines of all shards -> the parts of a release; and which original is on which line.

Lines of all shards lie in buckets by the latitude of their first point: equal lines share one, and
buckets follow in the order of a release. A part is a file of the release.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress
from trajanon.files.geoparquet import write_released
from trajanon.files.release_contents import in_order
from trajanon.files.trajectory_files import part_name
from trajanon.release import release
from trajanon.shards.parts_table import PartsTable
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.trajectories import ReleasedTrajectories


@dataclass
class LinesCounted:
    """What is counted of different lines while they are written."""

    timing: Timing | None
    lines: int = 0
    rows: int = 0
    on_roads: int = 0
    # Numbers of originals whose people have a row of their line already, from another shard.
    second_rows: list[int] = field(default_factory=list)
    hours: Counter[float] = field(default_factory=Counter)  # in which lines depart

    @property
    def departures(self) -> Floats:
        """Return a line or two of each whole hour in which any departs, (d, 1).

        What is asked is only in which hours one departs alone: two stand for any more.
        """
        hours = [hour for hour, lines in self.hours.items() for _ in range(min(lines, 2))]
        return np.array(hours).reshape(-1, 1)

    def merged(self, lines: Any) -> Any:
        """Sort a bucket of lines, merge equal ones, and add them and their rows to the counts.

        A line has its ``key``, which is that of equal lines, and the numbers of its originals
        (``rows``) and of whose each is (``people``); perhaps times, and whether it is on roads.
        """
        import pyarrow as pa

        lines = lines.take(in_order(points_of(lines), times_of(lines)))
        line_key = lines["key"].to_numpy()
        is_new_line = np.append(True, line_key[1:] != line_key[:-1])

        # Who is on a line in several shards has one row of it.
        rows_of_line = lines["rows"].combine_chunks().value_lengths().to_numpy()
        line = np.repeat(np.cumsum(is_new_line) - 1, rows_of_line)
        person = lines["people"].combine_chunks().flatten().to_numpy()
        is_again = pd.DataFrame({"line": line, "person": person}).duplicated().to_numpy()
        rows = lines["rows"].combine_chunks().flatten().to_numpy()
        self.second_rows += rows[is_again].tolist()

        different = lines.filter(is_new_line).drop_columns(["key", "rows", "people"])
        copies = pa.array(np.bincount(line[~is_again]))
        different = different.append_column("copies", copies)
        self._count(different)
        return different

    def _count(self, lines: Any) -> None:
        self.lines += len(lines)
        self.rows += int(lines["copies"].to_numpy().sum())
        if "on_roads" in lines.column_names:
            self.on_roads += int(lines["on_roads"].to_numpy().sum())
        times = times_of(lines)
        if times is not None and self.timing is not None:
            self.hours.update(self.timing.clock.begin_of_hour(times[:, 0]).tolist())


def points_of(lines: Any) -> Floats:
    """Return the points of lines, (l, m, 2)."""
    return _numbers_of(lines["line"]).reshape(len(lines), -1, 2)


def times_of(lines: Any) -> Floats | None:
    """Return the times of lines, (l, m)."""
    return _numbers_of(lines["times"]) if "times" in lines.column_names else None


def _numbers_of(lists: Any) -> Floats:
    return np.asarray(lists.combine_chunks().flatten().to_numpy()).reshape(len(lists), -1)


def cut_into_parts(blocks: Iterable[Any], rows: int) -> Iterator[Any]:
    """Cut blocks of sorted lines into parts of about ``rows`` rows, each with whole lines."""
    import pyarrow as pa

    waiting: list[Any] = []
    rows_before = 0  # in all parts so far
    for block in blocks:
        lines = pa.concat_tables([*waiting, block])
        last_row = rows_before + np.cumsum(lines["copies"].to_numpy()) - 1
        begin = 0
        # A line is in the part of its last row.
        for end in (np.flatnonzero(np.diff(last_row // rows)) + 1).tolist():
            yield lines[begin:end]
            rows_before = int(last_row[end - 1]) + 1
            begin = end
        waiting = [lines[begin:]]
    yield from waiting


def write_release(
    table: PartsTable, words: Mapping[str, str | None], out: Folder, progress: Progress
) -> LinesCounted:
    """Write the parts of a release; ``words`` are what each says of itself."""
    counted = LinesCounted(table.plan.timing)
    blocks = map(counted.merged, table.scratch.buckets("lines"))
    parts = cut_into_parts(blocks, release.ROWS_PER_PART)
    write_parts(_rows_of_parts(parts, words), out, progress)
    return counted


def _rows_of_parts(
    parts: Iterable[Any], words: Mapping[str, str | None]
) -> Iterator[tuple[ReleasedTrajectories, int]]:
    """Repeat the lines of each part as often as they have rows; also yield its first id."""
    first = 1
    for lines in parts:
        copies = lines["copies"].to_numpy()
        times = times_of(lines)
        rows = ReleasedTrajectories(
            np.repeat(points_of(lines), copies, axis=0),
            provenance=words,
            times=None if times is None else np.repeat(times, copies, axis=0),
        )
        yield rows, first
        # A file that counts its rows has one row, and one id, for each line.
        first += len(lines) if "rows" in words else len(rows)
        del rows  # before the next part is made


def write_parts(
    parts: Iterable[tuple[ReleasedTrajectories, int]], out: Folder, progress: Progress
) -> None:
    """Write parts, each with its first id."""
    for number, (rows, first) in enumerate(parts):
        progress("Writing the release", number, None)
        with out.writing(part_name(number)) as file:
            write_released(file, rows, first)
        del rows  # the next part is made before the loop would forget it


def write_members(table: PartsTable, second_rows: Sequence[int], path: Path) -> None:
    """Write on which line each original is, and whether it has a row of its own, in their order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    try:
        for bucket in table.scratch.buckets("members"):
            rows = bucket.sort_by("row")
            has_row = rows["own_row"].to_numpy() & ~np.isin(rows["row"].to_numpy(), second_rows)
            place = rows.column_names.index("own_row")
            rows = rows.set_column(place, "own_row", pa.array(has_row)).drop_columns("row")
            if writer is None:
                writer = pq.ParquetWriter(
                    path, rows.schema, compression="zstd", write_page_checksum=True
                )
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()
