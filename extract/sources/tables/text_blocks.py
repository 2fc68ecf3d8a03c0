"""A text of separated values: how it is laid out, and its lines in blocks."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trajanon.errors import FileProblem

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_BLOCK = 1 << 22  # bytes that are parsed at a time
_LONGEST = 1 << 24  # bytes of a line that may be one of a table


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """How a text is made of lines and fields.

    Attributes
    ----------
    names
        Of the columns, in their order.
    separator
        What stands between two fields.
    above
        Lines before the first row.
    """

    names: Sequence[str]
    separator: str = ","
    above: int = 0


def unreadable(path: Path, reason: str) -> FileProblem:
    """Say that a file is no table, in one sentence."""
    short = " ".join(reason.split())[:200]
    return FileProblem(f"cannot read {path} as a table of points: {short}")


def blocks(stream: io.BufferedIOBase, least: int) -> Iterator[bytes]:
    """Cut a stream into blocks of whole lines.

    Parameters
    ----------
    stream
        The text.
    least
        Lines, empty ones not counted, that the first block has, if there are so many.

    Raises
    ------
    OSError
        If there are lines too long for a table; or as the stream does.
    """
    rest = b""
    while block := stream.read(_BLOCK):
        rest += block
        end = rest.rfind(b"\n") + 1
        if end == 0 or _written(rest[:end], least) < least:
            if len(rest) > _LONGEST + _BLOCK:
                msg = f"it has lines of over {_LONGEST:,} bytes"
                raise OSError(msg)
            continue
        yield rest[:end]
        rest, least = rest[end:], 0
    if rest:
        yield rest


def _written(block: bytes, least: int) -> int:
    lines = block.splitlines() if least else ()
    return sum(bool(line.strip()) for line in lines)


def layout_of(path: Path, block: bytes) -> Layout:
    """Find the names of the columns, and what separates them, in the first line.

    Parameters
    ----------
    path
        The file, for messages.
    block
        Its beginning, two lines at least.

    Raises
    ------
    FileProblem
        If there is no such line.
    """
    lines = block.removeprefix(BYTE_ORDER_MARK).splitlines()
    above = next((i for i, line in enumerate(lines, 1) if line.strip()), 0)
    if above == 0:
        raise unreadable(path, "it is empty")
    try:
        header = lines[above - 1].decode()
    except UnicodeDecodeError as error:
        raise unreadable(path, f"{error}; save it as UTF-8") from error
    separator = max(",;\t|", key=header.count)
    names = [name.strip() for name in _fields(header, separator)]
    row = next((line for line in lines[above:] if line.strip()), b"")
    if row.rstrip().endswith(separator.encode()):
        fields = _fields(row.decode(errors="replace"), separator)
        names += [""] * (len(fields) == len(names) + 1)  # a separator ends each row
    return Layout(names=names, separator=separator, above=above)


def _fields(line: str, separator: str) -> list[str]:
    return next(csv.reader([line.replace("\0", "")], delimiter=separator), [])
