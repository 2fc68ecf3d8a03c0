"""A folder on any file system: local, on a network, or an object store."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from posixpath import basename
from typing import IO

from trajanon.common.errors import BadInput, FileProblem, TrajanonError
from trajanon.common.inputs import regular


class Folder:
    """A folder by its path or URL, as fsspec knows them; it need not exist yet."""

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
        """Write a file in it."""
        with self.named(name), self.system.open(f"{self.path}/{name}", "wb") as file:
            yield file

    def remove(self) -> None:
        """Remove it with all its content, if it exists."""
        with self.named():
            if self.exists:
                self.system.rm(self.path, recursive=True)


def folder_or_file(place: str | os.PathLike[str] | Folder) -> Folder | Path:
    """Take a place as a folder if it is a URL, or a path that leads to one; else as a file."""
    if isinstance(place, Folder) or (isinstance(place, str) and "://" in place):
        return place if isinstance(place, Folder) else Folder(place)
    path = Path(place)
    return Folder(path) if path.is_dir() else path


def _local_state(path: Path) -> str:
    """Size, time and number of a file, without its owner and permissions; empty if it vanished."""
    try:
        about = path.stat()
    except OSError:
        return ""
    return f"{about.st_size} {about.st_mtime_ns} {about.st_ino}"
