"""Texts of strangers in files, spreadsheets and terminals."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.plain_text import escaped_json, plain_text


@given(st.text())
def test_a_text_has_no_controls_and_a_cell_is_no_formula(text: str) -> None:
    plain = plain_text(text)
    assert not {unicodedata.category(one) for one in plain} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {*plain} & {*"\u200e\u202a\u202e\u2066\u2069\ufeff"}
    assert plain_text(plain) == plain
    cell = plain_text(text, cell=True)
    assert not cell.startswith(("=", "+", "-", "@"))
    assert cell in (plain, f"'{plain}")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Calle de Alcalá", "Calle de Alcalá"),
        ("خیابان\u200cها", "خیابان\u200cها"),
        ("A\r\nB\tC", "A B C"),
        ("\t=1", "'=1"),
        ("-12", "'-12"),
        ("＝1", "'＝1"),
        ("@SUM", "'@SUM"),
        ("a=b", "a=b"),
    ],
)
def test_names_stay_as_they_are_read(text: str, cell: str) -> None:
    assert plain_text(text, cell=True) == cell


@given(st.dictionaries(st.text(), st.text()))
def test_json_keeps_its_values_and_shows_no_control(value: dict[str, str]) -> None:
    for ascii_alone in (True, False):
        text = escaped_json(json.dumps(value, ensure_ascii=ascii_alone))
        assert json.loads(text) == value
        controls = {one for one in text if unicodedata.category(one) in ("Cc", "Zl", "Zp")}
        assert not controls - {"\n"}
