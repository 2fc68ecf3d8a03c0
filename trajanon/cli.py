"""The command line: parse, call, print. Heavy imports wait inside the commands."""

import csv
import logging
import shlex
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from trajanon.errors import BadInput, TrajanonError

app = typer.Typer(
    help="k-anonymous GPS trajectories with the least information loss: "
    "extract, anonymize, check, map. For any table of numbers: microaggregate. "
    "Begin with: trajanon demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

TRAJECTORIES = Path("trajectories.parquet")
ANONYMIZED = Path("anonymized.parquet")
MAP = Path("map.html")
MICROAGGREGATED = Path("microaggregated.csv")
BENCHMARK = Path("benchmark.csv")

_STOPPED = 130  # the shell's exit code for Ctrl-C
_TERMINATED = 143  # and for an end from outside
_DEFECT = 70  # of the program; 1 is a release that does not hold

Method = Annotated[
    str,
    typer.Option(help="hm2, mdav, v-mdav, md, cbfs, mf-tsp or decomposition."),
]
Heuristic = Annotated[
    str,
    typer.Option(
        help="Path of hm2 and mf-tsp: or-opt, two-opt, nearest-neighbor, "
        "repetitive-nn, nearest-insertion, farthest-insertion, cheapest-insertion, "
        "arbitrary-insertion, mdav-lk, npn, md, mdav, cbfs, concorde or lkh."
    ),
]
Compression = Annotated[
    int, typer.Option(help="Records behind each point of hm2's path; 1 for none.")
]
Expansion = Annotated[
    str, typer.Option(help="How compressed records come back: by distance or row.")
]
Gamma = Annotated[
    float | None,
    typer.Option(
        help="How readily groups of v-mdav grow.", show_default="the best of several"
    ),
]
Subsets = Annotated[
    int | None,
    typer.Option(
        help="Parts that decomposition solves.",
        show_default="of some 1,500 / k records",
    ),
]
Refine = Annotated[str, typer.Option(help="anneal, descent, swap, rcs or none.")]
ShuffleProbability = Annotated[
    float, typer.Option(help="Of rcs: chance of a shuffle after each record.")
]
MaxEvents = Annotated[int, typer.Option(help="Of rcs: shuffles at most.")]
Effort = Annotated[
    str,
    typer.Option(
        help="fast (no annealing), balanced, or best (minutes; Ctrl-C takes the best "
        "so far)."
    ),
]
Seed = Annotated[int, typer.Option(help="Repeats the groups bit for bit.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def main() -> NoReturn:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    _log_to_screen()
    # An end from outside, too, shall leave no drafts behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        code = app(standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort) as stop:
        if isinstance(stop.__cause__, EOFError):  # typer takes both for Ctrl-C
            raise stop.__cause__ from None
        code = _STOPPED
    except TrajanonError as error:
        _say(str(error))
        code = 2
    except OSError as error:
        _say(f"{error.filename or 'the system'}: {error.strerror or error}")
        code = 2
    except Exception as error:
        # A usage error of typer, whose class has moved between typer's versions.
        if not hasattr(error, "format_message"):
            traceback.print_exc()
            sys.exit(_DEFECT)
        _say(f"{error.format_message().rstrip('.')}; see trajanon --help")
        code = 2
    if code == _STOPPED:
        _say("stopped; no file was left half-written")
    sys.exit(code)


def _say(message: str) -> None:
    typer.echo(f"trajanon: {message}", err=True)


def _log_to_screen() -> None:
    class ToScreen(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            _say(record.getMessage())

    logger = logging.getLogger("trajanon")
    logger.handlers = [ToScreen()]
    logger.setLevel(logging.INFO)


def _announce_compilation() -> None:
    from trajanon._kernels.compiled import announce

    def say(kept: bool) -> None:
        if kept:
            _say("compiling the kernels, once: some 20 to 40 seconds")
        else:
            _say(
                "compiling the kernels, some 20 to 40 seconds at every run: no folder "
                "to keep them can be written (NUMBA_CACHE_DIR names another)"
            )

    announce(say)


def _written(what: str, out: Path, default: Path, verb: str, k: int) -> None:
    name = "" if out == default else f" {shlex.quote(str(out))}"
    typer.echo(f"Wrote {what} to {out}. Next: trajanon {verb}{name} -k {k}")


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.")
    ] = False,
) -> None:
    """Say what there is, where no command is given."""
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"trajanon {version_of('trajanon')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def extract(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files and folders, like --source.", show_default=False),
    ] = None,
    bbox: Annotated[
        list[str] | None,
        typer.Option(
            help="madrid, barcelona, tarraco or another large city, or W,S,E,N in "
            "degrees; may be given several times."
        ),
    ] = None,
    area: Annotated[
        str | None,
        typer.Option(
            help="A boundary of --pbf by its name or relation number, or a file with "
            "polygons."
        ),
    ] = None,
    pbf: Annotated[
        Path | None, typer.Option(help="An .osm.pbf, for --area and --hide-near.")
    ] = None,
    admin_level: Annotated[
        int | None, typer.Option(help="Of --area, where names repeat.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="osm-api (the default), or files and folders: GPX and archives of it, "
            "the planet dump, tables, GeoLife, Porto, cabspotting, T-Drive, GeoPackage "
            "and others."
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="gpx, gpx-archive, geolife, cabspotting, porto, tdrive, geo or table, "
            "for all files; without, each is looked at.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Of a table: id=...,lat=...,lon=...,time=...,subject=..."),
    ] = None,
    untimed: Annotated[
        str,
        typer.Option(
            help="accept traces without times in their order, or reject them."
        ),
    ] = "accept",
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Refuse what cannot be read, instead of leaving it out."
        ),
    ] = False,
    points: Annotated[int, typer.Option(help="Points of a trajectory.")] = 30,
    spacing: Annotated[
        float | None,
        typer.Option(help="Metres between points along the track; a city has its own."),
    ] = None,
    max_gap: Annotated[
        str, typer.Option(help="Metres; a longer hop ends a track. Or: none.")
    ] = "500",
    trim_ends: Annotated[
        float,
        typer.Option(
            help="Metres around the ends of each trace, and where it stops, that are "
            "cut out at least."
        ),
    ] = 0.0,
    hide_near: Annotated[
        str | None,
        typer.Option(
            help="Places of --pbf that tracks are cut out around, such as "
            "amenity=hospital,place_of_worship."
        ),
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="Metres, for --hide-near.", show_default="150")
    ] = None,
    min_displacement: Annotated[
        float,
        typer.Option(help="Least net way of a trajectory, as a share of its length."),
    ] = 0.0,
    max_fill: Annotated[
        float,
        typer.Option(
            help="Largest share of points farther than one spacing from a real fix."
        ),
    ] = 1.0,
    windows: Annotated[
        str,
        typer.Option(
            help="all, or first or spread: take --per-trace of each trace, the first "
            "ones or evenly spread; so do the other limits."
        ),
    ] = "all",
    per_trace: Annotated[
        int | None,
        typer.Option(
            help="How many --windows first or spread takes.", show_default="1"
        ),
    ] = None,
    max_per_subject: Annotated[
        int | None, typer.Option(help="Take at most so many trajectories of a subject.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(help="Take at most so many in all, evenly over the subjects."),
    ] = None,
    no_tracks: Annotated[
        bool,
        typer.Option(
            "--no-tracks", help="Leave out the tracks on which windows may slide."
        ),
    ] = False,
    jobs: Annotated[
        int, typer.Option(help="Files read at once, by as many processes.")
    ] = 1,
    api_url: Annotated[
        str, typer.Option(help="A server with the OSM API.")
    ] = "https://api.openstreetmap.org",
    max_pages: Annotated[
        int, typer.Option(help="Pages of 5,000 points to ask the server for.")
    ] = 100,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Download again what is in the cache.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where a stopped extraction ended.")
    ] = False,
    out: Annotated[Path, typer.Option(help="GeoParquet to write.")] = TRAJECTORIES,
    as_json: Json = False,
) -> None:
    """Turn GPS traces into trajectories of equally spaced points."""
    from trajanon.extract.extraction import OSM_API, Extraction
    from trajanon.extract.sources.tables.columns import parse_columns
    from trajanon.extract.where import out_of_sight, place
    from trajanon.screen import Bars, show_extraction, show_json

    if out.suffix.lower() not in (".parquet", ".geoparquet"):
        msg = f"trajectories are written as GeoParquet: {out} must end in .parquet"
        raise BadInput(msg)
    _announce_compilation()
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
            max_gap=_metres_or_none(max_gap),
            trim_ends=trim_ends,
            min_displacement=min_displacement,
            max_fill=max_fill,
            windows=windows,
            per_trace=per_trace,
            max_per_subject=max_per_subject,
            limit=limit,
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
        provenance = extraction.write(out, resume=resume)
    if as_json:
        show_json(provenance)
        return
    show_extraction(provenance)
    what = f"{provenance['counts']['trajectories']:,} trajectories"
    _written(what, out, TRAJECTORIES, "anonymize", 4)


