"""Fields of the page: each sets an option of a command, or names the column of a role."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

Choice = str | int | float | bool | None
"""What is chosen in a field; empty, or None, leaves the option at its default."""

FILE = "file"
FOLDER = "folder"
NOBODY = "none"
"""Chosen in place of a column: each file is a trip; each folder is a person; nobody has a name."""

WITHOUT_COLUMN = {
    FILE: "Each file is one trip",
    FOLDER: "The folder that a file is in",
    NOBODY: "No column does",
}
"""The words for these choices."""

AREA = "Area, windows, and places to cut out"


@dataclass(frozen=True)
class FormField:
    """A field, and the option that it sets."""

    name: str  # of the option, or of the role of a column
    command: str  # `columns` for a role, empty for what several commands are told
    label: str
    hint: str = ""
    default: Choice = ""
    choices: Mapping[Choice, str] = field(default_factory=dict)  # words for each value
    number: bool = False
    fold: str = ""  # title of the fold in which it stands
    needs: str = ""  # the field without which it means nothing

    def option(self, chosen: Mapping[str, Choice]) -> Choice:
        """Return the value of the option, whole numbers as such; None if it means nothing."""
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
        if value in ("", None) and value not in self.choices:
            return "empty"
        return self.choices.get(value, f"{value:g}" if isinstance(value, float) else str(value))


FIELDS = (
    FormField("lat", "columns", "Latitude"),
    FormField("lon", "columns", "Longitude"),
    FormField("time", "columns", "Time"),
    FormField("date", "columns", "Day"),
    FormField("order", "columns", "Order of the points"),
    FormField("id", "columns", "Trip"),
    FormField("subject", "columns", "Which column names the person?"),
    FormField(
        "nameless",
        "columns",
        "Trips without a name",
        choices={"": "Count as one person's", "different": "Count as different people's"},
    ),
    FormField(
        "bbox",
        "extract",
        "Area",
        "A city such as madrid, or west,south,east,north in degrees. "
        "Empty: everything in the files.",
        fold=AREA,
    ),
    FormField(
        "windows",
        "extract",
        "What becomes a line",
        default=False,
        choices={False: "Whole trips, from start to end", True: "Windows: pieces of one length"},
        fold=AREA,
    ),
    FormField(
        "spacing",
        "extract",
        "Metres between the points of a window",
        "Such as 100. Empty: as usual for the city named as area.",
        number=True,
        default=None,
        needs="windows",
        fold=AREA,
    ),
    FormField(
        "hide_near",
        "extract",
        "Sensitive places to cut out",
        "Tags of OpenStreetMap, such as amenity=hospital,place_of_worship.",
        fold=AREA,
    ),
    FormField(
        "region",
        "",
        "OpenStreetMap file of the region",
        "Its path, .osm.pbf. Its main roads are drawn on the map; sensitive places are in it.",
        fold=AREA,
    ),
    FormField("name", "", "Name of the release", "Its files are called so: readers see it."),
    FormField(
        "k",
        "anonymize",
        "How many stand behind each line, at least (k)",
        "More protect more, and move the lines farther.",
        default=4,
        number=True,
    ),
    FormField(
        "one_line_each",
        "anonymize",
        "How many trips of one person are released?",
        "Who knows several trips of a person may find this person by all of them together. With "
        "one trip each nobody can, and the other trips are left out.",
        default=False,
        choices={False: "All trips of each person", True: "One trip of each person"},
    ),
    FormField(
        "trim_ends",
        "extract",
        "Cut off around ends and stops, in metres",
        "Hides homes and places of work. Empty: nothing is cut off.",
        default=None,
        number=True,
    ),
    FormField(
        "times",
        "anonymize",
        "Times",
        choices={
            "": "No times",
            "of-day": "Time of day",
            "of-week": "Day of the week and time",
            "date": "Date and time",
        },
    ),
    FormField(
        "minute_worth",
        "anonymize",
        "Metres that a minute is worth",
        "Less lets departures of one line differ more. Empty: as usual.",
        default=None,
        number=True,
        needs="times",
    ),
    FormField(
        "format",
        "",
        "Format of the release",
        default=".parquet",
        choices={
            ".parquet": "GeoParquet",
            ".gpkg": "GeoPackage",
            ".geojson": "GeoJSON",
            ".csv": "CSV",
            ".gpx": "GPX",
        },
    ),
)
BY_NAME = {one.name: one for one in FIELDS}

USUAL_ROLES = ("lat", "lon", "time", "id", "subject")
"""Roles that are always shown; others are where a message asks for their column."""

OTHER_WORDS = {"pbf": "region", "area": "bbox", "roads": "region"}
"""Parameters that the page asks for in a field of another name."""

_PARAMETER = re.compile(
    r"`([a-z_]+)(?:=([^`\s]+))?`(?: ([a-z_]+=[^\s,;:]+(?:,[a-z_]+=[^\s,;:]+)*))?"
    rf"(?:, or [a-z]+=({'|'.join(WITHOUT_COLUMN)}))?"
)
"""A parameter in backquotes with its value, or the roles of `columns` behind it."""


def in_words_of_the_page(message: str) -> str:
    """Name fields where a message names parameters, in backquotes.

    >>> in_words_of_the_page("say `columns` lat=...,time=When, or raise `k`")
    'say “Latitude”, “Time”: When, or raise “How many stand behind each line, at least (k)”'
    >>> in_words_of_the_page("say `columns` subject=NAME, or subject=none")
    'say “Which column names the person?”, or “No column does”'
    """

    def words(match: re.Match[str]) -> str:
        name, value, roles, without = match.groups()
        instead = f", or “{WITHOUT_COLUMN[without]}”" if without else ""
        if name == "columns":
            pairs = [pair.split("=", 1) for pair in (roles or "").split(",") if pair]
            return (", ".join(_named(*pair) for pair in pairs) or "the columns") + instead
        return _named(OTHER_WORDS.get(name, name), value or "") + instead

    return _PARAMETER.sub(words, message)


def _named(name: str, value: str) -> str:
    """Write the label of a field, and a value if one is known."""
    label = BY_NAME[name].label if name in BY_NAME else name.replace("_", " ")
    text = value.strip("'\"")
    known = text not in ("", "...", "NAME", "True", "False")
    return f"“{label}”" + f": {text}" * known


def name_of_data(files: list[str]) -> str:
    """Name a release after its data: a file or a folder; several have no name in common.

    >>> name_of_data(["files/bike rides (2026).csv"]), name_of_data(["a.gpx", "b.gpx"])
    ('bike-rides-2026-anonymized', 'anonymized')
    """
    stems = {file.rstrip("/").rpartition("/")[2].partition(".")[0] for file in files}
    words = re.sub(r"[^\w]+", "-", stems.pop() if len(stems) == 1 else "").strip("-_")
    return f"{words[:40]}-anonymized" if words else "anonymized"
