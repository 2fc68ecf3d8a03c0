"""trajanon anonymize."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack, cast

import trajanon.extract
from trajanon.cli.errors_and_exit_codes import INTERRUPTED
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
from trajanon.common.object_stores import is_url
from trajanon.common.search_and_release_options import (
    MEMORY,
    AnonymizeKeywords,
    RefinementName,
    ReleaseSettings,
    Settings,
)

if TYPE_CHECKING:
    from trajanon.release.matched_to_roads import RoadsToFollow


class _FileKeywords(AnonymizeKeywords, total=False):
    """What a file and a folder of parts both take."""

    subjects_exact: bool
    ledger: Path | None
    key: Path | None
    roads: "RoadsToFollow | None"
    run: Options | None


PUBLIC_PLACE_TAGS = (
    "railway=station,halt,public_transport=station,amenity=bus_station,aeroway=aerodrome"
)
"""Tags of places where everybody may be known to be."""

PUBLIC_RADIUS_METRES = 200.0
"""An end this near to such a place tells nothing about a person."""


@options(ReleaseSettings, Settings)
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
    """Replace trajectories by averages of groups of at least k."""
    # The report repeats them. Only here, at first, are locals the options alone.
    run = typed_options(anonymize, {**locals(), **settings})

    # Such as a variable that is not set.
    if not trajectories:
        raise BadInput("`trajectories` is empty: name the file that extract wrote")
    if out == "":
        raise BadInput("`out` is empty: name a file, or a folder for a release in parts")
    in_parts = is_url(trajectories) or Path(trajectories).is_dir()  # a URL is always a folder
    if out is None:
        out = str(RELEASE if in_parts else ANONYMIZED)
    if in_parts:
        _refuse_options_of_a_file(trajectories, out, public_places)
    else:
        _refuse_options_of_parts(memory=memory, cluster=cluster)

    settings.update(method_of(method_text, published=settings.get("as_published", False)))
    step = seconds_of("--time-step", time_step_text)
    # The settings refuse one that is not of whole seconds.
    settings["time_step"] = int(step) if step.is_integer() else cast(int, step)
    settings["leave_out"] = _percent_of(leave_out_text)
    if refine_text is not None:
        settings["refine"] = cast(RefinementName, refine_text)  # which the settings check
    keywords: _FileKeywords = {
        **settings,
        "subjects_exact": subjects_exact,
        "ledger": ledger,
        "key": key,
        "roads": None if roads is None else trajanon.extract.roads_to_follow(roads),
        "run": run,
    }

    if in_parts:
        report, report_path = _release_parts(trajectories, out, k, memory, cluster, keywords)
    else:
        report, report_path = _release_file(trajectories, out, k, public_places, keywords)

    if as_json:
        from trajanon.cli.report_tables import without_lists

        show_json(without_lists(report))
    else:
        _show_release(report, out, report_path)


def _release_parts(
    trajectories: str,
    out: str,
    k: int,
    memory: str | None,
    cluster: str | None,
    keywords: _FileKeywords,
) -> tuple[Mapping[str, object], str]:
    """Anonymise a folder of parts; return the report, and where it is."""
    # Loaded before drafts are made: Ctrl-C during an import may end with another exit code.
    from trajanon.cli.progress_bars import bars
    from trajanon.common.threads_and_dask import connected
    from trajanon.shards.anonymize_folders import anonymize_parts, parts_report_path

    with bars() as progress, connected(cluster) as client, _released_or_as_it_was(out):
        report = anonymize_parts(
            trajectories,
            out,
            k,
            memory=MEMORY if memory is None else memory,
            client=client,
            progress=progress,
            **keywords,
        )
    return report, parts_report_path(out)


def _release_file(
    trajectories: str, out: str, k: int, public_places: Path | None, keywords: _FileKeywords
) -> tuple[Mapping[str, object], str]:
    """Anonymise a file; return the report, and where it is."""
    # Loaded before drafts are made: Ctrl-C during an import may end with another exit code.
    from trajanon.cli.progress_bars import bars
    from trajanon.grouping.refinements.annealing import compile_ahead
    from trajanon.release.report_files import report_path
    from trajanon.shards.anonymize_one_file import anonymize_file

    places = None
    if public_places is not None:
        places = trajanon.extract.hidden(
            public_places, PUBLIC_PLACE_TAGS, radius=PUBLIC_RADIUS_METRES
        )

    # Kernels are compiled in another process, while the file is read and paths are found.
    will_anneal = keywords.get("refine", Settings.refine) == "anneal"
    if will_anneal and not keywords.get("as_published", False):
        compile_ahead()
    with bars() as progress:
        report = anonymize_file(
            trajectories, out, k, public_places=places, progress=progress, **keywords
        )
    return report, str(report_path(Path(out)))


def _show_release(report_of_release: Mapping[str, object], out: str, report_path: str) -> None:
    """Print what was released, where it is, and what comes next."""
    from trajanon.cli.report_tables import rows_in_words, show_path, show_release
    from trajanon.release.report_files import checked, datasheet_path

    report = checked(report_of_release)
    show_release(report)
    tell(f"Keep {report_path} private: it says who is in which group.")
    if (datasheet := datasheet_path(Path(out))).exists():
        tell(
            f"{datasheet} is of an earlier release, and so is a certificate beside it: run "
            "trajanon evaluate before you publish them."
        )
    if report.as_published:
        show_path(report)
        tell(
            f"Wrote {rows_in_words(report)} to {out}. trajanon microaggregate gives the same means."
        )
        return
    say_written(rows_in_words(report), out, str(ANONYMIZED), "check", report.k)


def _refuse_options_of_parts(**options: str | None) -> None:
    """Refuse options of a folder of parts where one file is anonymised."""
    for name, value in options.items():
        if value is not None:
            raise BadInput(
                f"--{name} {value} is for a folder of parts: make one with trajanon extract "
                "--partition 100000"
            )


def _refuse_options_of_a_file(trajectories: str, out: str, public_places: Path | None) -> None:
    """Refuse options of one file where a folder of parts is anonymised."""
    from trajanon.files.release_formats import RELEASE_FORMATS

    if public_places is not None:
        raise BadInput("--public-places needs one file of trajectories, not a folder of parts")
    if Path(out).suffix.lower() in RELEASE_FORMATS:
        raise BadInput(
            f"{trajectories} is a folder of parts: --out must name a folder, too (got {out})"
        )


def _percent_of(text: str) -> float:
    """Read a percentage, with or without its sign."""
    try:
        return float(text.removesuffix("%"))
    except ValueError as error:
        raise BadInput(f"`leave_out` is a percentage, such as 2% (got {text!r})") from error


@contextmanager
def _released_or_as_it_was(out: str) -> Iterator[None]:
    """Report that nothing was released if Ctrl-C ends the block.

    The search of a file keeps what it has found. Of a folder not all rows have a group then.
    """
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped; nothing was released, and {out} is as it was")
        raise SystemExit(INTERRUPTED) from None
