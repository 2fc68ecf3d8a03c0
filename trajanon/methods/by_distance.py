"""Groupings by distance as methods: the baselines of every comparison."""

import numpy as np

from trajanon.arrays import Ints
from trajanon.grouping.cbfs import cbfs as group_by_cbfs
from trajanon.grouping.md import md as group_by_md
from trajanon.grouping.mdav import mdav as group_by_mdav
from trajanon.grouping.v_mdav import v_mdav as group_by_v_mdav
from trajanon.loss import sse
from trajanon.problem import Problem

GAMMAS = tuple(np.arange(0, 21) / 20)
"""What V-MDAV tries where no gamma is asked for: 0, 0.05, ..., 1."""


def mdav(problem: Problem) -> Ints:
    """Group by `trajanon.grouping.mdav`."""
    return group_by_mdav(problem.records, problem.k, problem.subjects, problem.progress)


def md(problem: Problem) -> Ints:
    """Group by `trajanon.grouping.md`."""
    return group_by_md(problem.records, problem.k, problem.subjects, problem.progress)


def cbfs(problem: Problem) -> Ints:
    """Group by `trajanon.grouping.cbfs`."""
    return group_by_cbfs(problem.records, problem.k, problem.subjects, problem.progress)


def v_mdav(problem: Problem) -> Ints:
    """Group by `trajanon.grouping.v_mdav`, with one gamma or the best of several.

    References
    ----------
    Maya-López, thesis (URV 2023), section 4.3.1, reports the best of several gamma
    without naming them.
    """
    gammas = GAMMAS if problem.settings.gamma is None else (problem.settings.gamma,)
    tried = (
        group_by_v_mdav(problem.records, problem.k, problem.subjects, gamma, problem.progress)
        for gamma in gammas
    )
    return min(tried, key=lambda labels: sse(problem.records, labels))
