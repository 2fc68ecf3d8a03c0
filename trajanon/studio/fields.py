"""What can be chosen: each choice is an option of a command."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FILES = "paths"
"""The field of the files that are brought."""

RUN = "run"
"""Stands for the run as a whole, where a sentence is of no field."""


@dataclass(frozen=True)
class Field:
    """A choice, and the option that it sets."""

    name: str  # of the option
    command: str
    label: str
    hint: str = ""
    default: Any = None
    choices: Mapping[Any, str] = field(default_factory=dict)  # words for each value
    number: bool = False
    unit: str = ""  # written behind the value, as in 1%
    only: tuple[str, Any] | None = None  # of use if another field has this value

    def option(self, chosen: Mapping[str, Any]) -> Any:
        """Give the value of the option."""
        value = chosen[self.name]
        if self.only is not None and chosen[self.only[0]] != self.only[1]:
            return None
        if value in (None, "") or not self.number:
            return value.strip() if isinstance(value, str) else value
        whole = int(value) if float(value).is_integer() else value
        return f"{whole}{self.unit}" if self.unit else whole


FIELDS = (
    Field(
        "bbox",
        "extract",
        "Area",
        "A city such as madrid, or west,south,east,north in degrees. "
        "Empty: everything in the files.",
    ),
    Field(
        "windows",
        "extract",
        "What becomes a line",
        default=False,
        choices={False: "Whole trips, from start to end", True: "Windows: pieces of equal steps"},
    ),
    Field(
        "spacing",
        "extract",
        "Metres between the points of a window",
        number=True,
        hint="Such as 100. Empty: as usual for the city named as area.",
        only=("windows", True),
    ),
    Field(
        "max_per_subject",
        "extract",
        "Most lines of one person",
        number=True,
        hint="Empty: all of them.",
    ),
    Field(
        "trim_ends",
        "extract",
        "Cut off around ends and stops, in metres",
        number=True,
        hint="Hides where people live and work. Empty: nothing is cut off.",
    ),
    Field(
        "hide_near",
        "extract",
        "Sensitive places to cut out",
        "Tags of OpenStreetMap, such as amenity=hospital,place_of_worship.",
    ),
    Field(
        "pbf",
        "extract",
        "OpenStreetMap file with these places",
        "The path of an .osm.pbf file on this machine.",
    ),
    Field(
        "k",
        "anonymize",
        "People behind each line, at least (k)",
        default=4,
        number=True,
        hint="More people protect more, and move the lines farther.",
    ),
    Field(
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
    Field(
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
    Field("curve", "compare", "Numbers k", "Between commas.", default="2,3,4,5,8,10"),
)
