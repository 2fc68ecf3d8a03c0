"""What a path heuristic is given."""

from dataclasses import dataclass

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.progress import Progress, silent
from trajanon.vicinity import Vicinity


@dataclass(frozen=True, slots=True, eq=False)
class Journey:
    """Records to be visited, each once, on a short path; everything checked.

    Attributes
    ----------
    records
        Standardised, shape (n, p).
    k, subjects
        Least number of different subjects in a group, and the subject of each record, (n,),
        numbered from 0: for the paths that lead through groups.
    start
        Record with which the path begins; None leaves it to the heuristic.
    kicks_per_record
        Budget of a heuristic that can use one.
    random
        Source of every choice left to chance.
    vicinity
        Who is near whom among the records, where that is known already.
    progress
        Told how far the work is.
    """

    records: Floats
    k: int
    subjects: Ints
    start: int | None
    kicks_per_record: int
    random: np.random.Generator
    vicinity: Vicinity | None = None
    progress: Progress = silent
