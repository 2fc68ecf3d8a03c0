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

_RADIUS = 150.0  # metres around sensitive places

_ONE_TRAJECTORY = "A group needs at least two, of two subjects."
_ONE_SUBJECT = (
    "All are of one subject, and a group needs at least two: add recordings of others, or "
    "name a column with --columns subject=..."
)


@options(
    paths="Files and folders to read, the same as --source.",
    bbox="madrid, barcelona, tarraco or another large city, or W,S,E,N in degrees; may be given "
    "several times.",
    area="Name or relation number of a boundary in --pbf, or a file with polygons.",
    pbf="An .osm.pbf file, for --area and --hide-near.",
    admin_level="Level of --area, if several boundaries have its name.",
    source="osm-api (the default), or files and folders: GPX and archives of it, the planet dump, "
    "tables, KML, TCX, FIT, NMEA, Google's location history, OwnTracks and other JSON, GeoLife, "
    "Porto, cabspotting, T-Drive, MDS trips, MF-JSON, GeoPackage and others.",
    file_format="gpx, gpx-archive, kml, tcx, fit, nmea, google, geolife, cabspotting, porto, "
    "tdrive, mds, mf-json, geo, json, places or table, for all files; by default found for each "
    "file.",
    columns="Columns of tables: id=...,lat=...,lon=...,time=...,subject=...; subject=folder if "
    "each folder is a person, id=file if each file is a recording.",
    untimed="Traces without timestamps: accept (keep the order of the file) or reject.",
    strict="Stop at what cannot be read, instead of leaving it out.",
    points="Number of points of a trajectory.",
    spacing="Metres between points along the track; for a city, its own default.",
    trips="Make each whole trip, from start to end, one trajectory, with its points at equal "
    "shares of the way; otherwise trajectories are windows of one length.",
    min_length=("Metres; with --trips, a shorter trip is left out.", "500"),
    max_gap=(
        "Metres; a longer hop ends a track, or leaves a trip out. none: only hops over 1,000 km "
        "do.",
        "500, or 2000 with --trips",
    ),
    max_pause="Seconds, or a time such as 5min; a longer pause ends a track or trip. none: no "
    "pause.",
    max_speed="Metres a second; a faster hop ends a track, or leaves a trip out, and a single fix "
    "that is so far off is dropped. none: no limit.",
    trim_ends="Cut off at least this many metres around the ends and stops of each trace.",
    hide_near="Cut out tracks around these places of --pbf, such as "
    "amenity=hospital,place_of_worship.",
    radius=("Metres, for --hide-near.", f"{_RADIUS:g}"),
    min_displacement="Least distance from start to end of a trajectory, as a share of its length.",
    max_fill="Largest share of points that may be farther than one spacing from a real fix.",
    windows="all windows, or trips, of each trace; or first or spread: --per-trace of them, the "
    "first or evenly spread ones. The other limits choose in the same way.",
    per_trace=("Number of windows, or trips, of a trace, with --windows first or spread.", "1"),
    max_per_subject="Most trajectories to take of a subject.",
    limit="Most trajectories to take in all, evenly over the subjects.",
    no_tracks="Leave out the tracks on which windows may slide.",
    jobs="Number of processes; each reads one file at a time.",
    cluster="Dask scheduler whose workers read the files, such as tcp://10.0.0.1:8786, or local:4 "
    "for four local processes. All workers must see the files under the same names.",
    api_url="A server with the OSM API.",
    max_pages="Most pages of 5,000 points to ask the server for.",
    refresh="Download again what is in the cache.",
    resume="Continue where a stopped extraction ended.",
    partition="Write a folder of parts of this many trajectories: for data larger than memory.",
    out=("GeoParquet file to write, or a folder with --partition.", f"{TRAJECTORIES}, or {PARTS}"),
)
def extract(
    paths: list[str] | None = None,
    *,
    bbox: list[str] | None = None,
    area: str | None = None,
    pbf: Path | None = None,
    admin_level: int | None = None,
    source: list[str] | None = None,
    file_format: str | None = None,
    columns: str | None = None,
    untimed: str = "accept",
    strict: bool = False,
    points: int = 30,
    spacing: float | None = None,
    trips: bool = False,
    min_length: float | None = None,
    max_gap: str | None = None,
    max_pause: str = "300",
    max_speed: str = "60",
    trim_ends: float = 0.0,
    hide_near: str | None = None,
    radius: float | None = None,
    min_displacement: float = 0.0,
    max_fill: float = 1.0,
    windows: str = "all",
    per_trace: int | None = None,
    max_per_subject: int | None = None,
    limit: int | None = None,
    subjects_exact: bool = False,
    no_tracks: bool = False,
    jobs: int = 1,
    cluster: str | None = None,
    api_url: str = "https://api.openstreetmap.org",
    max_pages: int = 100,
    refresh: bool = False,
    resume: bool = False,
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
    if pbf is not None and area is None and hide_near is None:
        raise BadInput(f"--pbf {pbf} is for --area NAME or --hide-near TAGS: add one of them")
    where, of_the_city = _where(bbox or [], area, pbf, admin_level)
    if where is None and not source and not paths:
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
            "source": [*(source or []), *(paths or [])] or OSM_API,
            "area": where,
            "rules": Rules(**fields_in(given | limits, Rules)),
            "hidden": _hidden(hide_near, radius, pbf, where),
            "tracks": not no_tracks,
            "columns": parse_columns(columns) if columns else {},
            "format": file_format,
            "client": client,
            "progress": progress,
        }
        extraction = Extraction(**fields_in(asked, Extraction))
        provenance = extraction.write(out, partition=partition, resume=resume)
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
    bbox: list[str], area: str | None, pbf: Path | None, admin_level: int | None
) -> tuple["Area | None", float | None]:
    """Read where trajectories may lie, and the spacing of that city."""
    from trajanon.extract.earth.areas import areas
    from trajanon.extract.earth.regions import read_outline

    if area is None:
        if admin_level is not None:
            raise BadInput(f"--admin-level {admin_level} needs --area NAME and --pbf FILE.osm.pbf")
        return areas(bbox) if bbox else (None, None)
    if bbox:
        raise BadInput(f"--bbox {bbox[0]} and --area {area} are two areas: give one of them")
    if Path(area).is_file():
        return read_outline(Path(area)), None
    if pbf is None:
        raise BadInput(
            f"--area {area} is no file; for a boundary of this name add --pbf FILE.osm.pbf"
        )
    from trajanon.extract.earth.boundaries import boundary

    return boundary(pbf, area, admin_level=admin_level), None


def _hidden(
    tags: str | None, radius: float | None, pbf: Path | None, where: "Area | None"
) -> "Zone | None":
    """Read what shall be cut out around sensitive places; None for nothing."""
    if tags is not None and pbf is not None:
        from trajanon.extract.earth.places import hidden

        bounds = None if where is None else where.bounds
        return hidden(pbf, tags, _RADIUS if radius is None else radius, bounds)
    if tags is not None:
        raise BadInput(
            f"--hide-near {tags} needs a file that holds such places: add --pbf FILE.osm.pbf"
        )
    if radius is not None:  # whoever forgot what it is around must not publish it
        raise BadInput(f"--radius {radius:g} needs to know around what: add --hide-near TAGS")
    return None


def _limit(option: str, unit: str, text: str) -> float | None:
    """Read a limit: a number, none, or of seconds a time as pandas writes it."""
    if text.strip().lower() == "none":
        return None
    with suppress(ValueError):  # `BadInput` is one
        return seconds_of(option, text) if unit == "seconds" else float(text)
    times = ", a time such as 5min or 2h" * (unit == "seconds")
    raise BadInput(f"{option} must be a number of {unit}{times}, or none (got {text!r})")
