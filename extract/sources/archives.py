"""Files, packed ones and archives, read within limits: however it is made, none fills the memory.

Each is a `Stream`, which has limits: of lines, of documents, and of what a few packed bytes unpack
to. Archives are read in memory, a member after the other.
"""

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from trajanon.common.errors import FileProblem

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# What reading raises where a packed stream, a zip archive or a tar archive is damaged or cut off.
DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
DAMAGED_ZIP = (*DAMAGED, zipfile.BadZipFile, RuntimeError, ValueError, OverflowError, struct.error)
_DAMAGED_TAR = (*DAMAGED, tarfile.TarError, ValueError, LookupError, OverflowError, RecursionError)

ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # how a zip begins, one with files and one without

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

# Limits, in bytes but for the values and the ratio.
LONGEST_LINE = 1 << 26  # or row of a table
BYTES_OF_POINT = 24  # in a table, at least: latitude, longitude, and time
_LARGEST_DOCUMENT = 1_000_000_000  # that is held whole
_LARGEST_RATIO = 1_000  # of what is unpacked to what is packed
_UNPACKED_WITHOUT_LIMIT = 1 << 26
_LONGEST_NAME = 1 << 20  # in a tar archive
_VALUES = 4_000_000  # in what is unpacked, such as a row or an element, ...
_VALUES_PER_BYTE = 4  # ... or so many for each packed byte
_VALUE_MARKS = (b"{", b"[", b",", b"<")  # that begin values of JSON or XML

