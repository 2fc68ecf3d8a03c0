"""Options: what the table of helps declares, and texts that commands read themselves."""

from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.__main__ import _COMMANDS
from trajanon.cli.extract_command import extract
from trajanon.cli.options import (
    COMMAND_NAMES,
    HELP,
    check_page,
    method_of,
    names_of,
    seconds_of,
    text_of_names,
    typed_options,
)
from trajanon.common.errors import BadInput


def test_the_table_of_helps_lists_what_each_command_takes() -> None:
    """A parameter that is not in it would be no option."""
    for command in _COMMANDS:
        listed = COMMAND_NAMES.get(command.__name__, command.__name__)
        if listed in HELP:
            code = command.__code__  # the signature is what the table made of it
            taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            assert {*taken} <= {*signature(command).parameters}, listed


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", codec="utf-8"), min_size=1)))
def test_names_of_columns_are_read_as_they_are_written(names: list[str]) -> None:
    names = [name.lstrip() or "a" for name in names]  # a space behind a comma is no part of a name
    assert names_of(text_of_names(names)) == names


def test_names_stand_between_commas_or_in_quotes() -> None:
    assert names_of('a, "b, c",d') == ["a", "b, c", "d"]
    assert names_of("") == []
    with pytest.raises(BadInput, match="column names between commas"):
        names_of("a\nb")


@pytest.mark.parametrize(("text", "seconds"), [("90", 90.0), ("5min", 300.0), ("2h", 7_200.0)])
def test_a_time_that_passes_is_read_in_seconds(text: str, seconds: float) -> None:
    assert seconds_of("--max-pause", text) == seconds


def test_what_is_no_time_that_passes_is_refused_with_its_option() -> None:
    with pytest.raises(BadInput, match=r"--max-pause must be .* \(got 'soon'\)"):
        seconds_of("--max-pause", "soon")


def test_a_method_as_published_has_a_path_and_a_compression() -> None:
    assert method_of("mdav", published=False) == {"method": "mdav"}
    assert method_of("hm2:concorde:c=5", published=True) == {
        "method": "hm2",
        "heuristic": "concorde",
        "compression": 5,
    }


@pytest.mark.parametrize(
    ("text", "published", "says"),
    [
        ("hm2:", True, "is not understood at ''"),
        ("hm2:c=x", True, "is not understood at 'c=x'"),
        ("hm2:d=5", True, "is not understood at 'd=5'"),
        ("hm2:npn:or-opt", True, "is not understood at 'or-opt'"),
        ("hm2:c=5", False, "is for `as_published`: write `method=hm2`"),
    ],
)
def test_what_is_no_method_is_refused(text: str, published: bool, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        method_of(text, published=published)


def test_options_are_typed_where_they_are_not_as_by_default() -> None:
    values: dict[str, Any] = {
        "paths": ["a.gpx"],
        "bbox": [],
        "windows": False,
        "max_gap_text": "none",
        "out": Path("t.parquet"),
        "as_json": True,
    }
    assert typed_options(extract, values) == {
        "paths": ["a.gpx"],
        "max_gap": "none",
        "out": "t.parquet",
    }
    assert typed_options(extract, values | {"paths": ["a\x1b.gpx"]}) == {}


@pytest.mark.parametrize("name", ["page.html", "PAGE.HTM"])
def test_a_page_ends_in_html(name: str) -> None:
    check_page(Path(name), "a map")
    with pytest.raises(BadInput, match=r"a map is a page: .*\.pdf must end in \.html"):
        check_page(Path(name).with_suffix(".pdf"), "a map")
