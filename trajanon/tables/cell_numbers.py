"""Numbers in the cells of a column: with a point or a comma, missing, whole, or rounded."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats

Cells = NDArray[Any]
"""The cells of a column, (n,): numbers, or objects of any kind, such as texts."""

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "<na>", "nat"))
"""How programs write a cell without a value, in lower case."""

_NUMBER = re.compile(
    r"\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?)\s*", re.IGNORECASE | re.ASCII
)
_COMMA = re.compile(r"(\s*[-+]?\d+),(\d+(?:[eE][-+]?\d+)?\s*)")
_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*")  # or three decimals

_PLAIN = re.compile(r"[-+0-9.eE ]*", re.ASCII)
_CANONICAL = re.compile(r"(-?(0|[1-9]\d*)(\.\d+)?)?", re.ASCII)

_EXACT_DIGITS = 15  # of a number, which a float still holds


class Numbers(NamedTuple):
    """The cells of a column, read as numbers."""

    values: Floats  # NaN where a cell has none
    missing: Bools  # where a cell has no value; another cell without a number holds something else
    decimals: int | None  # after the point; None of numbers with as many as a float holds
    decimal_comma: bool = False
    doubt: str = ""  # a cell that may be several numbers

    @property
    def hold(self) -> bool:
        """Return whether most values are numbers: then others are errors."""
        return bool(2 * (~np.isnan(self.values)).sum() > (~self.missing).sum())

    @property
    def wrong(self) -> Bools:
        """Mark cells that hold something else than a finite number, (n,)."""
        return ~self.missing & ~np.isfinite(self.values)


def is_missing(cell: object) -> bool:
    """Return whether a cell stands for no value."""
    if isinstance(cell, str):
        return cell.strip().lower() in _MISSING
    if isinstance(cell, float | np.floating | Decimal):
        return bool(cell != cell)  # NaN
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")  # those of pandas


def read_numbers(cells: Cells, separator: str | None = None) -> Numbers:
    """Read the cells of a column; in CSV, by what separates them a comma may be a decimal one."""
    if cells.dtype != object:
        values = cells.astype(np.float64)
        # As Python writes them; a float that is whole has no decimals.
        different = np.unique(values[np.isfinite(values)]).tolist()
        decimals = _decimals(repr(number).removesuffix(".0") for number in different)
        return Numbers(values, np.isnan(values), 0 if cells.dtype.kind in "iu" else decimals)

    with_points, decimal_comma, doubt = _with_points(cells, separator)
    values = _floats(with_points)
    missing = np.zeros(len(cells), np.bool_)
    without = np.flatnonzero(np.isnan(values))
    missing[without] = [is_missing(cell) for cell in cells[without]]

    numbers = Numbers(values, missing, None, decimal_comma, doubt)
    if not numbers.hold:
        return numbers
    return numbers._replace(decimals=_decimals(map(str, with_points[np.isfinite(values)])))


def _with_points(cells: Cells, separator: str | None) -> tuple[Cells, bool, str]:
    """Write decimal commas as points; also return a cell that makes the column uncertain."""
    texts = [cell for cell in cells if isinstance(cell, str)] if separator != "," else []
    commas = [text for text in texts if "," in text]
    points = [text for text in texts if "." in text]
    fractions = points
    doubt = ""
    if commas:
        cells = cells.copy()
        for place, cell in enumerate(cells):
            if isinstance(cell, str) and _COMMA.fullmatch(cell):
                cells[place] = cell.replace(",", ".")
        doubt = next((text.strip() for text in points if _POINT.fullmatch(text)), "")
        fractions = commas if separator != ";" else []

    if fractions and all(map(_THOUSANDS.fullmatch, fractions)):
        doubt = fractions[0].strip()
    return cells, bool(commas), doubt


def _floats(cells: Cells) -> Floats:
    """Convert cells to numbers; what is none becomes NaN."""
    try:
        # Of texts that hold nothing else, numpy reads all at once.
        if _PLAIN.fullmatch("".join(cells)):
            return cells.astype(np.float64)
    except (TypeError, ValueError):
        pass
    return np.fromiter(map(_float, cells), np.float64, len(cells))


def _float(cell: object) -> float:
    if isinstance(cell, str):
        return float(cell) if _NUMBER.fullmatch(cell) else np.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal | np.number):
        return np.nan
    return float(cell)


def _decimals(texts: Iterable[str]) -> int | None:
    """Count the decimals of numbers as they are written; None if a float holds no more digits."""
    decimals = 0
    for text in texts:
        written = text
        if len(text) > _EXACT_DIGITS or "e" in text or "E" in text:
            written = f"{Decimal(text):f}"
            if len(re.sub(r"\D", "", written).lstrip("0")) > _EXACT_DIGITS:
                return None
        decimals = max(decimals, len(written.strip().partition(".")[2]))
    return decimals if decimals <= _EXACT_DIGITS else None


def rounded(values: Floats, decimals: int | None) -> Floats:
    """Round to decimals, as the number would be written."""
    if decimals is None:
        return values
    return np.array([round(value, decimals) + 0.0 for value in values.tolist()])


def number_texts(values: Floats, numbers: Numbers) -> list[str]:
    """Write numbers as those of their source; none is an empty text."""
    write = repr if numbers.decimals is None else f"{{:.{numbers.decimals}f}}".format
    mark = "," if numbers.decimal_comma else "."
    different, place = np.unique(values, return_inverse=True)
    texts = ["" if v != v else write(v).replace(".", mark) for v in different.tolist()]
    return [texts[number] for number in place.tolist()]


def plain_numbers(cells: Cells, values: Floats, numbers: Numbers) -> Cells:
    """Return texts as numbers if they are all written as a program would; else, as 007, as such."""
    texts = [text.replace(",", ".") if numbers.decimal_comma else text for text in cells]
    is_plain = all(len(text) <= _EXACT_DIGITS and _CANONICAL.fullmatch(text) for text in texts)
    if numbers.doubt or not numbers.hold or not is_plain:
        return cells
    return whole_or_float(values, numbers)


def whole_or_float(values: Floats, numbers: Numbers) -> Cells:
    """Return numbers as whole ones where their source has no decimals and none is missing."""
    is_whole = numbers.decimals == 0 and not np.isnan(values).any()
    return np.rint(values).astype(np.int64) if is_whole else values
