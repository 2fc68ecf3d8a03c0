"""How many random moves a table gets, in which passes, and how hot they are."""

import numpy as np

from trajanon.arrays import Floats
from trajanon.problem import Problem
from trajanon.refine.random_moves import PASS

COURSE = ((0.0, 1.4), (0.15, 0.6), (0.9, 0.12), (1.0, 0.07))
"""Shares of a run that have passed, and the heat by then, a multiple of the temperature
that suits the place of a move; in between it falls geometrically. Most is gained in the
middle, where it falls slowly. The hot part finds where whole groups belong, and is
short: while most moves are made, they are dear."""

LARGE_HOT, LARGE_COLD = 1.4, 0.1
"""Of a large table. Moves are few, and none go to what descent does as well: half a
percent less is lost than between the other two."""

LEAST, FULL = 0.01875, 5_625
"""A large table gets this share of the moves per record, and in all those of so many
records besides: of 8,000 a record 2,400 with 20,000 records, and 195 with a million,
where they still take most of the time."""

LARGE_PASS, FEWEST = 250, 4
"""Moves per record of a large table's pass at most, and passes at least. Its blocks are
to have other borders often: 300 moves in 3 passes lose 0.9 % more than in 6."""


def schedule(problem: Problem) -> tuple[int, Floats]:
    """Find the moves per record of each pass, and the heats before and after it."""
    moves = problem.budget.moves_per_record
    if problem.large is None:
        passes = max(moves // PASS, 1)
        passed, heats = np.transpose(COURSE)
        now = np.linspace(0.0, 1.0, passes + 1)
        return min(PASS, moves), np.exp(np.interp(now, passed, np.log(heats)))
    moves = int(moves * (LEAST + FULL / len(problem.records)))
    passes = max(moves // LARGE_PASS, FEWEST)
    return -(-moves // passes), np.geomspace(LARGE_HOT, LARGE_COLD, passes + 1)
