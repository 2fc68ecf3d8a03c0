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
_DIFFERENT = 0.95  # of the values of an identifier
_CODES, _EACH = 5, 5  # different values of a code at most, and rows for each of them at least
_SIX_DIGITS, _NARROW = 1e5, 0.25  # no quantity of six digits varies by so small a share of itself


def looks_like_id(column: pd.Series) -> bool:
    """Whether a column of numbers is named like an identifier, or has the values of one.

    These number the rows, begin with 0, or are large and close together.
    """
    name = _words(str(column.name))
    values = _values(column)
    whole = _are_whole(values)
    if _ID.search(name) or (whole and _GLUED_ID.search(str(column.name).lower())):
        return True
    texts = pd.api.types.is_string_dtype(column)
    if texts and column.str.match(r"\s*0\d").any():
        return whole
    if not whole or _QUANTITY.search(name):
        return False
    different = np.unique(values)
    counts = len(values) == len(different) >= _FEW and np.ptp(values) < 2 * len(values)
    few = len(different) < _CODES
    narrow = different[0] >= _SIX_DIGITS and np.ptp(different) <= _NARROW * different[-1]
    return bool(counts or (narrow and not few))


def identifies(column: pd.Series) -> bool:
    """Whether a column is like an identifier, or has texts that nearly all differ."""
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


def _words(name: str) -> str:
    """Part the words of customerId as those of customer_id."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
