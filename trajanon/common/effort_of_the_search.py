"""How long a search goes on: budgets in moves and runs, by the names that users give."""

from typing import Literal, NamedTuple

EffortName = Literal["fast", "balanced", "best"]


class Effort(NamedTuple):
    """A budget in moves, never in seconds: a seed repeats a result."""

    kicks_per_record: int = 0  # of a path heuristic that can use them
    moves_per_record: int = 0  # of annealing; 0 leaves it out
    runs: int = 1  # of annealing a table of one block of 2,500 records
    recombined: bool = False  # whether the groups of all runs are combined in the end


EFFORTS: dict[EffortName, Effort] = {
    "fast": Effort(1, 0, 1, False),
    "balanced": Effort(10, 8_000, 2, False),
    "best": Effort(100, 40_000, 12, True),
}
