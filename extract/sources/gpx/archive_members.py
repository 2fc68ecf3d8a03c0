"""The files in an archive, one after the other; nothing is ever unpacked to the disk.

So whatever a member calls itself, `../../etc/passwd` or the name of a device, it is a name and no
more.
"""

import io
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.xml_parser import CHUNK
from trajanon.extract.sources.streams import DAMAGED, Reading, unpacked

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip archive begins, one with files and one without."""

_LARGEST_HEADER = 1 << 20
_ENCRYPTED = 1  # the flag of a zip's member

_BAD_ZIP = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
)
_BAD_TAR = (tarfile.TarError, ValueError, LookupError, OverflowError, RecursionError)
_MAY_GO_ON = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
"""Headers that are read as a whole, however large they say they are."""


class CutOff(Exception):
    """An archive cannot be read any further."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive."""

    name: str  # as the archive calls it, with whatever cannot be printed written out
    regular: bool  # whether it is a file: neither a link nor a device
    open: Callable[[], io.BufferedReader]  # gives its bytes


def members(path: Path, how: Reading) -> Iterator[Member]:
    """Give the members of a zip or tar archive in their order, folders left out."""
    with how.open(path) as stream:
        zipped = stream.peek(4).startswith(ZIP)
        yield from _in_zip(stream, path) if zipped else _in_tar(stream, path)


def printable_name(name: str) -> str:
    """Write out what is no text in a name: ends of lines, broken characters."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _in_zip(stream: io.BufferedReader, path: Path) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(stream)
    except (*DAMAGED, *_BAD_ZIP) as error:
        msg = f"{path} is no whole zip archive ({error}): download it again"
        raise FileProblem(msg) from error
    with archive:
        for info in archive.infolist():
            if not info.is_dir():
                regular = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                opened = partial(_opened, archive, info, path)
                yield Member(printable_name(info.filename), regular, opened)


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> io.BufferedReader:
    """Open a member of a zip archive."""
    name = f"{path}/{printable_name(info.filename)}"
    if info.flag_bits & _ENCRYPTED:
        msg = f"{name} is encrypted: unpack it, and name the folder"
        raise FileProblem(msg)
    try:
        stream = archive.open(info)
    except (*DAMAGED, *_BAD_ZIP) as error:
        msg = f"{name} cannot be unpacked ({error}): download the archive again"
        raise FileProblem(msg) from error
    return _guarded(stream.read, _BAD_ZIP, EOFError)


def _in_tar(stream: io.BufferedReader, path: Path) -> Iterator[Member]:
    whole = _guarded(unpacked(stream).read, DAMAGED, CutOff)
    try:
        archive = _Tar.open(fileobj=whole, mode="r|", bufsize=CHUNK, tarinfo=_Header)
    except (CutOff, *_BAD_TAR) as error:
        msg = f"{path} is neither a zip nor a tar archive, or damaged ({error})"
        raise FileProblem(msg) from error
    with archive:
        while (info := _next(archive)) is not None:
            if not info.isdir():
                opened = partial(_taken_out, archive, info)
                yield Member(printable_name(info.name), info.isreg(), opened)


def _taken_out(archive: tarfile.TarFile, info: tarfile.TarInfo) -> io.BufferedReader:
    """Open a member of a tar archive."""
    stream = archive.extractfile(info)
    assert stream is not None  # a regular file
    return _guarded(stream.read, _BAD_TAR, CutOff)


class _Tar(tarfile.TarFile):
    members: list[tarfile.TarInfo]  # which it has read


def _next(archive: _Tar) -> tarfile.TarInfo | None:
    try:
        info = archive.next()
    except _BAD_TAR as error:
        raise CutOff(str(error)) from error
    archive.members.clear()  # or it would remember every member of millions
    return info


class _Header(tarfile.TarInfo):
    """A header that does not pass for the end of the archive when it is damaged."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        ends = len(buf) == tarfile.BLOCKSIZE and not any(buf)
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if ends:
                raise
            raise tarfile.ReadError(str(error)) from error
        if header.type in _MAY_GO_ON and header.size > _LARGEST_HEADER:
            msg = f"a header of {header.size:,} bytes"
            raise tarfile.ReadError(msg)
        return header


def _guarded(
    read: Callable[[int], bytes], expected: tuple[type[Exception], ...], instead: type[Exception]
) -> io.BufferedReader:
    """Read a stream, and raise one kind of error instead of those that are expected."""
    return io.BufferedReader(_Guarded(read, expected, instead), CHUNK)


class _Guarded(io.RawIOBase):
    def __init__(
        self,
        read: Callable[[int], bytes],
        expected: tuple[type[Exception], ...],
        instead: type[Exception],
    ) -> None:
        super().__init__()
        self._guard = read, expected, instead

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        read, expected, instead = self._guard
        try:
            data = read(len(view))
        except expected as error:
            raise instead(str(error)) from error
        view[: len(data)] = data
        return len(data)
