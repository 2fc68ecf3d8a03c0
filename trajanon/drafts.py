"""Hidden folders beside outputs, in which runs write; a lock tells who is alive."""

import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from trajanon.errors import FileProblem

try:
    import fcntl
except ImportError:  # Windows: what a killed run leaves is removed by hand
    fcntl = None  # type: ignore[assignment]

_LOG = logging.getLogger(__name__)

LOCK = "trajanon.lock"  # by which a run holds a folder; it marks the folder as one of ours
BEFORE = "before"  # what stood in an output, until the new one is in place
UNFINISHED = ".unfinished"  # ends the name of a folder in which a run keeps what it has found
_DRAFT = re.compile(r"\.(.+)\.\d+-[0-9a-f]{8}\.draft", re.DOTALL)


class Draft(NamedTuple):
    """Where an output is written, and the permissions that a new file gets there."""

    path: Path
    before: Path
    mode: int


@contextmanager
def drafting(place: Path) -> Iterator[Draft]:
    """Make a hidden folder beside an output, for its owner only, for the block.

    What killed runs left of this output is removed first.
    """
    with suppress(OSError):  # who may write in a folder need not see what is in it
        for folder in place.parent.iterdir():
            if (found := _DRAFT.fullmatch(folder.name)) and found[1] == place.name:
                remove_abandoned(folder, place)
    token = f"{os.getpid()}-{secrets.token_hex(4)}"
    folder = place.with_name(f".{place.name}.{token}.draft")
    try:
        folder.mkdir(mode=0o700)
        with hold(folder, new=True) as lock:
            mode = os.fstat(lock.fileno()).st_mode & 0o666
            yield Draft(folder / place.name, folder / BEFORE, mode)
    finally:
        if not (folder / BEFORE).exists():  # else nobody else has what stood there
            shutil.rmtree(folder, ignore_errors=True)


def hold(folder: Path, *, new: bool = False) -> IO[str]:
    """Lock a folder until the file given is closed; BlockingIOError if another run holds it."""
    file = folder / ("lock" if new else LOCK)
    lock = file.open("w", encoding="utf-8")
    try:
        _lock(lock)
        if new:  # it gets its name once it is locked: nobody may take us for dead meanwhile
            file.rename(folder / LOCK)
    except OSError as error:
        if isinstance(error, BlockingIOError) and not new:
            lock.close()
            raise
        # Otherwise its disk has no locks.
    return lock


def _lock(file: IO[str]) -> None:
    if fcntl is None:
        raise OSError
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_abandoned(folder: Path, place: Path) -> str:
    """Remove what a killed run left of an output; give the reason where it stays.

    An output that the run had put aside, without a new one in its place, is put back.
    """
    before = folder / BEFORE
    try:
        with (folder / LOCK).open("r+", encoding="utf-8") as lock:
            _lock(lock)
            if before.exists() and not place.exists():
                before.replace(place)
                _LOG.warning("%s is put back: a run was killed meanwhile", place)
            if before.exists():
                return f"{BEFORE} in it stood in {place.name}: move it, then remove it"
            shutil.rmtree(folder)
    except BlockingIOError:
        return "a run is at work in it"
    except OSError as error:
        return f"its run may be at work, the lock cannot be read ({error.strerror})"
    return ""


def clean(folder: str | os.PathLike[str] = ".") -> tuple[list[Path], dict[Path, str]]:
    """Remove what killed runs left in a folder.

    Parameters
    ----------
    folder
        Where the outputs stand; folders in it are not searched.

    Returns
    -------
    removed, kept
        What was removed, and what was not, with the reason. Nothing is removed that a run at work
        holds.

    Raises
    ------
    FileProblem
        If there is no such folder.

    Examples
    --------
    A run was killed while it wrote ``anonymized.parquet``, and left this folder:

    >>> from pathlib import Path
    >>> import trajanon
    >>> left = Path(".anonymized.parquet.4711-0a1b2c3d.draft")
    >>> left.mkdir()
    >>> (left / "trajanon.lock").touch()
    >>> removed, kept = trajanon.clean()
    >>> print(*removed)
    .anonymized.parquet.4711-0a1b2c3d.draft
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileProblem(f"there is no folder {folder}; name the one with your outputs")
    removed: list[Path] = []
    kept: dict[Path, str] = {}
    for left in sorted(folder.iterdir()):
        found = _DRAFT.fullmatch(left.name)
        if not found and not (left.suffix == UNFINISHED and (left / LOCK).exists()):
            continue
        if why := remove_abandoned(left, folder / (found[1] if found else left.stem)):
            kept[left] = why
        else:
            removed.append(left)
    return removed, kept
