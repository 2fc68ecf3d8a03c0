"""What a refinement is given, and how it is laid out for the kernels."""

from dataclasses import dataclass, field

import numpy as np

from trajanon._kernels.groups import Groups, chain_members
from trajanon.arrays import Floats, Ints
from trajanon.course import Course, Unheeded
from trajanon.loss import group_means
from trajanon.progress import Progress, silent
from trajanon.vicinity import Vicinity


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
        Subject of each record, shape (n,), numbered from 0; ``arange(n)`` counts records.
    random
        Source of every choice left to chance.
    shuffle_probability, max_events
        Of Random Cluster Shuffling: how probable a shuffle is after each record, and how many there
        may be.
    moves_per_record, runs
        Of annealing: its budget, 0 for none, and how often it is done with a table of one block;
        the larger a table, the fewer runs.
    recombined
        Whether the groups of all runs are combined in the end, and regions of what comes of it
        annealed anew.
    vicinity
        Who is near whom, where that is known already.
    course
        Told of every step, and of every good partition on the way.
    progress
        Told how far the work is.
    """

    records: Floats
    labels: Ints
    k: int
    subjects: Ints
    random: np.random.Generator
    shuffle_probability: float
    max_events: int
    moves_per_record: int = 0
    runs: int = 1
    recombined: bool = False
    vicinity: Vicinity | None = None
    course: Course = field(default_factory=Unheeded)
    progress: Progress = silent

    @property
    def large(self) -> Vicinity | None:
        """The vicinity, if these records are too many to be searched in one piece."""
        vicinity = self.vicinity
        if vicinity is None or vicinity.records is not self.records:
            return None  # of a part, or of nobody
        return vicinity if vicinity.large else None


def lay_out(records: Floats, labels: Ints, subjects: Ints, places: int = 0) -> Groups:
    """Lay out records in groups for the kernels, which change none of these."""
    # Centred, so that rounding is small beside the spread.
    records = records - records.mean(axis=0)
    means = group_means(records, labels)
    places = max(places, len(means))
    centroids = np.zeros((places, records.shape[1]))
    centroids[: len(means)] = means
    n = len(records)
    groups = Groups(
        records=records,
        subjects=subjects,
        repeats=len(np.unique(subjects)) < n,
        labels=labels.copy(),
        centroids=centroids,
        sizes=np.bincount(labels, minlength=places),
        different=np.zeros(places, dtype=np.int64),
        first=np.full(places, -1, dtype=np.int64),
        following=np.full(n, -1, dtype=np.int64),
        preceding=np.full(n, -1, dtype=np.int64),
        empty=np.zeros(places + 1, dtype=np.int64),
    )
    chain_members(groups)
    return groups
