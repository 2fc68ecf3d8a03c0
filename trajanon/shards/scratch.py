"""Scratch of a run: rows by shard, which go at its end, and results, with which it can go on."""

import hashlib
import json
import logging
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trajanon.common.atomic_output import LOCK, lock
from trajanon.common.errors import FileProblem, TrajanonError
from trajanon.common.remote_copies import SCRATCH

if TYPE_CHECKING:
    from distributed import Client

_LOG = logging.getLogger(__name__)

OTHER_FOLDER = (
    "make room, or name another folder with TMPDIR, or on a cluster one that all machines share "
    "with Dask's temporary-directory"
)
"""What helps if scratch cannot be written."""

_NAMES = f"trajanon-*{SCRATCH}"
_ASKED = "asked.json"  # a digest of data, options and key


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

    def bucket(self, what: str, number: int) -> Path:
        """Return the folder of a bucket of rows."""
        return self.rows / f"{what}-{number:05d}"


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
    """Make scratch for a release; after an error, what was found stays for the same command."""
    name = hashlib.blake2b(out.encode(), digest_size=8).hexdigest()
    folder = root / f"trajanon-{name}{SCRATCH}"
    scratch = Scratch(folder)
    with _held(folder, out):
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
            with _uninterrupted():
                shutil.rmtree(scratch.rows, ignore_errors=True)
                if done or not any(scratch.results.glob("groups-*")):
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give the path of a draft: a file is whole or not there, though a task is killed or redone."""
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
def _held(folder: Path, out: str) -> Iterator[None]:
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


def keep_results(scratch: Scratch, asked: Mapping[str, object]) -> None:
    """Keep the results of an earlier run that was asked for the same; remove others."""
    note = scratch.folder / _ASKED
    text = json.dumps(asked, default=str)
    done = sum(1 for _ in scratch.results.glob("groups-*"))
    if note.is_file() and note.read_text(encoding="utf-8") == text:
        if done:
            _LOG.info("continuing: %d shards were searched before", done)
        return

    if done:
        _LOG.info(
            "an earlier run had other data, options or another key: this one starts from the "
            "beginning"
        )
    shutil.rmtree(scratch.results)
    scratch.results.mkdir()
    note.write_text(text, encoding="utf-8")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let a second Ctrl-C wait until no originals are left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def remove_scratch(root: Path) -> dict[Path, str]:
    """Remove scratch that killed or stopped runs left; return why each stays, or ""."""
    states: dict[Path, str] = {}
    for folder in sorted(root.glob(_NAMES)):
        try:
            with (folder / LOCK).open("r+", encoding="utf-8") as file:
                lock(file)
                shutil.rmtree(folder)
            states[folder] = ""
        except BlockingIOError:
            states[folder] = "a run is at work in it"
        except OSError as error:
            states[folder] = f"it cannot be removed ({error.strerror})"
    return states
