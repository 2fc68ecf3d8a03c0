"""Sentences of readers: warnings of what they find, and refusals, of `reader_sentences.csv`."""

from collections.abc import Sequence

from trajanon.common.errors import (
    BadInput,
    ColumnsUnclear,
    FileProblem,
    GuessedWarning,
    LeftOutWarning,
    TrajanonWarning,
)
from trajanon.common.json_toml_and_regular_files import table_beside

_ROWS = {row["kind"]: row for row in table_beside(__file__, "reader_sentences.csv")}
_WARNINGS = {"left out": LeftOutWarning, "guessed": GuessedWarning}
_REFUSALS: dict[str, type[BadInput] | type[FileProblem]] = {
    "bad input": BadInput,
    "file problem": FileProblem,
}


def warning_of(kind: str, **values: object) -> TrajanonWarning:
    """Return the warning of a kind; of those about one thing, one is shown."""
    row = _ROWS[kind]
    sentence, about = (row[part].format(**values) for part in ("sentence", "about"))
    return _WARNINGS[row["form"]](sentence, kind, about)


def refusal_of(kind: str, **values: object) -> BadInput | FileProblem:
    """Return the error of a kind, which says what is wrong and the way out."""
    row = _ROWS[kind]
    return _REFUSALS[row["form"]](row["sentence"].format(**values))


def columns_unclear(
    kind: str, roles: Sequence[str], columns: Sequence[str], table: str = "", **values: object
) -> ColumnsUnclear:
    """Return the error of a kind for columns that do not show which roles they play.

    `ColumnsUnclear` says what ``roles``, ``columns`` and ``table`` are.
    """
    row = _ROWS[kind]
    problem, way_out = (row[part].format(**values) for part in ("sentence", "way out"))
    return ColumnsUnclear(problem, way_out, roles, columns, table)
