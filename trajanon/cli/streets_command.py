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
_TEXTS_OF_STRANGERS = ("name", "highway", "from_zone", "to_zone")


@options(
    release="A released file, or a folder of parts.",
    roads="An .osm.pbf file with the roads of its area.",
    mode="Means of travel: car, bicycle, foot or any. Cars and bicycles keep to one-way streets.",
    od="Count trips from zone to zone instead: metres of a square cell, or a file of polygons.",
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
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Count trips on streets by direction, speed and hour: from the release alone."""
    from trajanon.cli.map_command import box_around
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.evaluation import counts_datasheet as sheets
    from trajanon.evaluation.release_certificate import cells_for_flows
    from trajanon.extract import roads_to_follow
    from trajanon.release.report import datasheet_path, report_path
    from trajanon.street_counts.od_table import read_zones, zone_flows
    from trajanon.street_counts.streets import lines_to_count
    from trajanon.street_counts.streets import streets as trips_on_streets

    if (roads is None) == (od is None):
        raise BadInput("streets takes --roads, an .osm.pbf file, or --od, a cell or zones")
    if roads is None and mode != "car":
        raise BadInput(f"--mode {mode} is for --roads: leave it out")
    zones = None if od is None else _metres(od)
    out = out or Path("streets.parquet" if od is None else "od.parquet")
    if out.suffix.lower() not in _SUFFIXES:
        raise BadInput(f"{out} must end in one of {', '.join(_SUFFIXES)}")

    outputs = (out, datasheet_path(out))
    certificate = report_path(release, "certificate.json")
    beside = (report_path(release), datasheet_path(release), certificate)
    read = [release, *beside, *(path for path in (roads, zones) if isinstance(path, Path))]
    with bars() as progress, replacing(*outputs, inputs=read, public=outputs) as (draft, sheet):
        lines = lines_to_count(release)
        if roads is not None:
            network = roads_to_follow(roads, mode, bbox=box_around(lines.points))
            table = trips_on_streets(lines, network, progress=progress)
            rows = number_of(len(table), "street")
            worth = [sheets.WORTH_OF_STREETS]
        elif zones is not None:
            table = zone_flows(lines, read_zones(zones) if isinstance(zones, Path) else zones)
            rows = number_of(len(table), "flow")
            cell = None if isinstance(zones, Path) else zones
            worth = sheets.worth_of_flows(table, cell, cells_for_flows(certificate, release))

        attribution = table.attrs.get("attribution")
        paragraphs = [*sheets.facts(table), *worth]
        _write(draft, table)
        text = sheets.counts_datasheet(out, rows, release, attribution, paragraphs)
        sheet.write_text(text, encoding="utf-8")

    if as_json:
        show_json({"rows": len(table), **table.attrs, "sentences": paragraphs})
        return
    tell(f"Wrote {rows} to {out}, and {outputs[1]}.")
    for paragraph in paragraphs:
        tell(paragraph)


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
            for column in {*_TEXTS_OF_STRANGERS} & {*table.columns}:
                # A street without a name has no text there, but None or NaN.
                table[column] = [
                    plain_text(text, cell=True) if isinstance(text, str) else None
                    for text in table[column]
                ]
            table.to_wkt().to_csv(path, index=False)
