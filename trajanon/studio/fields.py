"""Fields of the page: each sets an option of a command, or names the column of a role."""

import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import force_setattr

from trajanon.common.json_toml_and_regular_files import read_toml, typed

Choice = str | int | float | bool | None
"""What is chosen in a field; empty, or None, leaves the option at its default."""

FILE = "file"
FOLDER = "folder"
NOBODY = "none"
"""Chosen in place of a column: each file is a trip; each folder is a person; nobody has a name."""

WITHOUT_COLUMN = {
    FILE: "Each file is one trip",
    FOLDER: "The folder of the file",
    NOBODY: "No column does",
}
"""The words for these choices."""


class FormField(Struct, frozen=True):
    """A field, and the option that it sets."""

    name: str  # of the option, or of the role of a column
    command: str  # `columns` for a role, empty for what serves several commands
    label: str
    hint: str = ""
    default: Choice = ""
    choices: list[tuple[Choice, str]] = []  # each value, and the words for it
    number: bool = False
    folded: bool = False
    needs: str = ""  # the field without which it means nothing

    def __post_init__(self) -> None:
        """Set the default of numbers to what a page gives for an empty field."""
        if self.number and self.default == "":
            force_setattr(self, "default", None)

    def option(self, chosen: Mapping[str, Choice]) -> Choice:
        """Return the value of the option, whole numbers as such; None if it means nothing now."""
        value = chosen[self.name]
        if self.needs and not chosen[self.needs]:
            return None
        if isinstance(value, str):
            return value.strip()
        if self.number and isinstance(value, float) and value.is_integer():
            return int(value)
        return value

    def words(self, value: Choice) -> str:
        """Write a value as the page shows it."""
        choices = dict(self.choices)
        if value in ("", None) and value not in choices:
            return "empty"
        return choices.get(value, f"{value:g}" if isinstance(value, float) else str(value))


_TABLE = read_toml(Path(__file__).with_name("fields.toml"), "the fields")
FIELDS = typed(_TABLE["field"], list[FormField])
FIELDS_BY_NAME = {form_field.name: form_field for form_field in FIELDS}

USUAL_ROLES = ("lat", "lon", "time", "id", "subject")
"""Roles that are always shown; others are where a message asks for their column."""

_FIELD_OF_PARAMETER = {"pbf": "region", "area": "bbox", "roads": "region"}
"""Parameters that the page asks for in a field of another name."""

_PARAMETER = re.compile(
    r"`([a-z_]+)(?:=([^`\s]+))?`(?: ([a-z_]+=[^\s,;:]+(?:,[a-z_]+=[^\s,;:]+)*))?"
    rf"(?:, or [a-z]+=({'|'.join(WITHOUT_COLUMN)}))?"
)
"""A parameter in backquotes with its value, or the roles of `columns` behind it."""


def in_words_of_the_page(message: str) -> str:
    """Name fields where a message names parameters, in backquotes.

    >>> in_words_of_the_page("set `columns` lat=...,time=When, or raise `k`")
    'set “Latitude”, “Time”: When, or raise “At least this many behind each line (k)”'
    >>> in_words_of_the_page("set `columns` subject=NAME, or subject=none")
    'set “Which column names the person?”, or “No column does”'
    """

    def words(match: re.Match[str]) -> str:
        name, value, roles, without = match.groups()
        instead = f", or “{WITHOUT_COLUMN[without]}”" if without else ""
        if name == "columns":
            pairs = [pair.split("=", 1) for pair in (roles or "").split(",") if pair]
            return (", ".join(_named(*pair) for pair in pairs) or "the columns") + instead
        return _named(_FIELD_OF_PARAMETER.get(name, name), value or "") + instead

    return _PARAMETER.sub(words, message)


def _named(name: str, value: str) -> str:
    """Write the label of a field, and a value if one is known."""
    label = FIELDS_BY_NAME[name].label if name in FIELDS_BY_NAME else name.replace("_", " ")
    text = value.strip("'\"")
    if text in ("", "...", "NAME", "True", "False"):  # no value, or one that the user has to find
        return f"“{label}”"
    return f"“{label}”: {text}"


def field_names(command: str) -> list[str]:
    """List the fields of a command, or with ``columns`` of the roles."""
    return [name for name, form_field in FIELDS_BY_NAME.items() if form_field.command == command]


def name_of_data(files: list[str]) -> str:
    """Name a release after its data: a file or a folder; several have no name in common.

    >>> name_of_data(["files/bike rides (2026).csv"]), name_of_data(["a.gpx", "b.gpx"])
    ('bike-rides-2026-anonymized', 'anonymized')
    """
    stems = {file.rstrip("/").rpartition("/")[2].partition(".")[0] for file in files}
    words = re.sub(r"[^\w]+", "-", stems.pop() if len(stems) == 1 else "").strip("-_")
    return f"{words[:40]}-anonymized" if words else "anonymized"
