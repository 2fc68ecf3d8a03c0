"""A disk that refuses one of the changes that a program makes in a folder."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHANGES = {"os.mkdir", "os.rename", "os.chmod", "os.remove", "os.rmdir", "os.truncate", "os.link"}


@dataclass
class Disk:
    """Refuses the change of this number in a folder, the first being 0."""

    folder: Path
    number: int
    changes: int = 0

    @property
    def refused(self) -> bool:
        return self.changes > self.number

    def change(self, path: object) -> None:
        if not isinstance(path, (str, os.PathLike)) or not Path(path).is_relative_to(self.folder):
            return
        self.changes += 1
        if self.changes == self.number + 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


_disk: Disk | None = None


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Hear of each change before it is made: an error here is that of the call."""
    if _disk is None:
        return
    if event in _CHANGES:
        _disk.change(arguments[0])
    elif event == "open":
        path, mode, flags = arguments
        if (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or set(mode or "") & set("wax+"):
            _disk.change(path)


@contextmanager
def failing_disk(folder: Path, number: int) -> Iterator[Disk]:
    """Refuse the change of this number in a folder, during the block."""
    global _disk
    if not _watched:
        sys.addaudithook(_watch)  # for good: hooks cannot be removed
        _watched.append(True)
    _disk = Disk(folder, number)
    try:
        yield _disk
    finally:
        _disk = None


_watched = list[bool]()
