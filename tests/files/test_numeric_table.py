"""Numbers in texts: decimal commas are read, and what is not certain is refused by name."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from trajanon.errors import BadInput
from trajanon.files import numeric_table
from trajanon.files.numeric_table import with_points
from trajanon.tables import microaggregate_table


@pytest.mark.parametrize(
    ("separator", "cells", "numbers"),
    [
        (";", "1250,50 980 -2,5", [1250.5, 980, -2.5]),
        (";", "1,250 2,300", [1.25, 2.3]),
        (";", "0.250 1.125 2.5", [0.25, 1.125, 2.5]),
        ("\t", "1,5 na 2", [1.5, np.nan, 2]),
        (",", "1.250 2.312", [1.25, 2.312]),
        (",", "1e3 2.5E-1", [1000, 0.25]),
    ],
)
def test_plain_numbers_and_decimal_commas_are_read(
    separator: str, cells: str, numbers: list[float]
) -> None:
    table, doubts = with_points(pd.DataFrame({"a": cells.split(" ")}), separator)
    assert not doubts
    assert np.array_equal(numeric_table.as_numbers(table["a"]), numbers, equal_nan=True)


@pytest.mark.parametrize(
    ("separator", "cells"),
    [
        (";", "1.250 9.800"),  # thousands, or three decimals
        ("\t", "1,250 980"),
        (",", "1,250 980"),
        (",", "1,5 2"),
        (";", "1.250,50 1250,5"),
        (";", "1.5 1,5"),
        (",", "12% 0.5"),
        (",", "$12 5"),
        (",", "1'250.50 3"),
        (",", "\u22122 3"),
    ],
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


def test_dates_telephones_and_words_are_no_numbers() -> None:
    cells = {"day": "12.02.2023", "phone": "030 123 456", "words": "some", "when": "2023-01-02"}
    table = pd.DataFrame({name: [cell, cell, "1,5"] for name, cell in cells.items()})
    assert with_points(table, ";")[1] == {}


def test_parquet_may_hold_numbers_as_texts(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["1250,50", "750,5", None]}).to_parquet(tmp_path / "in.parquet")
    result = microaggregate_table(tmp_path / "in.parquet", 2, missing="drop")
    assert np.array_equal(result.table["a"], [1000.5, 1000.5])
