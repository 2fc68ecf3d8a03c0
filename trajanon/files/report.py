"""The holder's report beside a release: which trajectory is in which group."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem
from trajanon.files.released import MOST, check_digits
from trajanon.partition import check_k
from trajanon.trajectories import Trajectories

STRANGERS = (
    "these trajectories, release and report do not belong together: "
    "run trajanon anonymize again"
)


def report_path(release: Path) -> Path:
    """Where the report of a release stands."""
    return release.with_suffix(".report.json")


def datasheet_path(release: Path) -> Path:
    """Where the datasheet of a release stands: each release has its own."""
    return release.with_suffix(".datasheet.md")


def read_report(release: Path) -> dict[str, Any]:
    """Read the report that stands beside a release.

    Raises
    ------
    FileProblem
        If there is none, or it is damaged.
    """
    path = report_path(release)
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        msg = (
            f"there is no {path}, which says what belongs to which group, and "
            f"{release} alone cannot tell: run trajanon anonymize again, or show the "
            "release alone with trajanon map --view public"
        )
        raise FileProblem(msg) from error
    except (OSError, ValueError) as error:
        msg = f"cannot read the report {path}: run trajanon anonymize again"
        raise FileProblem(msg) from error
    if not isinstance(report, dict):
        msg = f"{path} is not a report of trajanon: run trajanon anonymize again"
        raise FileProblem(msg)
    return report


def promise_in(report: Mapping[str, Any]) -> tuple[int, str]:
    """Take from a report the group size promised, and what it counts.

    Returns
    -------
    k : int
        At least 2.
    counted : str
        ``subjects`` or ``records``.

    Raises
    ------
    BadInput
        If there is none, or it is no promise.
    """
    k, counted = report.get("k"), report.get("counted")
    if k is None or counted not in ("subjects", "records"):
        msg = "the report lacks k or what it counts: run trajanon anonymize again"
        raise BadInput(msg)
    check_k(k)
    return k, str(counted)


def digits_in(report: Mapping[str, Any]) -> int:
    """Take the decimals of a release from its report; all had 7 before one said so.

    Raises
    ------
    BadInput
        If it tells others than a release may have.
    """
    digits = report.get("digits", MOST)
    check_digits(digits)
    return int(digits)


def labels_in(report: Mapping[str, Any]) -> NDArray[np.int64]:
    """Take the group of each trajectory from a report.

    Returns
    -------
    NDArray[np.int64]
        Shape (n,), numbered 0..g-1.

    Raises
    ------
    BadInput
        If the report has none, or they are no groups.
    """
    told = report.get("labels")
    whole = isinstance(told, list) and all(type(label) is int for label in told)
    if not told or not whole:
        msg = "the report lacks the labels of groups: run trajanon anonymize again"
        raise BadInput(msg)
    found = set(told)
    if report.get("n") != len(told) or found != set(range(len(found))):
        msg = "the report's labels are not its groups: run trajanon anonymize again"
        raise BadInput(msg)
    return np.array(told, dtype=np.int64)


def released_of(trajectories: Trajectories, report: Mapping[str, Any]) -> Trajectories:
    """Take those trajectories that were released: all, unless some were suppressed.

    Raises
    ------
    BadInput
        If the report names others than there are.
    """
    kept = kept_in(report, len(trajectories))
    return trajectories if kept.all() else trajectories.take(kept)


def all_labels_in(report: Mapping[str, Any]) -> NDArray[np.int64]:
    """Take the group of each trajectory of the file; -1 of those that were suppressed.

    Raises
    ------
    BadInput
        As `labels_in`, or if the report contradicts itself.
    """
    labels = labels_in(report)
    kept = kept_in(report, len(labels) + len(_left_out(report)))
    of_all = np.full(len(kept), -1)
    of_all[kept] = labels
    return of_all


def all_lines_in(report: Mapping[str, Any]) -> NDArray[np.int64]:
    """As `all_labels_in`; groups that were released as one line have one number.

    Raises
    ------
    BadInput
        As `all_labels_in`, or if such groups are none.
    """
    labels = all_labels_in(report)
    line = np.arange(labels.max() + 1)
    try:
        for groups in report.get("groups_of_equal_lines", []):
            line[groups] = min(groups)
    except (TypeError, ValueError, IndexError) as error:
        raise BadInput(STRANGERS) from error
    return np.where(labels < 0, -1, line[labels])


def kept_in(report: Mapping[str, Any], n: int) -> NDArray[np.bool_]:
    """Tell which of n trajectories were released, shape (n,).

    Raises
    ------
    BadInput
        If the report is not of n trajectories.
    """
    kept = np.ones(n, dtype=np.bool_)
    rows = _left_out(report)
    if any(not 0 <= row < n for row in rows):
        raise BadInput(STRANGERS)
    kept[rows] = False
    if kept.sum() != n - len(rows) or report.get("n") != kept.sum():
        raise BadInput(STRANGERS)
    return kept


def _left_out(report: Mapping[str, Any]) -> list[int]:
    """Rows that were suppressed."""
    told = report.get("suppressed") or {}
    rows = told.get("rows", []) if isinstance(told, Mapping) else None
    if not isinstance(rows, list) or any(type(row) is not int for row in rows):
        raise BadInput(STRANGERS)
    return rows
