"""Scratch of a run: originals, which go at its end, and groups, by which a stopped run goes on."""

import hashlib
import json
import logging
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.common.arrays import Hashes, Ints
from trajanon.common.atomic_output import LOCK, lock, remove_abandoned
from trajanon.common.ctrl_c import ctrl_c_ignored
from trajanon.common.errors import BadInput, FileProblem, TrajanonError
from trajanon.common.number_text import number_of
from trajanon.common.object_stores import SCRATCH
from trajanon.files import arrow

_LOG = logging.getLogger(__name__)

SCRATCH_ADVICE = (
    "make room, or name another folder with TMPDIR, or on a cluster one that all machines share "
    "with Dask's temporary-directory"
)
"""What helps if scratch cannot be written."""

_PER_BYTE = 1.3
"""Bytes of scratch for each byte of the parts: rows by shard, and lines and names."""

_PER_BYTE_IN_ORDER = 0.3
"""Where parts are in the order of places: their rows are read where they are."""

NUMBERS_PER_BUCKET = 1_000_000
"""People, or runs, that are compared at one time: some 100 MB."""

# Also folders of `object_stores.scratch_folder`.
_FOLDER_PATTERN = f"trajanon-*{SCRATCH}"


class Scratch(NamedTuple):
    """Where tasks write; all workers see it.

    A task may go on for a time after its run was stopped. So each run has a folder of its own for
    rows, and each request one for groups: what such a task still writes belongs to no later run.
    """

    folder: Path
    run: str = ""  # a random name
    request: str = ""  # a digest of the data, options and key

    @property
    def rows(self) -> Path:
        """The folder of originals, and of all else that shows places or names."""
        return self.folder / f"rows-{self.run}"

    @property
    def groups_of_shards(self) -> Path:
        """The folder of what was found: groups by the numbers of rows, without any place."""
        return self.folder / f"groups-{self.request}"

    def groups(self, shard: int) -> Path:
        """Return the path of the groups of a shard."""
        return self.groups_of_shards / f"{shard:05d}.parquet"

    def lines(self, shard: int) -> Path:
        """Return the path of the lines of a shard."""
        return self.bucket("lines", shard) / "lines.parquet"

    def bucket(self, kind: str, number: int) -> Path:
        """Return the folder of a bucket of rows."""
        return self.rows / f"{kind}-{number:09d}"

    def refuse_without_room(self, size: float) -> None:
        """Refuse to go on if fewer bytes than this are free."""
        free = shutil.disk_usage(self.folder).free
        if free < size:
            raise FileProblem(
                f"{self.folder.parent} has {free / 1e9:.1f} GB free, and the run needs some "
                f"{size / 1e9:.1f} GB there for scratch: {SCRATCH_ADVICE}"
            )

    def put(self, kind: str, bucket: Ints, task: int, rows: pa.Table | pd.DataFrame) -> None:
        """Write each row to its bucket; each task writes a file of its own there."""
        table = rows
        if isinstance(rows, pd.DataFrame):
            table = pa.Table.from_pandas(rows, preserve_index=False)
        by_bucket = np.argsort(bucket, kind="stable")
        buckets, begins = np.unique(bucket[by_bucket], return_index=True)
        ends = np.append(begins, len(by_bucket))[1:]

        table = table.take(pa.array(by_bucket))
        for number, begin, end in zip(buckets.tolist(), begins, ends, strict=True):
            path = self.bucket(kind, number) / f"{task:05d}.parquet"
            write_table(path, table[begin:end])

        # Arrow would keep the memory for itself.
        pa.default_memory_pool().release_unused()

    def buckets(self, kind: str) -> Iterator[pd.DataFrame]:
        """Read the buckets that have rows, one after another."""
        for folder in sorted(self.rows.glob(f"{kind}-*")):
            frames = [*_frames_in(folder)]
            if frames:
                yield pd.concat(frames)

    def frames(self, kind: str, number: int) -> Iterator[pd.DataFrame]:
        """Read what each task put into a bucket."""
        return _frames_in(self.bucket(kind, number))

    def count_different(self, kind: str, column: str) -> int:
        """Count the different values of a column, of which equal ones are in one bucket."""
        return sum(rows[column].nunique() for rows in self.buckets(kind))


