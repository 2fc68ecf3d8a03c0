"""Numbers as cells write them: with a comma, missing, whole, or rounded."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trajanon.common.arrays import Column
from trajanon.tables.cell_numbers_and_missing import (
    is_missing,
    number_texts,
    plain_numbers,
    read_numbers,
    rounded,
    whole_or_float,
)


@pytest.mark.parametrize(
    ("cells", "decimals"),
    [
        (["1", "2"], 0),
        (["1.50", "2"], 2),
        (["1e3", "2.5e-1"], 2),
        (["0.1234567890123456789", "1"], None),
        ([0.1, 0.25], 2),
        ([1.0, 2.0], 0),
        ([1 / 3, 0.5], None),
        (["1e300"], None),
    ],
)
def test_decimals_are_those_of_the_source(cells: list[object], decimals: int | None) -> None:
    column = np.array(cells, dtype=object if isinstance(cells[0], str) else np.float64)
    assert read_numbers(column).decimals == decimals


def texts(*cells: object) -> Column:
    return np.array(cells, dtype=object)


@pytest.mark.parametrize(
    ("cell", "answer"),
    [
        *[(cell, True) for cell in ("", " NA ", "NaN", "null", None, np.nan, pd.NA, pd.NaT)],
        (Decimal("NaN"), True),
        *[(cell, False) for cell in ("0", "-", "nano", 0, 0.0, False, Decimal(1))],
    ],
)
def test_a_missing_cell_is_known_however_it_is_written(cell: object, answer: bool) -> None:
    assert is_missing(cell) is answer


def test_what_is_no_number_and_not_missing_is_wrong() -> None:
    found = read_numbers(texts("1", "NA", "two", "inf", "1e999"))
    assert found.missing.tolist() == [False, True, False, False, False]
    assert found.wrong.tolist() == [False, False, True, True, True]
    assert found.values[0] == 1.0


@pytest.mark.parametrize(
    ("cells", "separator", "value", "has_comma", "doubt"),
    [
        (("1,5", "2"), ";", 1.5, True, ""),
        (("1,5", "2.5"), ";", 1.5, True, "2.5"),
        (("1,250", "2"), ";", 1.25, True, ""),
        (("1,250", "980"), "\t", 1.25, True, "1,250"),
        (("1.250", "2.500"), ";", 1.25, False, "1.250"),
        (("1.250", "2.500"), ",", 1.25, False, ""),
        (("1,5", "2"), ",", np.nan, False, ""),
    ],
)
def test_commas_are_decimal_where_they_separate_no_cells(
    cells: tuple[str, str], separator: str, value: float, has_comma: bool, doubt: str
) -> None:
    found = read_numbers(texts(*cells), separator)
    assert found.values[0] == pytest.approx(value, nan_ok=True)
    assert (found.decimal_comma, found.doubt) == (has_comma, doubt)


@pytest.mark.parametrize(
    ("value", "decimals", "expected"),
    [(2.675, 2, 2.67), (0.125, 2, 0.12), (-0.004, 2, 0.0), (1234.5, None, 1234.5)],
)
def test_numbers_are_rounded_as_they_would_be_written(
    value: float, decimals: int | None, expected: float
) -> None:
    (found,) = rounded(np.array([value]), decimals).tolist()
    assert found == expected
    assert str(found) != "-0.0"


def test_numbers_are_written_as_their_source_writes_them() -> None:
    source = read_numbers(texts("1,50", "2"), ";")
    assert number_texts(np.array([3.0, np.nan, 2.25]), source) == ["3,00", "", "2,25"]
    exact = read_numbers(texts(repr(1 / 3), "1"))
    assert number_texts(np.array([0.1 + 0.2]), exact) == [repr(0.1 + 0.2)]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("1", "20"), [1, 20]),
        (("1.5", "20"), [1.5, 20.0]),
        (("007", "20"), ["007", "20"]),
        (("+1", "20"), ["+1", "20"]),
        (("1e3", "20"), ["1e3", "20"]),
        (("12345678901234567", "1"), ["12345678901234567", "1"]),
    ],
)
def test_only_texts_as_programs_write_numbers_become_numbers(
    cells: tuple[str, ...], expected: list[Any]
) -> None:
    column = texts(*cells)
    numbers = read_numbers(column)
    found = plain_numbers(column, numbers.values, numbers)
    assert found.tolist() == expected
    assert [type(cell) for cell in found.tolist()] == [type(cell) for cell in expected]


def test_whole_numbers_stay_whole_unless_one_is_missing_or_too_large() -> None:
    whole = read_numbers(np.array([1, 2]))
    assert whole_or_float(np.array([1.0, 2.0]), whole).dtype == np.int64
    for value in (np.nan, 2.0**63):
        assert whole_or_float(np.array([1.0, value]), whole).dtype == np.float64
    decimal = read_numbers(np.array([1.5, 2.0]))
    assert whole_or_float(np.array([1.0, 2.0]), decimal).dtype == np.float64
