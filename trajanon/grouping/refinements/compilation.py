"""The kernels of descent and annealing, compiled while the path is found.

Run as a program, it compiles them for the types that a search of records has.
"""

import numpy as np

from trajanon._kernels.compiled import compile_beside
from trajanon._kernels.descent_moves import descent_pass
from trajanon._kernels.group_state import refresh_centroids
from trajanon._kernels.random_moves import make_random_moves
from trajanon.common.workers import cores
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.annealing import anneal_runs
from trajanon.grouping.refinements.descent import descend


def compile_ahead() -> None:
    """Start to compile these kernels in a process beside, unless an earlier run kept them."""
    if cores() > 1:
        compile_beside(__name__, descent_pass, refresh_centroids, make_random_moves)


def search_a_little() -> None:
    """Run descent and annealing on a few records."""
    records = np.arange(12.0).reshape(6, 2) % 5.0
    problem = Problem(records=records, subjects=np.arange(6), k=2)
    anneal_runs(problem, descend(problem, np.arange(6) // 2))


if __name__ == "__main__":
    search_a_little()
