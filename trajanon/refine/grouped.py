"""What a refinement is given."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trajanon.progress import Progress, silent


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Records in groups, to be grouped better; everything checked.

    Attributes
    ----------
    records
        Standardised, shape (n, p).
    labels
        Group of each record, shape (n,), numbered 0..g-1.
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,), numbered from 0; ``arange(n)`` counts
        records.
    random
        Source of every choice left to chance.
    shuffle_probability, max_events
        Of Random Cluster Shuffling: how probable a shuffle is after each record, and
        how many there may be.
    progress
        Told how far the work is.
    """

    records: NDArray[np.float64]
    labels: NDArray[np.int64]
    k: int
    subjects: NDArray[np.int64]
    random: np.random.Generator
    shuffle_probability: float
    max_events: int
    progress: Progress = silent
