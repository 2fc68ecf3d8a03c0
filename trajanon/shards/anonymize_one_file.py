"""Anonymise one file, and enter the release in the holder's ledger."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from msgspec import structs

from trajanon.anonymization import anonymized_table
from trajanon.common.arrays import Hashes
from trajanon.common.atomic_output import replacing
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.number_text import number_of
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import (
    AnonymizeKeywords,
    ReleaseSettings,
    Settings,
    takes_settings,
)
from trajanon.files.release_formats import check_release_format, write_release
from trajanon.files.trajectory_files import (
    is_of_trajectories,
    read_marks,
    read_trajectories,
    recordings_of,
)
from trajanon.release.ledger import Ledger, opened
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.release.plan import Plan, Surroundings
from trajanon.release.release import DistinctLines
from trajanon.release.report import InLedger, Suppressed
from trajanon.release.report_files import is_release, json_ready, json_report, new_report_path
from trajanon.trajectories.trajectories import Trajectories

LedgerPath = str | os.PathLike[str] | None


@takes_settings(ReleaseSettings, Settings)
def anonymize_file(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    k: int,
    *,
    subjects_exact: bool = False,
    ledger: LedgerPath = None,
    roads: RoadsToFollow | None = None,
    public_places: Surroundings | None = None,
    key: bytes | Path | None = None,
    run: Options | None = None,
    progress: Progress = silent,
    **options: Unpack[AnonymizeKeywords],
) -> dict[str, Any]:
    """Anonymise a file of trajectories, and write the release with its report beside it.

    Parameters
    ----------
    source
        The path of a file that `trajanon.read_trajectories` reads.
    out
        A path, whose suffix names the format as in `Release.write`.
    k, roads, public_places, key, progress, options
        As in `trajanon.anonymize`; the key may be a file, which is made if there is none. A ledger
        holds a key of its own.
    subjects_exact
        Whether names that differ in spelling are different subjects.
    ledger
        The holder's private list of releases, made if there is none. What it lists is not
        released again, and the release is entered in it.
    run
        Options as they were typed, which the report repeats, so that advice can repeat the whole
        command.

    Returns
    -------
    dict
        The report of `trajanon.anonymize`; with a ledger, its entry ``ledger`` counts what was new.

    Raises
    ------
    BadInput
        As `trajanon.anonymize`, or if nothing is new.
    TooFewRecords, TooFewSubjects
        If there are fewer than k, or fewer new ones: these wait for the next time.
    FileProblem
        If a file cannot be read or written, or the ledger not be used.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajanon.write_trajectories("trajectories.parquet", trajanon.Trajectories(points))
    >>> report = trajanon.anonymize_file("trajectories.parquet", "anonymized.parquet", k=2)
    >>> report["n"], report["groups"]
    (4, 2)
    >>> trajanon.check("anonymized.parquet", k=2).holds
    True
    """
    source_path = Path(source)
    release_path = Path(out)
    plan = Plan.of(options, key, roads, public_places)
    k = plan.checked_k(k)
    check_release_format(release_path, timed=plan.release.times is not None)
    check_ledger(ledger, plan)

    if is_release(source_path) and not is_of_trajectories(source_path):
        raise BadInput(
            f"{source_path} is a release already, as the files beside it show: name the "
            "trajectories that trajanon extract wrote"
        )
    report_path = new_report_path(release_path)
    inputs = [source_path] if ledger is None else [source_path, Path(ledger)]
    if not is_release(release_path):  # which may lie in the folder of its recordings
        inputs += recordings_of(source_path)
    drafts = replacing(release_path, report_path, inputs=inputs, public=[release_path])
    with recorded(ledger, out) as open_ledger, drafts as (release_draft, report_draft):
        lines, digests = release_of_source(
            source_path, k, plan, open_ledger, subjects_exact=subjects_exact, progress=progress
        )
        lines = lines.reporting(run=run)
        write_release(release_draft, lines.rows)
        if open_ledger is not None and digests is not None:
            in_ledger = open_ledger.enter(out, release_draft, source, lines.report, digests)
            lines = lines.reporting(ledger=in_ledger)
        report = json_ready(lines.report)
        report_draft.write_text(json_report(report), encoding="utf-8")
    return report


@contextmanager
def recorded(ledger: LedgerPath, release: str | os.PathLike[str]) -> Iterator[Ledger | None]:
    """Open the ledger, if there is one, around the block in which a release gets its name."""
    if ledger is None:
        yield None
        return
    with opened(ledger, new=True) as open_ledger, open_ledger.recording(release):
        yield open_ledger


def release_of_source(
    source: Path | Folder,
    k: int,
    plan: Plan,
    open_ledger: Ledger | None,
    *,
    subjects_exact: bool,
    progress: Progress,
) -> tuple[DistinctLines, Hashes | None]:
    """Anonymise the trajectories of a file or folder; with a ledger, those that are new to it.

    Also return the digests to enter in the ledger.
    """
    read = partial(read_trajectories, source, subjects_exact=subjects_exact)
    if open_ledger is None:
        # What was read has no name here, so that its memory is free while the release is written.
        return anonymized_table(read(), k, plan, progress), None

    marks = read_marks(source)
    trajectories = read()
    person = trajectories.subject
    if plan.release.one_line_each:
        _check_names(trajectories, "`one_line_each` with `ledger`")
    elif releases := open_ledger.releases_of_one_line_each:
        promise = f"release {releases[0]} of {open_ledger.path}, with one line each,"
        _check_names(trajectories, promise)

    recording_of_row = None if trajectories.tracks is None else trajectories.tracks.recording_of
    digests = open_ledger.digests_of_marks(marks, progress)
    is_new, in_ledger = open_ledger.mark_new(
        digests, recording_of_row, person, one_line_each=plan.release.one_line_each
    )
    if not is_new.any():
        raise BadInput(
            f"nothing is new: {_why_left_out(in_ledger, len(is_new))}, as {open_ledger.path} shows"
        )

    try:
        lines = anonymized_table(
            trajectories.take(is_new), k, plan.with_key(open_ledger.release_key), progress
        )
    except (TooFewRecords, TooFewSubjects) as error:
        # Of the file there may be enough: say why the others do not count.
        new_ones_wait = number_of(int(is_new.sum()), "new one waits", "new ones wait")
        why_left_out = _why_left_out(in_ledger, len(is_new))
        message = f"{why_left_out}, and the {new_ones_wait} for the next time: {error}"
        raise type(error)(message) from error

    # The report speaks of the rows of the whole file.
    suppressed = lines.report.suppressed
    if suppressed is not None:
        suppressed = Suppressed(np.flatnonzero(is_new)[suppressed.rows].tolist())
    lines = lines.reporting(suppressed=suppressed, ledger=in_ledger)

    released = lines.report.released(len(trajectories))
    if person is not None and open_ledger.entries:
        before = open_ledger.people_before(digests[released], person[released])
        lines = lines.reporting(ledger=structs.replace(in_ledger, people_before=before))
    # Column 0 is the person, and the others are hops. A person may have several names in one file:
    # all of them are on this line, and of rows that are not released they alone are entered.
    person_is_released = released if person is None else np.isin(person, person[released])
    digests[~released, 1:] = 0
    return lines, digests[person_is_released]


def _why_left_out(in_ledger: InLedger, n: int) -> str:
    """Write how many of n trajectories are left out, and why."""
    known = in_ledger.already_released or 0
    sentence = number_of(known, f"of {n:,} was", f"of {n:,} were") + " released before"
    if in_ledger.on_a_line:
        sentence += f", and {in_ledger.on_a_line:,} are of people who are on a line already"
    return sentence


def _check_names(trajectories: Trajectories, promise: str) -> None:
    """Refuse recordings without a name, whose persons a ledger cannot keep to one line.

    ``promise`` is what allows nobody a further line.
    """
    unknown = len(trajectories)
    if trajectories.subject is not None:
        unknown = trajectories.origin.source.nameless
    if unknown:
        raise BadInput(
            f"{promise} needs to know who made each trip, and {unknown:,} recordings have no name: "
            "extract again and name the column of the persons, with "
            "`columns` subject=NAME, or leave these recordings out"
        )


def check_ledger(ledger: LedgerPath, plan: Plan) -> None:
    """Refuse options with which a ledger makes no sense."""
    if ledger is None:
        return
    if plan.release.as_published:
        raise BadInput("`as_published` is not for publication: leave out `ledger`")
    if plan.release.days is not None:
        raise BadInput("`days` releases days, and a ledger knows trips: leave out `ledger`")
    if plan.key is not None or plan.key_file is not None:
        raise BadInput("`ledger` holds a key of its own: leave out `key`")
