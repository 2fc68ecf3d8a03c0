"""What separates the cells of CSV, and decimal commas."""

import pytest

from trajanon.common.csv_separators import has_decimal_commas, separator_named_by, separator_of


@pytest.mark.parametrize(
    ("line", "separator"),
    [("sep=;", ";"), ("sep=\t\r\n", "\t"), ("sep=", None), ("sep=x", None), ("a;sep=;", None)],
)
def test_excel_may_name_the_separator_in_the_first_line(line: str, separator: str | None) -> None:
    assert separator_named_by(line) == separator


@pytest.mark.parametrize(
    ("header", "row", "separator"),
    [
        ("id,lat,lon", "1,40.4,-3.7", ","),
        ("id;lat;lon", "1;40,4;-3,7", ";"),  # of decimal commas
        ("id\tname, place", "1\tMadrid, Sol", "\t"),  # a comma of names
        ('id|"a,b,c,d"', '1|"x,y"', "|"),  # what is in quotes separates nothing
        ("a,b;c", None, ";"),
        ("alone", "1", ","),
    ],
)
def test_the_separator_is_as_frequent_in_the_header_as_in_a_row(
    header: str, row: str | None, separator: str
) -> None:
    assert separator_of(header, row) == separator


@pytest.mark.parametrize(
    ("cells", "commas"),
    [
        (["40,4", "-3,7e5", "40.4"], True),
        (["40,4", "40.4"], False),
        (["1,2,3", "a,b", ",5"], False),  # no numbers
        ([], False),
    ],
)
def test_decimal_commas_are_those_of_most_numbers(cells: list[str], commas: bool) -> None:
    assert has_decimal_commas(cells) is commas
