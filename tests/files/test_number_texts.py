"""Numbers in other notations: read where the whole column shows how, else refused by name."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from trajanon.errors import BadInput
from trajanon.files import numeric_table
from trajanon.files.number_texts import read_numbers
from trajanon.tables import microaggregate_table


@pytest.mark.parametrize(
    ("separator", "cells", "numbers"),
    [
        (";", "1.250,50 980 -2,5", [1250.5, 980, -2.5]),
        (";", "1.250.000 2", [1_250_000, 2]),
        (";", "1,250 2,300", [1.25, 2.3]),
        (";", "1.250,00\u00a0€ 3,00\u00a0€", [1250, 3]),
        (";", "1.250\u00a0€ 3\u00a0€", [1250, 3]),
        (";", "0.250 1.125", [0.25, 1.125]),
        (",", "1,250.50 980 \u22122,000", [1250.5, 980, -2000]),
        (",", "1,250 980", [1250, 980]),
        (",", "1.250 2.312", [1.25, 2.312]),
        (",", "1.25 980 1.312", [1.25, 980, 1.312]),
        (",", "1\u00a0250,50 3", [1250.5, 3]),
        (",", "1'250.50 1’000", [1250.5, 1000]),
        (",", "$1,250 -$3.20", [1250, -3.2]),
        (",", "12\u00a0% 7.5%", [12, 7.5]),
        (",", "1e3 2.5E-1", [1000, 0.25]),
    ],
)
def test_a_column_that_shows_its_notation_is_read(
    separator: str, cells: str, numbers: list[float]
) -> None:
    table = pd.DataFrame({"a": cells.split(" ")})
    readings = read_numbers(table, separator)
    assert not readings.doubts
    read = numeric_table.as_numbers(table.assign(**readings.plain)["a"])
    assert read.tolist() == numbers


@pytest.mark.parametrize(
    ("separator", "cells", "says"),
    [
        (";", "1.250 980", "'1.250' may be 1250 or 1.250"),
        (",", "1.250 980", "'1.250' may be 1250 or 1.250"),  # why would 980 have no zeros?
        ("\t", "1,250 980", "'1,250' may be 1.250 or 1250"),
        (",", "1.250,50 1,250.50", "'1.250,50' and '1,250.50' have no notation in common"),
        (",", "12% 0.5", "'12%' and '0.5' have not the same sign"),
        (",", "$12 €5", "'$12' and '€5' have not the same sign"),
    ],
)
def test_a_column_that_is_not_certain_is_refused_by_name(
    tmp_path: Path, separator: str, cells: str, says: str
) -> None:
    path = tmp_path / "in.csv"
    rows = [f'"{cell}"{separator}{i}' for i, cell in enumerate(cells.split(" ") * 2)]
    path.write_text("\n".join([f"income{separator}b", *rows]), encoding="utf-8")
    with pytest.raises(BadInput, match=r"of column 'income' of .* are not certain: ") as e:
        microaggregate_table(path, 2)
    assert says in str(e.value)
    assert (
        microaggregate_table(path, 2, columns=["b"], keep=["income"]).table["income"][0]
        == cells.split(" ")[0]
    )


def test_other_columns_tell_what_begins_a_fraction() -> None:
    table = pd.DataFrame({"a": ["1.250", "980"], "b": ["1,5", "2"]})
    readings = read_numbers(table, ";")
    assert readings.plain["a"].tolist() == ["1250", "980"]
    assert readings.examples == {"a": "'1.250' as 1250"}


def test_what_was_read_is_said_and_what_is_kept_stays(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("self;share;day;note\n1.250,50;12 %;01.02.2023;1.000,5\n750,00;8 %;;x\n")
    result = microaggregate_table(path, 2, keep=["share"])
    assert result.table.to_dict("list") == {"self": [1000.25] * 2, "share": ["12 %", "8 %"]}
    assert result.report["notices"][:2] == [
        f"Numbers of {path} were read so: self '1.250,50' as 1250.50.",
        "Left out of the result: day, note (not numbers). Name such a column in `keep` to keep it "
        "as it is.",
    ]


def test_parquet_may_hold_numbers_as_texts(tmp_path: Path) -> None:
    pd.DataFrame({"a": ["1.250,50", "750,5", None]}).to_parquet(tmp_path / "in.parquet")
    result = microaggregate_table(tmp_path / "in.parquet", 2, missing="drop")
    assert np.array_equal(result.table["a"], [1000.5, 1000.5])
