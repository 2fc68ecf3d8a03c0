"""The holder's report beside a release: which trajectory is in which group."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

import numpy as np

from trajanon.arrays import Bools, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.files.groups import groups_path, read_lines_of_rows
from trajanon.files.json_types import parsed, typed
from trajanon.inputs import regular
from trajanon.partition import check_k, dense
from trajanon.remote_folder import Folder
from trajanon.settings import ROWS, ReleaseSettings, TimesName
from trajanon.times import Clock
from trajanon.trajectories import Trajectories

NOT_TOGETHER = (
    "these trajectories, release and report do not belong together: run trajanon anonymize again"
)


class _Stage(TypedDict):
    name: str
    information_loss: float | None  # None where there were no groups yet


class _Metres(TypedDict):
    mean: float
    median: float
    p95: float
    max: float


class _Alone(TypedDict):
    hours: list[str]  # in which one line alone departs
    of: int


class _Times(TypedDict):
    times: str
    timezone: str
    step: int
    minute_worth: float
    departure_error: _Metres  # seconds, as written
    duration_error: _Metres
    alone: NotRequired[_Alone]


class _Alignment(TypedDict):
    # Where on their tracks the windows began when they were averaged; not of several shards.
    starts: NotRequired[list[int]]


class _Length(TypedDict):
    mean: float
    median: float


class _Source(TypedDict):
    recordings: int | None  # that were read
    used: int  # of these, with a trajectory
    nameless: int  # recordings
    per_recording: int | None  # windows of a recording, at most; None if not known
    unused: NotRequired[str | None]  # columns of the table
    left_out: dict[str, int]  # the others, and why


class _Chains(TypedDict):
    drives: int
    drives_below: int


class _Mended(TypedDict):
    groups: int
    left: int
    exchanged: NotRequired[int]
    trajectories: NotRequired[int]


class _Mends(TypedDict):
    one_place: _Mended
    wide: _Mended


class _Roads(TypedDict):
    on_roads: int  # lines
    as_they_were: int


class _LeftOut(TypedDict):
    rows: list[int]  # of the trajectories in the file


class _Rows(TypedDict):
    way: str
    without: NotRequired[list[int]]  # released trajectories that have no row of their own


class Report(TypedDict):
    """What is read of a report; there may be more in it."""

    notice: str
    unit: NotRequired[str]
    n: int
    k: int
    counted: str
    as_published: NotRequired[bool]
    information_loss: float
    stages: list[_Stage]
    displacement: _Metres
    length: NotRequired[_Length]  # of what was averaged
    source: NotRequired[_Source]
    mended: NotRequired[_Mends | None]
    chains: NotRequired[_Chains | None]
    groups: NotRequired[int]
    sizes: NotRequired[list[int]]
    groups_of_size: NotRequired[dict[str, int]]
    times: NotRequired[_Times | None]
    from_runs: NotRequired[_Metres | None]
    labels: NotRequired[list[int]]  # not of several shards, which have `lines_of_rows`
    alignment: NotRequired[_Alignment | None]
    suppressed: NotRequired[_LeftOut | None]
    ledger: NotRequired[_LeftOut]  # what was released before
    attribution: NotRequired[str | None]
    subjects_per_group: NotRequired[list[int] | None]
    key: NotRequired[str | None]  # the secret by which lines are perturbed; None: plain means
    groups_of_equal_lines: NotRequired[list[list[int]]]
    rows: NotRequired[_Rows]
    search: NotRequired[dict[str, Any]]
    shards: NotRequired[int]
    roads: NotRequired[_Roads]
    line_keys: NotRequired[list[int]]  # of each group's line; not of several shards
    averaged: NotRequired[str]  # a digest of what was averaged, in which groups
    lines_of_rows: NotRequired[Any]  # `LinesOfRows`, read from beside the report; not in it


def report_path(release: Path) -> Path:
    """Where the report of a release stands, which is a file, or a folder of parts."""
    return release.parent / f"{_called(release)}.report.json"


def datasheet_path(release: Path) -> Path:
    """Where the datasheet of a release stands: each release has its own."""
    return release.parent / f"{_called(release)}.datasheet.md"


def _called(release: Path) -> str:
    return f"{release.name}.parts" if release.is_dir() else release.stem


def read_report(release: Path) -> Report:
    """Read the report that stands beside a release, and which line is whose."""
    path = regular(report_path(release))
    try:
        report = parsed(path.read_bytes(), Report)
        report.pop("lines_of_rows", None)
        several = "shards" in report and "labels" not in report
        if not several:
            _refuse_without_groups(report)
    except FileNotFoundError as error:
        raise FileProblem(
            f"there is no {path}, the report with the groups of {release}: name trajectories "
            "first and then their release, run trajanon anonymize again, or show the release alone "
            "with trajanon map --view public"
        ) from error
    except OSError as error:
        raise FileProblem(f"cannot read the report {path}: {error.strerror}") from error
    except BadInput as error:
        raise FileProblem(
            f"{path} is no report of trajanon, {error}: run trajanon anonymize again"
        ) from error
    if several:
        report["lines_of_rows"] = read_lines_of_rows(Folder(groups_path(release)))
    return report


def report_beside(release: Path) -> Report | None:
    """Read the report that stands beside a release, if there is one; not which line is whose."""
    path = report_path(release)
    try:
        return parsed(regular(path).read_bytes(), Report) if path.exists() else None
    except OSError as error:
        raise FileProblem(f"cannot read the report {path}: {error.strerror}") from error
    except BadInput as error:
        raise FileProblem(
            f"{path} is no report of trajanon, {error}: run trajanon anonymize again"
        ) from error


def _refuse_without_groups(report: Mapping[str, Any]) -> None:
    if "labels" not in report and "lines_of_rows" not in report:
        raise BadInput("it lacks labels")


def checked(report: Mapping[str, Any]) -> Report:
    """Take a report that anybody may have made."""
    try:
        _refuse_without_groups(told := typed(report, Report))
        return told
    except BadInput as error:
        raise BadInput(
            f"this is no report of trajanon, {error}: run trajanon anonymize again"
        ) from error


def promise_in(report: Report) -> tuple[int, str]:
    """Take from a report the group size promised, and what it counts."""
    if report["counted"] not in ("subjects", "records"):
        found = f"{report['counted']!r}, and neither subjects nor records"
        raise BadInput(f"the report counts {found}: run trajanon anonymize again")
    check_k(report["k"])
    return report["k"], report["counted"]


def unit_in(report: Report) -> str:
    """Take from a report what a released line is of: a trip, or a trajectory."""
    if (unit := report.get("unit", "trajectory")) not in ("trip", "trajectory"):
        found = f"{unit!r}, and neither trip nor trajectory"
        raise BadInput(f"the report's unit is {found}: run trajanon anonymize again")
    return unit


def clock_in(report: Report) -> Clock | None:
    """Take from a report what the times of its release count from; None if that has none."""
    if (told := report.get("times")) is None:
        return None
    settings = ReleaseSettings(times=cast(TimesName, told["times"]), time_step=told["step"])
    return Clock(str(settings.times), told["timezone"], settings.time_step)


def key_in(report: Report) -> bytes | None:
    """Take from a report the secret that perturbs lines; None where they are plain means."""
    if (key := report.get("key")) is None:
        return None
    try:
        return bytes.fromhex(key)
    except ValueError as error:
        raise BadInput("the report's key is no key: run trajanon anonymize again") from error


def rows_in(report: Report) -> str:
    """Take from a report what has a row each; all trajectories had before one said so."""
    way = report["rows"]["way"] if "rows" in report else "trajectories"
    if way not in (*ROWS, "trajectories"):
        raise BadInput(f"the report's rows are of {way!r}: run trajanon anonymize again")
    return way


def own_rows_in(report: Report) -> Bools:
    """Tell which of the released trajectories have a row of their own, shape (n,)."""
    without = report["rows"].get("without", []) if "rows" in report else []
    own = np.ones(report["n"], dtype=np.bool_)
    if without and not 0 <= min(without) <= max(without) < len(own):
        raise BadInput(NOT_TOGETHER)
    own[without] = False
    return own


def labels_in(report: Report) -> Ints:
    """Take the group of each trajectory from a report; of several shards, its line."""
    if (lines := report.get("lines_of_rows")) is not None:
        if len(lines.line) != report["n"]:
            raise BadInput(NOT_TOGETHER)
        return dense(lines.line)
    told = report.get("labels", [])
    found = set(told)
    if not report["n"] == len(told) > 0 or found != set(range(len(found))):
        raise BadInput("the report's labels are not its groups: run trajanon anonymize again")
    return np.array(told, dtype=np.int64)


def released_of(trajectories: Trajectories, report: Report) -> Trajectories:
    """Take those trajectories that were released: all, unless some were suppressed."""
    kept = kept_in(report, len(trajectories))
    return trajectories if kept.all() else trajectories.take(kept)


def all_labels_in(report: Report) -> Ints:
    """Take the group of each trajectory of the file; -1 of those that were suppressed."""
    labels = labels_in(report)
    kept = kept_in(report, len(labels) + len(_left_out(report)))
    of_all = np.full(len(kept), -1)
    of_all[kept] = labels
    return of_all


def all_lines_in(report: Report) -> Ints:
    """As `all_labels_in`; groups that were released as one line have one number."""
    labels = all_labels_in(report)
    line = np.arange(labels.max() + 1)
    for groups in report.get("groups_of_equal_lines", []):
        if not groups or not 0 <= min(groups) <= max(groups) < len(line):
            raise BadInput(NOT_TOGETHER)
        line[groups] = min(groups)
    return np.where(labels < 0, -1, line[labels])


def kept_in(report: Report, n: int) -> Bools:
    """Tell which of n trajectories were released, shape (n,)."""
    rows = _left_out(report)
    known = {row for row in rows if 0 <= row < n}
    if len(known) < len(rows) or report["n"] != n - len(rows):
        raise BadInput(NOT_TOGETHER)
    kept = np.ones(n, dtype=np.bool_)
    kept[rows] = False
    return kept


def _left_out(report: Report) -> list[int]:
    told = (report.get("suppressed"), report.get("ledger"))
    return [row for some in told if some for row in some["rows"]]
