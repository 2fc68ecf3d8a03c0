"""Columns of numbers that measure nothing: identifiers, codes and survey weights."""

import re

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.files import numeric_table

_ID = re.compile(
    r"(^|[^a-z])((ids?|codes?|zip|zipcode|postcode|plz|uid|uuid|nr|phone|key)([^a-z]|$)"
    r"|(ssn|acct|account|owner|iban|passport)$)"
)
_GLUED_ID = re.compile(r"[a-z]{5}(id|code|key)$")
_WEIGHT = re.compile(
    r"(^|[^a-z])[pfs]?(weights?|wgts?|wt|w)([^a-z]|$)|(wgt|weight|gewicht|gewichte|gewichtung)$"
)
_QUANTITY = re.compile(
    r"(^|[^a-z])(ages?|alter|years?|jahr|born|wages?|lohn|pay|price|preis|costs?|kosten|value|wert|"
    r"worth|sales|debt|tax|steuer|rent|miete|loan|kids|kinder|people|rooms?|count|anzahl|hours|"
    r"stunden|area|km|height|length|size)([^a-z]|$)|"
    r"income|einkommen|salar|gehalt|earning|amount|betrag|revenue|umsatz|turnover|profit|gewinn|"
    r"assets|balance|budget|spend|expen[ds]|children|persons|population|number.of|consumption|"
    r"employees|surface"
)
"""Words of what is counted or measured, whatever its values look like."""

_FEW = 20  # values: from fewer nobody can tell whether they number the rows
_DIFFERENT = 0.95  # of texts
_CODES, _EACH = 5, 5  # different values of a code at most, and rows for each of them at least
_LONG, _SHORTER = 8, 6  # digits of numbers that are hardly quantities; or only if close together
_NARROW = 0.25  # of the largest number: no quantity of six digits varies as little
_UNEVEN, _LEAST_UNEVEN = 1.36, 0.05
"""Over the root of the count: how far 95 % of samples are at most from evenly spread; and at least
allowed."""


def looks_like_id(column: pd.Series) -> bool:
    """Whether a column of numbers is named like an identifier, or has the values of one.

    These number the rows, begin with 0, or have as many digits each, evenly spread or close
    together: quantities have small values and large ones, or come near to a mean.
    """
    name = _words(str(column.name))
    values = _values(column)
    whole = _are_whole(values)
    if _ID.search(name) or (whole and _GLUED_ID.search(str(column.name).lower())):
        return True
    if not whole:
        return False
    if pd.api.types.is_string_dtype(column) and column.str.match(r"\s*0\d").any():
        return True
    if _QUANTITY.search(name):
        return False
    different = np.unique(values)
    counts = len(values) == len(different) >= _FEW and np.ptp(values) < 2 * len(values)
    return bool(counts) or _are_drawn(different)


def identifies(column: pd.Series) -> bool:
    """Whether a column is an identifier, of numbers or of texts that nearly all differ."""
    if numeric_table.holds_numbers(column):
        return looks_like_id(column)
    return bool(column.astype(str).nunique() >= _DIFFERENT * len(column))


def looks_like_code(column: pd.Series) -> bool:
    """Whether a column of numbers holds few small whole ones, as codes of a sex or an answer do."""
    values = _values(column)
    if not _are_whole(values) or _QUANTITY.search(_words(str(column.name))):
        return False
    different = np.unique(values)
    few = 2 <= len(different) <= _CODES and _EACH * len(different) <= len(values)
    return bool(few and different[0] in (0, 1) and different[-1] <= 9)


def looks_like_weight(name: str) -> bool:
    """Whether a column is named like a survey weight."""
    return _WEIGHT.search(_words(name)) is not None


def _values(column: pd.Series) -> Floats:
    values = numeric_table.as_numbers(column)
    return values[np.isfinite(values)]


def _are_whole(values: Floats) -> bool:
    return bool((values == np.floor(values)).all())


def _are_drawn(different: Floats) -> bool:
    """Whether whole numbers are as if drawn from all that have so many digits."""
    n = len(different)
    if n < 5 or different[0] < 1 or different[-1] >= 1e18:
        return False
    digits = np.searchsorted(10.0 ** np.arange(18), different, side="right")
    most = int(digits.max())
    long, shorter = most >= _LONG, most >= _SHORTER
    few = n < (5 if long else 10 if shorter else _FEW)
    # A tenth of them has lost a leading zero, a tenth ends in one, and so much more by chance.
    tenth = 0.1 + 0.8 / np.sqrt(n)
    lost = (digits < most).mean() > tenth * long
    rounded = (different % 10 == 0).mean() > tenth
    if few or most < 4 or lost or rounded:
        return False
    uneven = np.abs(np.arange(1, n + 1) / n - (different / 10.0**most - 0.1) / 0.9).max()
    even = uneven <= max(_UNEVEN / np.sqrt(n), _LEAST_UNEVEN)
    return bool(long or even or (shorter and np.ptp(different) <= _NARROW * different[-1]))


def _words(name: str) -> str:
    """Part the words of customerId as those of customer_id."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
