"""A JSON object read member by member."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trajanon.errors import FileProblem
from trajanon.extract.sources.json_members import json_members as members

OPENED = {"list", "object"}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.sampled_from(["a", "b", "list", "object"]), values)


def given_of(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What an object should give, seen as a whole."""
    for name, inside in value.items():
        if name in OPENED and isinstance(inside, dict):
            yield from given_of(inside)
        elif name in OPENED and isinstance(inside, list):
            yield from ((name, one) for one in inside)
        else:
            yield name, inside


def read(text: str) -> list[tuple[str, Any]]:
    return list(members(io.BytesIO(text.encode()), OPENED, "x.json"))


@given(objects, st.sampled_from([None, 1]), st.booleans())
@example({"list": [-1.25e-7, {}, []], "object": {"object": {"list": [[1]]}}}, None, False)
def test_an_object_gives_its_members_and_the_elements_of_its_lists(
    value: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert read(text) == list(given_of(value))


def test_a_byte_order_mark_and_blanks_are_passed_over() -> None:
    assert read('\ufeff \r\n{ "a" : 1 ,\t"list" : [ 1 , 2 ] } \n') == [
        ("a", 1),
        ("list", 1),
        ("list", 2),
    ]


WHOLE = '{"a": 12, "object": {"list": [{"b": "ü"}, 2.5]}}'


@pytest.mark.parametrize("end", range(len(WHOLE)))
def test_what_is_cut_off_is_refused(end: int) -> None:
    with pytest.raises(FileProblem, match=r"x\.json is no JSON, or damaged or cut off: "):
        read(WHOLE[:end])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[1, 2]", r"it has '\[' in place of {"),
        ('{"a" 1}', "it has '1' in place of :"),
        ('{"a": 1 "b": 2}', "it has '\"' in place of , or }"),
        ('{"list": [1 2]}', r"it has '2' in place of , or \]"),
        ('{"a": 1}}', "it goes on after its end"),
        ('{"a": 1,}', "Expecting value|Expecting property name"),
        ('{"a": x}', "Expecting value"),
        ('{"a": ' + "[" * 100_000, "it is nested too deeply"),
        ('{"object": ' * 100_000, "it is nested too deeply"),
        ('{"a": 1, [1]: 2}', r"it has '\[1\]' for a name"),
        ('{"a": ' + "1" * 5_000 + "}", "Exceeds the limit"),
    ],
)
def test_what_is_no_json_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(FileProblem, match=why):
        read(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    stream = io.BytesIO(b'{"a": "\xff"}')
    with pytest.raises(FileProblem, match=r"x\.json is not UTF-8, perhaps Latin-1"):
        list(members(stream, OPENED, "x.json"))
