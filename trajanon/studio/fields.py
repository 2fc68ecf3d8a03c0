"""What can be chosen: each choice is an option of a command."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FOLDER, NOBODY = "folder", "none"
"""Chosen as the subject: each folder is a person; no column names the people."""


@dataclass(frozen=True)
class FormField:
    """A choice, and the option that it sets."""

    name: str  # of the option
    command: str
    label: str
    hint: str = ""
    default: Any = None
    choices: Mapping[Any, str] = field(default_factory=dict)  # words for each value
    number: bool = False
    more: bool = True  # not needed at first

    def option(self, chosen: Mapping[str, Any]) -> Any:
        """Give the value of the option."""
        value = chosen[self.name]
        if value in (None, "") or not self.number:
            return value.strip() if isinstance(value, str) else value
        return int(value) if float(value).is_integer() else value


FIELDS = (
    FormField("subject", "columns", "Which column names the person?", default="", more=False),
    FormField("named", "columns", "Other columns", "Such as lat=y,lon=x,time=when,id=trip."),
    FormField(
        "bbox",
        "extract",
        "Area",
        "A city such as madrid, or west,south,east,north in degrees. "
        "Empty: everything in the files.",
    ),
    FormField(
        "windows",
        "extract",
        "What becomes a line",
        default=False,
        choices={False: "Whole trips, from start to end", True: "Windows: pieces of one length"},
    ),
    FormField(
        "spacing",
        "extract",
        "Metres between the points of a window",
        "Such as 100. Empty: as usual for the city named as area.",
        number=True,
    ),
    FormField(
        "trim_ends",
        "extract",
        "Cut off around ends and stops, in metres",
        "Hides homes and places of work. Empty: nothing is cut off.",
        number=True,
    ),
    FormField(
        "hide_near",
        "extract",
        "Sensitive places to cut out",
        "Tags of OpenStreetMap, such as amenity=hospital,place_of_worship.",
    ),
    FormField("pbf", "extract", "OpenStreetMap file with these places", "Its path, .osm.pbf."),
    FormField(
        "k",
        "anonymize",
        "How many stand behind each line, at least (k)",
        "More protect more, and move the lines farther.",
        default=4,
        number=True,
        more=False,
    ),
    FormField(
        "one_line_each",
        "anonymize",
        "How often somebody is in the release",
        default=False,
        choices={False: "On a line for each trip, or day", True: "On one line at most"},
    ),
    FormField(
        "times",
        "anonymize",
        "Times",
        default="",
        choices={
            "": "No times",
            "of-day": "Time of day",
            "of-week": "Day of the week and time",
            "date": "Date and time",
        },
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
