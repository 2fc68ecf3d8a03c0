"""trajanon extract."""

from contextlib import suppress
from pathlib import Path

from trajanon.cli import extract_options as option
from trajanon.cli.options import PARTS, TRAJECTORIES, Json, SubjectsExact
from trajanon.cli.telling import announce_compilation, say_written, tell
from trajanon.errors import BadInput
from trajanon.words import number_of

ONE_TRAJECTORY = "A group needs two at least, of two subjects."
ONE_SUBJECT = (
    "All are of one subject, and a group needs two at least: add recordings of others, "
    "name a column with --columns subject=..., or count trajectories with trajanon "
    "anonymize --count records"
)


def extract(
    paths: option.Paths = None,
    bbox: option.Bbox = None,
    area: option.Area = None,
    pbf: option.Pbf = None,
    admin_level: option.AdminLevel = None,
    source: option.Source = None,
    file_format: option.FileFormat = None,
    columns: option.Columns = None,
    untimed: option.Untimed = "accept",
    strict: option.Strict = False,
    points: option.Points = 30,
    spacing: option.Spacing = None,
    max_gap: option.MaxGap = "500",
    max_pause: option.MaxPause = "300",
    trim_ends: option.TrimEnds = 0.0,
    hide_near: option.HideNear = None,
    radius: option.Radius = None,
    min_displacement: option.MinDisplacement = 0.0,
    max_fill: option.MaxFill = 1.0,
    windows: option.Windows = "all",
    per_trace: option.PerTrace = None,
    max_per_subject: option.MaxPerSubject = None,
    limit: option.Limit = None,
    subjects_exact: SubjectsExact = False,
    no_tracks: option.NoTracks = False,
    jobs: option.Jobs = 1,
    api_url: option.ApiUrl = "https://api.openstreetmap.org",
    max_pages: option.MaxPages = 100,
    refresh: option.Refresh = False,
    resume: option.Resume = False,
    partition: option.Partition = None,
    out: option.Out = None,
    as_json: Json = False,
) -> None:
    """Turn GPS traces into trajectories of equally spaced points."""
    from trajanon.cli.area import out_of_sight, place
    from trajanon.extract.diagnosis import cut_most
    from trajanon.extract.extraction import OSM_API, Extraction
    from trajanon.extract.sources.tables.columns import parse_columns
    from trajanon.screen import Bars, show_extraction, show_json

    out = _destination(out, partition)
    announce_compilation()
    if pbf is not None and area is None and hide_near is None:
        msg = f"--pbf {pbf} is for --area NAME or --hide-near TAGS: add one of them"
        raise BadInput(msg)
    where, of_the_city = place(bbox or [], area, pbf, admin_level)
    with Bars() as bars:
        extraction = Extraction(
            [*(source or []), *(paths or [])] or OSM_API,
            where,
            spacing=of_the_city if spacing is None else spacing,
            points=points,
            max_gap=_limit("--max-gap", "metres", max_gap),
            max_pause=_limit("--max-pause", "seconds", max_pause),
            trim_ends=trim_ends,
            min_displacement=min_displacement,
            max_fill=max_fill,
            windows=windows,
            per_trace=per_trace,
            max_per_subject=max_per_subject,
            limit=limit,
            subjects_exact=subjects_exact,
            hidden=out_of_sight(hide_near, radius, pbf, where),
            tracks=not no_tracks,
            columns=parse_columns(columns) if columns else {},
            format=file_format,
            untimed=untimed,
            strict=strict,
            jobs=jobs,
            api_url=api_url,
            max_pages=max_pages,
            refresh=refresh,
            progress=bars,
        )
        provenance = extraction.write(out, partition=partition, resume=resume)
    if as_json:
        show_json(provenance)
        return
    show_extraction(provenance)
    counts = provenance["counts"]
    n, subjects = counts["trajectories"], counts["subjects of trajectories"]
    what = number_of(n, "trajectory", "trajectories")
    limits = {name: provenance[name] for name in ("max_pause", "max_gap")}
    if n < counts["recordings read"] and (hint := cut_most(counts, **limits)):
        tell(f"{counts['recordings read']:,} recordings gave {what}: {hint}")
    if min(n, subjects) < 2:
        tell(f"Wrote {what} to {out}. {ONE_SUBJECT if n > 1 else ONE_TRAJECTORY}")
        return
    # Folders are named in any case: the next command's default is a file.
    say_written(what, out, TRAJECTORIES, "anonymize", min(4, subjects))


def _destination(out: Path | None, partition: int | None) -> Path:
    """Take where to write: a file, or with --partition a folder."""
    default = TRAJECTORIES if partition is None else PARTS
    out = default if out is None else out
    is_file = out.suffix.lower() in (".parquet", ".geoparquet")
    if partition is None and not is_file:
        msg = f"trajectories are written as GeoParquet: {out} must end in .parquet"
        raise BadInput(msg)
    if partition is not None and is_file:
        msg = f"with --partition, --out names a folder (got {out})"
        raise BadInput(msg)
    return out


def _limit(option: str, unit: str, text: str) -> float | None:
    """Read a limit: a number, none, or of seconds a time as pandas writes it."""
    import pandas as pd

    if text.strip().lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        if unit == "seconds":
            with suppress(ValueError):
                return float(pd.Timedelta(text).total_seconds())
        times = ", a time such as 5min or 2h" * (unit == "seconds")
        msg = f"{option} must be a number of {unit}{times}, or none (got {text!r})"
        raise BadInput(msg) from None
