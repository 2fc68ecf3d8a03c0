"""trajanon extract."""

from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.cli.options import PARTS, TRAJECTORIES, options, seconds_of
from trajanon.cli.wording import say_written, show_json, tell
from trajanon.errors import BadInput
from trajanon.words import number_of

if TYPE_CHECKING:
    from trajanon.extract import Area, Zone

_RADIUS = 150.0  # metres that are cut out around sensitive places

_ONE_TRAJECTORY = "A group needs at least two, of two subjects."
_ONE_SUBJECT = (
    "All are of one subject, and a group needs at least two: add recordings of others, or "
    "name a column with --columns subject=..."
)


@options(
    groups={
        "Input": "columns untimed subjects_exact api_url max_pages",
        "Area": "bbox pbf",
        "Trajectories": "points spacing trips min_length max_gap max_pause max_speed windows "
        "per_trace max_per_subject",
        "Protection": "trim_ends hide_near",
        "Running": "jobs cluster partition out as_json",
    },
    paths="Files and folders to read; without, the OSM server is asked. Of these kinds: GPX and "
    "archives of it, the planet dump, tables, KML, TCX, FIT, NMEA, Google's location history, "
    "OwnTracks and other JSON, GeoLife, Porto, cabspotting, T-Drive, MDS trips, MF-JSON, "
    "GeoPackage and others.",
    columns="Columns of tables: id=...,lat=...,lon=...,time=...,subject=...; subject=folder if "
    "each folder is a person, id=file if each file is a recording.",
    untimed="Traces without timestamps: accept (keep the order of the file) or reject.",
    api_url="A server with the OSM API.",
    max_pages="Most pages of 5,000 points to ask the server for.",
    bbox="madrid, barcelona, tarraco or another large city, or W,S,E,N in degrees, which may be "
    "given several times; a file with polygons; or the name or relation number of a boundary in "
    "--pbf.",
    pbf="An .osm.pbf file with the boundary, or with the places for --hide-near.",
    points="Number of points of a trajectory.",
    spacing="Metres between points along the track; for a city, its own default.",
    trips="Make each whole trip, from start to end, one trajectory, with its points at equal "
    "shares of the way; otherwise trajectories are windows of one length.",
    min_length=("Metres; with --trips, a shorter trip is left out.", "500"),
    max_gap=(
        "Metres; a longer hop ends a track, or leaves a trip out; none stands for 1,000 km.",
        "500, or 2000 with --trips",
    ),
    max_pause="Seconds, or a time such as 5min; a longer pause ends a track or trip; none: no "
    "pause does.",
    max_speed="Metres a second; a faster hop ends a track, or leaves a trip out, and a single fix "
    "that is so far off is dropped; none: no limit.",
    windows="all windows, or trips, of each trace; or first or spread: --per-trace of them, the "
    "first or evenly spread ones.",
    per_trace=("Number of windows, or trips, of a trace, with --windows first or spread.", "1"),
    max_per_subject="Most trajectories to take of a subject.",
    trim_ends="Cut off at least this many metres around the ends and stops of each trace.",
    hide_near=f"Cut out {_RADIUS:g} m around these places of --pbf, such as "
    "amenity=hospital,place_of_worship.",
    jobs="Number of processes; each reads one file at a time.",
    cluster="Dask scheduler whose workers read the files, such as tcp://10.0.0.1:8786, or local:4 "
    "for four local processes; all workers must see the files under the same names.",
    partition="Write a folder of parts of this many trajectories: for data larger than memory.",
    out=("GeoParquet file to write, or a folder with --partition.", f"{TRAJECTORIES}, or {PARTS}"),
)
def extract(
    paths: list[str] | None = None,
    *,
    columns: str | None = None,
    untimed: str = "accept",
    subjects_exact: bool = False,
    api_url: str = "https://api.openstreetmap.org",
    max_pages: int = 100,
    bbox: list[str] | None = None,
    pbf: Path | None = None,
    points: int = 30,
    spacing: float | None = None,
    trips: bool = False,
    min_length: float | None = None,
    max_gap: str | None = None,
    max_pause: str = "300",
    max_speed: str = "60",
    windows: str = "all",
    per_trace: int | None = None,
    max_per_subject: int | None = None,
    trim_ends: float = 0.0,
    hide_near: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    partition: int | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Turn GPS traces into trajectories of equally spaced points, or whole trips."""
    given = dict(locals())
    from trajanon.cli.results import show_extraction
    from trajanon.cli.screen import bars
    from trajanon.executors import connected
    from trajanon.extract.diagnosis import cut_most
    from trajanon.extract.extraction import (
        OSM_API,
        SAY_WHERE,
        Extraction,
        chosen_spacing,
        fields_in,
    )
    from trajanon.extract.rules import Rules
    from trajanon.extract.sources.tables.columns import parse_columns

    out = out or (TRAJECTORIES if partition is None else PARTS)
    is_file = out.suffix.lower() in (".parquet", ".geoparquet")
    if partition is None and not is_file:
        raise BadInput(f"trajectories are written as GeoParquet: {out} must end in .parquet")
    if partition is not None and is_file:
        raise BadInput(f"with --partition, --out names a folder (got {out})")
    where, of_the_city = _where(bbox or [], pbf, hide_near)
    if where is None and not paths:
        raise BadInput(SAY_WHERE)
    on_cluster = nullcontext() if cluster is None else connected(cluster)
    with bars() as progress, on_cluster as client:
        limits = {
            "spacing": chosen_spacing(spacing, of_the_city, trips=trips),
            "max_gap": _limit("--max-gap", "metres", max_gap) if max_gap else "auto",
            "max_pause": _limit("--max-pause", "seconds", max_pause),
            "max_speed": _limit("--max-speed", "metres a second", max_speed),
        }
        asked = given | {
            "source": paths or OSM_API,
            "area": where,
            "rules": Rules(**fields_in(given | limits, Rules)),
            "hidden": _hidden(hide_near, pbf, where),
            "columns": parse_columns(columns) if columns else {},
            "client": client,
            "progress": progress,
        }
        extraction = Extraction(**fields_in(asked, Extraction))
        provenance = extraction.write(out, partition=partition)
    if as_json:
        show_json(provenance)
        return
    show_extraction(provenance)
    counts = provenance["counts"]
    n, subjects = counts["trajectories"], counts["subjects of trajectories"]
    what = number_of(n, "trip") if trips else number_of(n, "trajectory", "trajectories")
    few = not trips and n < counts["recordings read"]
    if few and (hint := cut_most(counts, provenance)):
        tell(f"{number_of(counts['recordings read'], 'recording')} gave {what}: {hint}")
    if min(n, subjects) < 2:
        tell(f"Wrote {what} to {out}. {_ONE_SUBJECT if n > 1 else _ONE_TRAJECTORY}")
        return
    # Folders are named in any case: the next command's default is a file.
    say_written(what, out, TRAJECTORIES, "anonymize", min(4, subjects))


def _where(
    names: list[str], pbf: Path | None, hide_near: str | None
) -> tuple["Area | None", float | None]:
    """Read where trajectories may lie, and the spacing of that city."""
    from trajanon.extract.earth.areas import area_of

    try:
        found = area_of(names[0] if len(names) == 1 else names or None)
    except BadInput as error:
        if len(names) > 1 or "," in names[0] or Path(names[0]).is_file():
            raise
        if pbf is None:
            way_out = "or, if it is the name of a boundary, add --pbf FILE.osm.pbf"
            raise BadInput(f"{error}; {way_out}") from error
        from trajanon.extract.earth.boundaries import boundary

        return boundary(pbf, names[0]), None
    if pbf is not None and hide_near is None:
        raise BadInput(
            f"--pbf {pbf} is for --hide-near TAGS, or for a boundary: name it, or its relation, "
            "with --area"
        )
    if pbf is not None and names and not {*names[0]} & {*",./"}:
        tell(f"{names[0]} is the box of a city; for a boundary of {pbf} give its relation number")
    return found


def _hidden(tags: str | None, pbf: Path | None, where: "Area | None") -> "Zone | None":
    """Read what shall be cut out around sensitive places; None for nothing."""
    if tags is None:
        return None
    if pbf is None:
        raise BadInput(
            f"--hide-near {tags} needs a file that holds such places: add --pbf FILE.osm.pbf"
        )
    from trajanon.extract.earth.places import hidden

    return hidden(pbf, tags, _RADIUS, None if where is None else where.bounds)


def _limit(option: str, unit: str, text: str) -> float | None:
    """Read a limit: a number, none, or of seconds a time as pandas writes it."""
    if text.strip().lower() == "none":
        return None
    with suppress(ValueError):  # `BadInput` is one
        return seconds_of(option, text) if unit == "seconds" else float(text)
    times = ", a time such as 5min or 2h" * (unit == "seconds")
    raise BadInput(f"{option} must be a number of {unit}{times}, or none (got {text!r})")
