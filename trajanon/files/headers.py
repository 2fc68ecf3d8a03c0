"""Whether the first line of a table names its columns, or is a person's row."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import pandas as pd

from trajanon.files.number_texts import is_missing, is_number

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
