"""What a method is given, and what it gives back."""

from dataclasses import dataclass, field

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.course import Course, Unheeded
from trajanon.progress import Progress, silent
from trajanon.vicinity import Vicinity


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A microaggregation to be done; everything checked.

    Attributes
    ----------
    records
        Standardised, shape (n, p).
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,), numbered from 0, at least k different; ``arange(n)``
        counts records.
    heuristic
        Name of the path heuristic, for methods that need a path.
    compression, expansion
        Of hm2: records behind each city of its path, and how they are put back.
    gamma
        Of v-mdav: how readily groups grow; None tries several.
    subsets
        Of decomposition: parts that are solved on their own; None chooses.
    kicks_per_record
        Budget of a path heuristic that can use one.
    random
        Source of every choice left to chance.
    vicinity
        Who is near whom, for methods that ask.
    course
        Told of the steps, but for the last.
    progress
        Told how far the work is.
    """

    records: Floats
    k: int
    subjects: Ints
    heuristic: str
    compression: int
    expansion: str
    gamma: float | None
    subsets: int | None
    kicks_per_record: int
    random: np.random.Generator
    vicinity: Vicinity | None = None
    course: Course = field(default_factory=Unheeded)
    progress: Progress = silent


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Groups of at least k subjects.

    Attributes
    ----------
    labels
        Group of each record, shape (n,).
    path_length
        Standardised length of the path the groups were cut from, if there was one.
    """

    labels: Ints
    path_length: float | None = None
