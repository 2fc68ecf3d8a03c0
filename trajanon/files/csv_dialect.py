"""How tables in text are written: what separates their fields, and what begins a fraction."""

import re
from collections.abc import Iterable

DECIMAL_COMMA = r"\s*([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)\s*"
_DECIMAL_POINT = r"\s*[-+]?\d+\.\d+(?:[eE][-+]?\d+)?\s*"

_OF_EXCEL = re.compile(r"sep=([,;|:\t ])\s*")


def separator_line(line: str) -> str | None:
    """Read the separator that Excel names in the first line, if this is such a line."""
    named = _OF_EXCEL.fullmatch(line)
    return named[1] if named else None


def separator_of(header: str, row: str | None = None) -> str:
    """Find what separates the names of columns: as often as the values of a row, or most often."""
    lines = [re.sub(r'"[^"]*"', "", line) for line in (header, header if row is None else row)]

    def likely(separator: str) -> tuple[bool, int]:
        names, values = (line.count(separator) for line in lines)
        return names == values > 0, min(names, values)

    return max(",;\t|", key=likely)


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Say whether more numbers have a decimal comma than a point."""
    cells = list(cells)
    commas, points = (
        sum(re.fullmatch(form, cell) is not None for cell in cells)
        for form in (DECIMAL_COMMA, _DECIMAL_POINT)
    )
    return commas > points
