"""Fields of the page: the value of an option, and messages in words of the page."""

import pytest

from trajanon.studio.fields import (
    FIELDS,
    FIELDS_BY_NAME,
    FormField,
    field_names,
    in_words_of_the_page,
)


@pytest.mark.parametrize(
    ("chosen", "option"),
    [(3.0, 3), (2.5, 2.5), (0, 0), (None, None), (" madrid ", "madrid"), (False, False)],
)
def test_a_choice_is_the_value_of_an_option(chosen: object, option: object) -> None:
    field = FormField("k", "anonymize", "Behind each line", number=isinstance(chosen, float))
    value = field.option({"k": chosen})  # type: ignore[dict-item]
    assert value == option
    assert type(value) is type(option)


def test_a_field_means_nothing_without_the_one_it_needs() -> None:
    spacing = FIELDS_BY_NAME["spacing"]
    assert spacing.option({"spacing": 100.0, "windows": True}) == 100
    assert spacing.option({"spacing": 100.0, "windows": False}) is None


def test_every_field_has_a_name_of_its_own_and_needs_one_that_is_there() -> None:
    assert len(FIELDS_BY_NAME) == len(FIELDS)
    assert {field.needs for field in FIELDS if field.needs} <= {*FIELDS_BY_NAME}
    assert all(field.default is None for field in FIELDS if field.number and not field.default)
    assert "lat" in field_names("columns")


def test_values_are_written_as_the_page_shows_them() -> None:
    windows = FIELDS_BY_NAME["windows"]
    assert windows.words(True) == "Windows: pieces of equal length"
    assert FIELDS_BY_NAME["spacing"].words(100.0) == "100"
    assert FIELDS_BY_NAME["bbox"].words("") == "empty"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("set `pbf=town.osm`", "set “OpenStreetMap file of the region”: town.osm"),
        ("raise `no_such_field`", "raise “no such field”"),
        ("look at `columns`", "look at the columns"),
        ("set `windows=True`", "set “Whole trips, or pieces of them”"),
        ("the column 'k'", "the column 'k'"),
    ],
)
def test_messages_name_fields_instead_of_parameters(message: str, shown: str) -> None:
    assert in_words_of_the_page(message) == shown
