"""What separates the cells of CSV, and whether its numbers have decimal commas."""

import re
from collections.abc import Iterable

SEPARATORS = ",;\t|"
"""What may separate cells, the likeliest first."""


def separator_named_by(line: str) -> str | None:
    """Read the separator that Excel names in the first line, if this is such a line."""
    named = re.fullmatch(r"sep=([,;|:\t ])\s*", line)
    return named[1] if named else None


def separator_of(header: str, row: str | None = None) -> str:
    """Find the separator of cells: as frequent in the header as in a row, or most frequent."""
    header_unquoted = re.sub(r'"[^"]*"', "", header)
    row_unquoted = header_unquoted if row is None else re.sub(r'"[^"]*"', "", row)

    def fit(separator: str) -> tuple[bool, int, bool]:
        """Return whether a separator is as often in both lines, how often, and if it is likely."""
        in_header = header_unquoted.count(separator)
        in_row = row_unquoted.count(separator)
        in_both = min(in_header, in_row)
        # Beside another one, a comma stands in a name, and between the digits of a number.
        return in_header == in_row > 0, in_both, in_both > 0 and separator != ","

    return max(SEPARATORS, key=fit)


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Check whether more numbers have a decimal comma than a point."""
    number = re.compile(r"\s*[-+]?\d+([.,])\d+(?:[eE][-+]?\d+)?\s*")
    marks = [match[1] for match in map(number.fullmatch, cells) if match]
    return marks.count(",") > marks.count(".")
