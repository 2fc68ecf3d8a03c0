"""The holder's report beside a release: which trajectory is in which group."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem
from trajanon.partition import check_k

STRANGERS = (
    "these trajectories, release and report do not belong together: "
    "run trajanon anonymize again"
)


def report_path(release: Path) -> Path:
    """Where the report of a release stands."""
    return release.with_suffix(".report.json")


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
            f"{release} alone cannot tell: run trajanon anonymize again"
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
    labels = np.array(told, dtype=np.int64)
    if report.get("n") != len(labels) or not np.array_equal(
        np.unique(labels), np.arange(labels.max() + 1)
    ):
        msg = "the report's labels are not its groups: run trajanon anonymize again"
        raise BadInput(msg)
    return labels
