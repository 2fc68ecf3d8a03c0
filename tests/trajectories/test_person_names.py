"""Names: all spellings of one person's have one key, and those of two people have two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.trajectories.person_names import key_of, tidied

SEVEN = [
    *("7", "07", "007", "7.0", "7.", "+7", "7e0", "7.00E+00", "7,0", "#7", "(7)", "'7'", " 7 "),
    *("\uff17", "\uff17\uff0e\uff10", "\u0667", "\u06f0\u06f7", "\u096d", "7\u200b", "7\ufe0f"),
]

ANN_LEE = [
    *("Ann Lee", "ann lee", "ANN  LEE", "annlee", "Ann Lee.", '"Ann Lee"', "Ann\u3000Lee"),
    "\uff21\uff4e\uff4e \uff2c\uff45\uff45",
    *("Ann\u00adLee", "An\u200dn Lee", "\ufeffAnn Lee", "ann\u2060lee!"),
    *("Ann\ufe0fLee", "Ann\u115fLee", "Ann\U000e0100Lee"),
]


UUID = [
    *("ab0c96d1-7e2f-4b35-9a00-0123456789ab", "{AB0C96D1-7E2F-4B35-9A00-0123456789AB}"),
    "ab0c96d17e2f4b359a000123456789ab",
]
TURKISH = ["Ali I\u015f\u0131k", "AL\u0130 I\u015eIK", "ali \u0131\u015f\u0131k"]
DEVICE = ["00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5E", "001A2B3C4D5E"]


@pytest.mark.parametrize(
    "names",
    [SEVEN, ANN_LEE, UUID, DEVICE, ["\ufb01n", "FIN"], ["1,000", "1000", "1000.0"], TURKISH],
)
def test_many_writings_of_one_name(names: list[str]) -> None:
    assert len({key_of(name) for name in names}) == 1
    assert len({key_of(name, exact=True) for name in names}) == len(names)


@pytest.mark.parametrize(
    "names",
    [
        ["357123456789012", "357123456789013"],  # 15 digits, of two phones
        ["9" * 30, "9" * 29 + "8"],
        ["7", "70", "-7", "0.7", "7a", "77"],
        ["00e1", "00e2", "12e4", "120000"],  # names of devices, and no powers of ten
        ["ann", "anne", "ann.lee", "ann-lee", "jos\u00e9", "jose"],
        ["12-34-56-78-90", "1234567890", "12-34-56-78-90-1", "12345678901"],  # no address
        ["nan", "nancy", "none-1", "unknown7"],  # of which the first is nobody
    ],
)
def test_names_of_several_people_stay_apart(names: list[str]) -> None:
    assert len({key_of(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            " ",
            "-",
            "--",
            "?",
            "***",
            "-1",
            "-1.0",
            "nan",
            "NaN",
            "None",
            "<NA>",
            "#N/A",
            "n.a.",
        ),
        *("(null)", "not available", "Unknown", "Anonymous.", "ANONYM", "guest"),
    ],
)
def test_what_stands_in_place_of_a_name_names_nobody(name: str) -> None:
    assert key_of(name) == ""
    assert key_of(name, exact=True) == (name if name.strip() else "")


def test_numbers_lose_no_digit() -> None:
    assert key_of("3.57E+14") == key_of("357000000000000") == "357000000000000"
    assert key_of("357123456789012.0") == "357123456789012"


@given(st.text(max_size=6))
def test_a_spelling_stays_as_it_is(name: str) -> None:
    assert tidied(tidied(name)) == tidied(name)
    assert key_of(tidied(name)) == key_of(name) == key_of(key_of(name))
    assert key_of(f"\u200b {name}\u00a0") == key_of(name)


@given(st.integers(0, 10**20), st.integers(0, 3), st.integers(0, 3))
def test_a_number_has_one_form(number: int, zeros: int, decimals: int) -> None:
    point = "." * bool(decimals)
    assert key_of(f"{'0' * zeros}{number}{point}{'0' * decimals}") == str(number)


def test_names_are_numbers_with_or_without_a_zero_before_the_point() -> None:
    assert key_of(".5") == key_of("0.5") == "0.5"
    assert key_of("-.5") == key_of("-0.50") == "-0.5"
    assert key_of("5.") == key_of("5") == "5"
