"""Tables in text as people write them: separators, headers, thousands, decimal commas, money."""

import re
from collections.abc import Callable, Iterable, Sequence

import pandas as pd

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none"))
"""How programs write a cell without a value, in lower case."""

_DECIMAL_COMMA = r"\s*([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)\s*"
_DECIMAL_POINT = r"\s*[-+]?\d+\.\d+(?:[eE][-+]?\d+)?\s*"
_WHOLE = r"\s*[-+]?\d+(?:[eE][-+]?\d+)?\s*"
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}([.,])\d{3}\s*")  # or three decimals
_ANY = re.compile(
    r"\s*[-+(<>~\u2212\u2264\u2265\u2248]?\s*[$\u20ac\u00a3\u00a5]?\s*"
    r"(?:[1-9]\d{0,2}(?:[.,'\u2019 \u00a0\u202f]\d{3})+|\d+|(?=[.,]\d))(?:[.,]\d*)?"
    r"(?:[eE][-+]?\d+)?"
    r"\s*[$\u20ac\u00a3\u00a5%)]?\s*"
)
"""A number as people write it, with signs of money, percent and thousands."""

_OF_EXCEL = re.compile(r"sep=([,;|:\t ])\s*")

_JUDGED = 100  # rows, by which the names of columns are
_NEARLY = re.compile(r"\s*[(<>~\u2264\u2265\u2248]\s*[-+]?\d.*")  # a number, but for a sign
_NO_VALUE = re.compile(r"[.?*:-]*")  # as some programs write it


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
        for form in (_DECIMAL_COMMA, _DECIMAL_POINT)
    )
    return commas > points


def is_missing(cell: object) -> bool:
    """Whether a text stands for no value."""
    return isinstance(cell, str) and cell.strip().lower() in _MISSING


def is_number(text: str) -> bool:
    """Whether a text is a number in any notation."""
    return _ANY.fullmatch(text) is not None


def read_numbers(table: pd.DataFrame, separator: str | None) -> tuple[pd.DataFrame, dict[str, str]]:
    """Write numbers of decimal commas with points; also name a cell that makes a column uncertain.

    Three digits behind a mark may be thousands or decimals: if a column has no other fractions, a
    point means decimals between commas, and a comma does between semicolons.
    """
    plain, doubts = dict[str, pd.Series](), dict[str, str]()
    for name, column in table.items():
        if not pd.api.types.is_string_dtype(column) or isinstance(
            column.dtype, pd.CategoricalDtype
        ):
            continue
        counts = column.value_counts()
        counts = counts[[not is_missing(cell) for cell in counts.index]]
        cells, certain = [*counts.index], {",": ".", ";": ","}.get(separator or "")
        if pd.to_numeric(counts.index.to_series(), errors="coerce").notna().all():
            mark, fractions = ".", [cell for cell in cells if "." in cell]
        else:
            numbers = [cell for cell in cells if is_number(cell)]
            if 2 * counts[numbers].sum() <= counts.sum():
                continue
            mark, fractions = ",", [one for one in numbers if re.fullmatch(_DECIMAL_COMMA, one)]
            odd = [one for one in numbers if not re.fullmatch(f"{_DECIMAL_COMMA}|{_WHOLE}", one)]
            if odd or (fractions and separator == ","):
                doubts[str(name)] = [*odd, *fractions][0]
                continue
        if mark != certain and fractions and all(map(_THOUSANDS.fullmatch, fractions)):
            doubts[str(name)] = fractions[0]
        elif mark == ",":
            plain[str(name)] = column.str.replace(f"^{_DECIMAL_COMMA}$", r"\1.\2", regex=True)
    return table.assign(**plain), doubts


def value_in_header(names: Sequence[str], table: pd.DataFrame) -> str | None:
    """Find a name that is like the values below it, as if the first line were a row of values.

    In doubt it is one: a header taken for a row costs the user a line to write, a row taken for a
    header is a person published.
    """
    below = {number: _texts_below(table, number) for number in range(len(names))}
    for number, texts in below.items():
        if _like(names[number], texts):
            return names[number]
    of_numbers = [names[number] for number, texts in below.items() if _most(texts, is_number)]
    if of_numbers and all(is_missing(name) or _NO_VALUE.fullmatch(name) for name in of_numbers):
        return next(filter(None, of_numbers), None)  # what has no name is refused as such
    return None


def _texts_below(table: pd.DataFrame, column: int) -> list[str]:
    return [cell for cell in table.iloc[:_JUDGED, column] if not is_missing(cell)]


def _like(name: str, texts: Sequence[str]) -> bool:
    """Whether a name is a number, or a text of the kind of those below it."""
    if is_number(name) or _NEARLY.fullmatch(name):
        return True
    if not name or _most(texts, is_number):
        return False
    if re.search(r"\d", name) and not re.search(r"[^\W\d_]", name):
        return True  # a day, a time of day, a telephone number
    pattern = _pattern(name)
    typical = "9" in pattern or "@" in pattern
    return name in texts or (typical and _most(texts, lambda text: _pattern(text) == pattern))


def _pattern(text: str) -> str:
    """Write letters as a and digits as 9, each run once."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text.strip()))


def _most(texts: Sequence[str], holds: Callable[[str], object]) -> bool:
    return 2 * sum(bool(holds(text)) for text in texts) > len(texts)