def _metres_or_none(text: str) -> float | None:
    if text.strip().lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        msg = f"--max-gap must be a number of metres, or none (got {text!r})"
        raise BadInput(msg) from None


@app.command()
def anonymize(
    trajectories: Annotated[
        Path, typer.Argument(help="What extract wrote.")
    ] = TRAJECTORIES,
    *,
    k: Annotated[
        int, typer.Option("-k", help="Least number of different subjects in a group.")
    ],
    count: Annotated[
        str,
        typer.Option(help="What k counts: subjects, or records whoever made them."),
    ] = "subjects",
    method: Method = "hm2",
    heuristic: Heuristic = "or-opt",
    compression: Compression = 1,
    expansion: Expansion = "distance",
    gamma: Gamma = None,
    subsets: Subsets = None,
    refine: Refine = "anneal",
    shuffle_probability: ShuffleProbability = 0.001,
    max_events: MaxEvents = 10,
    effort: Effort = "balanced",
    align: Annotated[
        bool,
        typer.Option(
            "--align/--no-align",
            help="Let trajectories slide on their tracks towards their groups.",
        ),
    ] = True,
    seed: Seed = 0,
    out: Annotated[
        Path, typer.Option(help="Ends in .parquet, .gpkg, .geojson, .csv or .gpx.")
    ] = ANONYMIZED,
    as_json: Json = False,
) -> None:
    """Replace each trajectory by the centroid of a group of at least k."""
    from trajanon.anonymization import anonymize as make_release
    from trajanon.anonymization import report_path
    from trajanon.files.release import check_format
    from trajanon.files.trajectories import read_trajectories
    from trajanon.outputs import replacing
    from trajanon.screen import (
        STOPPED,
        Bars,
        show_json,
        show_release,
        without_lists,
    )

    check_format(out)
    _announce_compilation()
    report = report_path(out)
    with replacing(out, report, inputs=[trajectories]) as drafts, Bars() as bars:
        release = make_release(
            read_trajectories(trajectories),
            k,
            count=count,
            align=align,
            method=method,
            heuristic=heuristic,
            compression=compression,
            expansion=expansion,
            gamma=gamma,
            subsets=subsets,
            refine=refine,
            shuffle_probability=shuffle_probability,
            max_events=max_events,
            effort=effort,
            seed=seed,
            progress=bars,
        )
        release.write_drafts(*drafts)
    if as_json:
        show_json(without_lists(release.report))
        return
    show_release(release.report)
    if release.report["stopped"]:
        typer.echo(STOPPED)
    typer.echo(f"{report}: {release.report['notice']}")
    what = f"{len(release.trajectories):,} trajectories"
    _written(what, out, ANONYMIZED, "check", k)


