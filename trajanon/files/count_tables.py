"""Tables of streets or flows as files, and the datasheet beside each."""

from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.errors import BadInput
from trajanon.files.geopackage import write_layer
from trajanon.number_text import number_of, percent

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

WORTH = {
    "street": "On one day of San Francisco's cabs, k = 4, volumes of the 1,000 busiest streets "
    "were off by 11 % in the median, by 19 % with hours, and those of quiet streets by half and "
    "more. trajanon evaluate --roads measures it on your data.",
    "flow": "trajanon evaluate names the smallest cells with which three of four counts stay.",
}
"""What counts are worth, until the holder measures it, by what a row is."""


_SUFFIXES = (".parquet", ".gpkg", ".geojson", ".csv")


def write_counts(path: Path, table: "GeoDataFrame") -> None:
    """Write a table in the format that its suffix says."""
    match path.suffix.lower():
        case ".parquet":
            table.to_parquet(path, index=False)
        case ".gpkg":
            write_layer(path, table, "counts", table.attrs.get("attribution"))
        case ".geojson":
            path.write_text(table.to_json(drop_id=True, ensure_ascii=False), encoding="utf-8")
        case _:
            table.to_wkt().to_csv(path, index=False)


def check_table_format(path: Path) -> None:
    """Refuse a path without the suffix of a format."""
    if path.suffix.lower() not in _SUFFIXES:
        raise BadInput(f"{path} must end in one of {', '.join(_SUFFIXES)}")


def datasheet_of_counts(path: Path, table: "GeoDataFrame", what: str) -> str:
    """Say what a table counts, of what, and what that is worth, as Markdown."""
    about = table.attrs
    lines, people = number_of(about["of_lines"], "line"), f"{about['of_people']:,}"
    rows = {
        "File": f"`{path.name}`",
        "Rows": number_of(len(table), what),
        "Made from": f"the released lines alone: {lines} for {people} people or trips",
        "Left out": f"rows of fewer than {about['least_people']:,} people",
    }
    if "on_roads" in about:
        rows["On roads"] = f"{percent(about['on_roads'])} of the ways; the rest is not counted"
    if about["attribution"]:
        rows["Source"] = about["attribution"]
    listed = "\n".join(f"| {name} | {said} |" for name, said in rows.items())
    return f"# Datasheet of counts\n\n| | |\n|---|---|\n{listed}\n\n{WORTH[what]}\n"
