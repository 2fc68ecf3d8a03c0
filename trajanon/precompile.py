"""Kernels of the usual search, compiled on a second core before they are needed."""

import atexit
import os
import subprocess
import sys
from functools import cache
from threading import Event

import numpy as np

from trajanon._kernels.group_moves import creation_pass, group_pass
from trajanon._kernels.group_state import refresh_centroids
from trajanon._kernels.random_moves import make_random_moves
from trajanon._kernels.record_moves import record_pass
from trajanon.problem import whole_problem
from trajanon.search.annealing import anneal_block, build_field
from trajanon.search.descent import build_descent
from trajanon.settings import Settings
from trajanon.workers import cores

_N, _K = 12, 2  # records, in groups of 2: any will do


def compile_search() -> None:
    """Compile what follows the cut of a path, what is needed last before all else."""
    random, rows, labels = np.random.default_rng(0), np.arange(_N), np.arange(_N) // _K
    problem = whole_problem(random.normal(size=(_N, 2)), rows, _K, Settings(), random)
    field, heats = build_field(problem, labels), np.array([0.7, 0.1])
    anneal_block(field, 1, heats, labels, rows, np.uint64(1), Event())
    near = np.zeros((_N, 1), dtype=np.int64)
    descent = build_descent(problem.records, labels, rows, _K, near)
    for look in (creation_pass, group_pass, record_pass):
        look(descent, _K, 0, 0, 0)
    refresh_centroids(descent.groups)


@cache
def compile_ahead() -> bool:
    """Let another process compile for the search; whether there is one.

    This one finds the path meanwhile, waits for a kernel that the other one compiles, and compiles
    what the other one has not begun. The other one ends with it. On one core, or where all are
    busy, there is none.
    """
    busy = hasattr(os, "getloadavg") and os.getloadavg()[0] > cores() - 1
    if cores() < 2 or busy or not make_random_moves.missing:
        return False
    task = "from trajanon.precompile import compile_search; compile_search()"
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", task], stdin=nothing, stdout=nothing, stderr=nothing
        )
    except OSError:
        return False
    atexit.register(process.wait)
    atexit.register(process.terminate)  # which is called first
    return True