def buckets_of_numbers(number: Ints | Hashes, n: int) -> Ints:
    """Return the buckets of people or runs, of which there are n at most.

    Equal numbers are in one bucket, so each bucket can be compared alone, in bounded memory.
    """
    count = number.dtype.type(-(-n // NUMBERS_PER_BUCKET))
    return (number % count).astype(np.int64)


def scratch_roots() -> list[Path]:
    """List the folders in which scratch may lie: the system's, and Dask's if it has one."""
    roots = [Path(tempfile.gettempdir()).absolute()]
    with suppress(ImportError):
        import dask.config

        named = dask.config.get("temporary-directory", None)
        if named is not None:
            roots.append(Path(named).absolute())
    return roots


def scratch_bytes(parts_bytes: int, *, in_order: bool) -> float:
    """Return how many bytes of scratch a run needs, about, for parts of so many bytes."""
    return parts_bytes * (_PER_BYTE_IN_ORDER if in_order else _PER_BYTE)


@contextmanager
def scratch_for(out: str, root: Path, size: float) -> Iterator[Scratch]:
    """Make the scratch folder of a release; refuse if fewer than ``size`` bytes are free.

    If the run is stopped, or fails, the groups stay for the next one.
    """
    name = hashlib.blake2b(out.encode(), digest_size=8).hexdigest()
    folder = root / f"trajanon-{name}{SCRATCH}"
    scratch = Scratch(folder, run=secrets.token_hex(4))
    with _locked(folder, out):
        _remove_originals(folder)  # of a run that was killed
        scratch.refuse_without_room(size)
        done = False
        try:
            with _writing(scratch.rows):
                scratch.rows.mkdir()
            yield scratch
            done = True
        except BadInput:
            done = True  # the same command would be refused again
            raise
        finally:
            with ctrl_c_ignored():  # until no originals are left
                _remove_originals(folder)
                searched_shards = len([*folder.glob("groups-*/*.parquet")])
                if done or not searched_shards:
                    shutil.rmtree(folder, ignore_errors=True)
                else:
                    _LOG.info(
                        "the groups of %s are kept: the same command continues from them",
                        number_of(searched_shards, "shard"),
                    )


def _remove_originals(folder: Path) -> None:
    """Remove the originals of all runs."""
    for rows in [*folder.glob("rows-*")]:
        # A worker may still write. It finds no folder to write in once this one has another name.
        renamed = folder / f"rows-{secrets.token_hex(4)}"
        with suppress(OSError):
            rows = rows.rename(renamed)
        shutil.rmtree(rows, ignore_errors=True)
        if rows.exists():
            _LOG.warning(
                "originals could not be removed from %s: see what holds them, then run "
                "trajanon clean",
                rows,
            )


@contextmanager
def _locked(folder: Path, out: str) -> Iterator[None]:
    """Make a folder that its owner alone can read, and lock it."""
    with ExitStack() as closing:
        is_there = False
        while not is_there:
            with _writing(folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                _refuse_shared(folder)
                file = closing.enter_context((folder / LOCK).open("a", encoding="utf-8"))
            try:
                lock(file)
            except BlockingIOError as error:
                raise FileProblem(
                    f"another run is writing {out}: wait for it, or end it"
                ) from error
            except OSError:  # a disk without locks
                pass
            # A run that ended, or `clean`, may have removed the folder before it was locked.
            is_there = os.fstat(file.fileno()).st_nlink > 0
        yield


def _refuse_shared(folder: Path) -> None:
    """Refuse a folder that others own, or may read."""
    state = folder.lstat()
    is_ours = not hasattr(os, "getuid") or state.st_uid == os.getuid()
    if not (stat.S_ISDIR(state.st_mode) and is_ours and not state.st_mode & 0o077):
        raise FileProblem(f"{folder} is not yours alone: remove it, or {SCRATCH_ADVICE}")


def for_request(scratch: Scratch, request: Mapping[str, object]) -> Scratch:
    """Return scratch with the groups that an earlier run found for an equal request.

    Groups of other requests are removed.
    """
    request_json = json.dumps(request, default=str)
    digest = hashlib.blake2b(request_json.encode(), digest_size=8).hexdigest()
    scratch = scratch._replace(request=digest)

    groups_of_all = {*scratch.folder.glob("groups-*")}
    others = groups_of_all - {scratch.groups_of_shards}
    for groups in others:
        shutil.rmtree(groups, ignore_errors=True)

    searched_shards = len([*scratch.groups_of_shards.glob("*.parquet")])
    if searched_shards:
        _LOG.info("continuing: %s searched before", number_of(searched_shards, "shard"))
    elif others:
        _LOG.info(
            "an earlier run had other data, options or another key: this one starts from the "
            "beginning"
        )
    return scratch


def remove_scratch() -> dict[Path, str]:
    """Remove scratch that killed or stopped runs left; return why each stays, or ""."""
    folders = [folder for root in scratch_roots() for folder in root.glob(_FOLDER_PATTERN)]
    return {folder: remove_abandoned(folder, folder) for folder in sorted({*folders})}


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Name a path of scratch in errors of writing it, and what helps."""
    try:
        yield
    except TrajanonError:
        raise
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())[:200]
        raise FileProblem(f"cannot write {path}: {reason}; {SCRATCH_ADVICE}") from error


def write_table(path: Path, table: Any, rows_per_group: int | None = None) -> None:
    """Write a table to scratch: no reader sees a part of it."""
    # The folder of a bucket is made by its first task, that of the run is there.
    if not path.parent.parent.is_dir():
        raise FileProblem(f"a worker does not see the scratch for {path}: {SCRATCH_ADVICE}")

    # A task that is done twice, as its worker was lost, writes two drafts.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with _writing(path):
        try:
            path.parent.mkdir(exist_ok=True)
            pq.write_table(
                table,
                draft,
                row_group_size=rows_per_group or max(len(table), 1),
                compression="lz4",  # a tenth more bytes than zstd, in half its time
                use_dictionary=False,  # as most values differ
                write_statistics=False,
                write_page_checksum=True,
            )
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def _frames_in(bucket: Path) -> Iterator[pd.DataFrame]:
    """Read what tasks put into a bucket, in their order; drafts of killed ones end otherwise."""
    for path in sorted(bucket.glob("*.parquet")):
        yield read_table(path).to_pandas()


def read_table(path: Path, row_groups: Sequence[int] | None = None) -> Any:
    """Read what `write_table` wrote: all of it, or some row groups."""
    with arrow.parquet(path) as file:
        numbers = range(file.num_row_groups) if row_groups is None else row_groups
        return file.read_row_groups([*numbers], use_threads=False)


def row_groups_of(path: Path) -> int:
    """Count the row groups of what `write_table` wrote."""
    with arrow.parquet(path) as file:
        groups: int = file.num_row_groups
        return groups
