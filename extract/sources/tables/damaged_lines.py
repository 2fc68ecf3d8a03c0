"""Lines that no parser should see, taken out of a block of text."""

import csv
import io
from dataclasses import dataclass

from trajanon.extract.sources.tables.layout import Layout

_TOGETHER = 100  # lines that a quoted value may have


@dataclass(frozen=True, slots=True)
class Screened:
    """A block of lines, sorted out."""

    kept: bytes  # lines to be parsed
    broken: list[tuple[int, str]]  # number in the block and fault of each other line
    rest: bytes  # the end of the block, where a quote is open that the next lines may close


def screened(block: bytes, layout: Layout, *, last: bool) -> Screened:
    """Take out lines with NUL bytes, not in UTF-8, or with a quote never closed.

    What is taken out does not depend on where the blocks begin and end.
    """
    plain = _is_utf8(block) and b"\0" not in block
    if plain and b'"' not in block:
        return Screened(block, [], b"")
    lines = block.splitlines(keepends=True)
    broken = {} if plain else {i: why for i, line in enumerate(lines) if (why := _no_text(line))}
    odd = [i for i, line in enumerate(lines) if line.count(b'"') % 2]
    odd = [i for i in odd if i not in broken and not _is_row(lines[i], layout)]
    end = len(lines)
    while odd:
        opened, *odd = odd
        if odd and odd[0] - opened < _TOGETHER:
            if _is_row(b"".join(lines[opened : odd[0] + 1]), layout):
                odd = odd[1:]
                continue
        elif not odd and not last and len(lines) - opened < _TOGETHER:
            end = opened
            break
        broken[opened] = "has a quote that is never closed"
    if not broken and end == len(lines):
        return Screened(block, [], b"")
    kept = [line for i, line in enumerate(lines[:end]) if i not in broken]
    return Screened(
        kept=b"".join(kept),
        broken=sorted((i, why) for i, why in broken.items() if i < end),
        rest=b"".join(lines[end:]),
    )


def _no_text(line: bytes) -> str:
    if b"\0" in line:
        return "holds a NUL byte"
    return "" if _is_utf8(line) else "is not UTF-8, as which the file should be saved"


def _is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_row(text: bytes, layout: Layout) -> bool:
    """Say whether a text is one row, its quotes as they should be."""
    lines = io.StringIO(text.decode(errors="replace"), newline="")
    try:
        rows = list(csv.reader(lines, delimiter=layout.separator, strict=True))
    except csv.Error:
        return False
    return [len(row) for row in rows] == [len(layout.names)]
