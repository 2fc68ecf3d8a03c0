"""Small tables, and which of their columns are chosen as what, with all warnings and refusals."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from trajanon.common.errors import ColumnsUnclear
from trajanon.extract.sources.columns_chosen_for_roles import used_columns
from trajanon.extract.sources.reading import Reading

ROWS = 12  # more than a column needs to count rows
PLACES: dict[str, Sequence[Any]] = {"lat": [40.0] * ROWS, "lon": [2.0] * ROWS}
SECONDS = [f"2024-05-01T08:00:{second:02}Z" for second in range(ROWS)]
MINUTES = [f"2024-05-01T08:{row // 4:02}:00Z" for row in range(ROWS)]
TWO = ["a", "b"] * (ROWS // 2)
HALVES = ["a"] * (ROWS // 2) + ["b"] * (ROWS // 2)
NOTHING: Mapping[str, str] = {}


def table(**columns: Sequence[Any]) -> pd.DataFrame:
    return pd.DataFrame({**PLACES, **columns})


def chosen(
    rows: pd.DataFrame, said: Mapping[str, str] = NOTHING, *, timed: bool = False
) -> tuple[dict[str, str], list[str], Reading]:
    """The roles but latitude and longitude, what was warned of, and the account."""
    reading = Reading(what="t.csv", columns=said, timed=timed)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        columns = used_columns(list(rows), rows, reading)
    used = {role: name for role, name in columns.items() if role not in ("lat", "lon")}
    return used, [str(warning.message) for warning in warned], reading


def refused(
    rows: pd.DataFrame, said: Mapping[str, str] = NOTHING, *, timed: bool = False
) -> ColumnsUnclear:
    with pytest.raises(ColumnsUnclear) as error:
        chosen(rows, said, timed=timed)
    assert error.value.columns == tuple(map(str, rows))
    return error.value
