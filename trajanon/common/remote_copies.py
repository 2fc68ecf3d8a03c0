"""Files and folders of any file system, copied for as long as they are read."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from posixpath import basename
from tempfile import TemporaryDirectory

from trajanon.common.atomic_output import LOCK, lock
from trajanon.common.errors import FileProblem
from trajanon.common.remote_folder import Folder, local_state

SCRATCH = ".scratch"
"""Ends the names of folders that hold originals for a time; `trajanon clean` removes them."""

_BESIDE = (".json", ".md", ".rows.parquet")  # ends of what stands beside a release


@contextmanager
def local_copy(url: str) -> Iterator[Path]:
    """Copy a file or folder, and what stands beside it; put back what is written beside it."""
    url, _, name = url.rstrip("/").rpartition("/")
    there = Folder(url)
    source = f"{there.path}/{name}"
    with scratch_folder() as scratch:
        here = scratch / "copy"
        with there.named(name):
            if not there.system.exists(source):
                raise FileProblem(f"there is no {url}/{name}")
            there.system.get(source, f"{here}/{name}", recursive=True)

            stem = name.removesuffix(Path(name).suffix)
            for path in there.system.glob(f"{there.path}/{stem}.*"):
                if path.endswith(_BESIDE):
                    there.system.get_file(path, f"{here}/{basename(path)}")
        copied = {path: local_state(path) for path in here.iterdir()}

        yield here / name
        with there.named():
            for path in here.iterdir():
                if path.is_file() and copied.get(path) != local_state(path):
                    there.system.put_file(str(path), f"{there.path}/{path.name}")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for originals, locked where its disk has locks; remove it at the end."""
    with (
        TemporaryDirectory(prefix="trajanon-", suffix=SCRATCH) as name,
        Path(name, LOCK).open("w", encoding="utf-8") as file,
    ):
        with suppress(OSError):
            lock(file)
        yield Path(name)
