"""trajanon evaluate."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

import trajanon
from trajanon.cli.errors_and_exit_codes import RELEASE_AT_FAULT
from trajanon.cli.evaluate_side_by_side import compare
from trajanon.cli.map_command import roads_around
from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import ANONYMIZED, TRAJECTORIES, check_page, options
from trajanon.common.errors import BadInput

if TYPE_CHECKING:
    from trajanon.common.arrays import Floats
    from trajanon.common.progress import Progress
    from trajanon.evaluation.evidence import Evaluation
    from trajanon.evaluation.publisher_and_licence import Publisher
    from trajanon.release.matched_to_roads import RoadsToFollow

_FEW = 1_000  # trajectories, which are anonymized with other k in seconds


@options(few=f"{_FEW:,}")
def evaluate(
    files: list[Path] | None = None,
    *,
    curve: str | None = None,
    holdout: bool = False,
    roads: Path | None = None,
    mode: str = "any",
    publisher: Path | None = None,
    match: Literal["id", "order"] | None = None,
    method: str | None = None,
    out: Path = Path("evaluation.html"),
    subjects_exact: bool = False,
    as_json: bool = False,
) -> None:
    """Measure what a release protects, and what it costs.

    Exit code 0: the promise holds; 1: it does not; 2: nothing could be evaluated. Of several
    releases, or another program's, no promise is checked, and the code is 0.
    """
    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import replacing
    from trajanon.evaluation.publisher_and_licence import Publisher
    from trajanon.release.report_files import report_path

    paths = files or [TRAJECTORIES, ANONYMIZED]
    check_page(out, "an evaluation")
    if roads is None and mode != "any":
        raise BadInput(f"--mode {mode} is for --roads: leave it out")

    is_for_ours = curve is not None or holdout or publisher is not None
    is_for_others = match is not None or method is not None
    if not _is_ours(paths, is_for_ours=is_for_ours, is_for_others=is_for_others):
        compare(paths, roads, mode, match, method, out, subjects_exact, as_json)
        if len(paths) == 2 and not as_json:
            report = report_path(paths[1])
            tell(
                f"There is no {report}, so {paths[1]} was taken for another program's, and k was "
                "not checked. If trajanon made it, put its report beside it."
            )
        return

    originals, released = paths
    ks = None if curve is None else _numbers(curve)
    publisher_words = None if publisher is None else Publisher.read(publisher)
    network_around = None if roads is None else partial(roads_around, roads=roads, mode=mode)
    private, public = _outputs(out, released, with_record=publisher is not None)
    inputs = [*paths, report_path(released), *filter(None, (roads, publisher))]
    replaced = replacing(*private, *public, inputs=inputs, public=public)

    with bars() as progress, replaced as drafts:
        evaluation = _evaluated(
            originals,
            released,
            ks,
            network_around,
            publisher_words,
            holdout=holdout,
            subjects_exact=subjects_exact,
            progress=progress,
        )
        _write(drafts, evaluation, released, with_record=publisher is not None)

    if as_json:
        show_json(evaluation.account)
    else:
        _show(evaluation, private, public)
    if not evaluation.holds:
        raise typer.Exit(RELEASE_AT_FAULT)


def _outputs(
    page: Path, released: Path, *, with_record: bool
) -> tuple[Sequence[Path], Sequence[Path]]:
    """Name the files for the holder alone, and those to publish beside the release."""
    from trajanon.release.report_files import datasheet_path, report_path

    record = [page.with_suffix(".record.html")] if with_record else []
    private = [page, page.with_suffix(".json"), *record]
    return private, [datasheet_path(released), report_path(released, "certificate.json")]


def _write(
    drafts: Sequence[Path], evaluation: "Evaluation", released: Path, *, with_record: bool
) -> None:
    """Write these files, in their order, as drafts."""
    from trajanon.evaluation.release_certificate import certificate, processing_record
    from trajanon.release.report_files import json_report

    record = [processing_record(evaluation)] if with_record else []
    private = [evaluation.html, json_report(evaluation.account), *record]
    public = [evaluation.datasheet, json_report(certificate(evaluation, released))]
    for draft, text in zip(drafts, private + public, strict=True):
        draft.write_text(text, encoding="utf-8")


def _evaluated(
    originals: Path,
    released: Path,
    ks: list[int] | None,
    network_around: "Callable[[Floats], RoadsToFollow] | None",
    publisher: "Publisher | None",
    *,
    holdout: bool,
    subjects_exact: bool,
    progress: "Progress",
) -> "Evaluation":
    """Evaluate a release: of large folders a sample, if nothing that is asked needs all rows.

    ``ks`` are of the curve; None takes a few where that takes seconds.
    """
    from trajanon.evaluation.evaluation import evaluate as evaluate_in_memory
    from trajanon.evaluation.large_folders import SAMPLED_ORIGINALS, evaluate_large
    from trajanon.release.originals import can_be_read_by_part
    from trajanon.release.report_files import read_report

    report = read_report(released)
    findings = trajanon.check(released, report.k)
    needs_all_rows = ks is not None or holdout or network_around is not None
    are_large_folders = originals.is_dir() and released.is_dir() and report.n > SAMPLED_ORIGINALS
    if not needs_all_rows and are_large_folders and can_be_read_by_part(report):
        return evaluate_large(
            originals,
            released,
            report,
            findings,
            subjects_exact=subjects_exact,
            publisher=publisher,
            progress=progress,
        )

    trajectories = trajanon.read_trajectories(originals, subjects_exact=subjects_exact)
    if ks is None:
        ks = sorted({2, report.k, 10}) if len(trajectories) <= _FEW else []
    return evaluate_in_memory(
        trajectories,
        trajanon.read_release(released),
        report,
        file=released.name,
        findings=findings,
        streets=None if network_around is None else network_around(trajectories.points),
        curve=ks,
        holdout=holdout,
        publisher=publisher,
        progress=progress,
    )


def _is_ours(files: Sequence[Path], *, is_for_ours: bool, is_for_others: bool) -> bool:
    """Check whether there is one release, with its report; refuse options of the other kind."""
    if len(files) < 2:
        raise BadInput("evaluate takes trajectories, and one or more releases made of them")
    originals, released, *other_releases = files
    if _has_report(originals):
        raise BadInput(f"{originals} is a release: name the trajectories it was made of first")

    # Whoever reads a file that is not there says so.
    is_ours = not other_releases and (not released.exists() or _has_report(released))
    if not is_ours and is_for_ours:
        raise BadInput(
            "--curve, --holdout and --publisher are for one release with its report beside it"
        )
    if is_ours and is_for_others and released.exists():
        raise BadInput(
            f"--match and --method are for releases of other programs: {released} has its report "
            f"beside it; use --holdout"
        )
    return is_ours


def _has_report(release: Path) -> bool:
    """Check whether a report stands beside a file, as beside our releases alone."""
    from trajanon.release.report_files import report_path

    return report_path(release).exists()


def _show(evaluation: "Evaluation", private: Sequence[Path], public: Sequence[Path]) -> None:
    """Print the verdict, and what was written."""
    from trajanon.cli.report_tables import show_verdict

    show_verdict(evaluation.verdict)
    if evaluation.sample_words is not None:
        tell()
        tell(evaluation.sample_words)
    for question, answer in evaluation.answers:
        tell()
        tell(question)
        tell(answer)
    tell()

    if evaluation.curve is not None:
        tell(evaluation.curve.words)
    if evaluation.holdout is not None:
        tell(evaluation.holdout.beside)
    wrote = f"Wrote {', '.join(map(str, private))}: keep these private."
    if evaluation.verdict:
        wrote += f" Publish {', '.join(map(str, public))} beside the release."
    tell(wrote)


def _numbers(text: str) -> list[int]:
    """Read whole numbers between commas."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError as error:
        raise BadInput(
            f"`curve` takes whole numbers between commas, as 2,3,4,5,8,10,20 (got {text!r})"
        ) from error
