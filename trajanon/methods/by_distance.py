"""Groupings by distance as methods: the baselines of every comparison."""

import numpy as np

from trajanon.grouping.cbfs import cbfs as group_by_cbfs
from trajanon.grouping.md import md as group_by_md
from trajanon.grouping.mdav import mdav as group_by_mdav
from trajanon.grouping.v_mdav import v_mdav as group_by_v_mdav
from trajanon.loss import sse
from trajanon.methods.task import Grouping, Task

GAMMAS = tuple(np.arange(0, 21) / 20)
"""What V-MDAV tries where no gamma is asked for: 0, 0.05, ..., 1."""


def mdav(task: Task) -> Grouping:
    """Group by `trajanon.grouping.mdav`."""
    return Grouping(group_by_mdav(task.records, task.k, task.subjects, task.progress))


def md(task: Task) -> Grouping:
    """Group by `trajanon.grouping.md`."""
    return Grouping(group_by_md(task.records, task.k, task.subjects, task.progress))


def cbfs(task: Task) -> Grouping:
    """Group by `trajanon.grouping.cbfs`."""
    return Grouping(group_by_cbfs(task.records, task.k, task.subjects, task.progress))


def v_mdav(task: Task) -> Grouping:
    """Group by `trajanon.grouping.v_mdav`, with one gamma or the best of several.

    References
    ----------
    Maya-López, thesis (URV 2023), section 4.3.1, reports the best of several gamma
    without naming them.
    """
    gammas = GAMMAS if task.gamma is None else (task.gamma,)
    tried = [
        group_by_v_mdav(task.records, task.k, task.subjects, gamma, task.progress)
        for gamma in gammas
    ]
    return Grouping(min(tried, key=lambda labels: sse(task.records, labels)))
