"""Every warning and refusal of a reader has its sentence, and every sentence its reader."""

import ast
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from string import Formatter

import pytest

from trajanon.common.json_toml_and_regular_files import table_beside
from trajanon.extract import sources
from trajanon.extract.sources import reader_sentences

ROWS = {row["kind"]: row for row in table_beside(reader_sentences.__file__, "reader_sentences.csv")}
FROM_THE_READING = {"what", "count", "listed", "table"}
CALLS = {"found", "refusal", "refusal_of", "columns_unclear", "_unclear"}
ANY_OF_TWO: list[object] = ["files that could not be read", "members"]


def reports() -> list[tuple[str, set[str]]]:
    """List the calls that find or refuse: the kind, or its name, and the values that are given."""
    calls = []
    for module in iter_modules(sources.__path__, "trajanon.extract.sources."):
        loaded = import_module(module.name)
        for node in ast.walk(ast.parse(Path(str(loaded.__file__)).read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", None))
            values = {str(keyword.arg) for keyword in node.keywords}
            if called not in CALLS or "None" in values:  # one that passes a kind on
                continue
            kind = node.args[0]
            names: list[object] = [kind.value] if isinstance(kind, ast.Constant) else []
            if isinstance(kind, ast.Name):  # that of `leave_out` may be either of two
                names = [getattr(loaded, kind.id)] if kind.id != "kind" else ANY_OF_TWO
            calls += [(str(name), values) for name in names]
    return calls


@pytest.mark.parametrize(("kind", "values"), reports())
def test_a_report_gives_the_values_of_its_sentence(kind: str, values: set[str]) -> None:
    row = ROWS[kind]
    parsed = [
        part for text in ("sentence", "about", "way out") for part in Formatter().parse(row[text])
    ]
    fields = {field for _, field, _, _ in parsed if field is not None}
    assert fields - FROM_THE_READING == values - FROM_THE_READING


def test_each_sentence_is_used() -> None:
    assert {kind for kind, _ in reports()} == set(ROWS)
