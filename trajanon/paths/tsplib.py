"""A path by an external solver: the file it reads, its process, and the tour it writes.

The solver finds a tour through the records and a dummy city; the path is the tour cut there. It
reads a TSPLIB file, with distances as whole numbers, and holds an n x n matrix of them. It writes
the number of cities and then their numbers, from 0, as Concorde does.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.drafts import drafting
from trajanon.errors import BadInput, FileProblem
from trajanon.paths.tours import path_length, shortest
from trajanon.problem import Problem

PROBLEM, SOLUTION, SEED = "PROBLEM", "SOLUTION", "SEED"
"""What stands in a command for the file to read, the file to write, and the seed."""

MOST_RECORDS = 20_000
"""Then the file has 3 GB, and a solver with a copy of it needs more than twice that."""

FEWEST = 9
"""Fewer records are tried in every order: below ten cities Concorde turns to another
method, which takes no length above 2^15, and pyconcorde may crash."""

_SUMS_BELOW = 2**31 - 1


def python(code: str) -> list[str]:
    """Command of a solver that is a Python library; its output comes line by line."""
    return [sys.executable, "-u", "-c", code, PROBLEM, SOLUTION, SEED]


def path_by(problem: Problem, start: int | None, solver: str, command: Sequence[str]) -> Ints:
    """Find a short path by a solver that runs in a process and a folder of its own.

    So Ctrl-C ends it at once, and its files, its output and its crash stay there.
    """
    records = problem.records
    n = len(records)
    if n > MOST_RECORDS:
        msg = (
            f"{n} records are too many for {solver}, which holds the distances of all "
            f"pairs; give at most {MOST_RECORDS} or choose the heuristic or-opt"
        )
        raise BadInput(msg)
    if n < FEWEST:
        return shortest(records, start)
    if np.array_equal(records, np.broadcast_to(records[0], records.shape)):
        return np.roll(np.arange(n), -(start or 0))  # no distance to scale by
    seed = int(problem.random.integers(1, 2**31 - 1))
    problem.progress(f"Finding a short path by {solver}", 0, None)
    try:
        with drafting(Path(gettempdir(), "trajanon-tour")) as draft:
            folder = draft.path.parent
            asked, solution = folder / "problem.tsp", folder / "problem.sol"
            write_problem(asked, records, start)
            given = {PROBLEM: str(asked), SOLUTION: str(solution), SEED: str(seed)}
            last_line = _run(solver, [given.get(word, word) for word in command], folder)
            tour = read_tour(solution, n + 1)
    except OSError as error:
        msg = (
            f"cannot write the problem for {solver} to a temporary folder: "
            f"{error.strerror or error}; set TMPDIR to a folder with more room"
        )
        raise FileProblem(msg) from error
    if tour is None:
        raise _no_tour(solver, last_line)
    return path_of_tour(tour, records, start)


def write_problem(file: Path, records: Floats, start: int | None = None) -> None:
    """Write the distances as whole numbers, in TSPLIB format."""
    n = len(records)
    # Concorde aborts where a sum leaves 32 bits (BIGGUY/bigguy.c), and both solvers
    # hold lengths and the gains of moves in such integers; no n + 1 links reach that.
    longest = _SUMS_BELOW // (n + 1) - 1
    # Twice the farthest from one record: no two are farther apart.
    reach = 2.0 * _distances(records, records[0]).max()
    aside = np.zeros(n, dtype=np.int64)
    if start is not None:
        aside[:] = longest + 1
        aside[start] = 0
    with file.open("w", encoding="ascii") as lines:
        lines.write(
            "NAME: path\n"
            "TYPE: TSP\n"
            f"DIMENSION: {n + 1}\n"
            "EDGE_WEIGHT_TYPE: EXPLICIT\n"
            "EDGE_WEIGHT_FORMAT: FULL_MATRIX\n"  # elkai reads no other
            "EDGE_WEIGHT_SECTION\n"
        )
        lines.write(_line(0, aside))
        for record, to_dummy in zip(records, aside.tolist(), strict=True):
            scaled = np.rint(_distances(records, record) / reach * longest)
            lines.write(_line(to_dummy, scaled.astype(np.int64)))
        lines.write("EOF\n")


def read_tour(file: Path, cities: int) -> Ints | None:
    """Read the order of all cities, numbered from 0; None if the file has no such."""
    try:
        numbers = [int(word) for word in file.read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return None
    if numbers[:1] != [cities] or sorted(numbers[1:]) != list(range(cities)):
        return None
    return np.array(numbers[1:], dtype=np.int64)


def path_of_tour(tour: Ints, records: Floats, start: int | None) -> Ints:
    """Cut a tour at the dummy city 0 into a path, which begins with the start."""
    path = np.roll(tour, -int(np.flatnonzero(tour == 0)[0]))[1:] - 1
    if start is None:
        return path
    # A heuristic may have left the start inside: then one of two jumps mends it.
    place = int(np.flatnonzero(path == start)[0])
    onward = np.roll(path, -place)
    back = np.concatenate([path[place::-1], path[place + 1 :]])
    return min(onward, back, key=lambda order: path_length(records, order))


def _distances(records: Floats, point: Floats) -> Floats:
    distances: Floats = np.sqrt(((records - point) ** 2).sum(axis=1))
    return distances


def _line(first: int, others: Ints) -> str:
    return " ".join(map(str, [first, *others.tolist()])) + "\n"


def _run(solver: str, command: Sequence[str], folder: Path) -> str:
    """Run a solver, and end it when we end; the last line it wrote."""
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
        raise _no_tour(solver, error.strerror or str(error)) from error
    last_line = ""
    with process:
        try:
            for line in process.stdout or ():  # it is a pipe
                last_line = line.strip() or last_line
                if last_line.startswith("FATAL ERROR"):
                    break  # Concorde would sleep for an hour now, for a debugger
            else:
                if process.wait() == 0:
                    return last_line
        finally:
            process.kill()
            process.wait()  # it writes no more where all is removed now
    raise _no_tour(solver, last_line)


def _no_tour(solver: str, last_line: str) -> BadInput:
    said = f"said {last_line!r}" if last_line else "said nothing"
    return BadInput(
        f"{solver} {said} and found no tour; choose the heuristic or-opt, or repair {solver}"
    )
