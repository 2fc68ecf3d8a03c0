"""Paths by external solvers: Concorde and LKH."""

import shutil
from collections.abc import Sequence
from importlib.util import find_spec

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.paths.tsplib import PROBLEM, SEED, SOLUTION, path_by, python
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

# elkai's public functions take neither seed nor precision, and want the distances as
# lists. LKH multiplies distances by its precision, 100 if not told, and aborts where
# that leaves 32 bits. A run has n trials; nine more runs made no path shorter.
_ELKAI = """\
import sys
from pathlib import Path

from elkai import _elkai

problem, solution, seed = sys.argv[1:]
settings = f"PROBLEM_FILE = :stdin:\\nRUNS = 1\\nPRECISION = 1\\nSEED = {seed}\\n"
tour = _elkai.solve_problem(settings, Path(problem).read_text())
Path(solution).write_text(" ".join(map(str, [len(tour), *(city - 1 for city in tour)])))
"""


def concorde(problem: Problem, start: int | None = None) -> Ints:
    """Find the shortest Hamiltonian path through the records, by Concorde.

    It is the shortest up to the rounding of distances, see `trajanon.paths.tsplib`. The proof of
    that may take hours from a few thousand records on.

    The Python package pyconcorde is used if it is installed, else a program ``concorde`` on the
    PATH. The seed reaches both, but a pyconcorde from before March 2026 takes the clock instead,
    which may choose another one of several paths of the same length.

    References
    ----------
    Applegate, Bixby, Chvátal, Cook, "The Traveling Salesman Problem: A Computational
    Study" (2006); https://www.math.uwaterloo.ca/tsp/concorde.html. Maya-López, thesis
    (URV 2023), chapter 4, Algorithm 2 for the dummy node.
    """
    if _has_pyconcorde():
        command: Sequence[str] = python(_PYCONCORDE)
    elif program := shutil.which("concorde"):
        command = [program, "-s", SEED, "-o", SOLUTION, PROBLEM]
    else:
        msg = (
            "Concorde is not installed; install pyconcorde from "
            "https://github.com/jvkersch/pyconcorde, put the program concorde on the "
            "PATH, or choose the heuristic or-opt"
        )
        raise BadInput(msg)
    return path_by(problem, start, "Concorde", command)


def _has_pyconcorde() -> bool:
    try:  # for the module inside: a folder named concorde passes for a package
        return find_spec("concorde.tsp") is not None
    except ImportError:
        return False


def lkh(problem: Problem, start: int | None = None) -> Ints:
    """Find a short Hamiltonian path through the records, by LKH.

    It is the Lin-Kernighan heuristic of Helsgaun, from the package elkai, with one run of n trials.

    References
    ----------
    Helsgaun (2000), "An effective implementation of the Lin-Kernighan traveling
    salesman heuristic"; http://webhotel4.ruc.dk/~keld/research/LKH-3. Maya-López,
    thesis (URV 2023), chapter 4, Algorithm 2 for the dummy node.
    """
    if find_spec("elkai") is None:
        msg = "LKH is not installed; run pip install 'trajanon[lkh]' or choose the heuristic or-opt"
        raise BadInput(msg)
    return path_by(problem, start, "LKH", python(_ELKAI))
