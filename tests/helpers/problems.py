"""Problems for the tests of methods and paths."""

from typing import Unpack

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.common.effort_of_the_search import Effort
from trajanon.common.parameters_of_single_methods import (
    MicroaggregateKeywords,
    MicroaggregateSettings,
)
from trajanon.common.search_and_release_options import settings_from
from trajanon.grouping.problem import Problem


def problem(
    records: Floats,
    k: int = 3,
    subjects: Ints | None = None,
    *,
    kicks: int = 1,
    **options: Unpack[MicroaggregateKeywords],
) -> Problem:
    """What a method is given; without subjects each record is its own."""
    settings = settings_from(options, MicroaggregateSettings)
    return Problem(
        records=records,
        subjects=np.arange(len(records)) if subjects is None else subjects,
        k=k,
        random=np.random.default_rng(settings.seed),
        settings=settings,
        budget=Effort(kicks_per_record=kicks),
    )
