"""What is read of a table: its names, its numbers, and which columns are averaged."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from real_data import DATASETS

from trajanon.common.errors import BadInput
from trajanon.tables.cell_numbers_and_missing import read_numbers
from trajanon.tables.table_columns import (
    AveragesUnclear,
    Roles,
    code_doubts,
    doubt_of,
    read_table_columns,
)
from trajanon.tables.tables import microaggregate_table

# Numbers


@pytest.mark.parametrize(
    ("separator", "cells", "numbers"),
    [
        (";", "1250,50 980 -2,5", [1250.5, 980, -2.5]),
        (";", "1,250 2,300", [1.25, 2.3]),
        (";", "0.250 1.125 2.5", [0.25, 1.125, 2.5]),
        ("\t", "1,5 2 na", [1.5, 2]),
        (",", "1.250 2.312", [1.25, 2.312]),
        (",", "1e3 2.5E-1", [1000, 0.25]),
    ],
)
def test_plain_numbers_and_decimal_commas_are_read(
    tmp_path: Path, separator: str, cells: str, numbers: list[float]
) -> None:
    path = tmp_path / "in.csv"
    path.write_text("\n".join([f"a{separator}b", *(f"{c}{separator}x" for c in cells.split())]))
    assert read_table_columns(path, missing="drop").records[:, 0].tolist() == numbers


@pytest.mark.parametrize(
    ("separator", "cells"), [(";", "1.250 9.800"), (";", "1.5 2 3,5"), ("\t", "1,250 980")]
)
def test_a_column_that_is_not_certain_is_refused_by_name(
    tmp_path: Path, separator: str, cells: str
) -> None:
    path = tmp_path / "in.csv"
    rows = [f'"{cell}"{separator}{i}' for i, cell in enumerate(cells.split(" ") * 2)]
    path.write_text("\n".join([f"v{separator}b", *rows]), encoding="utf-8")
    with pytest.raises(BadInput, match=r"column 'v' of .* may be several numbers"):
        microaggregate_table(path, 2)
    kept = microaggregate_table(path, 2, columns=["b"], keep=["v"]).table["v"]
    assert kept[0] == cells.split(" ")[0]


@pytest.mark.parametrize(
    ("separator", "cells"),
    [
        (";", "12.02.2023 13.02.2023"),
        (",", "030-123-456 030-124-456"),
        (",", "1,250 980 1,251"),
        (";", "1.250,50 1.250,5"),
        (",", "12% 5%"),
        (",", "$12 $5"),
    ],
)
def test_what_is_no_plain_number_is_not_averaged(
    tmp_path: Path, separator: str, cells: str
) -> None:
    path = tmp_path / "in.csv"
    rows = [f'"{cell}"{separator}{i}' for i, cell in enumerate(cells.split(" "))]
    path.write_text("\n".join([f"a{separator}b", *rows]))
    assert read_table_columns(path).averaged == ["b"]
    with pytest.raises(BadInput, match="what is not a finite number has no mean"):
        read_table_columns(path, Roles(columns=["a"]))


def test_parquet_may_hold_numbers_as_texts(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["1250,50", "750,5", None]}).to_parquet(tmp_path / "in.parquet")
    result = microaggregate_table(tmp_path / "in.parquet", 2, missing="drop")
    assert np.array_equal(result.table["a"], [1000.5, 1000.5])


# Columns that measure nothing


@pytest.mark.parametrize(
    ("name", "averaged"),
    [
        *((name, False) for name in ("ID", "customer_id", "personId", "UTILITYID", "car_owner")),
        *((name, False) for name in ("AFNLWGT", "pweight", "w", "Gewicht")),
        *((name, True) for name in ("PAID", "humid", "width", "wtd_income", "owner_age")),
    ],
)
def test_ids_and_weights_are_known_by_their_names(name: str, averaged: bool) -> None:
    table = pd.DataFrame({name: [1.5, 2.5], "x": [1, 2]})
    assert (doubt_of(name, read_numbers(table[name].to_numpy())) is None) is averaged
    assert name in read_table_columns(table, Roles(columns=["all"])).averaged
    if averaged:
        assert read_table_columns(table).averaged == [name, "x"]
    else:
        with pytest.raises(AveragesUnclear) as caught:
            read_table_columns(table)
        assert caught.value.proposal["columns"] == ["x"]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("census", ["AFNLWGT (like a survey weight)"]),
        ("tarragona", []),
        ("eia", ["UTILITYID (like an identifier)", "MONTH (12 whole numbers"]),
    ],
)
def test_no_other_column_of_the_reference_tables_is_in_doubt(name: str, asked: list[str]) -> None:
    source = DATASETS / f"{name}.csv"
    if not source.exists():
        pytest.skip(f"the reference data are not beside the checkout: {source}")
    if not asked:
        assert read_table_columns(source).notices == []
        return
    with pytest.raises(AveragesUnclear) as caught:
        read_table_columns(source)
    doubted = re.split(r"(?<=\)), ", caught.value.problem.partition("nothing: ")[2])
    assert len(doubted) == len(asked)
    for reason, begin in zip(doubted, asked, strict=True):
        assert reason.startswith(begin)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([*range(1, 41)], "id"),
        ([n // 3 for n in range(60)], "id"),  # households, sorted
        ([*reversed(range(7, 47))], "id"),
        ([10_000_019 + 13 * n for n in range(40)], "id"),
        ([n % 4 for n in range(40)], "code"),
        ([20240100 + n % 28 + 1 for n in range(40)], "date"),
        ([*range(18, 40), -99, -99], "missing"),
        ([n * n for n in range(40)], None),
        ([n / 2 for n in range(40)], None),
        ([n * 37 % 90 for n in range(200)], None),  # ages
        ([1, 2, 3, 4, 5], None),
    ],
)
def test_what_averages_would_spoil_is_known_by_its_values(
    values: list[float], kind: str | None
) -> None:
    doubt = doubt_of("x", read_numbers(np.array(values)))
    assert (None if doubt is None else doubt.kind) == kind


@pytest.mark.parametrize("digits", [14, 16, 19, 30])
def test_long_numbers_are_identifiers(digits: int) -> None:
    cards = [str((40 + 7 * n % 41) * 10 ** (digits - 2) + n) for n in range(40)]
    numbers = read_numbers(np.array(cards, dtype=object))
    assert numbers.decimals == 0
    doubt = doubt_of("card", numbers)
    assert doubt is not None
    assert doubt.kind == "id"


def test_infinite_values_leave_a_column_to_be_judged() -> None:
    values = np.array([np.inf, -np.inf, np.inf, *range(1, 41)])
    doubt = doubt_of("x", read_numbers(values))
    assert doubt is not None
    assert doubt.kind == "id"


# Codes and dates


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([1200, 1300, 3900, -99, -99], ["-99"]),
        ([20, 38, 45, 999, 26], ["999"]),
        ([20, 38, 45, 999, -1], ["-1", "999"]),
        ([20, 38, 45, -9, -8, -8, -7], ["-9", "-8", "-7"]),  # none hides another
        ([20, 38, 45, 999, 9999], ["999", "9999"]),
        ([20, 38, 45, 999, -999], ["-999", "999"]),
        ([1.5, 2.5, 3.5, 9999.0], ["9999"]),
        ([1, 2, 3, 4, 5, 9], ["9"]),
        ([20230513, 20230514, 20240101], ["20230513"]),
        # numbers that may well be measured
        ([-3, -1, 0, 2, 5], []),
        ([18, 30, 64, 99], []),
        ([5, 6, 7, 8, 9], []),
        ([999, 999, 1], []),
        ([999, 99, 1, 2], ["999"]),
        ([-9, -3, 1, 2, 5], []),
        ([20230513, 20231399, 20240101], []),
        ([1.0, 2.0, 3.0, 98.0], []),
    ],
)
def test_codes_of_missing_values_and_dates_are_pointed_out(
    values: list[float], found: list[str]
) -> None:
    codes = code_doubts("x", np.array(values, dtype=np.float64))
    assert [(code.value, code.of) for code in codes] == [(value, len(values)) for value in found]


def test_a_code_is_a_notice_with_its_column_and_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("age,income,day\n20,1000,20240101\n30,-99,20240102\n40,3000,20240103\n"
                    "50,-99,20240104\n25,900,20240105\n")  # fmt: skip
    with pytest.raises(AveragesUnclear, match=r"income \(-99 in 2 rows, like a code for a missing"):
        microaggregate_table(path, 2)
    notices = microaggregate_table(path, 2, columns=["all"]).report["notices"]
    assert notices[0].startswith("Column 'income' holds -99 in 2 of 5 rows, which may be a code")
    assert "which may be dates" in notices[1]
    told = microaggregate_table(path, 2, columns=["age"]).report["notices"]
    assert not [notice for notice in told if "may be" in notice]
