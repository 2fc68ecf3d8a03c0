"""The sorted lines of all shards -> the parts of a release; and which row is on which line."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.progress import Progress
from trajanon.common.remote_folder import Folder
from trajanon.files.geoparquet import write_released
from trajanon.files.release_contents import in_order
from trajanon.files.trajectory_files import part_name
from trajanon.release import release
from trajanon.shards.scratch import Scratch
from trajanon.shards.sorted_runs import merged, read_run, schema_of_run
from trajanon.trajectories.times import Timing
from trajanon.trajectories.trajectories import ReleasedTrajectories


class _Block(NamedTuple):
    """Different lines in their order."""

    lines: Floats
    times: Floats | None
    copies: Ints  # rows of each
    on_roads: Bools

    def take(self, which: Ints) -> "_Block":
        """Take some of the lines."""
        times = None if self.times is None else self.times[which]
        return _Block(self.lines[which], times, self.copies[which], self.on_roads[which])

    @classmethod
    def joined(cls, blocks: Sequence["_Block"]) -> "_Block":
        """Put blocks together, in their order."""
        lines, times, copies, on_roads = zip(*blocks, strict=True)
        joined = None if times[0] is None else np.concatenate(times)
        return cls(np.concatenate(lines), joined, np.concatenate(copies), np.concatenate(on_roads))

    def rows(self, words: Mapping[str, str | None]) -> ReleasedTrajectories:
        """Repeat the lines as often as they have rows."""
        points = np.repeat(self.lines, self.copies, axis=0)
        times = None if self.times is None else np.repeat(self.times, self.copies, axis=0)
        return ReleasedTrajectories(points, provenance=words, times=times)


class ShardLines:
    """The lines of all shards, read in their order, and what is counted of them meanwhile."""

    def __init__(self, scratch: Scratch, shards: int, timing: Timing | None) -> None:
        self.count = 0
        self.rows = 0
        self.on_roads = 0
        self.rowless: list[int] = []  # rows of the table that have none of their own after all
        self._timing = timing
        self._hours = Counter[float]()
        self._lines = [scratch.of("lines", shard) for shard in range(shards)]
        self._rows_of_shards = [scratch.of("rows", shard) for shard in range(shards)]

    @property
    def departures(self) -> Floats:
        """Return a line or two of each whole hour in which any departs, (d, 1)."""
        hours = [hour for hour, lines in self._hours.items() for _ in range(min(lines, 2))]
        return np.array(hours).reshape(-1, 1)

    def blocks(self) -> Iterator[_Block]:
        """Yield different lines in their order."""
        known = {*schema_of_run(self._lines[0]).names}
        columns = [name for name in ("line", "key", "rows", "times", "on_roads") if name in known]
        for table in merged(self._lines, "first", columns):
            block = self._block(table)
            self.count += len(block.lines)
            self.rows += int(block.copies.sum())
            self.on_roads += int(np.count_nonzero(block.on_roads))
            if block.times is not None and self._timing is not None:
                self._hours.update(self._timing.clock.whole_hour(block.times[:, 0]).tolist())
            yield block

    def _block(self, table: Any) -> _Block:
        n = len(table)
        names = table.column_names
        lines = _array_of(table["line"]).reshape(n, -1, 2)
        times = _array_of(table["times"]) if "times" in names else None
        on_roads = np.zeros(n, dtype=np.bool_)
        if "on_roads" in names:
            on_roads = table["on_roads"].to_numpy()

        copies = table["rows"].to_numpy().copy()
        keys = table["key"].to_numpy()
        _, first, count = np.unique(keys, return_index=True, return_counts=True)
        for key in keys[first[count > 1]].tolist():
            copies[keys == key] = self._rows_on(key)

        block = _Block(lines, times, copies, on_roads).take(first)
        return block.take(in_order(block.lines, block.times))

    def _rows_on(self, key: int) -> int:
        """Count the rows of a line that several shards have: who is in two counts once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        tables = []
        for path in self._rows_of_shards:
            table = read_run(path)
            tables.append(table.filter(pc.and_(pc.equal(table["key"], key), table["own_row"])))
        on_line = pa.concat_tables(tables).sort_by("row")
        if "person" not in on_line.column_names:
            return len(on_line)

        first = np.unique(on_line["person"].to_numpy(), return_index=True)[1]
        self.rowless += np.delete(on_line["row"].to_numpy(), first).tolist()
        return len(first)


def _array_of(column: Any) -> Floats:
    """Return a column of lists of as many numbers as an array."""
    return np.asarray(column.combine_chunks().flatten().to_numpy()).reshape(len(column), -1)


def of_about(blocks: Iterable[_Block], rows: int) -> Iterator[_Block]:
    """Put blocks of lines together to those of about so many rows; all copies of a line in one."""
    waiting: list[_Block] = []
    number = 0
    total = 0
    for block in blocks:
        ends = total + np.cumsum(block.copies)
        total = int(ends[-1])
        numbers = (ends - 1) // rows
        starts = np.flatnonzero(np.diff(numbers, prepend=number))
        for piece in np.split(np.arange(len(numbers)), starts):
            if not len(piece):
                continue
            if numbers[piece[0]] != number and waiting:
                yield _Block.joined(waiting)
                waiting = []
            number = numbers[piece[0]]
            waiting.append(block.take(piece))
    if waiting:
        yield _Block.joined(waiting)


def write_release(
    lines: ShardLines, words: Mapping[str, str | None], out: Folder, progress: Progress
) -> None:
    """Write the parts of a release."""
    first = 1
    for number, block in enumerate(of_about(lines.blocks(), release.PART)):
        progress("Writing the release", number, None)
        rows = block.rows(words)
        with out.writing(part_name(number)) as file:
            write_released(file, rows, first)
        first += len(block.lines) if "rows" in words else len(rows)


def write_members(scratch: Scratch, shards: int, rowless: Sequence[int], path: Path) -> None:
    """Write on which line each row of the table is, in the order of the parts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [scratch.of("rows", shard) for shard in range(shards)]
    names = [name for name in schema_of_run(paths[0]).names if name not in ("row", "person")]
    writer = None
    try:
        for table in merged(paths, "row", names):
            rows = table.sort_by("row")
            own = rows["own_row"].to_numpy() & ~np.isin(rows["row"].to_numpy(), rowless)
            place = rows.column_names.index("own_row")
            rows = rows.set_column(place, "own_row", pa.array(own)).drop_columns("row")
            if writer is None:
                writer = pq.ParquetWriter(
                    path, rows.schema, compression="zstd", write_page_checksum=True
                )
            writer.write_table(rows)
    finally:
        if writer is not None:
            writer.close()
