"""trajanon anonymize."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from trajanon.cli.options import (
    ANONYMIZED,
    RELEASE,
    TRAJECTORIES,
    Json,
    SubjectsExact,
    with_options,
)
from trajanon.cli.wording import INTERRUPTED, announce_compilation, say, say_written, tell
from trajanon.errors import BadInput
from trajanon.settings import ReleaseSettings, Settings


@with_options(Settings)
@with_options(ReleaseSettings)
def anonymize(
    trajectories: Annotated[
        str, typer.Argument(help="What extract wrote: a file, or a folder of parts.")
    ] = str(TRAJECTORIES),
    *,
    k: Annotated[int, typer.Option("-k", help="Least number of different subjects in a group.")],
    suppress: Annotated[
        str,
        typer.Option(
            help="Leave out the trajectories that cost most: at most this share of all, such as 1%."
        ),
    ] = "0%",
    subjects_exact: SubjectsExact = False,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory limit for a folder of parts, such as 4GB; on a cluster, per worker.",
            show_default="4GB",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Dask scheduler to use for a folder of parts, such as tcp://10.0.0.1:8786, or "
            "local:4 for four local processes."
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="File to write: .parquet, .gpkg, .geojson, .csv or .gpx; for parts, a folder.",
            show_default=f"{ANONYMIZED}, or {RELEASE}",
        ),
    ] = None,
    as_json: Json = False,
    **options: Any,
) -> None:
    """Replace each trajectory by the centroid of a group of at least k."""
    from trajanon.cli.results import show_release, without_lists
    from trajanon.cli.screen import bars, show_json

    announce_compilation()
    in_parts = "://" in trajectories or Path(trajectories).is_dir()
    if out is None:
        out = str(RELEASE if in_parts else ANONYMIZED)
    share = _share(suppress)
    options |= {"k": k, "subjects_exact": subjects_exact}
    with _told_if_stopped(out) if in_parts else nullcontext(), bars() as progress:
        options["progress"] = progress
        if in_parts:
            if share or options.pop("min_radius", 0.0):
                msg = (
                    "--suppress and --min-radius are for files: a folder of parts is released whole"
                )
                raise BadInput(msg)
            options.pop("align", None)
            beside, report = _of_parts(trajectories, out, memory or "4GB", cluster, **options)
        else:
            for name, value in (("--memory", memory), ("--cluster", cluster)):
                if value is not None:
                    msg = (
                        f"{name} {value} is for a folder of parts: make one with trajanon "
                        "extract --partition 100000"
                    )
                    raise BadInput(msg)
            beside, report = _of_file(Path(trajectories), Path(out), suppress=share, **options)
    if as_json:
        show_json(without_lists(report))
        return
    show_release(report)
    tell(f"{beside}: {report['notice']}")
    what = f"{report['n']:,} trajectories"
    say_written(what, out, str(ANONYMIZED), "check", k, report["digits"])


def _of_file(
    trajectories: Path, out: Path, *, subjects_exact: bool, **how: Any
) -> tuple[str, dict[str, Any]]:
    """Anonymise a file; say where the report is, and what is in it."""
    from trajanon.anonymization import anonymize as make_release
    from trajanon.files.release import check_release_format
    from trajanon.files.report import report_path
    from trajanon.files.trajectories import read_trajectories
    from trajanon.outputs import replacing

    check_release_format(out)
    report = report_path(out)
    with replacing(out, report, inputs=[trajectories], public=[out]) as drafts:
        originals = read_trajectories(trajectories, subjects_exact=subjects_exact)
        release = make_release(originals, **how)
        release.write_drafts(*drafts)
    return str(report), release.report


def _of_parts(
    folder: str, out: str, memory: str, cluster: str | None, **how: Any
) -> tuple[str, dict[str, Any]]:
    """Anonymise a folder of parts; say where the report is, and what is in it."""
    from trajanon.files.release import RELEASE_FORMATS
    from trajanon.parts.executors import connected
    from trajanon.parts.replacement import report_of
    from trajanon.parts.workflow import anonymize_parts

    if Path(out).suffix.lower() in RELEASE_FORMATS:
        msg = f"{folder} is a folder of parts: --out must name a folder, too (got {out})"
        raise BadInput(msg)
    with nullcontext() if cluster is None else connected(cluster) as client:
        report = anonymize_parts(folder, out, memory=memory, client=client, **how)
    return report_of(out), report


@contextmanager
def _told_if_stopped(out: str) -> Iterator[None]:
    """Say what Ctrl-C leaves of parts: no groups so far, for not all rows have one."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped; nothing was released, and {out} is as it was")
        raise SystemExit(INTERRUPTED) from None


def _share(text: str) -> float:
    """Read a percentage as a share."""
    try:
        if not text.strip().endswith("%"):
            raise ValueError
        share = float(text.strip()[:-1]) / 100.0
    except ValueError:
        share = -1.0
    if not 0.0 <= share < 1.0:
        msg = f"--suppress must be a percentage below 100%, such as 1% (got {text!r})"
        raise BadInput(msg)
    return share
