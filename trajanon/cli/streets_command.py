"""The command trajanon streets: counts of trips on streets, in cells, or between zones."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import ANONYMIZED, options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.plain_text import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geopandas import GeoDataFrame

    from trajanon.common.progress import Progress
    from trajanon.release.matched_to_roads import RoadsToFollow
    from trajanon.street_counts.day_parts import DayPart
    from trajanon.street_counts.lines_to_count import ReleasedLines

_CERTIFICATE = "certificate.json"
_DATASHEET = "datasheet.md"
_TILES = ".pmtiles"
_TABLES = (".parquet", ".gpkg", ".geojson", ".csv")
_SUFFIXES = {"cells": (*_TABLES, _TILES), "speeds": (".csv",)}

_TEXTS_OF_STRANGERS = ["name", "highway", "from_zone", "to_zone"]
"""Columns with texts of OpenStreetMap or of a file of zones, which a spreadsheet must not run."""


class _Counts(NamedTuple):
    """What is printed, and written in a datasheet, of counts in a file."""

    number: str  # how many rows the file has, with their noun
    paragraphs: list[str]
    attribution: str | None
    in_json: dict[str, object]


@options()
def streets(
    release: Path = ANONYMIZED,
    *,
    roads: Path | None = None,
    mode: str = "car",
    od: str | None = None,
    cells: str | None = None,
    for_router: Literal["osrm"] | None = None,
    hours: str | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Count trips on streets, in cells, or between zones.

    Counts released lines, with public data. Of the report beside the release, only k, whom it
    counts and the verdict are used.
    """
    from trajanon.cli.map_command import roads_around
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.evaluation.counts_datasheet import counts_datasheet
    from trajanon.evaluation.page.templates import words
    from trajanon.release.report_files import report_path
    from trajanon.street_counts.day_parts import ALL_DAY, day_parts
    from trajanon.street_counts.lines_to_count import lines_to_count
    from trajanon.street_counts.streets import streets as trips_on_streets

    kind = _kind_of_counts(roads, mode, od, cells, for_router)
    parts = ALL_DAY if hours is None else day_parts(hours)
    out = out or Path("speeds.csv" if kind == "speeds" else f"{kind}.parquet")
    files = _output_files(out, kind, parts)
    public_files = [Path(name) for name in (roads, od) if name is not None]
    beside = [report_path(release, name) for name in ("report.json", _DATASHEET, _CERTIFICATE)]
    inputs = [release, *beside, *public_files]
    outputs = (*files, report_path(out, _DATASHEET))
    with bars() as progress, replacing(*outputs, inputs=inputs, public=outputs) as drafts:
        lines = lines_to_count(release)
        if roads is not None:
            network = roads_around(lines.points, roads, mode)
        if kind == "speeds":
            counts = _write_speeds(drafts[:-1], lines, network, parts, progress)
        elif kind == "streets":
            table = trips_on_streets(lines, network, parts=parts, progress=progress)
            worth = [words("worth_of_streets")]
            counts = _write_table(drafts[0], table, "street", worth, lines.counted)
        elif od is not None:
            counts = _write_flows(drafts[0], lines, od, parts, release)
        else:
            counts = _write_cells(drafts[0], lines, str(cells), parts)
        if lines.headline is not None:
            counts.paragraphs.append(words("verdict_of_release", headline=lines.headline))
        datasheet = counts_datasheet(
            out, counts.number, release, counts.attribution, counts.paragraphs
        )
        drafts[-1].write_text(datasheet, encoding="utf-8")

    if as_json:
        names = [file.name for file in files]
        show_json({"files": names, **counts.in_json, "sentences": counts.paragraphs})
    else:
        tell(f"Wrote {counts.number} to {', '.join(map(str, files))}, and {outputs[-1]}.")
        for paragraph in counts.paragraphs:
            tell(paragraph)


def _output_files(out: Path, kind: str, parts: "tuple[DayPart, ...]") -> list[Path]:
    """Name the files to write; refuse a name that no file with such counts has."""
    from trajanon.street_counts.day_parts import ALL_DAY

    suffixes = _SUFFIXES.get(kind, _TABLES)
    if out.suffix.lower() not in suffixes:
        raise BadInput(f"{out} must end in {' or '.join(suffixes)}")

    # A router reads speeds of one part of the day at a time.
    if kind != "speeds" or parts == ALL_DAY:
        return [out]
    return [out.with_name(f"{out.stem}.{part.label}.csv") for part in parts]


