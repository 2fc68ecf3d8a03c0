"""The command trajanon streets: counts of trips on streets, in cells, or between zones."""

from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import ANONYMIZED, options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.plain_text import plain_text

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

    from trajanon.release.snapping import RoadsToFollow
    from trajanon.street_counts.day_parts import DayPart
    from trajanon.street_counts.released_lines import ReleasedLines

_TABLE_SUFFIXES = (".parquet", ".gpkg", ".geojson", ".csv")
_TILES_SUFFIX = ".pmtiles"
_ROUTERS = ("osrm",)

_TEXTS_OF_STRANGERS = ("name", "highway", "from_zone", "to_zone")
"""Columns with texts of OpenStreetMap or of a file of zones, which a spreadsheet must not run."""


@options(
    release="A released file, or a folder of parts.",
    roads="An .osm.pbf file with the roads of the area.",
    mode="Means of travel: car, bicycle, foot or any. Cars and bicycles keep to one-way streets.",
    od="Count trips from zone to zone instead: width of square cells in metres, or a file of "
    "polygons.",
    cells="Count trips that pass each cell instead, for heat maps: width in metres, or h3:9.",
    for_router="Write speeds for a router instead of counts; the one format is osrm.",
    hours="Count parts of the day separately, such as 7-9,9-16; a router gets a file for each.",
    out=(
        "File to write: .parquet, .gpkg, .geojson or .csv, or .pmtiles for cells; a .datasheet.md "
        "is written beside it.",
        "streets.parquet, od.parquet, cells.parquet or speeds.csv",
    ),
)
def streets(
    release: Path = ANONYMIZED,
    *,
    roads: Path | None = None,
    mode: str = "car",
    od: str | None = None,
    cells: str | None = None,
    for_router: str | None = None,
    hours: str | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Count trips on streets, in cells, or between zones.

    Reads only the release and public data.
    """
    from trajanon.street_counts.day_parts import ALL_DAY, day_parts

    _check_options(roads, mode, od, cells, for_router)
    parts = ALL_DAY if hours is None else day_parts(hours)
    if for_router is not None and roads is not None:
        _write_speeds(release, roads, mode, parts, out or Path("speeds.csv"), as_json=as_json)
        return

    kind = "streets" if roads is not None else "od" if od is not None else "cells"
    _write_counts(kind, release, roads, mode, od or cells or "", parts, out, as_json=as_json)


def _check_options(
    roads: Path | None, mode: str, od: str | None, cells: str | None, router: str | None
) -> None:
    """Refuse options that do not go together."""
    if sum(option is not None for option in (roads, od, cells)) != 1:
        raise BadInput(
            "streets takes one of --roads, an .osm.pbf file; --od, a cell or zones; and --cells, "
            "metres"
        )
    if roads is None and mode != "car":
        raise BadInput(f"--mode {mode} is for --roads: leave it out")

    if router is None:
        return
    if router not in _ROUTERS:
        raise BadInput(f"--for takes {', '.join(_ROUTERS)} (got {router!r})")
    if roads is None:
        raise BadInput(f"--for {router} needs the --roads of an .osm.pbf file")


def _write_counts(
    kind: str,
    release: Path,
    roads: Path | None,
    mode: str,
    cells_or_zones: str,
    parts: "tuple[DayPart, ...]",
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write a table of counts, and its datasheet; `kind` is streets, od or cells."""
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.evaluation import counts_datasheet as sheets
    from trajanon.evaluation.release_certificate import cells_for_flows
    from trajanon.release.report import datasheet_path
    from trajanon.street_counts.cell_counts import cell_counts
    from trajanon.street_counts.heat_tiles import write_heat_tiles
    from trajanon.street_counts.od_table import read_zones, zone_flows
    from trajanon.street_counts.released_lines import lines_to_count
    from trajanon.street_counts.streets import streets as trips_on_streets

    zones = _zone_width_or_file(cells_or_zones) if kind == "od" else None
    out = out or Path(f"{kind}.parquet")
    as_tiles = kind == "cells" and out.suffix.lower() == _TILES_SUFFIX
    if not as_tiles and out.suffix.lower() not in _TABLE_SUFFIXES:
        raise BadInput(f"{out} must end in one of {', '.join(_TABLE_SUFFIXES)}")

    outputs = (out, datasheet_path(out))
    inputs = _inputs(release, roads, zones)
    with bars() as progress, replacing(*outputs, inputs=inputs, public=outputs) as drafts:
        table_draft, datasheet_draft = drafts
        lines = lines_to_count(release)
        if roads is not None:
            network = _network(roads, mode, lines)
            table = trips_on_streets(lines, network, parts=parts, progress=progress)
            number_counted = number_of(len(table), "street")
            accuracy = [sheets.WORTH_OF_STREETS]
        elif zones is not None:
            polygons_or_width = read_zones(zones) if isinstance(zones, Path) else zones
            table = zone_flows(lines, polygons_or_width, parts=parts)
            number_counted = number_of(len(table), "flow")
            cell_width = None if isinstance(zones, Path) else zones
            measured_cells = cells_for_flows(_certificate(release), release)
            accuracy = sheets.worth_of_flows(table, cell_width, measured_cells)
        else:
            grid = _cell_width_or_grid(cells_or_zones)
            if as_tiles and isinstance(grid, str):
                raise BadInput(f"{out} takes cells of so many metres (got --cells {grid})")
            if as_tiles and isinstance(grid, float):
                table = write_heat_tiles(table_draft, lines, grid)
            else:
                table = cell_counts(lines, grid, parts=parts)
            number_counted = number_of(len(table), "cell")
            accuracy = [sheets.WORTH_OF_CELLS]

        if not as_tiles:
            _write_table(table_draft, table)

        paragraphs = [*sheets.facts(table), *accuracy]
        attribution = table.attrs.get("attribution")
        text = sheets.counts_datasheet(out, number_counted, release, attribution, paragraphs)
        datasheet_draft.write_text(text, encoding="utf-8")

    if as_json:
        show_json({"rows": len(table), **table.attrs, "sentences": paragraphs})
        return
    tell(f"Wrote {number_counted} to {out}, and {datasheet_path(out)}.")
    for paragraph in paragraphs:
        tell(paragraph)


def _write_speeds(
    release: Path, roads: Path, mode: str, parts: "tuple[DayPart, ...]", out: Path, *, as_json: bool
) -> None:
    """Write a router's file of speeds for each part of the day, and one datasheet."""
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.evaluation.counts_datasheet import counts_datasheet, facts_of_speeds
    from trajanon.release.report import datasheet_path
    from trajanon.street_counts.day_parts import ALL_DAY
    from trajanon.street_counts.released_lines import lines_to_count
    from trajanon.street_counts.router_speeds import osrm_text, router_speeds
    from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

    if out.suffix.lower() != ".csv":
        raise BadInput(f"speeds are written as .csv (got {out})")
    files = [out]
    if parts != ALL_DAY:
        files = [out.with_name(f"{out.stem}.{part.label}.csv") for part in parts]

    outputs = (*files, datasheet_path(out))
    inputs = _inputs(release, roads, None)
    with bars() as progress, replacing(*outputs, inputs=inputs, public=outputs) as drafts:
        *speed_drafts, datasheet_draft = drafts
        lines = lines_to_count(release)
        speeds = router_speeds(lines, _network(roads, mode, lines), parts, progress)
        paragraphs = facts_of_speeds(speeds, [file.name for file in files], lines.k)
        for draft, part_speeds in zip(speed_drafts, speeds, strict=True):
            draft.write_text(osrm_text(part_speeds), encoding="utf-8")

        pairs = sum(len(part_speeds.speed) for part_speeds in speeds)
        number_of_pairs = number_of(pairs, "pair of nodes", "pairs of nodes")
        text = counts_datasheet(out, number_of_pairs, release, OSM_ATTRIBUTION, paragraphs)
        datasheet_draft.write_text(text, encoding="utf-8")

    if as_json:
        pairs_of_file = {
            file.name: len(part_speeds.speed)
            for file, part_speeds in zip(files, speeds, strict=True)
        }
        show_json({"rows": pairs_of_file, "sentences": paragraphs})
        return

    file_names = ", ".join(map(str, files))
    tell(
        f"Wrote {number_of_pairs} to {file_names}, and {datasheet_path(out)}. Next: osrm-contract "
        "--segment-speed-file"
    )
    for paragraph in paragraphs:
        tell(paragraph)


def _certificate(release: Path) -> Path:
    """Return the path of a release's certificate."""
    from trajanon.release.report import report_path

    return report_path(release, "certificate.json")


def _inputs(release: Path, roads: Path | None, zones: float | Path | None) -> list[Path]:
    """List the files that a count reads: it must not write over them."""
    from trajanon.release.report import datasheet_path, report_path

    beside_release = [report_path(release), datasheet_path(release), _certificate(release)]
    public_files = [path for path in (roads, zones) if isinstance(path, Path)]
    return [release, *beside_release, *public_files]


def _network(roads: Path, mode: str, lines: "ReleasedLines") -> "RoadsToFollow":
    """Read the roads around released lines."""
    from trajanon.cli.map_command import box_around
    from trajanon.extract import roads_to_follow

    return roads_to_follow(roads, mode, bbox=box_around(lines.points))


def _cell_width_or_grid(cells: str) -> float | str:
    """Read the width of cells in metres, or the name of a grid."""
    try:
        return float(cells)
    except ValueError:
        return cells


def _zone_width_or_file(od: str) -> float | Path:
    """Read the width of square zones in metres, or the name of a file of zones."""
    try:
        return float(od)
    except ValueError:
        return Path(od)


def _write_table(path: Path, table: "GeoDataFrame") -> None:
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
