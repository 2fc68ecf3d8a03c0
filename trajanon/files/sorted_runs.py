"""Tables that tasks sorted and wrote, read as one sorted table, a block at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.common.remote_folder import Folder
from trajanon.files.parquet_parts import part_opened

ROWS_PER_GROUP = 5_000
_ROWS_IN_MEMORY = 100_000


def write_run(path: Path, table: Any, rows_per_group: int = ROWS_PER_GROUP) -> None:
    """Write a sorted table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        table,
        path,
        row_group_size=rows_per_group,
        compression="zstd",
        write_statistics=False,
        write_page_checksum=True,
    )
    pa.default_memory_pool().release_unused()


def merged(
    paths: Sequence[Path], key: str, columns: Sequence[str], rows: int = _ROWS_IN_MEMORY
) -> Iterator[Any]:
    """Yield tables that go on in rising order of the key; equal keys are never in two of them.

    A table is not sorted within. Some rows of each run are in memory, so many of all.
    """
    import pyarrow as pa

    batch = max(rows // max(len(paths), 1), 100)
    runs = [_Run(path, key, [key, *columns], batch) for path in paths]
    while going := [run for run in runs if run.goes_on]:
        end = min(run.last for run in going)
        ready = [run.take_below(end) for run in runs]
        for run in going:
            if run.last == end:
                run.read_on()
        if any(map(len, ready)):
            yield pa.concat_tables(ready).combine_chunks()

    ready = [run.rows for run in runs]
    if any(map(len, ready)):
        yield pa.concat_tables(ready).combine_chunks()


class _Run:
    """The rows of a sorted table that were read and not yet taken."""

    def __init__(self, path: Path, key: str, columns: Sequence[str], batch: int) -> None:
        self._key = key
        self._batches = _batches(path, columns, batch)
        self.rows = next(self._batches)
        self.goes_on = len(self.rows) > 0
        self.last: float = self.rows[key][-1].as_py() if self.goes_on else 0.0

    def take_below(self, end: float) -> Any:
        """Take the rows whose keys are less."""
        cut = int(np.searchsorted(self.rows[self._key].to_numpy(), end))
        below = self.rows[:cut]
        self.rows = self.rows[cut:]
        return below

    def read_on(self) -> None:
        """Read more rows, if there are any."""
        import pyarrow as pa

        batch = next(self._batches, None)
        self.goes_on = batch is not None
        if batch is not None:
            self.rows = pa.concat_tables([self.rows, batch])
            self.last = batch[self._key][-1].as_py()


def _batches(path: Path, columns: Sequence[str], rows: int) -> Iterator[Any]:
    """Read a table some rows at a time; the first may be empty."""
    import pyarrow as pa

    with part_opened(Folder(path.parent), path.name) as file:
        if file.metadata.num_rows == 0:
            yield file.read(columns, use_threads=False)
        for batch in file.iter_batches(rows, columns=columns, use_threads=False):
            yield pa.Table.from_batches([batch])
