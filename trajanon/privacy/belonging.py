"""Whether originals, release and report belong together, and which line is whose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from trajanon.errors import BadInput
from trajanon.files.report import STRANGERS, labels_in
from trajanon.loss import group_means
from trajanon.trajectories import Trajectories

_ROUNDING = 1.5e-7  # degrees: a release has 7 decimals, and the last one may be off


@dataclass(frozen=True, slots=True, eq=False)
class Belonging:
    """A release with its originals.

    Attributes
    ----------
    labels
        Group of each original, shape (n,), numbered 0..g-1.
    lines
        Released latitude and longitude of each group, shape (g, m, 2).
    slid
        The originals as they were averaged: where they slid on their tracks, as slid.
    """

    labels: NDArray[np.int64]
    lines: NDArray[np.float64]
    slid: Trajectories


def belonging(
    trajectories: Trajectories,
    released: NDArray[np.float64],
    report: Mapping[str, Any],
) -> Belonging:
    """Find each group's line in the release, which holds it once for each member.

    Parameters
    ----------
    trajectories
        The originals, without those that were suppressed.
    released
        Latitude and longitude in the order of the release, shape (n, m, 2).
    report
        The holder's report of that release.

    Raises
    ------
    BadInput
        If the three do not belong together: the lines must be the centroids of the
        groups that the report names.
    """
    labels = labels_in(report)
    if len(labels) != len(trajectories) or trajectories.points.shape != released.shape:
        raise BadInput(STRANGERS)
    slid = _as_slid(trajectories, report)
    means = group_means(slid.records, labels)
    records = released.reshape(len(released), -1)
    lines, copies = np.unique(records, axis=0, return_counts=True)
    _, nearest = KDTree(lines).query(means, p=np.inf, distance_upper_bound=_ROUNDING)
    found = bool((nearest < len(lines)).all())  # the tree answers len(lines) for none
    sizes = np.bincount(labels)
    if not found or not np.array_equal(
        np.bincount(nearest, weights=sizes, minlength=len(lines)), copies
    ):
        raise BadInput(STRANGERS)
    return Belonging(
        labels, lines[nearest].reshape(len(sizes), *released.shape[1:]), slid
    )


def _as_slid(trajectories: Trajectories, report: Mapping[str, Any]) -> Trajectories:
    """Move trajectories to where they were when they were averaged."""
    if report.get("alignment") is None:
        return trajectories
    try:
        return trajectories.slid(np.asarray(report["alignment"]["starts"]))
    except (BadInput, LookupError, TypeError, ValueError) as error:
        raise BadInput(STRANGERS) from error
