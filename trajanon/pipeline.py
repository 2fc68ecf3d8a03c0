"""The pipeline: a method groups standardised records, a refinement regroups them."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypedDict

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.course import Course
from trajanon.errors import TrajanonError
from trajanon.methods import METHODS
from trajanon.methods.task import Task
from trajanon.partition import broken_promises, dense
from trajanon.progress import Progress, silent
from trajanon.refine import REFINEMENTS
from trajanon.refine.descent import near_count
from trajanon.refine.grouped import Grouped
from trajanon.vicinity import Vicinity


class Options(TypedDict, total=False):
    """The options of `microaggregate`, for those who hand them on."""

    method: str
    heuristic: str
    compression: int
    expansion: str
    gamma: float | None
    subsets: int | None
    refine: str
    shuffle_probability: float
    max_events: int
    effort: str
    seed: int
    progress: Progress


BY_DEFAULT = Options(
    method="hm2",
    heuristic="or-opt",
    compression=1,
    expansion="distance",
    gamma=None,
    subsets=None,
    refine="anneal",
    shuffle_probability=0.001,
    max_events=10,
    effort="balanced",
    seed=0,
    progress=silent,
)
"""What those who hand options on must know of them."""


class Effort(NamedTuple):
    """A budget in moves, never in seconds: a seed repeats a result."""

    kicks_per_record: int  # of a path heuristic that can use them, where no annealing follows
    moves_per_record: int  # of annealing; 0 leaves it out
    runs: int  # how often annealing is done with a table of one block of 2,500 records
    recombined: bool  # whether the groups of all runs are combined in the end


EFFORTS = {
    "fast": Effort(1, 0, 1, False),
    "balanced": Effort(10, 8_000, 2, False),
    "best": Effort(100, 40_000, 12, True),
}

KICKS_BEFORE_ANNEALING = 1
"""Per record: from paths with ten times as many it ends in groups as good, for while it
is hot, it forgets what it started from."""

LAST_STEP = {"hm2": "MHM"}
"""The last step of a method, where it has several."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What a search among standardised records found."""

    labels: Ints  # group of each record, shape (n,), numbered in the order of appearance
    path_length: float | None  # as in `trajanon.partition.Partition`
    vicinity: Vicinity  # who is near whom
    course: Course  # the steps of the search
    stopped: bool  # whether Ctrl-C ended it early


def search(
    records: Floats,
    subjects: Ints,
    k: int,
    options: Options,
    random: np.random.Generator,
    labels: Ints | None = None,
) -> Found:
    """Group records by the method, then regroup them by the refinement."""
    course = Course(records)
    budget = EFFORTS[options["effort"]]
    progress = options["progress"]
    vicinity = Vicinity(records, near_count(k), partial(course.arrived, "neighbours"), progress)
    annealed = options["refine"] == "anneal" and budget.moves_per_record > 0
    path_length = None
    if labels is None:
        grouping = METHODS[options["method"]](
            Task(
                records=records,
                k=k,
                subjects=subjects,
                heuristic=options["heuristic"],
                compression=options["compression"],
                expansion=options["expansion"],
                gamma=options["gamma"],
                subsets=options["subsets"],
                kicks_per_record=(KICKS_BEFORE_ANNEALING if annealed else budget.kicks_per_record),
                random=random,
                vicinity=vicinity,
                course=course,
                progress=progress,
            )
        )
        labels, path_length = dense(grouping.labels), grouping.path_length
        course.arrived(LAST_STEP.get(options["method"], options["method"]), labels)
    stopped = False
    if options["refine"] != "none":
        grouped = Grouped(
            records=records,
            labels=labels,
            k=k,
            subjects=subjects,
            random=random,
            shuffle_probability=options["shuffle_probability"],
            max_events=options["max_events"],
            moves_per_record=budget.moves_per_record,
            runs=budget.runs,
            recombined=budget.recombined,
            vicinity=vicinity,
            course=course,
            progress=progress,
        )
        try:
            REFINEMENTS[options["refine"]](grouped)
        except KeyboardInterrupt:
            stopped = True
            course.arrived("Ctrl-C", course.best)
    if course.best is not None:
        labels = dense(course.best)
    if broken_promises(labels, subjects, k):
        msg = (
            f"{options['method']} with {options['refine']} left a group of fewer than "
            f"{k}; please report it"
        )
        raise TrajanonError(msg)
    return Found(labels, path_length, vicinity, course, stopped)
