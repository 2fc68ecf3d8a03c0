"""The options of every reader, and what it reads: files, packed ones, JSON; archives in memory."""

import bz2
import gzip
import io
import logging
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec

from trajanon.errors import FileProblem
from trajanon.inputs import other_encoding, regular, seems_utf16
from trajanon.number_text import number_of
from trajanon.progress import Notices, Progress

logger = logging.getLogger(__name__)

# What reading raises where a packed stream, a zip archive or a tar archive is damaged or cut off.
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
DAMAGED_ZIP = (*DAMAGED, zipfile.BadZipFile, RuntimeError, ValueError, OverflowError, struct.error)
_DAMAGED_TAR = (*DAMAGED, tarfile.TarError, ValueError, LookupError, OverflowError, RecursionError)

UNREADABLE = "files that could not be read"  # or members of archives: how they are counted
USED_IN_PART = "files from their damage on"  # what comes before it is used
OTHER_TIMES = "lines with more or fewer times than points"
TABLE_CUT_OFF = "tables cut off in their last line"
COLUMNS = "columns "  # the first word of counts of tables, by the use of their columns

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # how a zip begins, one with files and one without

_BUFFER = 1 << 18
_UNPACK: Mapping[bytes, Callable[[io.BufferedReader], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}  # by the first bytes of a packed stream


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How to read files, and where to report progress."""

    columns: Mapping[str, str] = field(default_factory=dict)  # of tables
    subjects_exact: bool = False
    timed: bool = False  # whether times in a column that was not recognised are refused
    counts: Counter[str] = field(default_factory=Counter)  # what was left out while reading
    read: Callable[[int], None] = lambda size: None
    warned: Notices = field(default_factory=Notices)

    def with_columns(self, **columns: str) -> "Reading":
        """Give the same with roles of columns, unless these are said."""
        return replace(self, columns={**columns, **self.columns})

    def warn(self, kind: str, message: str, about: str = "") -> None:
        """Warn once, though many files have it; of ten things of a kind, as `Notices` does."""
        self.warned.warn(logger, kind, message, about)

    def leave_out(self, error: Exception, used: int, kind: str = UNREADABLE) -> None:
        """Count a file that cannot be read, or only so many points of it; and warn."""
        if used:
            self.counts[USED_IN_PART] += 1
            known = f"its {number_of(used, 'point')} before that are used"
            self.warn(USED_IN_PART, f"{error}; {known}", str(error))
        else:
            self.counts[UNREADABLE] += 1
            self.warn(kind, f"{error}; going on without it", str(error))

    def open(self, path: Path) -> io.BufferedReader:
        """Open a file unchanged; bytes read from it count as progress."""
        try:
            return io.BufferedReader(_Metered(regular(path), self.read), _BUFFER)
        except OSError as error:
            raise FileProblem(f"cannot read {path}: {error.strerror}") from error

    def unpacked(self, path: Path) -> io.BufferedReader:
        """Open a file and unpack it, if it is packed by gzip, bzip2 or xz."""
        return unpacked(self.open(path))


def unpacked(stream: io.BufferedReader) -> io.BufferedReader:
    """Unpack a stream if its first bytes tell that it is packed; closing it closes the stream."""
    head = stream.peek(6)
    for magic, unpack in _UNPACK.items():
        if head.startswith(magic):
            content = unpack(stream)
            return _stream_of(content.read1, content, stream)
    return stream


def _stream_of(read: Callable[[int], bytes], *closed: io.IOBase) -> io.BufferedReader:
    """Make a stream from a read function; closing it closes the streams given, too."""
    return io.BufferedReader(_Content(read, closed), _BUFFER)


class _Content(io.RawIOBase):
    def __init__(self, read: Callable[[int], bytes], closed: tuple[io.IOBase, ...]) -> None:
        super().__init__()
        self._read = read
        self._closed = closed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
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
    """Give what adds up the bytes that are read, and reports the progress."""
    done = 0

    def read(size: int) -> None:
        nonlocal done
        done = min(done + size, total)  # a reader may look at some of them twice
        progress(task, done, total)

    return read


# The name of a member, and what opens and unpacks it; None for a link or a device.
Member = tuple[str, Callable[[], io.BufferedReader] | None]


class CutOff(Exception):
    """An archive cannot be read any further."""


def members(path: Path, how: Reading) -> Iterator[Member]:
    """Give the members of a zip or tar archive in their order, folders left out."""
    with how.open(path) as stream:
        find = _in_zip if stream.peek(4).startswith(ZIP) else _in_tar
        for name, opened in find(stream, path):
            # A name may hold ends of lines and broken characters.
            yield name if name.isprintable() else ascii(name)[1:-1], opened


def _in_zip(stream: io.BufferedReader, path: Path) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(stream)
    except DAMAGED_ZIP as error:
        raise FileProblem(f"{path} is no whole zip archive ({error}): download it again") from error

    def opened(info: zipfile.ZipInfo) -> io.BufferedReader:
        name = f"{path}/{info.filename}"
        if info.flag_bits & 1:  # its flag
            raise FileProblem(f"{name} is encrypted: unpack it, and name the folder")
        try:
            return unpacked(_stream_of(archive.open(info).read))
        except DAMAGED_ZIP as error:
            why = f"cannot be unpacked ({error}): download the archive again"
            raise FileProblem(f"{name} {why}") from error

    with archive:
        for info in archive.infolist():
            if not info.is_dir():
                is_file = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                yield info.filename, partial(opened, info) if is_file else None


def _in_tar(stream: io.BufferedReader, path: Path) -> Iterator[Member]:
    try:
        with _cut_off():
            content = unpacked(stream)
            archive = tarfile.TarFile.open(
                fileobj=content, mode="r|", bufsize=_BUFFER, tarinfo=_Header
            )
    except CutOff as error:
        why = f"is neither a zip nor a tar archive, or damaged ({error})"
        raise FileProblem(f"{path} {why}") from error
    with archive:
        while True:
            with _cut_off():
                info = archive.next()
            if info is None:
                return
            # Or it would remember every member of millions.
            archive.members.clear()  # type: ignore[attr-defined]  # typeshed lacks it
            if not info.isdir():
                yield info.name, partial(_taken_out, archive, info) if info.isreg() else None


def _taken_out(archive: tarfile.TarFile, info: tarfile.TarInfo) -> io.BufferedReader:
    content = archive.extractfile(info)
    assert content is not None  # a regular file

    def read(size: int) -> bytes:
        with _cut_off():
            return content.read(size)

    return unpacked(_stream_of(read))


@contextmanager
def _cut_off() -> Iterator[None]:
    """Whatever is wrong in a tar archive, nothing can be read beyond."""
    try:
        yield
    except _DAMAGED_TAR as error:
        raise CutOff(str(error)) from error


class _Header(tarfile.TarInfo):
    """A header that does not pass for the end of the archive when it is damaged."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        ends = len(buf) == tarfile.BLOCKSIZE and not any(buf)
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if ends:
                raise
            raise tarfile.ReadError(str(error)) from error


def json_of(stream: io.BufferedIOBase, what: str, kind: Any = Any, *, lines: bool = False) -> Any:
    """Read JSON, whole and as values of a kind; perhaps a list of those in its lines."""
    try:
        data = stream.read().removeprefix(BYTE_ORDER_MARK)
    except DAMAGED as error:
        raise FileProblem(f"cannot unpack {what}: {error}") from error
    if seems_utf16(data):
        raise FileProblem(f"{what} {other_encoding(data)}")
    if lines:
        with suppress(msgspec.DecodeError, RecursionError, ValueError):
            return msgspec.json.decode(data, type=kind)
        with suppress(msgspec.DecodeError, RecursionError, ValueError):
            return msgspec.json.Decoder(kind).decode_lines(data.replace(b"\x1e", b""))
    return decoded(data, what, kind)


def decoded(data: Any, what: str, kind: Any = Any) -> Any:
    """Decode JSON, or a part of it, as values of a kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    except UnicodeDecodeError as error:
        raise FileProblem(f"{what} {other_encoding(error.object)}") from error
    except RecursionError as error:
        raise FileProblem(f"{what} is no JSON: it is nested too deeply") from error
    except msgspec.DecodeError as error:
        raise FileProblem(f"{what} is no JSON, or damaged or cut off: {error}") from error


def plain_value(value: Any) -> Any:
    """Give a value of JSON as one that a column of texts or numbers can hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()  # JSON may name half a character
    if isinstance(value, list):
        return [plain_value(one) for one in value]
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value
