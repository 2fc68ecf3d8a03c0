"""trajanon extract."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from trajanon.cli.messages import say_written, show_json, tell
from trajanon.cli.options import PARTS, TRAJECTORIES, options, seconds_of, typed_options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.common.search_and_release_options import SUGGESTED_K
from trajanon.extract.options_and_defaults import ExtractKeywords, Rules, SourceOptions

if TYPE_CHECKING:
    from trajanon.extract.earth.area import AreaLike, Region
    from trajanon.extract.options_and_defaults import Limit

_RADIUS = 150.0  # metres that are cut out around sensitive places


@options(Rules, SourceOptions, radius=f"{_RADIUS:g}")
def extract(
    paths: list[str] | None = None,
    *,
    bbox: list[str] | None = None,
    pbf: Path | None = None,
    windows: bool = False,
    columns_text: str | None = None,
    per_recording_text: str = f"{Rules.per_recording}",
    max_gap_text: str = f"{Rules.max_gap}",
    max_pause_text: str = f"{Rules.max_pause}",
    max_speed_text: str = f"{Rules.max_speed:g}",
    hide_near: str | None = None,
    cluster: str | None = None,
    partition: int | None = None,
    out: Path | None = None,
    as_json: bool = False,
    **settings: Unpack[ExtractKeywords],
) -> None:
    """Turn GPS traces into trips, or windows, of 30 points."""
    run = typed_options(extract, {**locals(), **settings})  # which the file repeats

    from trajanon.cli.progress_bars import bars
    from trajanon.cli.report_tables import show_extraction
    from trajanon.common.threads_and_dask import connected
    from trajanon.extract.extraction import OSM_API, extract_to
    from trajanon.extract.sources.column_role_names import parse_columns

    out = out or (TRAJECTORIES if partition is None else PARTS)
    _check_out(out, partition)
    spacing = settings.get("spacing")
    if not windows and spacing is not None:
        raise BadInput(
            f"`spacing={spacing:g}` is for windows, and whole trips have their points at equal "
            "shares of the way: add `windows`, or leave out `spacing`"
        )
    where = _where(bbox or [], pbf, hide_near)

    settings["max_gap"] = _limit("max_gap", max_gap_text)
    settings["max_pause"] = _limit("max_pause", max_pause_text)
    settings["max_speed"] = cast(float | None, _limit("max_speed", max_speed_text))
    per_recording = {"1": 1, "all": None}.get(per_recording_text.lower(), per_recording_text)
    settings["per_recording"] = cast(int | None, per_recording)  # which the rules check
    if columns_text:
        settings["columns"] = parse_columns(columns_text)
    zone = None if hide_near is None else _hidden(hide_near, pbf, where)

    with bars() as progress, connected(cluster) as client:
        provenance = extract_to(
            out,
            paths or OSM_API,
            where,
            partition=partition,
            windows=windows,
            hidden=zone,
            client=client,
            run=run,
            progress=progress,
            **settings,
        )

    if as_json:
        show_json(provenance)
    else:
        show_extraction(provenance)
        _say_next(provenance, out, windows=windows)


def _say_next(provenance: Mapping[str, Any], out: Path, *, windows: bool) -> None:
    """Print what was written, and the command that comes next."""
    counts = provenance["counts"]
    subjects = counts["subjects of trajectories"]
    noun = ("trajectory", "trajectories") if windows else ("trip",)
    written = number_of(counts["trajectories"], *noun)
    if subjects < 2:
        tell(f"Wrote {written} to {out}. All count as one person's: a release needs two.")
        return
    # Folders are named in any case: the next command's default is a file.
    say_written(written, out, TRAJECTORIES, "anonymize", min(SUGGESTED_K, max(2, subjects)))


def _check_out(out: Path, partition: int | None) -> None:
    """Refuse a file for a folder of parts, and a name that is not that of a file."""
    is_file = out.suffix.lower() in (".parquet", ".geoparquet")
    if partition is None and not is_file:
        raise BadInput(f"trajectories are written as GeoParquet: {out} must end in .parquet")
    if partition is not None and is_file:
        raise BadInput(f"with --partition, --out names a folder (got {out})")


def _hidden(tags: str, pbf: Path | None, where: "AreaLike") -> "Region | None":
    """Read the surroundings of sensitive places, which are cut out."""
    from trajanon.extract.earth.named_or_tagged_places import is_place, zone_around

    if is_place(tags):
        return zone_around(tags, _RADIUS)
    if pbf is None:
        raise BadInput(
            f"`hide_near={tags}` needs a file that holds such places: add `pbf=FILE.osm.pbf`, or "
            "write LAT,LON"
        )
    from trajanon.extract import hidden
    from trajanon.extract.earth.area import area_of

    area, _ = area_of(where)
    return hidden(pbf, tags, _RADIUS, None if area is None else area.bounds)


def _where(names: list[str], pbf: Path | None, hide_near: str | None) -> "AreaLike":
    """Read where trajectories may lie."""
    from trajanon.extract.earth.area import area_of

    area = names[0] if len(names) == 1 else names or None
    try:
        area_of(area)
    except BadInput as error:
        if len(names) > 1 or "," in names[0] or Path(names[0]).is_file():
            raise
        if pbf is None:
            raise BadInput(
                f"{error}; or, if it is the name of a boundary, add `pbf=FILE.osm.pbf`"
            ) from error
        from trajanon.extract import boundary

        return boundary(pbf, names[0])
    if pbf is not None and hide_near is None:
        raise BadInput(
            f"--pbf {pbf} is for --hide-near TAGS, or for a boundary: name it, or its relation, "
            "with --area"
        )
    return area


def _limit(name: str, text: str) -> "Limit":
    """Read where a track ends: a number, auto, none, or of seconds a time as pandas writes it."""
    option = f"--{name.replace('_', '-')}"
    unit = Rules.__dataclass_fields__[name].metadata["unit"]

    if (word := text.strip().lower()) in ("auto", "none"):
        return "auto" if word == "auto" else None
    with suppress(ValueError):  # `BadInput` is one
        return seconds_of(option, text) if unit == "seconds" else float(text)
    times = ", a time such as 5min or 2h" if unit == "seconds" else ""
    raise BadInput(f"{option} must be a number of {unit}{times}, auto, or none (got {text!r})")