_BUFFER = 1 << 18  # bytes that are read at a time
_ENCRYPTED = 1  # the flag of a member of a zip archive
_READ_WHOLE = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)
"""Headers, of long names and other fields, that tarfile reads into memory whole."""
_UNPACK: Mapping[bytes, Callable[[io.BufferedReader], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}  # by the first bytes of a packed stream


class Stream(io.BufferedReader):
    """A stream of bytes that is read within limits; beyond, it fails as if it were damaged."""

    def __init__(self, raw: io.RawIOBase, packed_so_far: Callable[[], int] | None = None) -> None:
        super().__init__(raw, _BUFFER)
        self._packed_so_far = packed_so_far  # bytes from which what was read is unpacked

    def read(self, size: int | None = -1, /) -> bytes:
        """Read some bytes, or a whole document."""
        if size is not None and size >= 0:
            return super().read(size)

        document = io.BytesIO()
        values = 0
        while piece := super().read(_BUFFER):
            document.write(piece)
            if document.tell() > _LARGEST_DOCUMENT:
                raise OSError("it has more than 1 GB, and is held whole: split it")
            if self._packed_so_far is not None:
                values += sum(map(piece.count, _VALUE_MARKS))
                self.check_values(values)
        return document.getvalue()

    def check_values(self, values: int) -> None:
        """Refuse more values than so few packed bytes hold, as each takes memory of its own."""
        if self._packed_so_far is None:
            return
        if values > max(_VALUES, _VALUES_PER_BYTE * self._packed_so_far()):
            raise OSError(f"it is packed so that {values:,} values take hardly any place")

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a line, or some bytes of it."""
        if size is not None and size >= 0:
            return super().readline(size)
        line = super().readline(LONGEST_LINE + 1)
        if len(line) > LONGEST_LINE:
            raise OSError("it has a line of more than 64 MB")
        return line


def check_ratio(size: int, packed: int) -> None:
    """Refuse what is packed as no recordings are."""
    if size > max(_UNPACKED_WITHOUT_LIMIT, _LARGEST_RATIO * packed):
        ratio = f"{_LARGEST_RATIO:,} times its size"
        raise OSError(f"it unpacks to more than {ratio}, as no recordings do")


def unpacked(stream: Stream) -> Stream:
    """Unpack a stream if its first bytes tell that it is packed; closing it closes the stream."""
    head = stream.peek(6)
    for magic, unpack in _UNPACK.items():
        if head.startswith(magic):
            content = unpack(stream)
            # `read1` returns what comes before a damaged place; `read` would lose it.
            return stream_of(content.read1, content, stream, packed_so_far=stream.tell)
    return stream


def stream_of(
    read: Callable[[int], bytes], *closed: io.IOBase, packed_so_far: Callable[[], int] | None = None
) -> Stream:
    """Make a stream from a read function; closing it closes the streams given, too."""
    return Stream(_Content(read, closed, packed_so_far), packed_so_far)


class _Content(io.RawIOBase):
    """What a function reads, as a stream; it counts how much this is, for the limits."""

    def __init__(
        self,
        read: Callable[[int], bytes],
        closed: tuple[io.IOBase, ...],
        packed_so_far: Callable[[], int] | None,
    ) -> None:
        super().__init__()
        self._read = read
        self._closed = closed
        self._packed_so_far = packed_so_far
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        data = self._read(len(view))
        view[: len(data)] = data
        self._size += len(data)
        if self._packed_so_far is not None:
            check_ratio(self._size, self._packed_so_far())
        return len(data)

    def tell(self) -> int:
        """Return how much is unpacked: that is what a packed stream within this one has read."""
        return self._size

    def close(self) -> None:
        for stream in self._closed:
            stream.close()
        super().close()


Member = tuple[str, Callable[[], Stream] | None]
"""The name of a member, and what opens and unpacks it; None for a link or a device."""


class CutOff(Exception):
    """An archive cannot be read any further."""


def members(stream: Stream, path: Path) -> Iterator[Member]:
    """Return the members of a zip or tar archive in their order, folders left out; close it."""
    with stream:
        members_of = _members_of_zip if stream.peek(4).startswith(ZIP) else _members_of_tar
        for name, open_member in members_of(stream, path):
            # A name may hold ends of lines and broken characters.
            yield name if name.isprintable() else ascii(name)[1:-1], open_member


def _members_of_zip(stream: Stream, path: Path) -> Iterator[Member]:
    """Return the members of a zip archive."""
    try:
        archive = zipfile.ZipFile(stream)
    except DAMAGED_ZIP as error:
        raise FileProblem(
            f"{path} is not a complete zip archive ({error}): download it again"
        ) from error

    def open_member(info: zipfile.ZipInfo) -> Stream:
        name = f"{path}/{info.filename}"
        if info.flag_bits & _ENCRYPTED:
            raise FileProblem(f"{name} is encrypted: unpack it, and name the folder")
        try:
            size = info.compress_size
            return unpacked(stream_of(archive.open(info).read, packed_so_far=lambda: size))
        except DAMAGED_ZIP as error:
            why = f"cannot be unpacked ({error}): download the archive again"
            raise FileProblem(f"{name} {why}") from error

    with archive:
        for info in archive.infolist():
            if not info.is_dir():
                # The upper 16 bits are the mode of Unix; 0 if the program wrote none.
                is_file = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                yield info.filename, partial(open_member, info) if is_file else None


def _members_of_tar(stream: Stream, path: Path) -> Iterator[Member]:
    """Return the members of a tar archive, packed or not."""
    try:
        with _raising_cut_off():
            content = unpacked(stream)
            archive = tarfile.TarFile.open(
                fileobj=content, mode="r|", bufsize=_BUFFER, tarinfo=_Header
            )
    except CutOff as error:
        why = f"is neither a zip nor a tar archive, or damaged ({error})"
        raise FileProblem(f"{path} {why}") from error

    with archive:
        while True:
            with _raising_cut_off():
                info = archive.next()
            if info is None:
                return
            # Or it would remember every member of millions.
            archive.members.clear()  # type: ignore[attr-defined]  # typeshed lacks it
            if not info.isdir():
                yield info.name, partial(_open_in_tar, archive, info) if info.isreg() else None


def _open_in_tar(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Stream:
    """Open a regular file of a tar archive, and unpack it if it is packed."""
    content = archive.extractfile(info)
    assert content is not None  # a regular file

    def read(size: int) -> bytes:
        with _raising_cut_off():
            return content.read(size)

    return unpacked(stream_of(read))


@contextmanager
def _raising_cut_off() -> Iterator[None]:
    """Make a `CutOff` of whatever is wrong in a tar archive: nothing can be read beyond."""
    try:
        yield
    except _DAMAGED_TAR as error:
        raise CutOff(str(error)) from error


class _Header(tarfile.TarInfo):
    """A header that does not pass for the end of the archive when it is damaged, or is huge."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header from its block."""
        # A block of zeros is the end. tarfile takes most damaged headers for it, too, but passes
        # a ReadError on.
        is_end = len(buf) == tarfile.BLOCKSIZE and not any(buf)
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if is_end:
                raise
            raise tarfile.ReadError(str(error)) from error
        if header.type in _READ_WHOLE and header.size > _LONGEST_NAME:
            raise tarfile.ReadError("a name in it has more than 1 MB")
        return header
