"""Problems for the tests of methods and paths."""

from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.problem import Problem
from trajanon.settings import Effort, Settings


def problem(
    records: Floats,
    k: int = 3,
    subjects: Ints | None = None,
    *,
    seed: int = 0,
    kicks: int = 1,
    **options: Any,
) -> Problem:
    """What a method is given; without subjects each record is its own."""
    return Problem(
        records=records,
        subjects=np.arange(len(records)) if subjects is None else subjects,
        k=k,
        random=np.random.default_rng(seed),
        settings=Settings(**options),
        budget=Effort(kicks_per_record=kicks),
    )
