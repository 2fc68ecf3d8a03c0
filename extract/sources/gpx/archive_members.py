"""The files in an archive, one after the other; nothing is ever unpacked to the disk.

So whatever a member calls itself, `../../etc/passwd` or the name of a device, it is a name and no
more.
"""

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.xml_parser import CHUNK
from trajanon.extract.sources.streams import DAMAGED, DAMAGED_ZIP, Reading, stream_of, unpacked

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip archive begins, one with files and one without."""

_LARGEST_HEADER = 1 << 20
_ENCRYPTED = 1  # the flag of a zip's member

_DAMAGED_TAR = (*DAMAGED, tarfile.TarError, ValueError, LookupError, OverflowError, RecursionError)
_READ_WHOLE = b"xgXLK"
"""Types of headers, extended ones and long names, that are read whole whatever their size."""


class CutOff(Exception):
    """An archive cannot be read any further."""


class Member(NamedTuple):
    """One file in an archive."""

    name: str  # as the archive calls it, with whatever cannot be printed written out
    regular: bool  # whether it is a file: neither a link nor a device
    open: Callable[[], io.BufferedReader]  # gives its bytes


def members(path: Path, how: Reading) -> Iterator[Member]:
    """Give the members of a zip or tar archive in their order, folders left out."""
    with how.open(path) as stream:
        zipped = stream.peek(4).startswith(ZIP)
        yield from _in_zip(stream, path) if zipped else _in_tar(stream, path)


def _printable(name: str) -> str:
    """Write out what is no text in a name: ends of lines, broken characters."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _in_zip(stream: io.BufferedReader, path: Path) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(stream)
    except DAMAGED_ZIP as error:
        msg = f"{path} is no whole zip archive ({error}): download it again"
        raise FileProblem(msg) from error
    with archive:
        for info in archive.infolist():
            if not info.is_dir():
                name = _printable(info.filename)
                regular = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                yield Member(name, regular, partial(_opened, archive, info, f"{path}/{name}"))


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> io.BufferedReader:
    if info.flag_bits & _ENCRYPTED:
        msg = f"{name} is encrypted: unpack it, and name the folder"
        raise FileProblem(msg)
    try:
        return stream_of(archive.open(info).read)
    except DAMAGED_ZIP as error:
        msg = f"{name} cannot be unpacked ({error}): download the archive again"
        raise FileProblem(msg) from error


def _in_tar(stream: io.BufferedReader, path: Path) -> Iterator[Member]:
    try:
        with _cut_off():
            content = unpacked(stream)
            archive = _Tar.open(fileobj=content, mode="r|", bufsize=CHUNK, tarinfo=_Header)
    except CutOff as error:
        msg = f"{path} is neither a zip nor a tar archive, or damaged ({error})"
        raise FileProblem(msg) from error
    with archive:
        while True:
            with _cut_off():
                info = archive.next()
            if info is None:
                return
            archive.members.clear()  # or it would remember every member of millions
            if not info.isdir():
                opened = partial(_taken_out, archive, info)
                yield Member(_printable(info.name), info.isreg(), opened)


def _taken_out(archive: tarfile.TarFile, info: tarfile.TarInfo) -> io.BufferedReader:
    content = archive.extractfile(info)
    assert content is not None  # a regular file

    def read(size: int) -> bytes:
        with _cut_off():
            return content.read(size)

    return stream_of(read)


@contextmanager
def _cut_off() -> Iterator[None]:
    """Whatever is wrong in a tar archive, nothing can be read beyond."""
    try:
        yield
    except _DAMAGED_TAR as error:
        raise CutOff(str(error)) from error


class _Tar(tarfile.TarFile):
    members: list[tarfile.TarInfo]  # which it has read


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
        if header.type in _READ_WHOLE and header.size > _LARGEST_HEADER:
            msg = f"a header of {header.size:,} bytes"
            raise tarfile.ReadError(msg)
        return header