@app.command()
def check(
    released: Annotated[Path, typer.Argument(help="A released file.")] = ANONYMIZED,
    *,
    k: Annotated[int, typer.Option("-k", help="The group size promised.")],
    as_json: Json = False,
) -> None:
    """Check a released file by itself: exit code 0 it holds, 1 not, 2 unreadable."""
    from dataclasses import asdict

    from trajanon.privacy.checker import check as findings_of
    from trajanon.screen import show_json

    findings = findings_of(released, k)
    onward = "" if released == ANONYMIZED else f" --public {shlex.quote(str(released))}"
    if as_json:
        show_json({**asdict(findings), "holds": findings.holds})
    elif findings.holds:
        typer.echo(
            f"{released} holds: each of its {findings.groups:,} different "
            f"trajectories occurs at least {k} times ({findings.trajectories:,} in "
            f"all), and nothing else is in the file. Next: trajanon map{onward}"
        )
    else:
        typer.echo(f"{released} must not be published:")
        for problem in findings.problems:
            typer.echo(f"- {problem}")
    if not findings.holds:
        raise typer.Exit(1)


@app.command("map")
def draw(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Trajectories and release; with --public the release alone.",
            show_default=f"{TRAJECTORIES} {ANONYMIZED}",
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Show the release only.")
    ] = False,
    tiles: Annotated[
        str,
        typer.Option(
            help="Street map behind the lines, or none. Whoever opens the map asks its "
            "server for tiles, which tells that server where the data are."
        ),
    ] = "OpenStreetMap",
    out: Annotated[Path, typer.Option(help="Page to write.")] = MAP,
) -> None:
    """Draw original and released trajectories on a map."""
    from trajanon import maps
    from trajanon.anonymization import read_report, report_path
    from trajanon.files.release import read_release
    from trajanon.files.trajectories import read_trajectories
    from trajanon.outputs import replacing
    from trajanon.privacy.checker import check as findings_of

    given = files or [TRAJECTORIES, ANONYMIZED]
    if len(given) != 2 and not (public and len(given) == 1):
        msg = "map takes two files, trajectories and release; or, with --public, one"
        raise BadInput(msg)
    if out.suffix.lower() not in (".html", ".htm"):
        msg = f"a map is a page: {out} must end in .html"
        raise BadInput(msg)
    street_map = None if tiles.lower() == "none" else tiles
    with replacing(out, inputs=[*given, report_path(given[-1])]) as (draft,):
        release = read_release(given[-1])
        if public:
            # Arguments are easily swapped, and originals must not look released.
            problems = findings_of(given[-1], k=2).problems
            if problems:
                msg = f"{given[-1]} is no release: {problems[0]}"
                raise BadInput(msg)
            drawn = maps.public(release, tiles=street_map)
        else:
            drawn = maps.compare(
                read_trajectories(given[0]),
                release,
                read_report(given[-1]),
                tiles=street_map,
            )
        maps.save(drawn, draft)
    typer.echo(f"Open {out.resolve()} in a browser.")


