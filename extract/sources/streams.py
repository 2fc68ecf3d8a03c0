"""The options of every reader, and the streams that it reads from."""

import bz2
import gzip
import io
import logging
import lzma
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trajanon.errors import FileProblem
from trajanon.inputs import regular
from trajanon.progress import Notices, Progress

DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What reading from a packed stream raises where it is damaged or cut off."""

DAMAGED_ZIP = (*DAMAGED, zipfile.BadZipFile, RuntimeError, ValueError, OverflowError, struct.error)
"""What reading from a member of a zip archive raises there."""

UNREADABLE = "files that could not be read"  # or members of archives: how they are counted
COLUMNS = "columns "  # the first word of counts of tables, by the use of their columns

_BUFFER = 1 << 18
_UNPACK: Mapping[bytes, Callable[[io.BufferedReader], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}  # by the first bytes of a packed stream


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How to read files, and whom to tell how far the reading is."""

    columns: Mapping[str, str] = field(default_factory=dict)  # of tables
    subjects_exact: bool = False
    timed: bool = False  # whether times in a column that was not recognised are refused
    counts: Counter[str] = field(default_factory=Counter)  # told of what was left out while reading
    read: Callable[[int], None] = lambda size: None
    warned: Notices = field(default_factory=Notices)

    def warn(self, logger: logging.Logger, kind: str, message: str, about: str = "") -> None:
        """Warn once, though many files have it; of ten things of a kind, as `Notices` does."""
        self.warned.warn(logger, kind, message, about)

    def open(self, path: Path) -> io.BufferedReader:
        """Open a file as it is; what is read of it counts as progress."""
        try:
            return io.BufferedReader(_Metered(regular(path), self.read), _BUFFER)
        except OSError as error:
            raise FileProblem(f"cannot read {path}: {error.strerror}") from error

    def unpacked(self, path: Path) -> io.BufferedReader:
        """Open a file and unpack it, if it is packed by gzip, bzip2 or xz."""
        return unpacked(self.open(path))


def unpacked(stream: io.BufferedReader) -> io.BufferedReader:
    """Unpack a stream that is packed by gzip, bzip2 or xz; its first bytes tell.

    Reading from a damaged one raises one of `DAMAGED`. Closing it closes the stream.
    """
    head = stream.peek(6)
    for magic, unpack in _UNPACK.items():
        if head.startswith(magic):
            content = unpack(stream)
            return stream_of(content.read1, content, stream)
    return stream


def stream_of(read: Callable[[int], bytes], *closed: io.IOBase) -> io.BufferedReader:
    """Make a stream of what a function reads; closing it closes some others."""
    return io.BufferedReader(_Content(read, closed), _BUFFER)


class _Content(io.RawIOBase):
    def __init__(self, read: Callable[[int], bytes], closed: tuple[io.IOBase, ...]) -> None:
        super().__init__()
        self._read = read
        self._closed = closed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        data = self._read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        for stream in self._closed:
            stream.close()
        super().close()


class _Metered(io.FileIO):
    def __init__(self, path: Path, read: Callable[[int], None]) -> None:
        super().__init__(path)
        self._read = read

    def readinto(self, buffer: Any, /) -> int:
        size = super().readinto(buffer) or 0
        self._read(size)
        return size


def meter(task: str, total: int, progress: Progress) -> Callable[[int], None]:
    """Give what adds up the bytes that are read, and tells the progress."""
    done = 0

    def read(size: int) -> None:
        nonlocal done
        done = min(done + size, total)  # a reader may look at some of them twice
        progress(task, done, total)

    return read
