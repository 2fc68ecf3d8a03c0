"""A text of separated values, in blocks of whole lines."""

import io
from collections.abc import Iterator
from pathlib import Path

from trajanon.errors import FileProblem

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

ABOVE = (b"#", b"sep=")
"""How lines above the names of the columns begin: comments, and one of Excel's."""

_BLOCK = 1 << 22  # bytes that are parsed at a time
_LONGEST = 1 << 24  # bytes of a line that may be one of a table


def unreadable(path: Path, reason: str) -> FileProblem:
    """Say that a file is no table, in one sentence."""
    short = " ".join(reason.split())[:200]
    return FileProblem(f"cannot read {path} as a table of points: {short}")


def blocks(stream: io.BufferedIOBase, least: int) -> Iterator[bytes]:
    """Cut a stream into blocks of whole lines."""
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
    lines = block.removeprefix(BYTE_ORDER_MARK).splitlines() if least else ()
    return sum(bool(line.strip()) and not line.startswith(ABOVE) for line in lines)
