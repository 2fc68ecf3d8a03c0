"""trajanon anonymize."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import trajanon
from trajanon.cli.exit_codes import INTERRUPTED
from trajanon.cli.messages import say, say_written, show_json, tell
from trajanon.cli.options import (
    ANONYMIZED,
    RELEASE,
    TRAJECTORIES,
    method_of,
    options,
    seconds_of,
    typed_options,
)
from trajanon.common.errors import BadInput
from trajanon.common.settings import ReleaseSettings, Settings

PUBLIC = "railway=station,halt,public_transport=station,amenity=bus_station,aeroway=aerodrome"
"""Tags of places where everybody may be known to be."""


@options(
    ReleaseSettings,
    Settings,
    groups={
        "Release": "k rows subjects_exact key ledger out as_json",
        "People": "one_line_each days distinct_ends public_places",
        "Times": "times minute_worth time_step timezone",
        "Roads": "roads",
        "Search": "as_published method refine effort seed",
        "Running": "memory cluster",
    },
    without="align heuristic compression",
    trajectories="What extract wrote: a file, or a folder of parts.",
    k="Least number of different subjects in a group. With 2, the spacing of windows helps to tell "
    "the two apart.",
    time_step="Released times are rounded to this: a time such as 5min, 1min at least.",
    key=(
        "File with your secret key, made if there is none: groups, lines and times follow from it.",
        "the one in your data folder, which is made once",
    ),
    method="hm2, mdav, v-mdav, md, cbfs, mf-tsp or decomposition; with --as-published its path and "
    "compression, too: hm2:concorde:c=5.",
    refine=("anneal, descent, swap, rcs or none.", "anneal; none with --as-published"),
    memory=("Memory limit for a folder of parts, such as 4GB; on a cluster, per worker.", "4GB"),
    ledger="Your private list of releases, such as trips.ledger, made if there is none: "
    "what it lists is not released again, and this release is entered in it.",
    public_places="An .osm.pbf file: at its stations, bus stations and airports everybody may be "
    "known to be, and --distinct-ends asks nothing of ends there.",
    roads="An .osm.pbf file: lay the released lines on its roads, computed from these lines and "
    "public data alone; a line with a point over 100 m from all roads stays as it is.",
    cluster="Dask scheduler to use for a folder of parts, such as tcp://10.0.0.1:8786, or local:4 "
    "for four local processes.",
    out=(
        "File to write: .parquet, .gpkg, .geojson, .csv, .gpx, or with times .mfjson; for parts, "
        "a folder.",
        f"{ANONYMIZED}, or {RELEASE}",
    ),
)
def anonymize(
    trajectories: str = str(TRAJECTORIES),
    *,
    k: int,
    time_step: str = "5min",
    refine: str | None = None,
    subjects_exact: bool = False,
    memory: str | None = None,
    cluster: str | None = None,
    key: Path | None = None,
    ledger: Path | None = None,
    public_places: Path | None = None,
    roads: Path | None = None,
    out: str | None = None,
    as_json: bool = False,
    **how: Any,
) -> None:
    """Replace each trajectory by the centroid of a group of at least k."""
    run = typed_options(anonymize, locals() | how)

    # Loaded before drafts are made: Ctrl-C during an import may end with another exit code.
    from trajanon.cli.progress_bars import bars
    from trajanon.cli.report_tables import rows_of, show_path, show_release, without_lists
    from trajanon.release.holder_key import holders_key
    from trajanon.release.report import report_path
    from trajanon.shards.publication import anonymize_file

    how |= method_of(how.get("method", Settings.method), published=how.get("as_published", False))
    if refine is not None:
        how["refine"] = refine
    if not trajectories:
        raise BadInput("`trajectories` is empty: name what extract wrote")
    in_parts = "://" in trajectories or Path(trajectories).is_dir()
    if out is None:
        out = str(RELEASE if in_parts else ANONYMIZED)
    how |= {"k": k, "subjects_exact": subjects_exact, "ledger": ledger, "run": run}
    if key is not None:
        for name, value in (("ledger", ledger), ("as_published", how.get("as_published"))):
            if value:  # before the file is made
                raise BadInput(f"`{name}` does not take a key of yours: leave out `key`")
        how["key"] = holders_key(key)
    seconds = seconds_of("--time-step", time_step)
    # Of others than whole seconds the settings say what is wrong.
    how["time_step"] = int(seconds) if seconds.is_integer() else seconds
    if roads is not None:
        from trajanon.extract import roads_to_follow

        how["roads"] = roads_to_follow(roads)
    if public_places is not None:
        from trajanon.extract import hidden

        how["public_places"] = hidden(public_places, PUBLIC, radius=200.0)
    if in_parts:
        if public_places is not None:
            raise BadInput("--public-places is for a file of trajectories: put the parts into one")
        beside, report = _of_parts(trajectories, out, memory or "4GB", cluster, **how)
    else:
        for name, value in (("--memory", memory), ("--cluster", cluster)):
            if value is not None:
                make_one = "make one with trajanon extract --partition 100000"
                raise BadInput(f"{name} {value} is for a folder of parts: {make_one}")
        beside = str(report_path(Path(out)))
        with bars() as progress:
            report = anonymize_file(trajectories, out, progress=progress, **how)
    if as_json:
        show_json(without_lists(report))
        return
    show_release(report)
    tell(f"{beside} is for you alone, not for publication.")
    if report.get("as_published"):
        show_path(report)
        tell(f"Wrote {rows_of(report)} to {out}. trajanon microaggregate gives the same means.")
        return
    say_written(rows_of(report), out, str(ANONYMIZED), "check", k)


def _of_parts(
    folder: str, out: str, memory: str, cluster: str | None, **how: Any
) -> tuple[str, dict[str, Any]]:
    from trajanon.cli.progress_bars import bars
    from trajanon.common.workers import connected
    from trajanon.files.release_formats import RELEASE_FORMATS
    from trajanon.shards.parts import parts_report_path

    if Path(out).suffix.lower() in RELEASE_FORMATS:
        raise BadInput(f"{folder} is a folder of parts: --out must name a folder, too (got {out})")
    on_cluster = nullcontext() if cluster is None else connected(cluster)
    try:
        with bars() as progress, on_cluster as client:
            report = trajanon.anonymize_parts(
                folder, out, memory=memory, client=client, progress=progress, **how
            )
    except KeyboardInterrupt:  # no groups so far, for not all rows have one
        say(f"stopped; nothing was released, and {out} is as it was")
        raise SystemExit(INTERRUPTED) from None
    return parts_report_path(out), report