@app.command()
def microaggregate(
    file: Annotated[
        Path, typer.Argument(help="CSV or Parquet with a header, a record a row.")
    ],
    *,
    k: Annotated[
        int, typer.Option("-k", help="Least number of rows, or subjects, in a group.")
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns to microaggregate: a,b,c.",
            show_default="all that hold numbers",
        ),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            help="Columns to keep as they are: a,b,c, or all. They can identify.",
            show_default="none",
        ),
    ] = "",
    subject: Annotated[
        str | None,
        typer.Option(help="The column that says whose a row is; it is dropped."),
    ] = None,
    method: Method = "hm2",
    heuristic: Heuristic = "or-opt",
    compression: Compression = 1,
    expansion: Expansion = "distance",
    gamma: Gamma = None,
    subsets: Subsets = None,
    refine: Refine = "anneal",
    shuffle_probability: ShuffleProbability = 0.001,
    max_events: MaxEvents = 10,
    effort: Effort = "balanced",
    seed: Seed = 0,
    out: Annotated[
        Path, typer.Option(help="Ends in .csv or .parquet.")
    ] = MICROAGGREGATED,
    as_json: Json = False,
) -> None:
    """Replace the rows of a table of numbers by the means of groups of at least k.

    Rows keep their order, and k counts for the microaggregated columns alone.
    """
    from trajanon.files.numeric_table import check_format
    from trajanon.outputs import replacing
    from trajanon.screen import STOPPED, Bars, show_json, show_microaggregated
    from trajanon.tables import microaggregate_table

    check_format(out)
    _announce_compilation()
    with replacing(out, inputs=[file]) as (draft,), Bars() as bars:
        result = microaggregate_table(
            file,
            k,
            columns=None if columns is None else _names(columns),
            keep=_names(keep),
            subject=subject,
            method=method,
            heuristic=heuristic,
            compression=compression,
            expansion=expansion,
            gamma=gamma,
            subsets=subsets,
            refine=refine,
            shuffle_probability=shuffle_probability,
            max_events=max_events,
            effort=effort,
            seed=seed,
            progress=bars,
        )
        result.write_draft(draft)
    if as_json:
        show_json({**result.report, "out": str(out)})
        return
    show_microaggregated(result.report)
    if result.report["stopped"]:
        typer.echo(STOPPED)
    for notice in result.report["notices"]:
        typer.echo(notice)
    typer.echo(f"Wrote {len(result.table):,} rows to {out}.")


