"""trajanon extract."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajanon.cli.messages import say_written, show_json
from trajanon.cli.options import PARTS, TRAJECTORIES, options, seconds_of, typed_options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.extract.rules import Rules, SourceOptions

if TYPE_CHECKING:
    from trajanon.extract.earth.area import AreaLike
    from trajanon.extract.rules import Limit

_RADIUS = 150.0  # metres that are cut out around sensitive places


@options(
    Rules,
    SourceOptions,
    groups={
        "Input": "columns untimed subjects_exact api_url max_pages",
        "Area": "bbox pbf",
        "Trajectories": "windows spacing per_recording min_length points max_gap max_pause "
        "max_speed",
        "Protection": "trim_ends hide_near",
        "Running": "jobs cluster partition out as_json",
    },
    texts="columns per_recording max_gap max_pause max_speed",
    paths="Files and folders to read; without, the OSM server is asked. Of these kinds: GPX and "
    "archives of it, the planet dump, tables, KML, TCX, FIT, NMEA, Google's location history, "
    "OwnTracks and other JSON, GeoLife, Porto, cabspotting, T-Drive, SimRa, OpenBikeSensor, "
    "MDS trips, MF-JSON, GeoPackage and others.",
    bbox="madrid, barcelona, tarraco or another large city, or W,S,E,N in degrees, which may be "
    "given several times; a file with polygons; or the name or relation number of a boundary in "
    "--pbf.",
    pbf="An .osm.pbf file with the boundary, or with the places for --hide-near.",
    windows="Make windows, pieces of one length, of the tracks; otherwise each whole trip is a "
    "trajectory, with its points at equal shares of the way.",
    hide_near=f"Cut out {_RADIUS:g} m around these places of --pbf, such as "
    "amenity=hospital,place_of_worship.",
    cluster="Dask scheduler to read the files with, such as tcp://10.0.0.1:8786, or local:4 "
    "for four local processes; all workers must see the files under the same names.",
    partition="Write a folder of parts of this many trajectories: for data larger than memory.",
    out=("GeoParquet file to write, or a folder with --partition.", f"{TRAJECTORIES}, or {PARTS}"),
)
def extract(
    paths: list[str] | None = None,
    *,
    bbox: list[str] | None = None,
    pbf: Path | None = None,
    windows: bool = False,
    hide_near: str | None = None,
    cluster: str | None = None,
    partition: int | None = None,
    out: Path | None = None,
    as_json: bool = False,
    **how: Any,
) -> None:
    """Turn GPS traces into whole trips, or windows, of 30 points each."""
    run = typed_options(extract, locals() | how)

    from trajanon.cli.progress_bars import bars
    from trajanon.cli.report_tables import show_extraction
    from trajanon.common.workers import connected
    from trajanon.extract.earth.area import area_of
    from trajanon.extract.extraction import OSM_API, extract_to

    out = out or (TRAJECTORIES if partition is None else PARTS)
    is_file = out.suffix.lower() in (".parquet", ".geoparquet")
    if partition is None and not is_file:
        raise BadInput(f"trajectories are written as GeoParquet: {out} must end in .parquet")
    if partition is not None and is_file:
        raise BadInput(f"with --partition, --out names a folder (got {out})")
    spacing = how.get("spacing")
    if not windows and spacing is not None:
        raise BadInput(
            f"`spacing={spacing:g}` is for windows, and whole trips have their points at equal "
            "shares of the way: add `windows`, or leave out `spacing`"
        )
    where = _where(bbox or [], pbf, hide_near)
    how |= _read_texts(how)
    if hide_near is not None:
        if pbf is None:
            lacks = "needs a file that holds such places: add `pbf=FILE.osm.pbf`"
            raise BadInput(f"`hide_near={hide_near}` {lacks}")
        from trajanon.extract import hidden

        area, _ = area_of(where)
        how["hidden"] = hidden(pbf, hide_near, _RADIUS, None if area is None else area.bounds)
    on_cluster = nullcontext() if cluster is None else connected(cluster)
    with bars() as progress, on_cluster as client:
        how |= {"partition": partition, "client": client, "progress": progress, "run": run}
        provenance = extract_to(out, paths or OSM_API, where, windows=windows, **how)
    if as_json:
        show_json(provenance)
        return
    show_extraction(provenance)
    counts = provenance["counts"]
    n, subjects = counts["trajectories"], counts["subjects of trajectories"]
    what = number_of(n, "trajectory", "trajectories") if windows else number_of(n, "trip")
    # Folders are named in any case: the next command's default is a file.
    say_written(what, out, TRAJECTORIES, "anonymize", min(4, max(2, subjects)))


def _where(names: list[str], pbf: Path | None, hide_near: str | None) -> "AreaLike":
    """Read where trajectories may lie."""
    from trajanon.extract.earth.area import area_of

    given = names[0] if len(names) == 1 else names or None
    try:
        area_of(given)
    except BadInput as error:
        if len(names) > 1 or "," in names[0] or Path(names[0]).is_file():
            raise
        if pbf is None:
            way_out = "or, if it is the name of a boundary, add `pbf=FILE.osm.pbf`"
            raise BadInput(f"{error}; {way_out}") from error
        from trajanon.extract import boundary

        return boundary(pbf, names[0])
    if pbf is not None and hide_near is None:
        raise BadInput(
            f"--pbf {pbf} is for --hide-near TAGS, or for a boundary: name it, or its relation, "
            "with --area"
        )
    return given


def _read_texts(how: Mapping[str, Any]) -> dict[str, Any]:
    """Read the options that are texts on the command line, and numbers in Python."""
    from trajanon.extract.sources.columns import parse_columns

    read: dict[str, Any] = {}
    if (text := how.get("per_recording")) is not None:
        try:
            read["per_recording"] = None if text.strip().lower() == "all" else int(text)
        except ValueError as error:
            raise BadInput(f"--per-recording must be 1, or all (got {text!r})") from error
    for one in fields(Rules):
        if "unit" in one.metadata and one.name in how:
            flag = f"--{one.name.replace('_', '-')}"
            read[one.name] = _limit(flag, one.metadata["unit"], how[one.name])
    if how.get("columns"):
        read["columns"] = parse_columns(how["columns"])
    return read


def _limit(option: str, unit: str, text: str) -> "Limit":
    """Read a limit: a number, auto, none, or of seconds a time as pandas writes it."""
    if (word := text.strip().lower()) in ("auto", "none"):
        return "auto" if word == "auto" else None
    with suppress(ValueError):  # `BadInput` is one
        return seconds_of(option, text) if unit == "seconds" else float(text)
    times = ", a time such as 5min or 2h" * (unit == "seconds")
    raise BadInput(f"{option} must be a number of {unit}{times}, auto, or none (got {text!r})")
