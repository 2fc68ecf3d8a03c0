"""trajanon streets."""

from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import ANONYMIZED, options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.plain_text import plain_text

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_SUFFIXES = (".parquet", ".gpkg", ".geojson", ".csv")

_WORTH = {
    "street": "On one day of San Francisco's cabs, k = 4, volumes of the 1,000 busiest streets "
    "were off by 11 % in the median, by 19 % with hours, and those of quiet streets by half and "
    "more. trajanon evaluate --roads measures it on your data.",
    "flow": "trajanon evaluate names the smallest cells with which three of four counts stay.",
}
"""What counts are worth, until the holder measures it, by what a row is."""


@options(
    release="A released file, or a folder of parts.",
    roads="An .osm.pbf file with the roads of its area.",
    mode="Means of travel: car, bicycle, foot or any. Cars and bicycles keep to one-way streets.",
    od="Count people from zone to zone instead: metres of a square cell, or a file of polygons.",
    least_people=("Leave out rows of fewer people.", "the fewest behind any line: k"),
    out=(
        "File to write: .parquet, .gpkg, .geojson or .csv, with a .datasheet.md beside it.",
        "streets.parquet, or od.parquet",
    ),
)
def streets(
    release: Path = ANONYMIZED,
    *,
    roads: Path | None = None,
    mode: str = "car",
    od: str | None = None,
    least_people: int | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Count people on streets by direction, speed and hour: from the release alone."""
    from trajanon.cli.map_command import box_around
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.extract import roads_to_follow
    from trajanon.release.report import datasheet_path, report_path
    from trajanon.street_counts.od_table import read_zones, zone_flows
    from trajanon.street_counts.streets import released_lines
    from trajanon.street_counts.streets import streets as counted

    if (roads is None) == (od is None):
        raise BadInput("streets takes --roads, an .osm.pbf file, or --od, a cell or zones")
    if roads is None and mode != "car":
        raise BadInput(f"--mode {mode} is for --roads: leave it out")
    zones = None if od is None else _metres(od)
    out = out or Path("streets.parquet" if od is None else "od.parquet")
    if out.suffix.lower() not in _SUFFIXES:
        raise BadInput(f"{out} must end in one of {', '.join(_SUFFIXES)}")
    outputs = (out, datasheet_path(out))
    read = [
        release,
        report_path(release),
        datasheet_path(release),
        *(path for path in (roads, zones) if isinstance(path, Path)),
    ]
    with bars() as progress, replacing(*outputs, inputs=read, public=outputs) as (draft, sheet):
        lines = released_lines(release)
        if roads is not None:
            network = roads_to_follow(roads, mode, bbox=box_around(lines.points))
            table = counted(lines, network, least_people=least_people, progress=progress)
            what = "street"
        elif zones is not None:
            zones = read_zones(zones) if isinstance(zones, Path) else zones
            table = zone_flows(lines, zones, least_people=least_people)
            what = "flow"
        _write(draft, table)
        about = {"file": out.name, "rows": len(table), "made from": "the released lines alone"}
        about |= table.attrs
        known = ((name.replace("_", " "), value) for name, value in about.items() if value)
        rows = "".join(f"| {name} | {value} |\n" for name, value in known)
        text = f"# Datasheet of counts\n\n| | |\n|---|---|\n{rows}\n{_WORTH[what]}\n"
        sheet.write_text(text, encoding="utf-8")
    if as_json:
        show_json({"rows": len(table), **table.attrs})
        return
    of_lines = number_of(table.attrs["of_lines"], "line")
    tell(f"Wrote {number_of(len(table), what)}, of {of_lines}, to {out}, and {outputs[1]}.")
    tell(_WORTH[what])


def _metres(od: str) -> float | Path:
    """Read the width of a cell, or the name of a file of zones."""
    try:
        return float(od)
    except ValueError:
        return Path(od)


def _write(path: Path, table: "GeoDataFrame") -> None:
    """Write a table in the format that its suffix says."""
    from trajanon.files.vector_formats import write_layer

    match path.suffix.lower():
        case ".parquet":
            table.to_parquet(path, index=False)
        case ".gpkg":
            write_layer(path, table, "counts", table.attrs.get("attribution"))
        case ".geojson":
            path.write_text(table.to_json(drop_id=True, ensure_ascii=False), encoding="utf-8")
        case _:
            for name in {"name", "highway", "from_zone", "to_zone"} & {*table.columns}:
                table[name] = [text and plain_text(text, cell=True) for text in table[name]]
            table.to_wkt().to_csv(path, index=False)