@app.command()
def bound(
    file: Annotated[
        Path, typer.Argument(help="CSV or Parquet with a header, a record a row.")
    ],
    *,
    k: Annotated[int, typer.Option("-k", help="Least number of rows in a group.")],
    columns: Annotated[
        str | None,
        typer.Option(
            help="Columns whose loss is meant: a,b,c.",
            show_default="all that hold numbers",
        ),
    ] = None,
    effort: Effort = "best",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say how far the groups found can be from the best: a lower bound, with proof.

    Minutes for a thousand rows up to k = 5; weaker for larger groups and tables.
    """
    from trajanon.certificate import certify_table
    from trajanon.screen import Bars, show_certificate, show_json

    _announce_compilation()
    with Bars() as bars:
        certificate = certify_table(
            file,
            k,
            columns=None if columns is None else _names(columns),
            effort=effort,
            seed=seed,
            progress=bars,
        )
    if as_json:
        show_json(certificate.account)
        return
    show_certificate(certificate.account)
    if certificate.partition.stopped:
        typer.echo("Stopped by Ctrl-C: a longer search might bring the two closer.")
    typer.echo(
        "The bound is certified: it is that of a linear programme over all groups, and "
        "was proven anew. Groups that reach it need not exist."
        if certificate.bound.certified
        else "The bound is true but not certified: limits were met before it was as "
        "high as a linear programme over all groups."
    )


def _names(text: str) -> list[str]:
    """Read column names between commas; one that holds a comma stands in quotes."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        msg = f"cannot read {text!r} as column names between commas: {error}"
        raise BadInput(msg) from error


@app.command()
def benchmark(
    table: Annotated[
        list[str],
        typer.Option(
            help="hm2, compression, rcs, mf-tsp, decomposition, timing or all."
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="Folder with census.csv, tarragona.csv, eia.csv, or trajectories "
            "(.parquet); the published tables in ../published."
        ),
    ] = Path("../shared/reference/datasets"),
    repeats: Annotated[
        int, typer.Option(help="Runs of whatever chance plays a part in.")
    ] = 50,
    out: Annotated[
        Path, typer.Option(help="CSV to write; a page (.md) is written beside it.")
    ] = BENCHMARK,
    as_json: Json = False,
) -> None:
    """Measure the papers' tables again, on this machine."""
    from dataclasses import asdict

    from trajanon.benchmark.benchmark import benchmark as measure
    from trajanon.benchmark.measurement import Measurement
    from trajanon.benchmark.writing import write_csv, write_markdown
    from trajanon.outputs import check_outputs, replacing
    from trajanon.screen import Bars, show_json, show_measurements

    if out.suffix.lower() != ".csv":
        msg = f"the measurements are written as CSV: {out} must end in .csv"
        raise BadInput(msg)
    page = out.with_suffix(".md")
    read = [*data.glob("*"), *data.parent.glob("published/*")]
    check_outputs(out, page, inputs=read)
    _announce_compilation()
    measured: list[Measurement] = []
    with Bars() as bars:
        for found in measure(table, data, repeats=repeats, progress=bars):
            measured += found
            # Written anew after each table: an end in between loses only the last.
            with replacing(out, page, inputs=read) as drafts:
                write_csv(drafts[0], measured)
                write_markdown(drafts[1], measured)
    if as_json:
        show_json({"measurements": [asdict(m) for m in measured]})
        return
    show_measurements(measured)
    typer.echo(f"Wrote {len(measured):,} measurements to {out}, and a page to {page}.")


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where the results go.")] = Path(
        "trajanon-demo"
    ),
) -> None:
    """Run the whole chain on the bundled synthetic sample, without network."""
    from trajanon.data import sample
    from trajanon.errors import FileProblem

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {folder}: {error.strerror}; name another one"
        raise FileProblem(msg) from error
    trajectories, released = folder / TRAJECTORIES, folder / ANONYMIZED
    typer.echo("1. trajanon extract --bbox madrid --source (the bundled sample)")
    extract(source=[str(sample())], bbox=["madrid"], out=trajectories)
    typer.echo("\n2. trajanon anonymize -k 4")
    anonymize(trajectories, k=4, out=released)
    typer.echo("\n3. trajanon check -k 4")
    check(released, k=4)
    typer.echo("\n4. trajanon map")
    draw([trajectories, released], out=folder / MAP)