def _kind_of_counts(
    roads: Path | None, mode: str, od: str | None, cells: str | None, router: str | None
) -> str:
    """Return what is counted; refuse options that do not go together."""
    if sum(option is not None for option in (roads, od, cells)) != 1:
        raise BadInput(
            "streets takes one of --roads (an .osm.pbf file), --od (metres, or a file of zones) "
            "and --cells (metres, or h3:9)"
        )
    if roads is None and mode != "car":
        raise BadInput(f"--mode {mode} is for --roads: leave it out")
    if roads is None and router is not None:
        raise BadInput(f"--for {router} needs the --roads of an .osm.pbf file")
    if roads is not None:
        return "streets" if router is None else "speeds"
    return "cells" if od is None else "od"


def _write_speeds(
    drafts: "Sequence[Path]",
    lines: "ReleasedLines",
    roads: "RoadsToFollow",
    parts: "tuple[DayPart, ...]",
    progress: "Progress",
) -> _Counts:
    """Write a router's file of speeds for each part of the day."""
    from trajanon.evaluation.counts_datasheet import facts_of_speeds
    from trajanon.street_counts.router_speeds import router_speeds
    from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

    speeds = router_speeds(lines, roads, parts, progress)
    for part, draft in enumerate(drafts):
        draft.write_text(speeds.osrm_text(part), encoding="utf-8")

    number = number_of(len(speeds.start), "pair of nodes", "pairs of nodes")
    facts = facts_of_speeds(speeds, lines.k, lines.counted)
    return _Counts(number, facts, OSM_ATTRIBUTION, {"rows": len(speeds.start)})


def _write_flows(
    draft: Path, lines: "ReleasedLines", zones: str, parts: "tuple[DayPart, ...]", release: Path
) -> _Counts:
    """Write trips from zone to zone."""
    from trajanon.evaluation.counts_datasheet import worth_of_flows
    from trajanon.evaluation.release_certificate import cells_for_flows
    from trajanon.extract.earth.area import read_shapes
    from trajanon.release.report_files import report_path
    from trajanon.street_counts.od_table import zone_flows

    width = _metres(zones)
    shapes = None if width is not None else read_shapes(Path(zones), "zones", attributes=True)
    table = zone_flows(lines, width if shapes is None else shapes, parts=parts)
    measured = cells_for_flows(report_path(release, _CERTIFICATE), release)
    worth = worth_of_flows(table, width, measured)
    return _write_table(draft, table, "flow", worth, lines.counted)


def _write_cells(
    draft: Path, lines: "ReleasedLines", cells: str, parts: "tuple[DayPart, ...]"
) -> _Counts:
    """Write trips that pass each cell."""
    from trajanon.evaluation.page.templates import words
    from trajanon.street_counts.cell_counts import cell_counts
    from trajanon.street_counts.day_parts import ALL_DAY
    from trajanon.street_counts.heat_tiles import write_heat_tiles

    width = _metres(cells)
    if draft.suffix.lower() != _TILES:
        table = cell_counts(lines, cells if width is None else width, parts=parts)
    elif width is None:
        raise BadInput(f"{_TILES} takes cells of so many metres (got --cells {cells})")
    elif parts != ALL_DAY:
        raise BadInput(f"{_TILES} holds counts of all hours together: leave out --hours")
    else:
        table = write_heat_tiles(draft, lines, width)
    return _write_table(draft, table, "cell", [words("worth_of_cells")], lines.counted)


def _metres(text: str) -> float | None:
    """Read the width of cells in metres; None if it is the name of something else."""
    try:
        return float(text)
    except ValueError:
        return None


def _write_table(
    path: Path, table: "GeoDataFrame", noun: str, worth: list[str], counted: str
) -> _Counts:
    """Write a table in the format that the suffix of its file says.

    ``worth`` are paragraphs on what such counts are good for; ``counted`` says whom the k of the
    release counts.
    """
    from trajanon.evaluation.counts_datasheet import facts
    from trajanon.files.geopackage_geojson_gpx_csv import write_layer

    attribution = table.attrs["attribution"]
    match path.suffix.lower():
        case ".parquet":
            table.to_parquet(path, index=False)
        case ".gpkg":
            write_layer(path, table, "counts", attribution)
        case ".geojson":
            path.write_text(table.to_json(drop_id=True, ensure_ascii=False), encoding="utf-8")
        case ".csv":
            for column in table.columns.intersection(_TEXTS_OF_STRANGERS):
                # A street without a name has no text there.
                table[column] = table[column].map(partial(plain_text, cell=True), "ignore")
            table.to_wkt().to_csv(path, index=False)

    in_json = {"rows": len(table), **table.attrs}
    return _Counts(
        number_of(len(table), noun), [*facts(table, counted), *worth], attribution, in_json
    )
