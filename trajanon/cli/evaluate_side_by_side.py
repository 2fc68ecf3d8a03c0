"""Several releases, or those of other programs, compared by trajanon evaluate."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import trajanon
from trajanon.cli.map_command import roads_around
from trajanon.cli.messages import show_json, tell
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import LEAST_K

if TYPE_CHECKING:
    from trajanon.evaluation.audit import Audit, MatchName
    from trajanon.evaluation.holdout_and_membership import Holdout
    from trajanon.evaluation.recordings import Originals
    from trajanon.release.matched_to_roads import RoadsToFollow
    from trajanon.trajectories.trajectories import Trajectories


def compare(
    files: Sequence[Path],
    roads: Path | None,
    mode: str,
    match: "MatchName | None",
    method: str | None,
    out: Path,
    subjects_exact: bool,
    as_json: bool,
) -> None:
    """Audit releases of any program beside the originals, and write one page."""
    from trajanon.cli.audit_of_other_programs import check_method, read_originals
    from trajanon.common.atomic_output import replacing
    from trajanon.evaluation.audit import ends_of_the_scale
    from trajanon.evaluation.comparison_page import page_of
    from trajanon.evaluation.evidence import NOTICE
    from trajanon.release.report_files import json_report

    if method is not None:
        check_method(method)
        if len(files) > 2:
            raise BadInput("`method` makes one release: evaluate each with its own command")

    names = [str(path) for path in files[1:]]
    if len({*names, "originals", "noise"}) < len(names) + 2:
        raise BadInput(
            "releases stand side by side by the names of their files: name each once, and none "
            "originals or noise, which are the ends of the scale"
        )

    json_path = out.with_suffix(".json")
    inputs = [*files, *filter(None, [roads])]
    with replacing(out, json_path, inputs=inputs) as (page_draft, json_draft):
        originals = read_originals(files[0], subjects_exact=subjects_exact)
        network = None if roads is None else roads_around(originals.trips.points, roads, mode)
        holdout = None if method is None else _held_out(originals, method)
        audits = ends_of_the_scale(originals, network)
        for path in files[1:]:
            audits.append(_audit(path, originals, match, network, holdout))

        in_json = {"notice": NOTICE, "releases": [audit.account for audit in audits]}
        page_draft.write_text(page_of(audits), encoding="utf-8")
        json_draft.write_text(json_report(in_json), encoding="utf-8")

    if as_json:
        show_json(in_json)
        return
    for audit in audits:
        _show(audit)
    tell(f"Wrote {out} and {json_path}: keep these private.")


def _audit(
    path: Path,
    originals: "Originals",
    match: "MatchName | None",
    roads: "RoadsToFollow | None",
    holdout: "Holdout | None",
) -> "Audit":
    """Audit a release, with its report if it has one and is of these originals."""
    from trajanon.cli.audit_of_other_programs import read_any
    from trajanon.evaluation.audit import audit, audit_with_report
    from trajanon.release.report_files import report_beside

    report = report_beside(path)
    if report is not None:
        release_of_ours = trajanon.read_release(path)
        try:
            return audit_with_report(str(path), originals, release_of_ours, report, roads=roads)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from error
    release = read_any(path, originals.trips.points.shape[1])
    return audit(str(path), originals, release, match=match, roads=roads, holdout=holdout)


def _held_out(originals: "Originals", method: str) -> "Holdout":
    """Publish halves of the people by a command, and see whether it shows who is in them."""
    from tempfile import TemporaryDirectory

    import numpy as np

    from trajanon.cli.audit_of_other_programs import read_any, run_method
    from trajanon.cli.progress_bars import bars
    from trajanon.evaluation.holdout_and_membership import Lines, measured_halves, published_halves

    # Nothing is known of the k of other programs: it is 2 at least.
    trips = originals.trips
    with TemporaryDirectory() as folder, bars() as progress:

        def publish(half: "Trajectories", run: int) -> Lines:
            """Publish half of the people, and read the different lines."""
            published = Path(folder) / f"{run}.parquet"
            run_method(method, half, published)
            return Lines(np.unique(read_any(published, trips.points.shape[1]).points, axis=0))

        halves = published_halves(trips, LEAST_K, publish, progress=progress)
    return measured_halves(trips, halves, LEAST_K)


def _show(audit: "Audit") -> None:
    """Print a release in a few lines."""
    from trajanon.common.number_text import percent

    tell(f"{audit.name}: {audit.rows:,} rows, {audit.lines:,} different lines")
    for weakness in audit.weaknesses if audit.name != "originals" else []:
        tell(f"- {weakness.sentence}", colour="red")
    for title, figures in (("attacks", audit.chances), ("errors", audit.errors)):
        measured = [
            f"{name} {percent(figure.value, 2)} ({percent(figure.low, 2)} to "
            f"{percent(figure.high, 2)})"
            for name, figure in figures.items()
            if figure is not None
        ]
        tell(f"  {title}: {', '.join(measured)}")
    if audit.not_measured:
        tell(f"  {audit.not_measured_words}")
