"""trajanon anonymize."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

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
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput
from trajanon.common.settings import (
    MEMORY,
    AnonymizeKeywords,
    RefinementName,
    ReleaseSettings,
    Settings,
)

if TYPE_CHECKING:
    from distributed import Client

    from trajanon.release.plan import Surroundings
    from trajanon.release.snapping import RoadsToFollow


class _FileKeywords(AnonymizeKeywords, total=False):
    """What a file and a folder of parts both take."""

    subjects_exact: bool
    ledger: Path | None
    key: Path | None
    roads: "RoadsToFollow | None"
    run: Options | None


PUBLIC = "railway=station,halt,public_transport=station,amenity=bus_station,aeroway=aerodrome"
"""Tags of places where everybody may be known to be."""


@options(
    ReleaseSettings,
    Settings,
    groups={
        "Release": "k rows subjects_exact key ledger out as_json",
        "People": "one_line_each days distinct_ends public_places leave_out",
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
    leave_out="Leave out whole groups after the search, those farthest from their means first, up "
    "to this share of the trips, such as 2%: mostly long ones, and the bias is printed.",
    key=(
        "File with your secret key, made if there is none: groups, lines and times follow from it.",
        "the one in your data folder, which is made once",
    ),
    method="hm2, mdav, v-mdav, md, cbfs, mf-tsp or decomposition; with --as-published its path and "
    "compression, too: hm2:concorde:c=5.",
    refine=("anneal, descent, swap, rcs or none.", "anneal; none with --as-published"),
    memory=("Memory limit for a folder of parts, such as 4GB; on a cluster, per worker.", MEMORY),
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
    time_step_text: str = "5min",
    leave_out_text: str = "0%",
    method_text: str = Settings.method,
    refine_text: str | None = None,
    subjects_exact: bool = False,
    memory: str | None = None,
    cluster: str | None = None,
    key: Path | None = None,
    ledger: Path | None = None,
    public_places: Path | None = None,
    roads: Path | None = None,
    out: str | None = None,
    as_json: bool = False,
    **settings: Unpack[AnonymizeKeywords],
) -> None:
    """Average trajectories in groups of at least k."""
    run = typed_options(anonymize, {**locals(), **settings})

    # Loaded before drafts are made: Ctrl-C during an import may end with another exit code.
    from trajanon.cli.progress_bars import bars
    from trajanon.cli.report_tables import rows_of, show_path, show_release, without_lists
    from trajanon.grouping.refinements.compilation import compile_ahead
    from trajanon.release.report import checked, report_path
    from trajanon.shards.parts import anonymize_parts, parts_report_path
    from trajanon.shards.single_file import anonymize_file

    if not trajectories:
        raise BadInput("`trajectories` is empty: name what extract wrote")
    in_parts = "://" in trajectories or Path(trajectories).is_dir()
    if out is None:
        out = str(RELEASE if in_parts else ANONYMIZED)
    _refuse_options_of_the_other(trajectories, in_parts, out, memory, cluster, public_places)

    as_published = settings.get("as_published", False)
    settings.update(method_of(method_text, published=as_published))
    settings["time_step"] = _step_of(time_step_text)
    settings["leave_out"] = _percent_of(leave_out_text)
    if refine_text is not None:
        settings["refine"] = cast(RefinementName, refine_text)  # which the settings check
    options: _FileKeywords = {
        **settings,
        "subjects_exact": subjects_exact,
        "ledger": ledger,
        "key": key,
        "roads": _roads_of(roads),
        "run": run,
    }

    if in_parts:
        beside = parts_report_path(out)
        with bars() as progress, _released_or_as_it_was(out), _client_of(cluster) as client:
            account = anonymize_parts(
                trajectories,
                out,
                k,
                memory=memory or MEMORY,
                client=client,
                progress=progress,
                **options,
            )
    else:
        beside = str(report_path(Path(out)))
        places = _places_of(public_places)
        if refine_text in (None, "anneal") and not as_published:
            compile_ahead()
        with bars() as progress:
            account = anonymize_file(
                trajectories, out, k, public_places=places, progress=progress, **options
            )

    if as_json:
        show_json(without_lists(account))
        return
    report = checked(account)
    show_release(report)
    tell(f"Keep {beside} private: it says who is in which group.")
    if as_published:
        show_path(report)
        tell(f"Wrote {rows_of(report)} to {out}. trajanon microaggregate gives the same means.")
        return
    say_written(rows_of(report), out, str(ANONYMIZED), "check", k)


def _refuse_options_of_the_other(
    trajectories: str,
    in_parts: bool,
    out: str,
    memory: str | None,
    cluster: str | None,
    public_places: Path | None,
) -> None:
    """Refuse what is for a folder of parts beside a file, and the other way round."""
    from trajanon.files.release_formats import RELEASE_FORMATS

    if not in_parts:
        for name, value in (("--memory", memory), ("--cluster", cluster)):
            if value is not None:
                make_one = "make one with trajanon extract --partition 100000"
                raise BadInput(f"{name} {value} is for a folder of parts: {make_one}")
        return

    if public_places is not None:
        raise BadInput("--public-places is for a file of trajectories: put the parts into one")
    if Path(out).suffix.lower() in RELEASE_FORMATS:
        raise BadInput(
            f"{trajectories} is a folder of parts: --out must name a folder, too (got {out})"
        )


def _step_of(text: str) -> int:
    """Read the step of times: of others than whole seconds the settings say what is wrong."""
    seconds = seconds_of("--time-step", text)
    return int(seconds) if seconds.is_integer() else cast(int, seconds)


def _percent_of(text: str) -> float:
    """Read a percentage, with or without its sign."""
    try:
        return float(text.removesuffix("%"))
    except ValueError as error:
        raise BadInput(f"`leave_out` is a percentage, such as 2% (got {text!r})") from error


def _roads_of(pbf: Path | None) -> "RoadsToFollow | None":
    if pbf is None:
        return None
    from trajanon.extract import roads_to_follow

    return roads_to_follow(pbf)


def _places_of(pbf: Path | None) -> "Surroundings | None":
    if pbf is None:
        return None
    from trajanon.extract import hidden

    return hidden(pbf, PUBLIC, radius=200.0)


@contextmanager
def _released_or_as_it_was(out: str) -> Iterator[None]:
    """Say that nothing was released if Ctrl-C ends the search: not all rows have a group."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped; nothing was released, and {out} is as it was")
        raise SystemExit(INTERRUPTED) from None


def _client_of(cluster: str | None) -> "AbstractContextManager[Client | None]":
    from trajanon.common.workers import connected

    return nullcontext() if cluster is None else connected(cluster)
