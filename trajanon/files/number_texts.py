"""Tables in text as people write them: separators, headers, thousands, decimal commas, money."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none"))
"""How programs write a cell without a value, in lower case."""

_MONEY = "$€£¥"


def _form(decimal: str, thousands: str) -> re.Pattern[str]:
    """Numbers of one notation; blanks and apostrophes part thousands in both."""
    part = rf"[{thousands}'\u2019 \u00a0\u202f]"
    whole = rf"[1-9]\d{{0,2}}(?P<part>{part})\d{{3}}(?:(?P=part)\d{{3}})*|\d+|(?=\{decimal}\d)"
    number = rf"(?P<whole>{whole})(?:\{decimal}(?P<fraction>\d*))?(?P<power>[eE][-+]?\d+)?"
    money = rf"(?P<before>[{_MONEY}]?)\s*"
    return re.compile(rf"\s*(?P<minus>[-+\u2212]?)\s*{money}{number}\s*(?P<behind>[{_MONEY}%]?)\s*")


_FORMS = {".": _form(".", ","), ",": _form(",", ".")}  # by what begins a fraction
_EITHER = re.compile(r"\D*[1-9]\d{0,2}([.,])\d{3}\D*")  # thousands, or three decimals

_DECIMAL_COMMA = r"\s*([-+]?\d+),(\d+(?:[eE][-+]?\d+)?)\s*"
_DECIMAL_POINT = r"\s*[-+]?\d+\.\d+(?:[eE][-+]?\d+)?\s*"

_OF_EXCEL = re.compile(r"sep=([,;|:\t ])\s*")

_JUDGED = 100  # rows, by which the names of columns are
_YEAR = re.compile(r"\s*(19|20)\d\d\s*")
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


class Readings(NamedTuple):
    """Columns of texts that hold numbers in a notation other than Python's, by their names."""

    plain: dict[str, pd.Series]  # as Python writes them
    examples: dict[str, str]  # where thousands, money or percent were read: a cell, and as what
    doubts: dict[str, str]  # why a column cannot be read


def is_missing(cell: object) -> bool:
    """Whether a text stands for no value."""
    return isinstance(cell, str) and cell.strip().lower() in _MISSING


def is_number(text: str) -> bool:
    """Whether a text is a number in any notation."""
    return any(form.fullmatch(text) for form in _FORMS.values())


def read_numbers(table: pd.DataFrame, separator: str | None) -> Readings:
    """Read each column of texts that are numbers, if the whole of it shows its notation.

    Three digits behind a mark may be thousands or decimals. Where a column has only such numbers,
    the other columns decide; else what separates the values: no table of commas has decimal ones.
    """
    readings = Readings({}, {}, {})
    columns = {name: _numbers_in(table[name]) for name in table}
    certain = {marks[0] for _, marks in columns.values() if len(marks) == 1}
    for name, (cells, marks) in columns.items():
        if not cells:
            continue
        usual = certain if len(certain) == 1 and len(marks) == 2 else set(marks)
        decimal = min(usual) if len(usual) == 1 else _usual(cells, separator)
        if doubt := _doubt(cells, marks, decimal):
            readings.doubts[name] = doubt
            continue
        plain = {cell: _plain(cell, decimal or ".") for cell in cells}
        if any(cell != written for cell, written in plain.items()):
            readings.plain[name] = table[name].map(lambda cell, of=plain: of.get(cell, cell))
        for cell, written in plain.items():
            if written != cell.strip().replace(",", ".") or (
                len(marks) == 2 and written != cell.strip()
            ):
                readings.examples[name] = f"{_short(cell)} as {written}"
                break
    return readings


