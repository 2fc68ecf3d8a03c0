"""Numbers as people read them: where a unit ends and the next begins."""

import pytest

from trajanon.common.number_text import Displayed, enumerated, metres, number_of, percent, span


@pytest.mark.parametrize(
    ("distance", "text"),
    [(9.94, "9.9 m"), (9.95, "10 m"), (9_999.4, "9,999 m"), (9_999.5, "10.0 km")],
)
def test_metres_have_a_digit_behind_the_point_below_ten(distance: float, text: str) -> None:
    assert metres(distance) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (59.4, "59 s"),
        (59.5, "1 min"),
        (594.0, "9.9 min"),
        (600.0, "10 min"),
        (99 * 60.0, "99 min"),
        (100 * 60.0, "1 h 40 min"),
        (7_199.0, "2 h"),  # not 1 h 60 min
        (3_600_000.0, "1,000 h"),
    ],
)
def test_a_time_is_written_in_the_unit_that_is_read_best(seconds: float, text: str) -> None:
    assert span(seconds) == text


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.9996, 3, "100 %"),
        (0.996, 2, "100 %"),
        (0.994, 2, "99 %"),
        (0.000_000_123, 2, "0.000012 %"),
        (1.5, 3, "150 %"),
    ],
)
def test_percents_have_so_many_digits_and_no_exponent(share: float, digits: int, text: str) -> None:
    assert percent(share, digits) == text


def test_one_of_a_thing_has_no_plural() -> None:
    assert [number_of(number, "day") for number in (0, 1, 2)] == ["0 days", "1 day", "2 days"]
    assert enumerated(["a", "b"]) == "a and b"


class Facts(Displayed):
    """A result with a note."""

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [("rows", "8 rows."), ("<k>", "4")]

    @property
    def _note(self) -> str:
        return "a < b"


def test_a_result_is_a_line_and_an_escaped_table() -> None:
    assert repr(Facts()) == "<Facts: 8 rows; 4>"
    shown = Facts()._repr_html_()
    assert shown.startswith("<div><p>a &lt; b</p><table>")
    assert "<tr><th>&lt;k&gt;</th><td>4</td></tr>" in shown
