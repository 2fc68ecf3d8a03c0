"""Whether originals, release and report belong together, and which line is whose."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.release_lines import rounded
from trajanon.files.report import NOT_TOGETHER, Report, digits_in, labels_in
from trajanon.loss import group_means
from trajanon.partition import dense
from trajanon.trajectories import Trajectories

_OFF = 1.01  # the last decimal of a mean may be computed otherwise than it was


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """A release with its originals.

    Groups with equal lines are one: nobody who sees the release can tell them apart.
    """

    labels: Ints  # group of each original, shape (n,), numbered 0..g-1
    lines: Floats  # released latitude and longitude of each group, shape (g, m, 2)
    slid: Trajectories  # the originals as they were averaged


def matched(trajectories: Trajectories, released: Floats, report: Report) -> Matched:
    """Find each group's line in the release, which holds it once for each member."""
    labels = labels_in(report)
    if len(labels) != len(trajectories) or trajectories.points.shape != released.shape:
        raise BadInput(NOT_TOGETHER)
    slid = _as_slid(trajectories, report)
    digits = digits_in(report)
    means = rounded(group_means(slid.records, labels), digits)
    records = released.reshape(len(released), -1)
    lines, copies = np.unique(records, axis=0, return_counts=True)
    off = _OFF * 10.0**-digits
    _, nearest = KDTree(lines).query(means, p=np.inf, distance_upper_bound=off)
    if (nearest == len(lines)).any():  # what the tree answers where there is none
        raise BadInput(NOT_TOGETHER)
    line = nearest[labels]
    if not np.array_equal(np.bincount(line, minlength=len(lines)), copies):
        raise BadInput(NOT_TOGETHER)
    labels, found = dense(line), np.empty_like(copies)
    found[labels] = line
    return Matched(labels, lines[found].reshape(-1, *released.shape[1:]), slid)


def _as_slid(trajectories: Trajectories, report: Report) -> Trajectories:
    """Move trajectories to where they were when they were averaged."""
    alignment = report.get("alignment")
    if alignment is None:
        return trajectories
    try:
        return trajectories.slid(np.array(alignment["starts"], dtype=np.int64))
    except BadInput as error:
        raise BadInput(NOT_TOGETHER) from error
