"""Examples in docstrings: they give what they say, and no public name is without.

Nor is a method or a refinement.
"""

import doctest
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from trajanon.grouping.microaggregation import METHODS

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs/reference").glob("*.md"))
LISTED = "\n".join(page.read_text("utf-8") for page in PAGES)
NAMES = [
    *re.findall(r"^::: (\S+)$", LISTED, re.MULTILINE),
    "trajanon.data.sample",
    *(f"{each.__module__}.{each.__name__}" for each in METHODS.values()),
    "trajanon.grouping.refinements.annealing.anneal",
    "trajanon.grouping.refinements.descent.descend",
    "trajanon.grouping.refinements.shuffling_and_swapping.rcs",
    "trajanon.grouping.refinements.shuffling_and_swapping.swap",
]
FILES = sorted(
    {
        file.resolve().relative_to(ROOT.resolve())
        for top in ("trajanon", "extract", "maps", "data")
        for file in (ROOT / top).rglob("*.py")
        if ">>> " in file.read_text("utf-8")
    }
)


def named(name: str) -> Any:
    module, _, own = name.rpartition(".")
    return getattr(import_module(module), own)


def run(examples: doctest.DocTest) -> None:
    said: list[str] = []
    if doctest.DocTestRunner().run(examples, out=said.append).failed:
        pytest.fail("".join(said), pytrace=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of examples are made where they are removed."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:Missing optional dependencies")
@pytest.mark.parametrize("name", NAMES)  # the warnings are those of movingpandas
def test_a_name_has_an_example_that_runs(name: str) -> None:
    """Nothing is imported for it: readers can paste it into a new session."""
    thing = named(name)
    if not doctest.DocTestParser().get_examples(thing.__doc__ or ""):
        pytest.fail(f"{name} has no example", pytrace=False)
    for examples in doctest.DocTestFinder().find(thing, name, globs={}):
        run(examples)


@pytest.mark.parametrize("file", FILES, ids=str)
def test_examples_of_a_module_run(file: Path) -> None:
    """Those of other names use what their module imports."""
    parts = file.with_suffix("").parts
    parts = parts if parts[0] == "trajanon" else ("trajanon", *parts)
    module = import_module(".".join(parts).removesuffix(".__init__"))
    public = tuple(f"{thing.__module__}.{thing.__qualname__}." for thing in map(named, NAMES))
    for examples in doctest.DocTestFinder().find(module):
        if not f"{examples.name}.".startswith(public):
            run(examples)
