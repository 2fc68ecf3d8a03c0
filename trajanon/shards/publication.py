"""Publication: a file of trajectories -> a release and its report, with the holder's ledger."""

import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.anonymization import Request, anonymized_table
from trajanon.common.arrays import Hashes
from trajanon.common.atomic_output import replacing
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.number_text import number_of
from trajanon.common.progress import Progress, silent
from trajanon.common.remote_folder import Folder
from trajanon.common.settings import ReleaseSettings, Settings, takes_settings
from trajanon.files.release_formats import check_release_format, write_release
from trajanon.files.trajectory_files import read_marks, read_trajectories
from trajanon.release.leaving_out import Surroundings
from trajanon.release.ledger import Ledger, opened
from trajanon.release.release import Result, json_report, new_report_path
from trajanon.release.snapping import RoadsToFollow
from trajanon.trajectories.subjects import Nameless

LedgerLike = str | os.PathLike[str] | None


@takes_settings(ReleaseSettings, Settings)
def anonymize_file(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    k: int,
    *,
    subjects_exact: bool = False,
    ledger: LedgerLike = None,
    roads: RoadsToFollow | None = None,
    public_places: Surroundings | None = None,
    key: bytes | None = None,
    run: Options | None = None,
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Anonymise a file of trajectories, and write the release with its report beside it.

    Parameters
    ----------
    source
        What `trajanon.read_trajectories` reads.
    out
        As `path` of `Release.write`.
    k, roads, public_places, key, progress, options
        As in `trajanon.anonymize`; a ledger holds a key of its own.
    subjects_exact
        Whether names are taken as they are; otherwise spellings of one name are one subject's.
    ledger
        The holder's private list of releases, made if there is none. What it lists is not
        released again, and the release is entered in it.

    run
        Options as they were typed, which the report repeats: advice is then a whole command.

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
    source, out = Path(source), Path(out)
    how = {"roads": roads, "public_places": public_places, "progress": progress}
    asked = Request.of(k, options, key, **how)
    check_release_format(out, timed=asked.release.times is not None)
    check_ledger(ledger, asked)
    if ledger is None:
        asked = asked.with_key()
    inputs = [source, *([] if ledger is None else [Path(ledger)])]
    replaced = replacing(out, new_report_path(out), inputs=inputs, public=[out])
    with nullcontext() if ledger is None else opened(ledger, new=True) as book:
        recording = nullcontext() if book is None else book.recording(out)
        with recording as entry, replaced as drafts:
            result, entered = anonymized(source, asked, book, exact=subjects_exact)
            if run is not None:
                result.report["run"] = dict(run)
            write_release(drafts[0], result.rows(slice(None)))
            if entry is not None and entered is not None:
                entry.announce(drafts[0], source, result.report, entered)
            drafts[1].write_text(json_report(result.report), encoding="utf-8")
    return result.report


def anonymized(
    source: Path | Folder, asked: Request, book: Ledger | None, *, exact: bool
) -> tuple[Result, Hashes | None]:
    """Read and anonymise what is new to a ledger, if there is one; also give its new entry."""
    read = partial(read_trajectories, source, subjects_exact=exact)
    if book is None:  # nothing keeps the originals while the release is written
        return anonymized_table(read(), asked), None
    marks = read_marks(source)
    trajectories = read()
    person, one_each = trajectories.subject, asked.release.one_line_each
    nameless = Nameless.counted_in(trajectories.provenance)
    unknown = len(trajectories) if person is None else nameless.recordings
    if one_each and unknown:
        raise BadInput(
            f"`one_line_each` with `ledger` needs to know who made each trip, and {unknown:,} "
            "recordings have no name: extract again and name the column of the persons, with "
            "`columns` subject=NAME, or leave out `ledger`"
        )

    run = None if trajectories.tracks is None else trajectories.tracks.recording_of
    keyed = book.keyed(marks, asked.progress)
    found = book.sort(keyed, run, person, one_line_each=one_each)
    new = int(found.new.sum())
    if not new:
        raise BadInput(f"nothing is new: {found.others}, as {book.path} tells")
    try:
        keyed_by = asked.with_key(book.release_key)
        result = anonymized_table(trajectories.take(found.new), keyed_by)
    except (TooFewRecords, TooFewSubjects) as error:
        wait = number_of(new, "new one waits", "new ones wait")
        raise type(error)(f"{found.others}, and the {wait} for the next time: {error}") from error

    released = np.zeros(len(trajectories), dtype=np.bool_)
    released[found.told_in(result.report, book.path)] = True
    # A person may have several names in one file: all of them are on this line.
    on_lines = released if person is None else np.isin(person, person[released])
    keyed[~released, 1:] = 0
    return result, keyed[on_lines]


def check_ledger(ledger: LedgerLike, asked: Request) -> None:
    """Refuse a ledger for releases that are not published, or not of trips; and a second key."""
    if ledger is None:
        return
    if asked.release.as_published:
        raise BadInput("`as_published` is not for publication: leave out `ledger`")
    if asked.release.days is not None:
        raise BadInput("`days` releases days, and a ledger knows trips: leave out `ledger`")
    if asked.key is not None:
        raise BadInput("`ledger` holds a key of its own: leave out `key`")
