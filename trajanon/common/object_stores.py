"""S3 and all other addresses that fsspec opens: folders there, or here, and copies of files."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from posixpath import basename
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import IO

from trajanon.common.atomic_output import locked
from trajanon.common.errors import BadInput, FileProblem, TrajanonError
from trajanon.common.json_toml_and_regular_files import local_state, regular

SCRATCH = ".scratch"
"""Ends the names of folders that hold originals for a time; `trajanon clean` removes them."""

_BESIDE = (".json", ".md", ".rows.parquet")  # ends of what stands beside a release


class Folder:
    """A folder by its path or URL, as fsspec knows them; it need not exist yet."""

    def __init__(self, place: str | Path) -> None:
        """Find the file system of a path or URL, which reads nothing yet."""
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        self.url = str(place).rstrip("/") or "/"
        with self.naming_errors():
            if isinstance(place, Path):  # its name may look like a URL
                self.system = LocalFileSystem()
                self.path = str(place.absolute())
            else:
                self.system, self.path = url_to_fs(place)

        is_local = isinstance(self.system, LocalFileSystem)
        self.local = Path(self.path) if is_local else None  # absolute
        if not is_local:
            _refuse_wildcards(self.url, self.path)

    def __str__(self) -> str:
        return self.url

    @contextmanager
    def naming_errors(self, name: str = "") -> Iterator[None]:
        """Name the folder, or a file in it, in errors of the file system."""
        try:
            yield
        except TrajanonError:
            raise
        except Exception as error:
            # Clients of object stores have errors of their own, such as for missing credentials;
            # other errors of Python are faults of the program.
            is_python = type(error).__module__ == "builtins"
            if is_python and not isinstance(error, (OSError, ValueError, EOFError, ImportError)):
                raise

            reason = getattr(error, "strerror", None) or str(error) or repr(error)
            where = f"{self}/{name}" if name else self
            raise FileProblem(f"cannot use {where}: {' '.join(reason.split())[:200]}") from error

    @property
    def exists(self) -> bool:
        """Check whether it exists, or a file of this name."""
        with self.naming_errors():
            self.system.invalidate_cache()
            return bool(self.system.exists(self.path))

    @property
    def is_file(self) -> bool:
        """Check whether it is no folder, but a file."""
        with self.naming_errors():
            return bool(self.system.isfile(self.path))

    def states(self) -> dict[str, str]:
        """Return the state of each file by name: it differs if the file was written again."""
        with self.naming_errors():
            self.system.invalidate_cache()
            if not self.system.isdir(self.path):
                exists = self.system.exists(self.path)
                reason = "it is no folder" if exists else "there is no such folder"
                raise NotADirectoryError(0, reason)
            if self.local is not None:
                return {path.name: local_state(path) for path in self.local.iterdir()}

            entries = self.system.ls(self.path, detail=True)
            states = {entry["name"].rstrip("/"): repr(sorted(entry.items())) for entry in entries}
            states.pop(self.path, "")  # the empty object by which some tools mark a folder
            return {basename(path): state for path, state in states.items()}

    def names(self) -> list[str]:
        """List the names of the files and folders in it, sorted."""
        return sorted(self.states())

    def size(self, names: Iterable[str]) -> int:
        """Sum up the bytes of files in it."""
        with self.naming_errors():
            return sum(self.system.sizes([f"{self.path}/{name}" for name in names]))

    def open(self, name: str) -> IO[bytes]:
        """Open a file in it for reading."""
        if self.local is not None:
            regular(self.local / name)
        with self.naming_errors(name):
            file: IO[bytes] = self.system.open(f"{self.path}/{name}", "rb")
            return file

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file in it."""
        with self.naming_errors(name), self.system.open(f"{self.path}/{name}", "wb") as file:
            yield file

    def remove(self) -> None:
        """Remove it with all its content, if it exists."""
        with self.naming_errors():
            if self.exists:
                self.system.rm(self.path, recursive=True)


def _refuse_wildcards(url: str, name: str) -> None:
    """Refuse a name that fsspec would take for a pattern."""
    if set("*?[") & set(name):
        raise BadInput(
            f"{url} has *, ? or [ in its name, which match other names: use another name"
        )


def is_url(place: object) -> bool:
    """Return whether a place is a URL, which fsspec opens, and no path."""
    return isinstance(place, str) and "://" in place


@contextmanager
def fetched(url: str) -> Iterator[Path]:
    """Copy a file to scratch, for as long as it is read."""
    folder, _, name = url.rpartition("/")
    with scratch_folder() as scratch, Folder(folder).open(name) as stream:
        path = scratch / name
        with path.open("wb") as copy:
            copyfileobj(stream, copy)
        yield path


def folder_or_file(place: str | os.PathLike[str] | Folder) -> Folder | Path:
    """Return a folder if a place is a URL, or a path that leads to one; else the path of a file."""
    if isinstance(place, Folder):
        return place
    if isinstance(place, str) and is_url(place):
        return Folder(place)
    path = Path(place)
    return Folder(path) if path.is_dir() else path


@contextmanager
def local_copy(url: str) -> Iterator[Path]:
    """Copy a file or folder, and what stands beside it, to scratch for the block.

    What the block writes beside it is put back to the URL. What stands beside a release, such as
    its report, has its name and another end.
    """
    folder_url, _, name = url.rstrip("/").rpartition("/")
    _refuse_wildcards(url, name)
    remote = Folder(folder_url)
    source = f"{remote.path}/{name}"
    with scratch_folder() as scratch:
        local = scratch / "copy"
        with remote.naming_errors(name):
            if not remote.system.exists(source):
                raise FileProblem(f"there is no {folder_url}/{name}")
            remote.system.get(source, f"{local}/{name}", recursive=True)

            stem = name.removesuffix(Path(name).suffix)
            for path in remote.system.glob(f"{remote.path}/{stem}.*"):
                if path.endswith(_BESIDE):
                    remote.system.get_file(path, f"{local}/{basename(path)}")
        states_before = {path: local_state(path) for path in local.iterdir()}

        yield local / name
        with remote.naming_errors():
            for path in local.iterdir():
                if path.is_file() and states_before.get(path) != local_state(path):
                    remote.system.put_file(str(path), f"{remote.path}/{path.name}")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for originals, locked where its disk has locks; remove it at the end."""
    with TemporaryDirectory(prefix="trajanon-", suffix=SCRATCH) as name, locked(Path(name)):
        yield Path(name)
