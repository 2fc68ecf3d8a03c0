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
from typing import Self

from trajanon.errors import FileProblem
from trajanon.extract.sources.gpx.xml_parser import CHUNK
from trajanon.extract.sources.streams import DAMAGED, DAMAGED_ZIP, Reading, stream_of, unpacked

Member = tuple[str, Callable[[], io.BufferedReader] | None]
"""The name of a member, and what opens and unpacks it; None for a link or a device."""

ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # how a zip begins, one with files and one without

_LARGEST_HEADER = 1 << 20
_ENCRYPTED = 1  # the flag of a zip's member

_DAMAGED_TAR = (*DAMAGED, tarfile.TarError, ValueError, LookupError, OverflowError, RecursionError)
_READ_WHOLE = b"xgXLK"
"""Types of headers, extended ones and long names, that are read whole whatever their size."""


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
    with archive:
        for info in archive.infolist():
            if not info.is_dir():
                regular = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
                yield info.filename, partial(_opened, archive, info, path) if regular else None


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> io.BufferedReader:
    name = f"{path}/{info.filename}"
    if info.flag_bits & _ENCRYPTED:
        raise FileProblem(f"{name} is encrypted: unpack it, and name the folder")
    try:
        return unpacked(stream_of(archive.open(info).read))
    except DAMAGED_ZIP as error:
        raise FileProblem(
            f"{name} cannot be unpacked ({error}): download the archive again"
        ) from error


def _in_tar(stream: io.BufferedReader, path: Path) -> Iterator[Member]:
    try:
        with _cut_off():
            content = unpacked(stream)
            archive = tarfile.TarFile.open(
                fileobj=content, mode="r|", bufsize=CHUNK, tarinfo=_Header
            )
    except CutOff as error:
        raise FileProblem(
            f"{path} is neither a zip nor a tar archive, or damaged ({error})"
        ) from error
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

    return unpacked(stream_of(read))


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
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if ends:
                raise
            raise tarfile.ReadError(str(error)) from error
        if header.type in _READ_WHOLE and header.size > _LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {header.size:,} bytes")
        return header
