"""Scratch of a run: rows by shard, which go at its end; results, with which it can go on."""

import hashlib
import json
import logging
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Hashes, Ints
from trajanon.common.atomic_output import LOCK, lock, remove_abandoned
from trajanon.common.errors import FileProblem, TrajanonError
from trajanon.common.object_stores import SCRATCH
from trajanon.common.threads_and_dask import ctrl_c_ignored
from trajanon.files import arrow

if TYPE_CHECKING:
    from distributed import Client


_LOG = logging.getLogger(__name__)

OTHER_FOLDER = (
    "make room, or name another folder with TMPDIR, or on a cluster one that all machines share "
    "with Dask's temporary-directory"
)
"""What helps if scratch cannot be written."""

ROWS_PER_BUCKET = 100_000
"""Rows that are read at one time once all shards are searched."""

NUMBERS_PER_BUCKET = 1_000_000
"""People, or runs, that are compared at one time: some 100 MB."""

_NAMES = f"trajanon-*{SCRATCH}"
_REQUEST = "request.json"  # the data, options and key of the run, to know it again


class Scratch(NamedTuple):
    """Where tasks write; all workers see it."""

    folder: Path

    @property
    def rows(self) -> Path:
        """The folder of originals."""
        return self.folder / "rows"

    @property
    def results(self) -> Path:
        """The folder of what was found: groups by the numbers of rows, without any place."""
        return self.folder / "results"

    def groups(self, shard: int) -> Path:
        """Return the path of the groups of a shard."""
        return self.results / f"groups-{shard:05d}.parquet"

    def bucket(self, kind: str, number: int) -> Path:
        """Return the folder of a bucket of rows."""
        return self.rows / f"{kind}-{number:05d}"

    def put(self, kind: str, bucket: Ints, task: int, table: Any) -> None:
        """Write each row of a table to its bucket: a task has a file in each."""
        import pyarrow as pa

        by_bucket = np.argsort(bucket, kind="stable")
        buckets, begins = np.unique(bucket[by_bucket], return_index=True)
        ends = [*begins[1:], len(by_bucket)]

        rows = table.take(pa.array(by_bucket))
        for number, begin, end in zip(buckets.tolist(), begins, ends, strict=True):
            path = self.bucket(kind, number) / f"{task:05d}.parquet"
            write_table(path, rows[begin:end])

        # The allocator would keep what this task took.
        pa.default_memory_pool().release_unused()

    def put_rows(self, kind: str, row: Ints, task: int, table: Any) -> None:
        """Write each row of a table to the bucket of its number among all rows of the parts."""
        self.put(kind, row // ROWS_PER_BUCKET, task, table)

    def put_numbered(self, kind: str, number: Ints | Hashes, n: int, task: int, table: Any) -> None:
        """Write each row to the bucket of its person or run, of n at most; equal ones are in one.

        So each bucket is compared by itself, in bounded memory.
        """
        count = number.dtype.type(number_buckets(n))
        self.put(kind, (number % count).astype(np.int64), task, table)

    def buckets(self, kind: str, count: int) -> Iterator[Any]:
        """Read the buckets that have rows, one after another; rows are in the order of tasks."""
        import pyarrow as pa

        for number in range(count):
            # In the order of tasks; drafts of killed tasks end otherwise.
            if paths := sorted(self.bucket(kind, number).glob("*.parquet")):
                yield pa.concat_tables(map(read_table, paths)).combine_chunks()

    def count_different(self, kind: str, n: int, *columns: str) -> list[int]:
        """Count the different numbers, of n at most; also those of two columns, and so on."""
        counts = np.zeros(len(columns), dtype=np.int64)
        for table in self.buckets(kind, number_buckets(n)):
            for last in range(len(columns)):
                groups = table.group_by([*columns[: last + 1]], use_threads=False)
                counts[last] += len(groups.aggregate([]))
        return counts.tolist()


def scratch_root(client: "Client | None" = None) -> Path:
    """Find the folder for scratch: Dask's, or the system's."""
    if client is not None:
        import dask.config

        named = dask.config.get("temporary-directory", None)
        if named is not None:
            return Path(named).absolute()
    return Path(tempfile.gettempdir()).absolute()


@contextmanager
def scratch_for(out: str, root: Path, size: float) -> Iterator[Scratch]:
    """Make scratch of some bytes for a release; after an error, results stay for the next run."""
    name = hashlib.blake2b(out.encode(), digest_size=8).hexdigest()
    folder = root / f"trajanon-{name}{SCRATCH}"
    scratch = Scratch(folder)
    with _locked(folder, out):
        shutil.rmtree(scratch.rows, ignore_errors=True)  # of a run that was killed
        free = shutil.disk_usage(folder).free
        if free < size:
            raise FileProblem(
                f"{root} has {free / 1e9:.1f} GB free, and the run needs some {size / 1e9:.1f} "
                f"GB there for scratch: {OTHER_FOLDER}"
            )
        done = False
        try:
            scratch.rows.mkdir()
            scratch.results.mkdir(exist_ok=True)
            yield scratch
            done = True
        finally:
            with ctrl_c_ignored():  # until no originals are left
                shutil.rmtree(scratch.rows, ignore_errors=True)
                if done or not any(scratch.results.glob("groups-*")):
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Yield the path of a draft, which is then renamed: no reader sees a part of a file.

    A task that is done twice, as its worker was lost, writes two drafts.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    if not path.parent.parent.is_dir():
        raise FileProblem(f"a worker does not see the scratch for {path}: {OTHER_FOLDER}")
    try:
        path.parent.mkdir(exist_ok=True)
        yield draft
        draft.replace(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, TrajanonError):
            reason = error.strerror or " ".join(str(error).split())[:200]
            raise FileProblem(f"cannot write {path}: {reason}; {OTHER_FOLDER}") from error
        raise


@contextmanager
def _locked(folder: Path, out: str) -> Iterator[None]:
    """Make a folder that its owner alone can read, and lock it."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    state = folder.lstat()
    is_ours = not hasattr(os, "getuid") or state.st_uid == os.getuid()
    if not (stat.S_ISDIR(state.st_mode) and is_ours and not state.st_mode & 0o077):
        raise FileProblem(f"{folder} is not yours alone: remove it, or {OTHER_FOLDER}")

    with (folder / LOCK).open("w", encoding="utf-8") as file:
        try:
            lock(file)
        except BlockingIOError as error:
            raise FileProblem(f"another run is writing {out}: wait for it, or end it") from error
        except OSError:  # a disk without locks
            pass
        yield


def keep_results(scratch: Scratch, request: Mapping[str, object]) -> None:
    """Keep the results of an earlier run with the same request; remove others."""
    request_file = scratch.folder / _REQUEST
    request_json = json.dumps(request, default=str)
    searched_shards = sum(1 for _ in scratch.results.glob("groups-*"))
    if request_file.is_file() and request_file.read_text(encoding="utf-8") == request_json:
        if searched_shards:
            _LOG.info("continuing: %d shards were searched before", searched_shards)
        return

    if searched_shards:
        _LOG.info(
            "an earlier run had other data, options or another key: this one starts from the "
            "beginning"
        )
    shutil.rmtree(scratch.results)
    scratch.results.mkdir()
    request_file.write_text(request_json, encoding="utf-8")


def remove_scratch(root: Path) -> dict[Path, str]:
    """Remove scratch that killed or stopped runs left; return why each stays, or ""."""
    return {folder: remove_abandoned(folder, folder) for folder in sorted(root.glob(_NAMES))}


def row_buckets(n: int) -> int:
    """Count the buckets of n rows, or of their lines."""
    return -(-n // ROWS_PER_BUCKET)


def number_buckets(n: int) -> int:
    """Count the buckets of n people or runs."""
    return -(-n // NUMBERS_PER_BUCKET)


def write_table(path: Path, table: Any) -> None:
    """Write a table to scratch: it is whole or not there."""
    import pyarrow.parquet as pq

    with written(path) as draft:
        pq.write_table(
            table,
            draft,
            row_group_size=max(len(table), 1),
            compression="zstd",
            write_statistics=False,
            write_page_checksum=True,
        )


def read_table(path: Path) -> Any:
    """Read what `write_table` wrote."""
    with arrow.parquet(path) as file:
        return file.read(use_threads=False)
