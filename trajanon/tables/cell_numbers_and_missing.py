"""Numbers in the cells of a column: with a point or a comma, missing, whole, or rounded.

Cells of CSV are texts; those of other tables are numbers, or objects of any kind.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from math import isnan
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Column, Floats

Cells = Column
"""The cells of a column, (n,): numbers, or objects of any kind, such as texts."""

_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "<na>", "nat"))
"""How programs write a cell without a value, in lower case."""

_NUMBER = re.compile(
    r"\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?)\s*", re.IGNORECASE | re.ASCII
)
DECIMAL_COMMA = re.compile(r"(\s*[-+]?\d+),(\d+(?:[eE][-+]?\d+)?\s*)")  # 1,25
_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")  # 1.25
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*")  # 1.250: 1250, or three decimals

_PLAIN = re.compile(r"[-+0-9.eE ]*", re.ASCII)  # nothing that only some programs read as a number
_CANONICAL = re.compile(r"(-?(0|[1-9]\d*)(\.\d+)?)?", re.ASCII)  # as a program writes it: not 007

_EXACT_DIGITS = 15  # of a number, which a float still holds


class Numbers(NamedTuple):
    """The cells of a column, read as numbers."""

    values: Floats  # NaN where a cell has none
    missing: Bools  # where a cell has no value; another cell without a number holds something else
    decimals: int | None  # after the point; None of numbers with as many as a float holds
    decimal_comma: bool = False
    doubt: str = ""  # a cell that may be several numbers

    @property
    def are_most(self) -> bool:
        """Return whether most cells with a value hold numbers: then others are errors."""
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
    """Read the cells of a column, (n,), as numbers.

    ``separator`` is what separates the cells of CSV: unless it is a comma, a comma in a cell may be
    a decimal one.
    """
    if cells.dtype != object:
        values = cells.astype(np.float64)
        # As Python writes them; a float that is whole has no decimals.
        different = np.unique(values[np.isfinite(values)]).tolist()
        decimals = _most_decimals(repr(number).removesuffix(".0") for number in different)
        # Integers have none, however long they are.
        return Numbers(values, np.isnan(values), 0 if cells.dtype.kind in "iu" else decimals)

    with_points, decimal_comma, doubt = _with_points(cells, separator)
    values = _floats(with_points)
    missing = np.zeros(len(cells), np.bool_)
    no_number = np.flatnonzero(np.isnan(values))
    missing[no_number] = [is_missing(cell) for cell in cells[no_number]]

    numbers = Numbers(values, missing, None, decimal_comma, doubt)
    if not numbers.are_most:
        return numbers
    return numbers._replace(decimals=_most_decimals(map(str, with_points[np.isfinite(values)])))


def _with_points(cells: Cells, separator: str | None) -> tuple[Cells, bool, str]:
    """Write the decimal commas of cells as points.

    Returned are the cells, whether there were commas, and a cell that may be several numbers: one
    with a point beside others with commas; or one that may have thousands, as all in its column.
    """
    # If commas separate cells, there are no decimal commas, and all points are decimal.
    texts = [cell for cell in cells if isinstance(cell, str)] if separator != "," else []
    with_comma = [text for text in texts if "," in text]
    with_point = [text for text in texts if "." in text]
    may_be_thousands = with_point  # unless commas are found
    doubt = ""
    if with_comma:
        cells = cells.copy()
        for place, cell in enumerate(cells):
            if isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell):
                cells[place] = cell.replace(",", ".")
        # Beside decimal commas a point may be a decimal one, too, or separate thousands.
        doubt = next((text.strip() for text in with_point if _POINT.fullmatch(text)), "")
        # Programs that separate cells by semicolons write decimal commas.
        may_be_thousands = with_comma if separator != ";" else []

    if may_be_thousands and all(map(_THOUSANDS.fullmatch, may_be_thousands)):
        doubt = may_be_thousands[0].strip()
    return cells, bool(with_comma), doubt


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
    """Convert a cell to a number; NaN if it holds none."""
    if isinstance(cell, str):
        return float(cell) if _NUMBER.fullmatch(cell) else np.nan
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal | np.number):
        return np.nan
    try:
        return float(cell)
    except (OverflowError, ValueError):  # larger than any float, or a NaN that may not be read
        return np.inf


def _most_decimals(texts: Iterable[str]) -> int | None:
    """Count the most decimals of any number as it is written; None if a float cannot hold it."""
    decimals = 0
    for text in texts:
        # Exponents are written out; of texts that are short enough, all digits fit into a float.
        written = text
        if len(text) > _EXACT_DIGITS or "e" in text or "E" in text:
            written = f"{Decimal(text):f}"
            digits = re.sub(r"\D", "", written).lstrip("0")
            # A whole number, such as that of a card, has no decimals, however long it is.
            is_whole = text.strip().lstrip("+-").isdigit()
            if len(digits) > _EXACT_DIGITS and not is_whole:
                return None
        decimals = max(decimals, len(written.strip().partition(".")[2]))
    return decimals if decimals <= _EXACT_DIGITS else None


def rounded(values: Floats, decimals: int | None) -> Floats:
    """Round to decimals, as the number would be written."""
    if decimals is None:
        return values
    # Python rounds exactly, as numpy does not; adding 0 makes -0 a 0.
    return np.array([round(value, decimals) + 0.0 for value in values.tolist()])


def number_texts(values: Floats, numbers: Numbers) -> list[str]:
    """Write values, (n,), as ``numbers`` of their source were; a missing one as an empty text."""
    write = repr if numbers.decimals is None else f"{{:.{numbers.decimals}f}}".format
    mark = "," if numbers.decimal_comma else "."
    different, place = np.unique(values, return_inverse=True)
    texts = [
        "" if isnan(value) else write(value).replace(".", mark) for value in different.tolist()
    ]
    return [texts[number] for number in place.tolist()]


def plain_numbers(cells: Cells, values: Floats, numbers: Numbers) -> Cells:
    """Return texts as numbers if all are written as programs write them; else, as 007, as texts."""
    texts = [text.replace(",", ".") if numbers.decimal_comma else text for text in cells]
    is_plain = all(len(text) <= _EXACT_DIGITS and _CANONICAL.fullmatch(text) for text in texts)
    if numbers.doubt or not numbers.are_most or not is_plain:
        return cells
    return whole_or_float(values, numbers)


def whole_or_float(values: Floats, numbers: Numbers) -> Cells:
    """Return numbers as whole ones where their source has no decimals and none is missing."""
    fits = np.abs(values) < 2.0**63  # which NaN does not
    is_whole = numbers.decimals == 0 and fits.all()
    return np.rint(values).astype(np.int64) if is_whole else values
