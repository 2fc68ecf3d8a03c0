"""A folder on any file system: local, of a network, or an object store."""

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
"""To remove a folder in which somebody still writes."""


class Place(NamedTuple):
    """Where something stands in a folder."""

    name: str  # the file
    begin: int = 0  # its first byte there, and the one behind its last; None where the file ends
    end: int | None = None  # its first byte there, and the one behind its last


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder by its path or URL, as fsspec knows them; need not exist yet.

    Files are written beside their names and moved there: whoever sees a file sees all of it.
    """

    url: str  # such as ``trips``, or ``s3://bucket/trips``

    def __post_init__(self) -> None:
        self._place()

    def __truediv__(self, name: str) -> "Folder":
        return Folder(f"{self.url.rstrip('/')}/{name}")

    def __str__(self) -> str:
        return self.url

    @property
    def beside(self) -> "Folder":
        """The folder with what a run writes while it is not done."""
        return Folder(self.url.rstrip("/") + UNFINISHED)

    @property
    def exists(self) -> bool:
        """Whether it, or a file of this name, is there."""
        system, path = self._place()
        with self._told():
            system.invalidate_cache()
            return bool(system.exists(path))

    @property
    def local(self) -> Path | None:
        """Its path; None where it is of no disk."""
        system, path = self._place()
        return Path(path) if _is_local(system) else None

    @property
    def absolute(self) -> "Folder":
        """The same folder, by a name that does not depend on where one stands."""
        system, path = self._place()
        return Folder(path) if _is_local(system) else self

    @property
    def real(self) -> "Folder":
        """The same folder, by its own name, not that of a link to it."""
        system, _ = self._place()
        return Folder(self._real()) if _is_local(system) else self

    def same_as(self, other: "Folder") -> bool:
        """Whether both are one place, by whatever way."""
        one, two = self._real(), other._real()
        return one == two or _is_same(one, two)

    def holds(self, other: "Folder") -> bool:
        """Whether the other one is in it, or in a folder in it, by whatever way."""
        one, two = self._real(), other._real()
        return any(one == above or _is_same(one, above) for above in _above(two))

    def make(self) -> None:
        """Make it, and what it stands in."""
        system, path = self._place()
        with self._told():
            system.makedirs(path, exist_ok=True)

    def make_for_oneself(self) -> None:
        """Make it, readable by its owner only; refuse one that exists."""
        system, path = self._place()
        with self._told():
            system.makedirs(path, exist_ok=False)
            if _is_local(system):
                Path(path).chmod(0o700)

    def names(self) -> list[str]:
        """Names of the files and folders in it, sorted."""
        return sorted(basename(name.rstrip("/")) for name in self._listed(False))

    def states(self) -> dict[str, str]:
        """What tells each file in it from what would be there if it were written anew.

        By names; empty for what goes while one looks.
        """
        if _is_local(self._place()[0]):
            return {basename(path): _local_state(path) for path in self._listed(False)}
        return {
            basename(about["name"].rstrip("/")): repr(sorted(about.items()))
            for about in self._listed(True)
        }

    def _listed(self, with_states: bool) -> list[Any]:
        system, path = self._place()
        with self._told():
            system.invalidate_cache()
            if not system.isdir(path):
                there = system.exists(path)
                what = "it is no folder" if there else "there is no such folder"
                raise NotADirectoryError(0, what)
            listed: list[Any] = system.ls(path, with_states)
            return listed

    def open(self, name: str) -> IO[bytes]:
        """Open a file in it for reading."""
        system, path = self._place()
        if self.local is not None:
            regular(self.local / name)
        with self._told(name):
            file: IO[bytes] = system.open(f"{path}/{name}", "rb")
            return file

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file; it has its name once the block has ended well."""
        system, path = self._place()
        within, last = split(f"{path}/{name}")
        # A worker that was believed lost may write the same file at the same time.
        draft = f"{within}/.{last}.{secrets.token_hex(4)}.draft"
        with self._told(name):
            try:
                with system.open(draft, "wb") as file:
                    yield file
                system.mv(draft, f"{path}/{name}")
            except BaseException:
                # An object store keeps what was written when it was closed.
                with suppress(OSError):
                    system.rm_file(draft)
                raise

    def write_arrays(self, name: str, lots: Iterable[Sequence[NDArray[Any]]]) -> list[Place]:
        """Write lots of arrays one after another; say where each lot is."""
        places = []
        with self.writing(name) as file:
            for lot in lots:
                begin = file.tell()
                for array in lot:
                    np.save(file, array, allow_pickle=False)
                places.append(Place(name, begin, file.tell()))
        return places

    def read_arrays(self, place: Place, count: int) -> list[NDArray[Any]]:
        """Read the first arrays of a lot, and nothing else of its file."""
        system, path = self._place()
        with self._told(place.name):
            file = BytesIO(system.cat_file(f"{path}/{place.name}", place.begin, place.end))
            return [np.load(file, allow_pickle=False) for _ in range(count)]

    def move(self, other: "Folder") -> None:
        """Give it another name, which nothing has."""
        system, path = self._place()
        with self._told():
            system.mv(path, other._place()[1], recursive=True)

    def move_file(self, name: str, url: str) -> None:
        """Move a file out of it, for its owner only."""
        system, path = self._place()
        with self._told(name):
            if _is_local(system):
                Path(path, name).chmod(0o600)
            system.mv(f"{path}/{name}", Folder(url)._place()[1])

    def remove_file(self, name: str) -> None:
        """Remove a file in it, if it is there."""
        system, path = self._place()
        with self._told(name), suppress(FileNotFoundError):
            system.rm_file(f"{path}/{name}")

    def remove(self) -> None:
        """Remove it with all that is in it, if it is there."""
        system, path = self._place()
        with self._told():
            for _ in range(_TRIES):
                # What a worker writes meanwhile is in the way once; then the folder is
                # gone, and it can write nothing more.
                with suppress(OSError):
                    if system.exists(path):
                        system.rm(path, recursive=True)
                    return
            system.rm(path, recursive=True)

    def _real(self) -> str:
        """One name for one place."""
        system, path = self._place()
        if _is_local(system):
            return os.path.realpath(path)
        return f"{np.atleast_1d(system.protocol)[0]}://{path.rstrip('/')}"

    def _place(self) -> tuple[Any, str]:
        """The file system, and the path on it."""
        import fsspec

        with self._told():
            system, path = fsspec.core.url_to_fs(self.url)
        return system, path

    @contextmanager
    def _told(self, name: str = "") -> Iterator[None]:
        """Say which file it was."""
        try:
            yield
        except TrajanonError:
            raise
        except (OSError, ValueError, EOFError, ImportError) as error:
            where = f"{self.url.rstrip('/')}/{name}" if name else self.url
            reason = getattr(error, "strerror", None) or str(error) or repr(error)
            msg = f"cannot use {where}: {' '.join(reason.split())[:200]}"
            raise FileProblem(msg) from error


def _is_local(system: Any) -> bool:
    return "file" in np.atleast_1d(system.protocol)


def _local_state(path: str) -> str:
    """Size, time and place of a file; not whom it belongs to, nor who may read it."""
    try:
        about = Path(path).stat()
    except OSError:
        return ""
    return f"{about.st_size} {about.st_mtime_ns} {about.st_ino}"


def _is_same(one: str, two: str) -> bool:
    """Whether two local names are one place, as where case does not tell names."""
    try:
        return Path(one).samefile(two)
    except OSError:  # one of the two is not there, or not here
        return False


def _above(place: str) -> list[str]:
    """All folders that a place is in."""
    return [place[:end] for end, sign in enumerate(place) if sign == "/" and end]
