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

    from trajanon.release.snapping import RoadsToFollow
    from trajanon.street_counts.day_parts import DayPart
    from trajanon.street_counts.released_lines import ReleasedLines

_SUFFIXES = (".parquet", ".gpkg", ".geojson", ".csv")
_TILES = ".pmtiles"
_ROUTERS = ("osrm",)
_PAIRS = "pairs of nodes"
_TEXTS_OF_STRANGERS = ("name", "highway", "from_zone", "to_zone")


@options(
    release="A released file, or a folder of parts.",
    roads="An .osm.pbf file with the roads of its area.",
    mode="Means of travel: car, bicycle, foot or any. Cars and bicycles keep to one-way streets.",
    od="Count trips from zone to zone instead: metres of a square cell, or a file of polygons.",
    cells="Count trips that pass each cell instead, for heat maps: metres, or h3:9.",
    for_router="Write speeds for a router, osrm, in place of counts: for each pair of nodes.",
    hours="Count parts of the day apart, such as 7-9,9-16; a router gets a file for each.",
    out=(
        "File to write: .parquet, .gpkg, .geojson or .csv, and of cells .pmtiles, with a "
        ".datasheet.md beside it.",
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

    It reads the release and public data alone.
    """
    from trajanon.street_counts.day_parts import ALL_DAY, day_parts

    _check_kind(roads, mode, od, cells, for_router)
    parts = ALL_DAY if hours is None else day_parts(hours)
    if for_router is not None and roads is not None:
        _router_files(release, roads, mode, parts, out or Path("speeds.csv"), as_json=as_json)
        return

    kind = "streets" if roads is not None else "od" if od is not None else "cells"
    _count(kind, release, roads, mode, od or cells or "", parts, out, as_json=as_json)


def _check_kind(
    roads: Path | None, mode: str, od: str | None, cells: str | None, router: str | None
) -> None:
    """Refuse what does not go together."""
    if sum(given is not None for given in (roads, od, cells)) != 1:
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


def _count(
    kind: str,
    release: Path,
    roads: Path | None,
    mode: str,
    where: str,
    parts: "tuple[DayPart, ...]",
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write a table of counts, and its datasheet."""
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

    zones = _metres(where) if kind == "od" else None
    out = out or Path(f"{kind}.parquet")
    tiles = kind == "cells" and out.suffix.lower() == _TILES
    if not tiles and out.suffix.lower() not in _SUFFIXES:
        raise BadInput(f"{out} must end in one of {', '.join(_SUFFIXES)}")

    outputs = (out, datasheet_path(out))
    read = _inputs(release, roads, zones)
    with bars() as progress, replacing(*outputs, inputs=read, public=outputs) as (draft, sheet):
        lines = lines_to_count(release)
        if roads is not None:
            network = _network(roads, mode, lines)
            table = trips_on_streets(lines, network, parts=parts, progress=progress)
            rows = number_of(len(table), "street")
            worth = [sheets.WORTH_OF_STREETS]
        elif zones is not None:
            read_or_metres = read_zones(zones) if isinstance(zones, Path) else zones
            table = zone_flows(lines, read_or_metres, parts=parts)
            rows = number_of(len(table), "flow")
            cell = None if isinstance(zones, Path) else zones
            measured = cells_for_flows(_certificate(release), release)
            worth = sheets.worth_of_flows(table, cell, measured)
        else:
            grid = _grid(where)
            if tiles and isinstance(grid, str):
                raise BadInput(f"{out} takes cells of so many metres (got --cells {grid})")
            if tiles and isinstance(grid, float):
                table = write_heat_tiles(draft, lines, grid)
            else:
                table = cell_counts(lines, grid, parts=parts)
            rows = number_of(len(table), "cell")
            worth = [sheets.WORTH_OF_CELLS]

        if not tiles:
            _write(draft, table)
        paragraphs = [*sheets.facts(table), *worth]
        attribution = table.attrs.get("attribution")
        text = sheets.counts_datasheet(out, rows, release, attribution, paragraphs)
        sheet.write_text(text, encoding="utf-8")

    if as_json:
        show_json({"rows": len(table), **table.attrs, "sentences": paragraphs})
        return
    tell(f"Wrote {rows} to {out}, and {outputs[1]}.")
    for paragraph in paragraphs:
        tell(paragraph)


def _router_files(
    release: Path, roads: Path, mode: str, parts: "tuple[DayPart, ...]", out: Path, *, as_json: bool
) -> None:
    """Write a file of speeds for each part of the day, and a datasheet of all."""
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
    read = _inputs(release, roads, None)
    with bars() as progress, replacing(*outputs, inputs=read, public=outputs) as drafts:
        lines = lines_to_count(release)
        speeds = router_speeds(lines, _network(roads, mode, lines), parts, progress)
        paragraphs = facts_of_speeds(speeds, [file.name for file in files], lines.k)
        for draft, of_part in zip(drafts, speeds, strict=False):
            draft.write_text(osrm_text(of_part), encoding="utf-8")

        rows = number_of(sum(len(of_part.speed) for of_part in speeds), "pair of nodes", _PAIRS)
        text = counts_datasheet(out, rows, release, OSM_ATTRIBUTION, paragraphs)
        drafts[-1].write_text(text, encoding="utf-8")

    if as_json:
        pairs = {file.name: len(part.speed) for file, part in zip(files, speeds, strict=True)}
        show_json({"rows": pairs, "sentences": paragraphs})
        return
    names = ", ".join(map(str, files))
    tell(f"Wrote {rows} to {names}, and {outputs[-1]}. Next: osrm-contract --segment-speed-file")
    for paragraph in paragraphs:
        tell(paragraph)


def _certificate(release: Path) -> Path:
    from trajanon.release.report import report_path

    return report_path(release, "certificate.json")


def _inputs(release: Path, roads: Path | None, zones: float | Path | None) -> list[Path]:
    """List what a count reads, and must not write over."""
    from trajanon.release.report import datasheet_path, report_path

    beside = [report_path(release), datasheet_path(release), _certificate(release)]
    return [release, *beside, *(path for path in (roads, zones) if isinstance(path, Path))]


def _network(roads: Path, mode: str, lines: "ReleasedLines") -> "RoadsToFollow":
    """Read the roads around released lines."""
    from trajanon.cli.map_command import box_around
    from trajanon.extract import roads_to_follow

    return roads_to_follow(roads, mode, bbox=box_around(lines.points))


def _grid(cells: str) -> float | str:
    """Read the width of cells, or the name of a grid."""
    try:
        return float(cells)
    except ValueError:
        return cells


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
