"""trajanon anonymize."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from trajanon.cli.options import (
    ANONYMIZED,
    RELEASE,
    TRAJECTORIES,
    Compression,
    Effort,
    Expansion,
    Gamma,
    Heuristic,
    Json,
    MaxEvents,
    Method,
    Refine,
    Seed,
    ShuffleProbability,
    SubjectsExact,
    Subsets,
)
from trajanon.cli.wording import STOPPED, announce_compilation, say, say_written, tell
from trajanon.errors import BadInput


def anonymize(
    trajectories: Annotated[
        str, typer.Argument(help="What extract wrote: a file, or a folder of parts.")
    ] = str(TRAJECTORIES),
    *,
    k: Annotated[int, typer.Option("-k", help="Least number of different subjects in a group.")],
    count: Annotated[
        str, typer.Option(help="What k counts: subjects, or records whoever made them.")
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
    suppress: Annotated[
        str,
        typer.Option(help="Leave out those that cost most: at most this share of all, such as 1%."),
    ] = "0%",
    min_radius: Annotated[
        float,
        typer.Option(
            help="Metres; leave out groups whose members all stay this close to the released line."
        ),
    ] = 0.0,
    digits: Annotated[
        int,
        typer.Option(
            min=4,
            max=7,
            help="Decimals of released degrees; 4 are 11 m. Each one more makes it easier "
            "to tell who is in a group, for somebody who holds all other tracks.",
        ),
    ] = 4,
    subjects_exact: SubjectsExact = False,
    seed: Seed = 0,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Of parts: what may be taken, such as 4GB; by each worker of a cluster.",
            show_default="4GB",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Of parts: a Dask scheduler that shares the work out, such as "
            "tcp://10.0.0.1:8786, or local:4 for so many processes."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Ends in .parquet, .gpkg, .geojson, .csv or .gpx; a folder, if parts are read.",
            show_default=f"{ANONYMIZED}, or {RELEASE}",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Replace each trajectory by the centroid of a group of at least k."""
    from trajanon.cli.results import show_release, without_lists
    from trajanon.cli.screen import bars, show_json

    announce_compilation()
    in_parts = "://" in trajectories or Path(trajectories).is_dir()
    if out is None:
        out = str(RELEASE if in_parts else ANONYMIZED)
    with _told_if_stopped(out) if in_parts else nullcontext(), bars() as progress:
        options: dict[str, Any] = dict(  # noqa: C408
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
            progress=progress,
        )
        if in_parts:
            _refuse_of_parts(suppress, min_radius)
            beside, report = _of_parts(
                trajectories,
                out,
                options,
                memory,
                cluster,
                k=k,
                count=count,
                digits=digits,
                subjects_exact=subjects_exact,
            )
        else:
            _refuse_of_file(memory, cluster)
            beside, report = _of_file(
                Path(trajectories),
                Path(out),
                options,
                k=k,
                count=count,
                align=align,
                suppress=_share(suppress),
                min_radius=min_radius,
                digits=digits,
                subjects_exact=subjects_exact,
            )
    if as_json:
        show_json(without_lists(report))
        return
    show_release(report)
    tell(f"{beside}: {report['notice']}")
    say_written(f"{report['n']:,} trajectories", out, str(ANONYMIZED), "check", k, digits)


def _of_file(
    trajectories: Path, out: Path, options: dict[str, Any], *, subjects_exact: bool, **how: Any
) -> tuple[str, dict[str, Any]]:
    """Anonymise a file; say where the report is, and what is in it."""
    from trajanon.anonymization import anonymize as make_release
    from trajanon.files.release import check_format
    from trajanon.files.report import report_path
    from trajanon.files.trajectories import read_trajectories
    from trajanon.outputs import replacing

    check_format(out)
    report = report_path(out)
    with replacing(out, report, inputs=[trajectories], public=[out]) as drafts:
        originals = read_trajectories(trajectories, subjects_exact=subjects_exact)
        release = make_release(originals, **how, **options)
        release.write_drafts(*drafts)
    return str(report), release.report


def _of_parts(
    folder: str,
    out: str,
    options: dict[str, Any],
    memory: str | None,
    cluster: str | None,
    **how: Any,
) -> tuple[str, dict[str, Any]]:
    """Anonymise a folder of parts; say where the report is, and what is in it."""
    from trajanon.files.release import FORMATS
    from trajanon.parts.executors import connected
    from trajanon.parts.replacement import report_of
    from trajanon.parts.workflow import anonymize_parts

    if Path(out).suffix.lower() in FORMATS:
        msg = f"{folder} is a folder of parts, and --out then names one (got {out})"
        raise BadInput(msg)
    memory = "4GB" if memory is None else memory
    with ExitStack() as closing:
        client = None if cluster is None else closing.enter_context(connected(cluster))
        report = anonymize_parts(folder, out, memory=memory, client=client, **how, **options)
    return report_of(out), report


@contextmanager
def _told_if_stopped(out: str) -> Iterator[None]:
    """Say what Ctrl-C leaves of parts: no groups so far, for not all rows have one."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped; nothing was released, and what stood in {out} is as it was")
        raise SystemExit(STOPPED) from None


def _refuse_of_file(memory: str | None, cluster: str | None) -> None:
    for name, value in (("--memory", memory), ("--cluster", cluster)):
        if value is not None:
            msg = (
                f"{name} {value} is for a folder of parts: make one with trajanon "
                "extract --partition 100000"
            )
            raise BadInput(msg)


def _refuse_of_parts(suppress: str, min_radius: float) -> None:
    if _share(suppress) or min_radius:
        msg = "--suppress and --min-radius are for files: a folder of parts is released whole"
        raise BadInput(msg)


def _share(text: str) -> float:
    """Read a percentage as a share."""
    number = text.strip()
    try:
        if not number.endswith("%"):
            raise ValueError
        return float(number[:-1]) / 100.0
    except ValueError:
        msg = f"--suppress must be a percentage, such as 1% (got {text!r})"
        raise BadInput(msg) from None
