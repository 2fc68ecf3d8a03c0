"""trajanon anonymize."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajanon.cli import anonymize_options as option
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
from trajanon.cli.telling import STOPPED, announce_compilation, say, say_written, tell
from trajanon.errors import BadInput

if TYPE_CHECKING:
    from trajanon.pipeline import Options


def anonymize(
    trajectories: option.Trajectories = str(TRAJECTORIES),
    *,
    k: option.K,
    count: option.Count = "subjects",
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
    align: option.Align = True,
    suppress: option.Suppress = "0%",
    min_radius: option.MinRadius = 0.0,
    digits: option.Digits = 4,
    subjects_exact: SubjectsExact = False,
    seed: Seed = 0,
    memory: option.Memory = None,
    cluster: option.Cluster = None,
    out: option.Out = None,
    as_json: Json = False,
) -> None:
    """Replace each trajectory by the centroid of a group of at least k."""
    from trajanon.pipeline import Options
    from trajanon.screen import Bars, show_json, show_release, without_lists

    announce_compilation()
    in_parts = "://" in trajectories or Path(trajectories).is_dir()
    if out is None:
        out = str(RELEASE if in_parts else ANONYMIZED)
    with _told_if_stopped(out) if in_parts else nullcontext(), Bars() as bars:
        options = Options(
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
    trajectories: Path, out: Path, options: "Options", *, subjects_exact: bool, **how: Any
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
    folder: str, out: str, options: "Options", memory: str | None, cluster: str | None, **how: Any
) -> tuple[str, dict[str, Any]]:
    """Anonymise a folder of parts; say where the report is, and what is in it."""
    from trajanon.files.release import FORMATS
    from trajanon.shards.anonymization import anonymize_parts
    from trajanon.shards.crew import connected
    from trajanon.shards.placing import report_of

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
