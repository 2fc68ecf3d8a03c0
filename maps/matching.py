"""Originals, release and report brought together, once they are known to fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from trajanon.errors import BadInput
from trajanon.files.report import released_of
from trajanon.trajectories import Trajectories

_NEEDED = (
    "n",
    "k",
    "counted",
    "labels",
    "information_loss",
    "stages",
    "displacement",
    "notice",
)
_ROUNDING = 1.5e-7  # degrees: a release has 7 decimals, and the last one may be off
_STRANGERS = (
    "these trajectories, release and report do not belong together: "
    "run trajanon anonymize again"
)


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Originals, and the released line of each group.

    Attributes
    ----------
    trajectories
        The originals; where they slid on their tracks, as slid.
    labels
        Group of each original.
    lines
        Latitude and longitude in degrees of each group's released line, shape
        (groups, m, 2).
    report
        The holder's report.
    """

    trajectories: Trajectories
    labels: NDArray[np.int64]
    lines: NDArray[np.float64]
    report: Mapping[str, Any]

    @property
    def aligned(self) -> bool:
        """Whether the originals slid on their tracks."""
        return self.report.get("alignment") is not None


def match(
    trajectories: Trajectories, release: Trajectories, report: Mapping[str, Any]
) -> Match:
    """Find the released line of each group.

    Parameters
    ----------
    trajectories, release, report
        As for `trajanon.maps.compare`.

    Raises
    ------
    BadInput
        If there is nothing to draw, or the three do not belong together.
    """
    trajectories = _as_slid(released_of(trajectories, report), report)
    labels = _labels(trajectories, release, report)
    lines = _released_lines(trajectories, release, labels)
    return Match(trajectories, labels, lines, report)


def _as_slid(trajectories: Trajectories, report: Mapping[str, Any]) -> Trajectories:
    """Move trajectories to where they were when they were averaged."""
    if report.get("alignment") is None:
        return trajectories
    try:
        return trajectories.slid(np.asarray(report["alignment"]["starts"]))
    except (BadInput, LookupError, TypeError, ValueError) as error:
        raise BadInput(_STRANGERS) from error


def _labels(
    trajectories: Trajectories, release: Trajectories, report: Mapping[str, Any]
) -> NDArray[np.int64]:
    """Take the groups from the report, once it is known to speak of these data."""
    if len(trajectories) == 0:
        msg = "there are no trajectories to draw: extract a larger area"
        raise BadInput(msg)
    missing = [key for key in _NEEDED if key not in report]
    if missing:
        msg = f"the report lacks {', '.join(missing)}: run trajanon anonymize again"
        raise BadInput(msg)
    labels = np.asarray(report["labels"], dtype=np.int64)
    if not (
        labels.shape == (len(trajectories),)
        and report["n"] == len(trajectories)
        and trajectories.points.shape == release.points.shape
        and np.array_equal(np.unique(labels), np.arange(labels.max() + 1))
    ):
        raise BadInput(_STRANGERS)
    return labels


def _released_lines(
    trajectories: Trajectories, release: Trajectories, labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Find each group's line in the release, which holds it once for each member."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    groups = np.split(trajectories.records[order], np.cumsum(sizes)[:-1])
    means = np.array([records.mean(axis=0) for records in groups])
    lines, copies = np.unique(release.records, axis=0, return_counts=True)
    _, nearest = KDTree(lines).query(means, p=np.inf, distance_upper_bound=_ROUNDING)
    found = bool((nearest < len(lines)).all())  # the tree answers len(lines) for none
    if not found or not np.array_equal(
        np.bincount(nearest, weights=sizes, minlength=len(lines)), copies
    ):
        raise BadInput(_STRANGERS)
    released: NDArray[np.float64] = lines[nearest].reshape(len(sizes), -1, 2)
    return released
