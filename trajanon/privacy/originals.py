"""Which released line stands for which original."""

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

_OFF = 1.01  # units of the last decimal: a mean may be computed otherwise than it was


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """A release with its originals.

    Groups with equal lines are one: nobody who sees the release can tell them apart.
    """

    labels: Ints  # group of each original, (n,), numbered 0..g-1
    lines: Floats  # released latitude and longitude of each group, (g, m, 2)
    slid: Trajectories  # the originals where they were when they were averaged


def matched(trajectories: Trajectories, released: Floats, report: Report) -> Matched:
    """Find each group's line in the release, which holds it once for each member."""
    labels, slid = labels_in(report), trajectories
    if len(labels) != len(trajectories) or trajectories.points.shape != released.shape:
        raise BadInput(NOT_TOGETHER)
    if (alignment := report.get("alignment")) is not None:
        try:
            slid = trajectories.slid(np.array(alignment["starts"], dtype=np.int64))
        except BadInput as error:
            raise BadInput(NOT_TOGETHER) from error
    digits = digits_in(report)
    means = rounded(group_means(slid.records, labels), digits)
    lines, copies = np.unique(released.reshape(len(released), -1), axis=0, return_counts=True)
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
