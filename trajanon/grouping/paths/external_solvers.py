"""Paths by external solvers, Concorde and LKH: tours through records and a dummy, cut there.

A solver runs as a process in a folder of its own. It reads a TSPLIB file of distances in whole
numbers, and writes how many cities there are, and then their numbers, from 0, in the order of the
tour. City 0 is the dummy; record i is city i + 1.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.grouping.paths.travelling_salesman import from_any_start, shortest_of_few
from trajanon.grouping.problem import Problem

DISTANCES = "problem.tsp"  # the file of distances that a command reads in its folder
TOUR_FILE = "problem.sol"  # the file that it writes there
SEED_WORD = "SEED_WORD"  # the word of a command that stands for the seed

MOST_RECORDS = 20_000  # then the file has 3 GB, and a solver needs more than twice that

FEWEST_FOR_SOLVERS = 9
"""Fewer are tried in every order: below ten cities Concorde's method is another, or crashes."""

_LARGEST_SUM = 2**31 - 1  # of distances, in the 32 bits of a solver

_PYCONCORDE = f"""\
import sys
from concorde.tsp import TSPSolver

solution = TSPSolver.from_tspfile("{DISTANCES}").solve(verbose=False, random_seed=int(sys.argv[1]))
if not solution.found_tour:
    sys.exit("no tour was found")
with open("{TOUR_FILE}", "w") as file:
    print(len(solution.tour), *solution.tour, file=file)
"""

# elkai's public functions take neither seed nor precision, and want the distances as
# lists. LKH multiplies distances by its precision, 100 by default, and aborts where
# that leaves 32 bits. A run has n trials; nine more runs made no path shorter.
_ELKAI = f"""\
import sys
from elkai import _elkai

settings = "PROBLEM_FILE = :stdin:\\nRUNS = 1\\nPRECISION = 1\\nSEED = " + sys.argv[1] + "\\n"
tour = _elkai.solve_problem(settings, open("{DISTANCES}").read())
with open("{TOUR_FILE}", "w") as file:
    print(len(tour), *(city - 1 for city in tour), file=file)
"""

_PYTHON = (sys.executable, "-u", "-c")  # its output comes line by line


@from_any_start
def concorde(problem: Problem) -> Ints:
    """Find the shortest Hamiltonian path through the records, by Concorde.

    It is the shortest up to the rounding of distances to whole numbers. The proof of that may take
    hours from a few thousand records on.

    The Python package pyconcorde is used if it is installed, else a program ``concorde`` on the
    PATH. The seed reaches both, but a pyconcorde from before March 2026 takes the clock instead,
    which may choose another one of several paths of the same length.

    References
    ----------
    Applegate, Bixby, Chvátal, Cook, "The Traveling Salesman Problem: A Computational
    Study" (2006); https://www.math.uwaterloo.ca/tsp/concorde.html. Maya-López, thesis
    (URV 2023), chapter 4, Algorithm 2 for the dummy node.
    """
    if command := concorde_command():
        return _path_by_solver("Concorde", command, problem)
    raise BadInput(
        "Concorde is not installed; put the program concorde on the PATH, install pyconcorde (on "
        "no index: pip install git+https://github.com/jvkersch/pyconcorde), or choose the "
        "heuristic or-opt"
    )


def concorde_command() -> list[str] | None:
    """Find Concorde: the command that runs it; None if it is not installed."""
    # Ask for the module inside: a folder named concorde passes for a package.
    try:
        package = find_spec("concorde.tsp")
    except ImportError:
        package = None
    if package is not None:
        return [*_PYTHON, _PYCONCORDE, SEED_WORD]

    program = shutil.which("concorde")
    return None if program is None else [program, "-s", SEED_WORD, "-o", TOUR_FILE, DISTANCES]


