"""How coarsely a line is written: on a grid of its group's own width."""

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.files.release_lines import MOST_STEPS, UNIT
from trajanon.utility import moved_to
from trajanon.utility.displacements import metres_of_degrees


def grid_steps(points: Floats, lines: Floats, labels: Ints) -> Ints:
    """Choose the grid of each group's line: how many units apart its coordinates may be, (g, 2).

    Originals are equally spaced. From k times a line, somebody who holds all tracks could subtract
    those near it, k - 1 at a time, and see which leave points that are equally spaced again. A grid
    as coarse as the group is wide hides that. Of latitude and of longitude, a step is the largest
    power of two units whose metres are not above the mean displacement of the group's members; at
    least one unit, and at most those whose multiples reach the poles and the antimeridian.

    Parameters
    ----------
    points
        Latitude and longitude of trajectories, degrees, shape (n, m, 2).
    lines
        Mean of each group, degrees, shape (g, m, 2).
    labels
        Group of each trajectory, shape (n,).
    """
    moved = moved_to(points, lines, labels).mean(axis=1)
    width = np.bincount(labels, moved) / np.bincount(labels)
    unit = UNIT * metres_of_degrees(lines[..., 0].mean(axis=1))
    with np.errstate(divide="ignore"):  # all members may be equal
        doublings = np.floor(np.log2(width[:, None] / unit))
    steps: Ints = np.exp2(doublings.clip(0.0, np.log2(MOST_STEPS))).astype(np.int64)
    return steps