def _numbers_in(column: pd.Series) -> tuple[list[str], list[str]]:
    """List the different numbers in a column of texts, and which marks may begin a fraction.

    No numbers if they are not most of the column, or if Python reads them all.
    """
    if not pd.api.types.is_string_dtype(column) or isinstance(column.dtype, pd.CategoricalDtype):
        return [], []
    counts = column.value_counts()
    known = pd.to_numeric(counts.index.to_series(), errors="coerce").notna().to_numpy()
    given = [yes or not is_missing(cell) for yes, cell in zip(known, counts.index, strict=True)]
    counts = counts[given]
    if known[given].all():
        dotted = [cell for cell in counts.index if "." in cell]
        if not dotted or not all(map(_EITHER.fullmatch, dotted)):
            return [], ["."] * bool(dotted)
    numbers = counts[[is_number(cell) for cell in counts.index]]
    if 2 * numbers.sum() <= counts.sum():
        return [], []
    cells = list(numbers.index)
    return cells, [mark for mark, form in _FORMS.items() if all(map(form.fullmatch, cells))]


def _doubt(cells: Sequence[str], marks: Sequence[str], decimal: str | None) -> str:
    """Say why the numbers of a column cannot be read; empty if they can."""
    if not marks:
        one, other = (next(c for c in cells if not form.fullmatch(c)) for form in _FORMS.values())
        return f"{_short(one)} and {_short(other)} have no notation in common"
    signs = {re.sub(rf"[^{_MONEY}%]", "", cell): cell for cell in reversed(cells)}
    if len(signs) > 1:
        one, other = [*signs.values()][:-3:-1]
        return f"{_short(one)} and {_short(other)} have not the same sign"
    if decimal is None:
        cell = next(filter(_EITHER.fullmatch, cells))
        return f"{_short(cell)} may be {_plain(cell, ',')} or {_plain(cell, '.')}"
    return ""


def _usual(cells: Sequence[str], separator: str | None) -> str | None:
    """What begins a fraction where the numbers do not show it; None if that is not certain."""
    either = [found for cell in cells if (found := _EITHER.fullmatch(cell))]
    if not either:
        return "."  # all are whole
    (mark, *others) = {found[1] for found in either}
    if others:
        return None
    if any(sign in cells[0] for sign in _MONEY):
        return "." if mark == "," else ","  # no money has three decimals
    if mark == ",":
        return {",": ".", ";": ","}.get(separator or "")
    # Who writes 1.250 with its last digit writes 980.000, too.
    ends_in_zero = any(found[0].rstrip().endswith("0") for found in either)
    fixed = len(either) == len(cells) or not ends_in_zero
    return "." if fixed and separator != ";" else None


def _plain(cell: str, decimal: str) -> str:
    """Write a number as Python does, without signs of money and percent."""
    if (found := _FORMS[decimal].fullmatch(cell)) is None:
        return cell
    minus = found["minus"].replace("\u2212", "-")
    fraction = "" if found["fraction"] is None else f".{found['fraction']}"
    whole = re.sub(r"\D", "", found["whole"])
    return f"{minus}{whole}{fraction}{found['power'] or ''}"


def _short(cell: str) -> str:
    return repr(cell.strip()[:40])


def value_in_header(names: Sequence[str], table: pd.DataFrame) -> str | None:
    """Find a name that is like the values below it, as if the first line were a row of values.

    In doubt it is one: a header taken for a row costs the user a line to write, a row taken for a
    header is a person published. Of numbers, only years in sequence above other values are names.
    """
    below = {number: _texts_below(table, number) for number in range(len(names))}
    like = [number for number, texts in below.items() if _like(names[number], texts)]
    if like:
        years = _are_years([names[number] for number in like])
        over_years = any(_most(below[number], _YEAR.fullmatch) for number in like)
        return None if years and not over_years else names[like[0]]
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


def _are_years(names: Sequence[str]) -> bool:
    """Whether names are three years or more in sequence, which no person's row holds."""
    if len(names) < 3 or not all(map(_YEAR.fullmatch, names)):
        return False
    steps = {int(later) - int(year) for year, later in pairwise(names)}
    return len(steps) == 1 and steps != {0}


def _pattern(text: str) -> str:
    """Write letters as a and digits as 9, each run once."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text.strip()))


def _most(texts: Sequence[str], holds: Callable[[str], object]) -> bool:
    return 2 * sum(bool(holds(text)) for text in texts) > len(texts)