@from_any_start
def lkh(problem: Problem) -> Ints:
    """Find a short Hamiltonian path through the records, by LKH.

    It is the Lin-Kernighan heuristic of Helsgaun, from the package elkai, with one run of n trials.

    References
    ----------
    Helsgaun (2000), "An effective implementation of the Lin-Kernighan traveling
    salesman heuristic"; http://webhotel4.ruc.dk/~keld/research/LKH-3. Maya-López,
    thesis (URV 2023), chapter 4, Algorithm 2 for the dummy node.
    """
    if find_spec("elkai") is None:
        raise BadInput(
            "LKH is not installed; run pip install 'trajanon[lkh]' or choose the heuristic or-opt"
        )
    return _path_by_solver("LKH", [*_PYTHON, _ELKAI, SEED_WORD], problem)


def _path_by_solver(solver: str, command: Sequence[str], problem: Problem) -> Ints:
    """Find a short path by a solver in a process and folder of its own, which Ctrl-C ends."""
    records = problem.records
    n = len(records)
    if n > MOST_RECORDS:
        raise BadInput(
            f"{n} records are too many for {solver}; give at most {MOST_RECORDS} or choose or-opt"
        )
    if n < FEWEST_FOR_SOLVERS:
        return shortest_of_few(records)
    if (records == records[0]).all():
        return np.arange(n)  # no distance to scale by

    seed = str(problem.random.integers(1, 2**31 - 1))
    problem.progress(f"Finding a short path by {solver}", 0, None)
    with TemporaryDirectory(prefix="trajanon-tour") as name:
        folder = Path(name)
        write_problem(folder / DISTANCES, records)
        command = [seed if word == SEED_WORD else word for word in command]
        last_line = _run(command, folder)
        tour = read_tour(folder / TOUR_FILE, n + 1)
    if tour is None:
        raise BadInput(
            f"{solver} found no tour, and said {last_line!r}; choose the heuristic or-opt, or "
            f"repair {solver}"
        )

    # The path begins behind the dummy, which is city 0.
    return np.roll(tour, -int(np.flatnonzero(tour == 0)[0]))[1:] - 1


def write_problem(file: Path, records: Floats) -> None:
    """Write the distances as whole numbers, in TSPLIB format; the first city is the dummy."""
    n = len(records)
    # Concorde aborts where a sum leaves 32 bits (BIGGUY/bigguy.c), and both solvers
    # hold lengths and the gains of moves in such integers; no n + 1 links reach that.
    longest = _LARGEST_SUM // (n + 1) - 1
    # Twice the farthest from one record: no two are farther apart.
    reach = 2.0 * np.linalg.norm(records - records[0], axis=1).max()

    with file.open("w", encoding="ascii") as lines:
        lines.write(
            "NAME: path\n"
            "TYPE: TSP\n"
            f"DIMENSION: {n + 1}\n"
            "EDGE_WEIGHT_TYPE: EXPLICIT\n"
            "EDGE_WEIGHT_FORMAT: FULL_MATRIX\n"  # elkai reads no other
            "EDGE_WEIGHT_SECTION\n"
        )
        print(*[0] * (n + 1), file=lines)
        for record in records:
            scaled = np.rint(np.linalg.norm(records - record, axis=1) / reach * longest)
            print(0, *scaled.astype(np.int64).tolist(), file=lines)
        lines.write("EOF\n")


def _run(command: Sequence[str], folder: Path) -> str:
    """Run a command in a folder, and return the last line that it prints.

    If it fails, or we are ended, so is it, and the tour that it may have begun is removed.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        return error.strerror or str(error)

    last_line = ""
    with process:
        try:
            for line in process.stdout or ():  # it is a pipe
                last_line = line.strip() or last_line
                # Concorde would sleep for an hour now, for a debugger.
                if last_line.startswith("FATAL ERROR"):
                    break
            else:  # its output ended by itself
                process.wait()
        finally:
            # It writes no more when the folder is removed.
            process.kill()
            process.wait()

    if process.returncode != 0:
        (folder / TOUR_FILE).unlink(missing_ok=True)
    return last_line


def read_tour(file: Path, cities: int) -> Ints | None:
    """Read the order of all cities, numbered from 0; None if the file has none."""
    try:
        numbers = [int(word) for word in file.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return None
    if numbers[:1] != [cities] or sorted(numbers[1:]) != list(range(cities)):
        return None
    return np.array(numbers[1:], dtype=np.int64)
