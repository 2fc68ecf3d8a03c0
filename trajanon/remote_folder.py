"""A folder on any file system: local, on a network, or an object store."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from posixpath import basename
from typing import IO

from trajanon.errors import BadInput, FileProblem, TrajanonError
from trajanon.inputs import regular


class Folder:
    """A folder by its path or URL, as fsspec knows them; it need not exist yet.

    Files are written under another name and then moved: a file that can be seen is whole.
    """

    def __init__(self, place: str | Path) -> None:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        self.url = str(place).rstrip("/") or "/"
        with self.named():
            if isinstance(place, Path):  # its name may look like a URL
                self.system, self.path = LocalFileSystem(), str(place.absolute())
            else:
                self.system, self.path = url_to_fs(place)
        here = isinstance(self.system, LocalFileSystem)
        self.local = Path(self.path) if here else None  # absolute
        if not here and set("*?[") & set(self.path):
            raise BadInput(
                f"{self} has *, ? or [ in its name, which match other names: use another name"
            )

    def __truediv__(self, name: str) -> "Folder":
        return Folder(f"{self}/{name}" if self.local is None else self.local / name)

    def __str__(self) -> str:
        return self.url

    @contextmanager
    def named(self, name: str = "") -> Iterator[None]:
        """Let an error of the file system name the folder, or a file in it."""
        try:
            yield
        except TrajanonError:
            raise
        except Exception as error:
            # Clients of object stores have errors of their own, such as for missing credentials.
            ours = type(error).__module__ == "builtins"
            if ours and not isinstance(error, (OSError, ValueError, EOFError, ImportError)):
                raise
            reason = getattr(error, "strerror", None) or str(error) or repr(error)
            where = f"{self}/{name}" if name else self
            raise FileProblem(f"cannot use {where}: {' '.join(reason.split())[:200]}") from error

    @property
    def exists(self) -> bool:
        """Whether it exists, or a file of this name."""
        with self.named():
            self.system.invalidate_cache()
            return bool(self.system.exists(self.path))

    @property
    def real(self) -> "Folder":
        """The same folder by its own name, not that of a link to it."""
        return self if self.local is None else Folder(Path(os.path.realpath(self.local)))

    def holds(self, other: "Folder") -> bool:
        """Whether the other one is this folder or is in it, links followed."""
        here, place = self.real.local, other.real.local
        if here is None or place is None:
            one, two = (some.system.unstrip_protocol(f"{some.path}/") for some in (self, other))
            return bool(two.startswith(one))
        above = (place, *place.parents)
        # On a disk that ignores case, one folder has several names.
        return here in above or any(_is_same(here, one) for one in above)

    def make(self) -> None:
        """Make it, and the folders above it."""
        with self.named():
            self.system.makedirs(self.path, exist_ok=True)

    def states(self) -> dict[str, str]:
        """The state of each file by its name: it differs if the file was written again."""
        with self.named():
            self.system.invalidate_cache()
            if not self.system.isdir(self.path):
                there = self.system.exists(self.path)
                raise NotADirectoryError(
                    0, "it is no folder" if there else "there is no such folder"
                )
            if self.local is not None:
                return {path.name: _local_state(path) for path in self.local.iterdir()}
            listed = self.system.ls(self.path, detail=True)
            states = {one["name"].rstrip("/"): repr(sorted(one.items())) for one in listed}
            states.pop(self.path, "")  # the empty object by which some tools mark a folder
            return {basename(name): state for name, state in states.items()}

    def names(self) -> list[str]:
        """Names of the files and folders in it, sorted."""
        return sorted(self.states())

    def open(self, name: str) -> IO[bytes]:
        """Open a file in it for reading."""
        if self.local is not None:
            regular(self.local / name)
        with self.named(name):
            file: IO[bytes] = self.system.open(f"{self.path}/{name}", "rb")
            return file

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file; it has its name once the block has ended well."""
        with self.named(name):
            # A worker that was believed lost may write the same file at the same time. The draft of
            # one that was killed stays: not in a folder within, which may be moved as it is.
            draft = f"{self.path}/.{basename(name)}.{secrets.token_hex(4)}.draft"
            try:
                with self.system.open(draft, "wb") as file:
                    yield file
                self._rename(draft, f"{self.path}/{name}")
            except BaseException:
                # An object store keeps what was written when it was closed.
                with suppress(Exception):
                    self.system.rm_file(draft)
                raise

    def claim(self, name: str) -> None:
        """Make it; where it is, or two try at once, this is refused. A store has only the file."""
        with self.named():
            if self.local is not None:
                self.system.makedirs(self.path, exist_ok=False)
            else:
                self.system.pipe_file(f"{self.path}/{name}", b"", mode="create")

    def move(self, other: "Folder") -> None:
        """Give it, or the file of this name, another name, which must be free.

        On a disk it has one of the two names at any time, or the move is refused.
        """
        with self.named():
            if self.local is not None and other.local is not None:
                self.local.replace(other.local)
            else:
                self.system.invalidate_cache()
                self._rename(self.path, other.path, folder=True)

    def _rename(self, old: str, new: str, *, folder: bool = False) -> None:
        """Rename a file or folder; an object store copies and removes file after file."""
        from fsspec import AbstractFileSystem

        if type(self.system).mv is not AbstractFileSystem.mv:
            self.system.mv(old, new)
            return
        # `mv` fails with folders on S3, and would remove what came after it began to copy.
        found = self.system.find(old) if folder else [old]
        files = [file for file in found if not file.endswith("/")]  # see `states`
        self.system.copy(files, [new + file.removeprefix(old) for file in files])
        for file in files:
            self.system.rm_file(file)

    def remove_file(self, name: str) -> None:
        """Remove a file in it, if there is one."""
        with self.named(name), suppress(FileNotFoundError):
            self.system.rm_file(f"{self.path}/{name}")

    def remove(self) -> None:
        """Remove it with all its content, if it exists."""
        with self.named():
            if self.exists:
                self.system.rm(self.path, recursive=True)
                if self.exists:  # S3 does not say that it did not remove a file
                    raise PermissionError(0, "it is still there after it was removed")


def folder_or_file(place: str | os.PathLike[str] | Folder) -> Folder | Path:
    """Take a place as a folder if it is a URL, or a path that leads to one; else as a file."""
    if isinstance(place, Folder) or (isinstance(place, str) and "://" in place):
        return place if isinstance(place, Folder) else Folder(place)
    path = Path(place)
    return Folder(path) if path.is_dir() else path


def _is_same(one: Path, two: Path) -> bool:
    try:
        return one.samefile(two)
    except OSError:  # one of the two is not there, or cannot be looked at
        return False


def _local_state(path: Path) -> str:
    """Size, time and number of a file, without its owner and permissions; empty if it vanished."""
    try:
        about = path.stat()
    except OSError:
        return ""
    return f"{about.st_size} {about.st_mtime_ns} {about.st_ino}"
