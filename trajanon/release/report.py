"""The holder's report beside a release: which trajectory is in which group, and on which line."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, cast

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.inputs import Finite, Whole, parsed, regular, typed
from trajanon.common.settings import ReleaseSettings, TimesName
from trajanon.grouping.k_promise import check_k
from trajanon.trajectories.days import days_of
from trajanon.trajectories.times import Clock
from trajanon.trajectories.trajectories import Trajectories

_AGAIN = "run trajanon anonymize again"

NOT_TOGETHER = f"these trajectories, release and report do not belong together: {_AGAIN}"


class _Stage(TypedDict):
    name: str
    information_loss: Finite | None  # None where there were no groups yet
    seconds: NotRequired[Finite]
    chosen: NotRequired[dict[str, str | Finite]]


class _Length(TypedDict):
    mean: Finite
    median: Finite


class _Metres(_Length):
    p95: Finite
    max: Finite


class _Times(TypedDict):
    times: str
    timezone: str
    step: Whole
    minute_worth: Finite
    departure_error: _Metres  # seconds, as written
    duration_error: _Metres
    widths: NotRequired[dict[str, Finite]]  # public, of departures and elapsed times, in seconds
    alone: NotRequired[dict[str, list[str] | Whole]]  # the hours in which one line departs, of all


class _Alignment(TypedDict):
    starts: NotRequired[list[Whole]]  # of windows on their tracks, when they were averaged


class _Column(TypedDict):
    column: str
    values: Whole  # different ones


class _Source(TypedDict):
    recordings: Whole | None  # that were read
    used: Whole  # of these, with a trajectory
    nameless: Whole  # recordings
    nameless_count_as: NotRequired[Whole]  # subjects
    per_recording: Whole | None  # windows of a recording, at most; None if not known
    possible_persons: NotRequired[list[_Column]]  # that may name subjects, where none does
    left_out: dict[str, Whole]  # the others, and why
    trips: NotRequired[dict[str, Whole]]  # found, and left out, by reason
    points: NotRequired[dict[str, Whole]]  # read, used, and left out, by reason
    run: NotRequired[dict[str, Any]]  # options of extract, as they were typed


class _LeftOut(TypedDict):
    rows: list[Whole]  # of the trajectories in the file


class Link(TypedDict):
    """What the report of a release says of the ledger, by which a changed ledger is found."""

    ledger: str  # which ledger it is
    releases: int  # that it had, with this one
    chain: str  # digest of all of these


class _InLedger(_LeftOut):
    # The rows were released before.
    file: NotRequired[str]
    new: NotRequired[Whole]
    already_released: NotRequired[Whole]
    on_a_line: NotRequired[Whole]
    link: NotRequired[Link]


class _Chains(TypedDict):
    drives: Whole
    drives_below: Whole


class _Persons(TypedDict):
    people: Whole  # on several lines
    people_below: Whole  # with fewer than k people on all of them


class _Mended(TypedDict):
    groups: Whole
    left: Whole
    exchanged: NotRequired[Whole]
    trajectories: NotRequired[Whole]


class _Roads(TypedDict):
    on_roads: Whole  # lines
    as_they_were: Whole


class _Choice(TypedDict):
    # One line each, or days.
    people: NotRequired[Whole]
    left_out: NotRequired[Whole]  # their other trips
    most: NotRequired[Whole]  # trips of a day
    timezone: NotRequired[str]
    days: NotRequired[Whole]  # of all trips with times
    too_many: NotRequired[Whole]  # of these, with more trips
    untimed: NotRequired[Whole]  # trips without times


class _Rows(TypedDict):
    way: Literal["subjects", "trajectories", "lines"]
    without: NotRequired[list[Whole]]  # released trajectories that have no row of their own


class Report(TypedDict):
    """What is read of a report; there may be more in it."""

    notice: str
    unit: NotRequired[Literal["trip", "day", "trajectory"]]
    n: Whole
    points: NotRequired[Whole]  # of each line
    k: Whole
    counted: Literal["subjects", "records"]
    as_published: NotRequired[bool]
    information_loss: Finite
    stages: list[_Stage]
    displacement: _Metres
    length: NotRequired[_Length]  # of what was averaged
    source: NotRequired[_Source]
    mended: NotRequired[dict[str, _Mended] | None]  # one_place, wide
    distinct_ends: NotRequired[Whole]  # places that a line needs at each end
    choice: NotRequired[_Choice | None]
    chains: NotRequired[_Chains | None]
    persons: NotRequired[_Persons | None]
    groups: NotRequired[Whole]
    sizes: NotRequired[list[Whole]]
    times: NotRequired[_Times | None]
    labels: NotRequired[list[Whole]]  # in a table beside the report of shards
    members: NotRequired[str]  # a digest of that table
    alignment: NotRequired[_Alignment | None]
    suppressed: NotRequired[_LeftOut | None]
    ledger: NotRequired[_InLedger]
    attribution: NotRequired[str | None]
    people: NotRequired[Whole | None]  # in the release
    subjects_per_group: NotRequired[list[Whole] | None]
    largest_share: NotRequired[Finite | None]  # of a person in the mean that is a line
    key_fingerprint: NotRequired[str | None]  # of the secret by which lines are moved
    width: NotRequired[Finite | None]  # the public one, in metres; None: lines are plain means
    rows: _Rows
    search: NotRequired[dict[str, Any]]
    run: NotRequired[dict[str, Any]]  # options of anonymize, as they were typed
    shards: NotRequired[Whole]
    roads: NotRequired[_Roads]
    line_keys: NotRequired[list[Whole]]  # of each group's line
    averaged: NotRequired[str]  # a digest of what was averaged, in which groups; not of shards
    lines: NotRequired[Whole]
    subjects_merged: NotRequired[dict[str, Whole]]
    versions: NotRequired[dict[str, str]]  # of what it was made with
    stopped: NotRequired[bool]  # by Ctrl-C
    alignment_skipped: NotRequired[bool]
    extraction: NotRequired[dict[str, Whole]]  # of a data frame: what was read and left out


MEMBERS = "rows.parquet"
"""The end of the name of the table beside a report that has no labels: a row for each trajectory,
in the order of the parts, with its ``group`` (-1 where it was left out), the ``key`` of its line,
whether it has an ``own_row`` in the release, and of windows their ``start``."""


def json_ready(report: Report) -> dict[str, Any]:
    """Return a report as its readers get it in Python: it is JSON already."""
    return cast(dict[str, Any], report)


def report_path(release: Path, kind: str = "report.json") -> Path:
    """Where the report of a release stands, which is a file, or a folder of parts."""
    name = f"{release.name}.parts" if release.is_dir() else release.stem
    return release.parent / f"{name}.{kind}"


def datasheet_path(release: Path) -> Path:
    """Where the datasheet of a release stands: each release has its own."""
    return report_path(release, "datasheet.md")


def read_report(release: Path) -> Report:
    """Read the report that stands beside a release."""
    if not release.exists():
        raise FileProblem(f"there is no {release}; make it with: trajanon anonymize -k 4")
    if (report := report_beside(release)) is None:
        raise FileProblem(
            f"there is no {report_path(release)}, the report with the groups of {release}: name "
            "trajectories first and then their release, run trajanon anonymize again, or show the "
            "release alone with trajanon map --view public"
        )
    return report


def report_beside(release: Path) -> Report | None:
    """Read the report that stands beside a release, if there is one."""
    path = regular(report_path(release))
    try:
        account = parsed(path.read_bytes(), dict[str, Any])
        if "members" in account:
            account |= _lists_of(account, report_path(release, MEMBERS))
        return typed(account, Report)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileProblem(f"cannot read the report {path}: {error.strerror}") from error
    except BadInput as error:
        raise FileProblem(f"{path} is no report of trajanon, {error}: {_AGAIN}") from error


def _lists_of(account: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Read what a report of shards says of each trajectory and group, which stands beside it."""
    import pyarrow.parquet as pq

    if digest_of_file(path) != account["members"]:
        raise FileProblem(f"{path} is of another release than its report: {_AGAIN}")
    table = pq.read_table(path)
    label, key, own_row = (table[name].to_numpy() for name in ("group", "key", "own_row"))
    released = label >= 0
    labels = label[released]
    first = np.unique(labels, return_index=True)[1]

    suppressed = np.flatnonzero(~released).tolist()
    alignment = account.get("alignment")
    if alignment is not None:
        alignment = alignment | {"starts": table["start"].to_numpy()[released].tolist()}
    return {
        "labels": labels.tolist(),
        "sizes": np.bincount(labels).tolist(),
        "line_keys": key[released][first].tolist(),
        "rows": account["rows"] | {"without": np.flatnonzero(~own_row[released]).tolist()},
        "suppressed": {"rows": suppressed} if suppressed else None,
        "alignment": alignment,
    }


