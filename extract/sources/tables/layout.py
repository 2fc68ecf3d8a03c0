"""How a text of separated values is laid out: its names, separator and numbers."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import DAMAGED, Reading
from trajanon.files.number_texts import has_decimal_commas, separator_line, separator_of
from trajanon.inputs import other_encoding, seems_utf16

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

ABOVE = (b"#", b"sep=")
"""How lines above the names of the columns begin: comments, and one of Excel's."""

csv.field_size_limit(1 << 28)  # more than a line of a table may be long

_HEAD, _MOST = 1 << 20, 1 << 24  # bytes, at first and at most, and
_JUDGED = 100  # rows, by which the layout is judged

_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d*)?\s*")


class Layout(NamedTuple):
    """How a text is made of lines and fields."""

    names: Sequence[str]  # of the columns, in their order
    separator: str = ","  # what stands between two fields
    above: int = 0  # lines before the first row
    decimal: str = "."  # what stands before the fraction of a number
    rows: Sequence[bytes] = ()  # the first ones, by which the layout is judged

    def sample(self, size: int = _JUDGED) -> Mapping[str, Sequence[str]]:
        """Give the values of the first rows, by column."""
        lines = (line.decode(errors="replace") for line in self.rows[:size])
        fields = [fields_of(line, self.separator) for line in lines]
        whole = [row for row in fields if len(row) == len(self.names)]
        return {name: [row[i] for row in whole] for i, name in enumerate(self.names)}


def unreadable(path: Path, reason: str) -> FileProblem:
    """Say in one sentence why a file is no table."""
    short = " ".join(reason.split())[:200]
    return FileProblem(f"cannot read {path} as a table of points: {short}")


@contextmanager
def plain_words(path: Path) -> Iterator[None]:
    """Say in one sentence what keeps a text from being read."""
    try:
        yield
    except FileProblem:
        raise
    except DAMAGED as error:
        raise unreadable(path, str(error)) from error


def layout_of(path: Path) -> Layout:
    """Find the names of the columns, and what separates them, in the first lines.

    Lines that begin with # are comments; the last of them may have the names.
    """
    with plain_words(path), Reading().unpacked(path) as stream:
        head = more = stream.read(_HEAD)
        while more and len(head) < _MOST and not _shows_rows(head):
            more = stream.read(_HEAD)
            head += more
    if seems_utf16(head):
        raise unreadable(path, f"it {other_encoding(head)}")
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()
    written = [i for i, line in enumerate(lines) if line.strip()]
    if not written:
        raise unreadable(path, "it is empty")
    below = next((i for i in written if not lines[i].startswith(ABOVE)), written[-1])
    header = _text(path, lines[below])
    top = lines[written[0]].decode(errors="replace")
    separator = separator_line(top) or separator_of(header)
    names = fields_of(header, separator)
    above = below + 1
    if comments := [i for i in written if i < below]:
        comment = lines[comments[-1]].decode(errors="replace")
        commented = fields_of(comment.lstrip("# "), separator)
        if is_row(names) and len(commented) == len(names):
            names, above = commented, below
    names = [name.strip() for name in names]
    rows = [line for line in lines[above : above + _JUDGED] if line.strip()]
    if rows and rows[0].rstrip().endswith(separator.encode()):
        fields = fields_of(rows[0].decode(errors="replace"), separator)
        names += [""] * (len(fields) == len(names) + 1)  # a separator ends each row
    decimal = "," if _has_decimal_commas(rows, separator) else "."
    return Layout(names, separator, above, decimal, rows)


def _shows_rows(head: bytes) -> bool:
    """Say whether a head holds two whole lines, of names and of values, below all comments."""
    lines = head.removeprefix(BYTE_ORDER_MARK).splitlines()[:-1]
    return sum(bool(line.strip()) and not line.startswith(ABOVE) for line in lines) > 1


def _text(path: Path, line: bytes) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise unreadable(path, f"it {other_encoding(line)}") from error
    if not text.strip("\0 "):
        reason = "it begins with NUL bytes, as if never wholly written; copy it again"
        raise unreadable(path, reason)
    return text


def fields_of(line: str, separator: str) -> list[str]:
    """Split a line into its fields."""
    return next(csv.reader([line.replace("\0", "")], delimiter=separator), [])


def is_row(fields: Sequence[str]) -> bool:
    """Say whether fields are values rather than names of columns: two are numbers."""
    return sum(_NUMBER.fullmatch(field) is not None for field in fields) >= 2


def _has_decimal_commas(rows: Sequence[bytes], separator: str) -> bool:
    text = b"\n".join(rows)
    if b"," not in text or (separator == "," and b'"' not in text):
        return False
    lines = text.decode(errors="replace").splitlines()
    return has_decimal_commas(field for line in lines for field in fields_of(line, separator))
