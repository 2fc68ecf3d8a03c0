"""A folder on any file system: local, on a network, or an object store."""

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from posixpath import basename, split
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.drafts import UNFINISHED
from trajanon.errors import FileProblem, TrajanonError
from trajanon.inputs import regular

_TRIES = 20
"""Attempts to remove a folder in which a worker still writes."""


class ByteRange(NamedTuple):
    """Some bytes of a file in a folder."""

    name: str  # the file
    begin: int = 0  # the first byte
    end: int | None = None  # the byte after the last one; None for the end of the file


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder by its path or URL, as fsspec knows them; it need not exist yet.

    Files are written under another name and then moved: a file that can be seen is whole.
    """

    url: str  # such as ``trips``, or ``s3://bucket/trips``

    def __post_init__(self) -> None:
        with self._used():
            pass  # refuses what fsspec does not know

    def __truediv__(self, name: str) -> "Folder":
        return Folder(f"{self.url.rstrip('/')}/{name}")

    def __str__(self) -> str:
        return self.url

    @property
    def beside(self) -> "Folder":
        """The folder in which a run writes until it is done."""
        return Folder(self.url.rstrip("/") + UNFINISHED)

    @property
    def exists(self) -> bool:
        """Whether it exists, or a file of this name."""
        with self._used() as (system, path):
            system.invalidate_cache()
            return bool(system.exists(path))

    @property
    def local(self) -> Path | None:
        """Its path; None if it is not on a disk."""
        with self._used() as (system, path):
            return Path(path) if "file" in np.atleast_1d(system.protocol) else None

    @property
    def absolute(self) -> "Folder":
        """The same folder by an absolute path."""
        return self if self.local is None else Folder(str(self.local))

    @property
    def real(self) -> "Folder":
        """The same folder by its own name, not that of a link to it."""
        return self if self.local is None else Folder(self._real())

    def same_as(self, other: "Folder") -> bool:
        """Whether both are one place, links followed."""
        one, two = self._real(), other._real()
        return one == two or _is_same(one, two)

    def holds(self, other: "Folder") -> bool:
        """Whether the other one is in it, at any depth, links followed."""
        one, two = self._real(), other._real()
        return any(one == above or _is_same(one, above) for above in _above(two))

    def make(self) -> None:
        """Make it, and the folders above it."""
        with self._used() as (system, path):
            system.makedirs(path, exist_ok=True)

    def make_for_oneself(self) -> None:
        """Make it, readable by its owner only; refuse one that exists."""
        with self._used() as (system, path):
            system.makedirs(path, exist_ok=False)
            if self.local is not None:
                self.local.chmod(0o700)

    def names(self) -> list[str]:
        """Names of the files and folders in it, sorted."""
        return sorted(basename(name.rstrip("/")) for name in self._listed(False))

    def states(self) -> dict[str, str]:
        """The state of each file by its name: another one if the file was written anew.

        Empty for a file that vanishes meanwhile.
        """
        if self.local is not None:
            return {basename(path): _local_state(path) for path in self._listed(False)}
        return {
            basename(about["name"].rstrip("/")): repr(sorted(about.items()))
            for about in self._listed(True)
        }

    def _listed(self, with_states: bool) -> list[Any]:
        with self._used() as (system, path):
            system.invalidate_cache()
            if not system.isdir(path):
                there = system.exists(path)
                what = "it is no folder" if there else "there is no such folder"
                raise NotADirectoryError(0, what)
            listed: list[Any] = system.ls(path, with_states)
            return listed

    def open(self, name: str) -> IO[bytes]:
        """Open a file in it for reading."""
        if self.local is not None:
            regular(self.local / name)
        with self._used(name) as (system, path):
            file: IO[bytes] = system.open(f"{path}/{name}", "rb")
            return file

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file; it has its name once the block has ended well."""
        with self._used(name) as (system, path):
            within, last = split(f"{path}/{name}")
            # A worker that was believed lost may write the same file at the same time.
            draft = f"{within}/.{last}.{secrets.token_hex(4)}.draft"
            try:
                with system.open(draft, "wb") as file:
                    yield file
                system.mv(draft, f"{path}/{name}")
            except BaseException:
                # An object store keeps what was written when it was closed.
                with suppress(OSError):
                    system.rm_file(draft)
                raise

    def write_arrays(self, name: str, lists: Iterable[Sequence[NDArray[Any]]]) -> list[ByteRange]:
        """Write lists of arrays one after another; return where each list is."""
        places = []
        with self.writing(name) as file:
            for arrays in lists:
                begin = file.tell()
                for array in arrays:
                    np.save(file, array, allow_pickle=False)
                places.append(ByteRange(name, begin, file.tell()))
        return places

    def read_arrays(self, place: ByteRange, count: int) -> list[NDArray[Any]]:
        """Read the first arrays of a list, and nothing else of its file."""
        with self._used(place.name) as (system, path):
            file = BytesIO(system.cat_file(f"{path}/{place.name}", place.begin, place.end))
            return [np.load(file, allow_pickle=False) for _ in range(count)]

    def move(self, other: "Folder") -> None:
        """Give it another name, which must be free."""
        with self._used() as (system, path), other._used() as (_, there):
            system.mv(path, there, recursive=True)

    def move_file(self, name: str, url: str) -> None:
        """Move a file out of it, readable by its owner only."""
        with self._used(name) as (system, path):
            if self.local is not None:
                (self.local / name).chmod(0o600)
            with Folder(url)._used() as (_, there):
                system.mv(f"{path}/{name}", there)

    def remove_file(self, name: str) -> None:
        """Remove a file in it, if there is one."""
        with self._used(name) as (system, path), suppress(FileNotFoundError):
            system.rm_file(f"{path}/{name}")

    def remove(self) -> None:
        """Remove it with all its content, if it exists."""
        with self._used() as (system, path):
            for _ in range(_TRIES):
                # A worker may write a file meanwhile, but only until the folder is gone.
                with suppress(OSError):
                    if system.exists(path):
                        system.rm(path, recursive=True)
                    return
            system.rm(path, recursive=True)

    def _real(self) -> str:
        """The one name of a place."""
        if self.local is not None:
            return os.path.realpath(self.local)
        with self._used() as (system, path):
            return f"{np.atleast_1d(system.protocol)[0]}://{path.rstrip('/')}"

    @contextmanager
    def _used(self, name: str = "") -> Iterator[tuple[Any, str]]:
        """Yield the file system, and the path on it; an error names the file."""
        import fsspec

        try:
            yield fsspec.core.url_to_fs(self.url)
        except TrajanonError:
            raise
        except (OSError, ValueError, EOFError, ImportError) as error:
            where = f"{self.url.rstrip('/')}/{name}" if name else self.url
            reason = getattr(error, "strerror", None) or str(error) or repr(error)
            msg = f"cannot use {where}: {' '.join(reason.split())[:200]}"
            raise FileProblem(msg) from error


def _local_state(path: str) -> str:
    """Size, time and number of a file, without its owner and permissions."""
    try:
        about = Path(path).stat()
    except OSError:
        return ""
    return f"{about.st_size} {about.st_mtime_ns} {about.st_ino}"


def _is_same(one: str, two: str) -> bool:
    """Whether two local names are one place, such as on a disk that ignores case."""
    try:
        return Path(one).samefile(two)
    except OSError:  # one of the two is missing, or not local
        return False


def _above(place: str) -> list[str]:
    """All folders above a place."""
    return [place[:end] for end, sign in enumerate(place) if sign == "/" and end]
