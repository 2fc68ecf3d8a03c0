"""Numbers and names of columns as people write them: thousands, decimal commas, money, headers."""

import re
from collections.abc import Callable, Sequence
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
    for name, (cells, found) in columns.items():
        if not cells:
            continue
        usual = certain if len(certain) == 1 and len(found) == 2 else set(found)
        decimal = min(usual) if len(usual) == 1 else _usual(cells, separator)
        doubt = _differing(cells, found)
        if not doubt and decimal is None:
            cell = next(filter(_EITHER.fullmatch, cells))
            doubt = f"{_short(cell)} may be {_plain(cell, ',')} or {_plain(cell, '.')}"
        if doubt or decimal is None:
            readings.doubts[name] = doubt
            continue
        plain = {cell: _plain(cell, decimal) for cell in cells}
        if any(cell != written for cell, written in plain.items()):
            readings.plain[name] = table[name].map(lambda cell, of=plain: of.get(cell, cell))
        for cell, written in plain.items():
            fraction = cell.strip().replace(",", ".")
            if written != fraction or (len(found) == 2 and written != cell.strip()):
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
    texts = counts.index.to_numpy(dtype=object)
    odd = texts[pd.to_numeric(counts.index, errors="coerce").isna()]
    if all(map(is_missing, odd)):
        dotted = [cell for cell in texts if "." in cell]
        if not all(map(_EITHER.fullmatch, dotted)):
            return [], ["."]
        if not dotted:
            return [], []
    counts = counts[[not is_missing(cell) for cell in texts]]
    are = [is_number(cell) for cell in counts.index]
    if 2 * counts[are].sum() <= counts.sum():
        return [], []
    numbers = list(counts.index[are])
    return numbers, [mark for mark, form in _FORMS.items() if all(map(form.fullmatch, numbers))]


def _differing(cells: Sequence[str], marks: Sequence[str]) -> str:
    """Tell two numbers of a column that are not written alike; empty if all are."""
    if not marks:
        odd = [next(c for c in cells if not form.fullmatch(c)) for form in _FORMS.values()]
        return f"{_short(odd[0])} and {_short(odd[1])} have no notation in common"
    signs: dict[str, str] = {}
    for cell in cells:
        signs.setdefault(re.sub(rf"[^{_MONEY}%]", "", cell), cell)
    one, other = [*signs.values(), "", ""][:2]
    return f"{_short(one)} and {_short(other)} have not the same sign" if len(signs) > 1 else ""


def _usual(cells: Sequence[str], separator: str | None) -> str | None:
    """What begins a fraction where the numbers do not show it; None if that is not certain."""
    either = [found for cell in cells if (found := _EITHER.fullmatch(cell))]
    if not either:
        return "."  # all are whole
    (mark, *others) = {found[1] for found in either}
    thousands = "." if mark == "," else ","
    if others:
        return None
    if any(sign in cells[0] for sign in _MONEY):
        return thousands  # no money has three decimals
    if mark == ",":
        return {",": ".", ";": ","}.get(separator or "")
    # Who writes 1.250 with its last digit writes 980.000, too.
    fixed = len(either) == len(cells) or not any(
        found[0].rstrip().endswith("0") for found in either
    )
    return "." if fixed and separator != ";" else None


def _plain(cell: str, decimal: str) -> str:
    """Write a number as Python does, without signs of money and percent."""
    found = _FORMS[decimal].fullmatch(cell)
    if found is None:
        return cell
    minus = found["minus"].replace("\u2212", "-")
    whole = re.sub(r"\D", "", found["whole"])
    fraction = "" if found["fraction"] is None else f".{found['fraction']}"
    return f"{minus}{whole}{fraction}{found['power'] or ''}"


def _short(cell: str) -> str:
    return repr(cell.strip()[:40])


_JUDGED = 100  # rows, by which columns are
_YEAR = re.compile(r"(19|20)\d\d")
_YEARS = 3  # in a sequence that no person's row is taken to hold
_NEARLY = re.compile(r"\s*[(<>~\u2264\u2265\u2248]\s*[-+]?\d.*")  # a number, but for a sign
_NO_VALUE = re.compile(r"[.?*:-]*")  # as some programs write it


def value_in_header(names: Sequence[str], table: pd.DataFrame) -> str | None:
    """Find a name that is like the values below it, as if the first line were a row of values.

    In doubt it is one: a header taken for a row costs the user a line to write, a row taken for a
    header is a person published. Of numbers, only years in sequence above other values are names.
    """
    below = [table.iloc[:, column] for column in range(len(names))]
    values = [name for name, column in zip(names, below, strict=True) if _like(name, column)]
    years = [column for name, column in zip(names, below, strict=True) if name in values]
    if values and not (_are_years(values) and not any(map(_holds_years, years))):
        return values[0]
    of_numbers = [
        name for name, column in zip(names, below, strict=True) if _share(column, is_number) > 0.5
    ]
    if of_numbers and all(is_missing(name) or _NO_VALUE.fullmatch(name) for name in of_numbers):
        return next(filter(None, of_numbers), None)  # what has no name is refused as such
    return None


def _like(name: str, column: pd.Series) -> bool:
    """Whether a name is a number, or a text of the kind of those below it."""
    if is_number(name) or _NEARLY.fullmatch(name):
        return True
    if not name or _share(column, is_number) > 0.5:
        return False
    if re.search(r"\d", name) and not re.search(r"[^\W\d_]", name):
        return True  # a day, a time of day, a telephone number
    pattern = _pattern(name)
    typical = "9" in pattern or "@" in pattern
    return bool((column == name).any()) or (
        typical and _share(column, lambda text: _pattern(text) == pattern) > 0.5
    )


def _are_years(names: Sequence[str]) -> bool:
    if len(names) < _YEARS or not all(map(_YEAR.fullmatch, names)):
        return False
    steps = {int(later) - int(year) for year, later in pairwise(names)}
    return len(steps) == 1 and steps != {0}


def _holds_years(column: pd.Series) -> bool:
    return _share(column, lambda text: bool(_YEAR.fullmatch(text.strip()))) > 0.5


def _pattern(text: str) -> str:
    """Write letters as a and digits as 9, each run once."""
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "a", text.strip()))


def _share(column: pd.Series, holds: Callable[[str], bool]) -> float:
    """Share of the texts of a column, of those that are not missing, of which something holds."""
    texts = [cell for cell in column.iloc[:_JUDGED] if not is_missing(cell)]
    return sum(map(holds, texts)) / max(len(texts), 1)
