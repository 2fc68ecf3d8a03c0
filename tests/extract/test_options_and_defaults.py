"""The options of extraction: what they may be."""

import math
from typing import Any

import numpy as np
import pytest

from trajanon.common.errors import BadInput
from trajanon.extract.options_and_defaults import Rules, SourceOptions


def test_what_has_a_spacing_is_a_window() -> None:
    assert Rules().trips
    assert not Rules(spacing=100).trips
    assert Rules(spacing=150, points=30).length == 4350
    assert Rules(max_gap=None).longest_hop == 1e6
    assert Rules(max_pause=np.inf).longest_pause == np.inf
    assert Rules().min_length == 500.0
    assert Rules(spacing=100).min_length is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        *(({"spacing": one}, "`spacing` must be a number from") for one in (-5, math.nan, 1e9)),
        ({"spacing": 0.0}, "number from 0.01 to 1000000 (got 0.0)"),
        ({"spacing": 100.0, "min_length": 500.0}, "`min_length=500` is for whole trips"),
        *(({"points": one}, "`points` must be a whole number from") for one in (1, -30, 10**22)),
        *(({"max_gap": one}, "`max_gap` must be a number from") for one in (0.0, -5, math.nan)),
        ({"max_gap": "far"}, "`max_gap` 'far' is not known; choose from auto, or a number"),
        *(({"max_pause": one}, "`max_pause` must be a number from") for one in (0.0, math.nan)),
        ({"max_speed": "auto"}, "`max_speed` must be a number from"),
        *(({"trim_ends": one}, "`trim_ends` must be a number from 0") for one in (-1, math.nan)),
        *(({"min_length": one}, "`min_length` must be a number from 0") for one in (-1, math.nan)),
        ({"spacing": 10, "per_recording": 2}, "must be 1, or all, which is None in Python (got 2)"),
        ({"spacing": 10, "per_recording": "all"}, "which is None in Python (got 'all')"),
        ({"spacing": 10, "min_length": "500"}, "`min_length` must be a number from 0"),
        ({"per_recording": None}, "`per_recording=all` is for windows: add `windows`"),
    ],
)
def test_rules_that_make_no_sense_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        Rules(**given)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"jobs": "2"}, "`jobs` must be a whole number (got '2')"),
        ({"jobs": 2.5}, "`jobs` must be a whole number (got 2.5)"),
        ({"jobs": math.nan}, "`jobs` must be a whole number (got nan)"),
        ({"jobs": 0}, "`jobs` must be at least 1 (got 0)"),
        ({"max_pages": 0}, "`max_pages` must be at least 1 (got 0)"),
        ({"columns": "id=a"}, "`columns` must be names by role: {'id': 'ride'} (got 'id=a')"),
        ({"columns": {"id": None}}, "`columns` must name id by a text (got None)"),
        ({"columns": {"id": ["a"]}}, "`columns` must name id by a text (got ['a'])"),
    ],
)
def test_what_sources_cannot_be_read_by_is_refused(options: Any, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        SourceOptions(**options)
    assert str(refused.value) == words
