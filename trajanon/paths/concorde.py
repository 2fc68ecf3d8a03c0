"""The shortest path, by the solver Concorde."""

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.paths.tsplib import Command, python, solve
from trajanon.problem import Problem

_PYCONCORDE = """\
import sys
from concorde.tsp import TSPSolver

problem, solution, seed = sys.argv[1:]
found = TSPSolver.from_tspfile(problem).solve(verbose=False, random_seed=int(seed))
if not found.found_tour:
    sys.exit("no tour was found")
with open(solution, "w") as file:
    print(len(found.tour), *found.tour, file=file)
"""


def concorde(problem: Problem, start: int | None = None) -> Ints:
    """Find the shortest Hamiltonian path through the records, by Concorde.

    It is the shortest up to the rounding of distances to whole numbers, of which there are some
    2^31 / n. The proof of that may take hours from a few thousand records on. Concorde holds an n x
    n matrix: at most 20,000 records are accepted.

    Taken is the Python package pyconcorde, else a program ``concorde`` on the PATH. Both run in a
    process of their own, so Ctrl-C ends them. The seed reaches both, but a pyconcorde from before
    March 2026 takes the clock instead, which may choose another one of several paths of the same
    length.

    Raises
    ------
    BadInput
        If Concorde is not installed, gave up, or was given too many records.
    FileProblem
        If the problem cannot be written to a temporary folder.

    References
    ----------
    Applegate, Bixby, Chvátal, Cook, "The Traveling Salesman Problem: A Computational
    Study" (2006); https://www.math.uwaterloo.ca/tsp/concorde.html. Maya-López, thesis
    (URV 2023), chapter 4, Algorithm 2 for the dummy node.
    """
    return solve(problem, start, "Concorde", _command())


def _command() -> Command:
    if _has_pyconcorde():
        return lambda *arguments: python(_PYCONCORDE, *arguments)
    program = shutil.which("concorde")
    if program is None:
        msg = (
            "Concorde is not installed; install pyconcorde from "
            "https://github.com/jvkersch/pyconcorde, put the program concorde on the "
            "PATH, or choose the heuristic or-opt"
        )
        raise BadInput(msg)

    def command(problem: Path, solution: Path, seed: int) -> Sequence[str]:
        return [program, "-s", str(seed), "-o", str(solution), str(problem)]

    return command


def _has_pyconcorde() -> bool:
    try:  # for the module inside: a folder named concorde passes for a package
        return find_spec("concorde.tsp") is not None
    except ImportError:
        return False
