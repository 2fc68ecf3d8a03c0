"""Numbers in the cells of a column: with a point or a comma, missing, whole, or rounded."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats

Cells = NDArray[Any]
"""The cells of a column, (n,): texts, numbers, or objects of any kind."""

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "<na>", "nat"))
"""How programs write a cell without a value, in lower case."""

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*", re.IGNORECASE | re.ASCII)
_INFINITE = re.compile(r"\s*[-+]?inf(inity)?\s*", re.IGNORECASE)
_COMMA = re.compile(r"(\s*[-+]?\d+),(\d+(?:[eE][-+]?\d+)?\s*)")
_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*")  # or three decimals

_PLAIN = re.compile(r"[-+0-9.eE ]*", re.ASCII)
_CANONICAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)

_FRACTIONS = re.compile(r"\.(\d*)", re.ASCII)

_EXACT_DIGITS = 15  # of a number, which a float still holds
_LARGEST_WHOLE = 1e15


class Category(str):
    """The name of a category, which is no number however it is written."""

    __slots__ = ()


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
    def present(self) -> Floats:
        """Return the numbers that are there."""
        return self.values[~np.isnan(self.values)]


def is_missing(cell: object) -> bool:
    """Return whether a cell stands for no value."""
    if isinstance(cell, str):
        return cell.strip().lower() in _MISSING
    if isinstance(cell, float | np.floating | Decimal):
        return bool(cell != cell)  # NaN
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")  # those of pandas


def missing_cells(cells: Cells) -> Bools:
    """Mark cells without a value, (n,)."""
    if cells.dtype != object:
        return np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), np.bool_)
    return np.fromiter(map(is_missing, cells), np.bool_, len(cells))


def read_numbers(cells: Cells, separator: str | None = None) -> Numbers:
    """Read the cells of a column; in CSV, by what separates them a comma may be a decimal one."""
    if cells.dtype.kind in "iuf":
        values = cells.astype(np.float64)
        return Numbers(values, np.isnan(values), _decimals_of_floats(cells))
    if cells.dtype != object or any(isinstance(cell, Category) for cell in cells):
        return Numbers(np.full(len(cells), np.nan), missing_cells(cells), None)

    texts, decimal_comma, doubt = _with_points(cells, separator)
    values = _floats(texts)
    missing = np.zeros(len(cells), np.bool_)
    without = np.flatnonzero(np.isnan(values))
    missing[without] = [is_missing(cell) for cell in cells[without]]

    numbers = Numbers(values, missing, None, decimal_comma, doubt)
    if not numbers.hold:
        return numbers
    finite = texts if np.isfinite(values).all() else texts[np.isfinite(values)]
    return numbers._replace(decimals=_decimals([str(cell) for cell in finite.tolist()]))


def _with_points(cells: Cells, separator: str | None) -> tuple[Cells, bool, str]:
    """Write decimal commas as points; also return a cell that makes the column uncertain."""
    if separator == ",":
        return cells, False, ""

    texts = [cell for cell in cells if isinstance(cell, str)]
    commas = [text for text in texts if "," in text]
    points = [text for text in texts if "." in text]
    fractions = points
    doubt = ""
    if commas:
        pointed = [
            _COMMA.sub(r"\1.\2", cell) if isinstance(cell, str) and _COMMA.fullmatch(cell) else cell
            for cell in cells
        ]
        cells = np.array([*pointed, None], dtype=object)[:-1]
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
        return float(cell) if _NUMBER.fullmatch(cell) or _INFINITE.fullmatch(cell) else np.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal | np.number):
        return np.nan
    return float(cell)


def _decimals_of_floats(values: Cells) -> int | None:
    """Count the decimals of numbers; None if they have as many as a float holds."""
    if values.dtype.kind in "iu":
        return 0
    finite = values[np.isfinite(values)]
    if (finite % 1.0 == 0.0).all() and (np.abs(finite) < _LARGEST_WHOLE).all():
        return 0
    return _decimals([repr(value) for value in np.unique(finite).tolist()])


def _decimals(texts: Sequence[str]) -> int | None:
    """Count the decimals of numbers as they are written; None if a float holds no more digits."""
    joined = "\n".join(texts)
    if "e" in joined.lower():
        joined = "\n".join(f"{Decimal(text):f}" for text in texts)

    # A text that is short has few digits, without a look at each.
    longest = max(map(len, joined.split("\n")))
    if longest > _EXACT_DIGITS:
        digits = joined.translate({ord(mark): None for mark in "+-. "}).split("\n")
        if max(len(text.lstrip("0")) for text in digits) > _EXACT_DIGITS:
            return None
    most = max(map(len, _FRACTIONS.findall(joined)), default=0)
    return most if most <= _EXACT_DIGITS else None


def rounded(values: Floats, decimals: int | None) -> Floats:
    """Round to decimals, as the number would be written."""
    if decimals is None:
        return values
    return np.array([round(value, decimals) + 0.0 for value in values.tolist()])


def number_texts(values: Floats, numbers: Numbers) -> list[str]:
    """Write numbers as those of their source; none is an empty text."""
    decimals = numbers.decimals
    written = (repr(v) if decimals is None else f"{v:.{decimals}f}" for v in values.tolist())
    texts = ["" if text == "nan" else text for text in written]
    return [text.replace(".", ",") for text in texts] if numbers.decimal_comma else texts


def plain_numbers(cells: Cells, separator: str | None) -> Cells:
    """Return texts as numbers if they are all written as a program would; else as they are."""
    with_points, _, doubt = _with_points(cells, separator)
    missing = [cell == "" for cell in cells]
    forms = {_form_of(cell) for cell, gone in zip(with_points, missing, strict=True) if not gone}
    if doubt or not forms or "text" in forms:
        return cells
    if forms == {"whole"} and not any(missing):
        return with_points.astype(np.int64)
    return np.array([np.nan if text == "" else float(text) for text in with_points])


def _form_of(text: object) -> str:
    """Return whether a text is a whole number, a number with decimals, or a text, such as 007."""
    if not isinstance(text, str) or len(text) > _EXACT_DIGITS or not _CANONICAL.fullmatch(text):
        return "text"
    return "number" if "." in text else "whole"
