"""Rows of a table too large for memory, in temporary files."""

import io
import pickle
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

from trajanon.errors import FileProblem
from trajanon.extract.sources.tables.rows import Rows

_BUCKET = 1_000_000  # rows that one bucket should hold
_FEWEST, _MOST = 16, 256  # buckets; each is an open file
_UNKNOWN = 64  # buckets of a table whose number of rows is unknown


class Spill(ExitStack):
    """Rows in buckets by their owner, each an unnamed temporary file.

    The operating system removes the files with the process, whatever ends it.
    """

    def __init__(self, rows: int | None) -> None:
        super().__init__()
        wished = _UNKNOWN if rows is None else -(-rows // _BUCKET)
        self._count = min(max(wished, _FEWEST), _MOST)
        self._files: list[io.FileIO] = []

    def put(self, held: list[Rows]) -> None:
        """Put rows behind those that are here; empties the list."""
        try:
            if not self._files:
                self._files = [
                    self.enter_context(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115
                    for _ in range(self._count)
                ]
            while held:
                self._write(held.pop(0))
        except OSError as error:
            msg = (
                f"cannot put rows aside in {tempfile.gettempdir()}: {error.strerror}; "
                "make room there, or set TMPDIR to a folder with room"
            )
            raise FileProblem(msg) from error

    def buckets(self) -> Iterator[list[Rows]]:
        """Give back the rows, bucket by bucket; all rows of one owner are in one of them."""
        for file in self._files:
            file.seek(0)
            with io.BufferedReader(file) as stream:
                parts = []
                while stream.peek(1):
                    parts.append(pickle.load(stream))
            yield parts

    def _write(self, rows: Rows) -> None:
        # By the name itself: its number depends on where the table is cut.
        of_owner = [zlib.crc32(name.encode()) % self._count for name in rows.owners]
        bucket = np.array(of_owner, np.uint8)[rows.owner]
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=self._count))
        for file, part in zip(self._files, np.split(order, ends[:-1]), strict=True):
            if len(part):
                left = memoryview(pickle.dumps(rows.take(part)))
                while left:
                    left = left[file.write(left) :]