def digest_of_file(path: Path) -> str:
    """Return 128 bits of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def checked(report: Mapping[str, Any]) -> Report:
    """Take a report that anybody may have made."""
    try:
        return typed(report, Report)
    except BadInput as error:
        raise BadInput(f"this is no report of trajanon, {error}: {_AGAIN}") from error


def promise_in(report: Report) -> tuple[int, str]:
    """Take from a report the group size promised, and the unit it counts."""
    check_k(report["k"])
    return report["k"], report["counted"]


def clock_in(report: Report) -> Clock | None:
    """Take from a report what the times of its release count from; None if that has none."""
    if (times := report.get("times")) is None:
        return None
    settings = ReleaseSettings(times=cast(TimesName, times["times"]), time_step=times["step"])
    return Clock(str(settings.times), times["timezone"], settings.time_step)


def width_in(report: Report) -> float | None:
    """Read the public width in metres by which lines are moved; None where they are plain means."""
    width = report.get("width")
    if width is not None and width <= 0.0:
        raise BadInput(f"the report's width is {width:g} m: {_AGAIN}")
    return width


def rows_in(report: Report) -> str:
    """Take from a report what one row stands for."""
    return report["rows"]["way"]


def own_rows_in(report: Report) -> Bools:
    """Which of the released trajectories have a row of their own, shape (n,)."""
    return _all_but(report["n"], report["rows"].get("without", []))


def labels_in(report: Report) -> Ints:
    """Take the group of each trajectory from a report."""
    labels, found = report["labels"], set(report["labels"])
    if not report["n"] == len(labels) > 0 or found != set(range(len(found))):
        raise BadInput(f"the report's labels are not its groups: {_AGAIN}")
    return np.array(labels, dtype=np.int64)


def released_of(trajectories: Trajectories, report: Report) -> Trajectories:
    """Take those trajectories, or days of them, that were released."""
    trajectories = days_in(trajectories, report)[0]
    kept = kept_in(report, len(trajectories))
    return trajectories if kept.all() else trajectories.take(kept)


def days_in(trajectories: Trajectories, report: Report) -> tuple[Trajectories, Ints]:
    """Put trips together as a report says; also the day of each, -1 of those in none."""
    choice = report.get("choice") or {}
    if "most" not in choice or trajectories.unit == "day":
        return trajectories, np.arange(len(trajectories))
    if trajectories.subject is None or trajectories.times is None:
        raise BadInput(NOT_TOGETHER)
    return days_of(trajectories, choice["most"], choice["timezone"])[:2]


def all_labels_in(report: Report) -> Ints:
    """Take the group of each trajectory of the file; -1 of those that were suppressed."""
    labels = labels_in(report)
    kept = kept_in(report, len(labels) + len(left_out_in(report)))
    of_all = np.full(len(kept), -1)
    of_all[kept] = labels
    return of_all


def kept_in(report: Report, n: int) -> Bools:
    """Which of n trajectories were released, shape (n,)."""
    kept = _all_but(n, left_out_in(report))
    if report["n"] != kept.sum():
        raise BadInput(NOT_TOGETHER)
    return kept


def left_out_in(report: Report) -> list[int]:
    """List the trajectories, or days of them, that were not released."""
    lists = (report.get("suppressed"), report.get("ledger"))
    return [row for some in lists if some for row in some["rows"]]


def _all_but(n: int, rows: list[int]) -> Bools:
    """Mask n trajectories but some; rows that do not exist, or stand twice, are refused."""
    if len({row for row in rows if 0 <= row < n}) < len(rows):
        raise BadInput(NOT_TOGETHER)
    kept = np.ones(n, dtype=np.bool_)
    kept[rows] = False
    return kept


def line_keys(points: Floats, times: Floats | None = None) -> Ints:
    """Give 64 bits of each line as written, (n, m, 2), equal where lines are, (n,)."""
    lines = points if times is None else np.dstack([points, times])
    words = (hashlib.blake2b(line.tobytes(), digest_size=8).digest() for line in lines)
    return np.frombuffer(b"".join(words), dtype="<i8").astype(np.int64)


def digest_of(points: Floats, labels: Ints, times: Floats | None = None) -> str:
    """Give 128 bits of trajectories as they were averaged, (n, m, 2), and of their groups."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (points, labels, times):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
