"""A short path by the solver LKH."""

from importlib.util import find_spec

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.paths.tsplib import python, solve
from trajanon.problem import Problem

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


def lkh(problem: Problem, start: int | None = None) -> Ints:
    """Find a short Hamiltonian path through the records, by LKH.

    It is the Lin-Kernighan heuristic of Helsgaun, as the package elkai has it, with one run of n
    trials. Distances are rounded to whole numbers, of which there are some 2^31 / n. LKH holds an n
    x n matrix: at most 20,000 records are accepted. It runs in a process of its own, so Ctrl-C ends
    it.

    Raises
    ------
    BadInput
        If elkai is not installed, gave up, or was given too many records.
    FileProblem
        If the problem cannot be written to a temporary folder.

    References
    ----------
    Helsgaun (2000), "An effective implementation of the Lin-Kernighan traveling
    salesman heuristic"; http://webhotel4.ruc.dk/~keld/research/LKH-3. Maya-López,
    thesis (URV 2023), chapter 4, Algorithm 2 for the dummy node.
    """
    if find_spec("elkai") is None:
        msg = "LKH is not installed; run pip install 'trajanon[lkh]' or choose the heuristic or-opt"
        raise BadInput(msg)
    return solve(problem, start, "LKH", lambda *arguments: python(_ELKAI, *arguments))
