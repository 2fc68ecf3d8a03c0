"""Decomposition: the best groups in each part of the table, by column generation."""

import numpy as np

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.loss import sse
from trajanon.methods.by_distance import mdav, v_mdav
from trajanon.methods.task import Grouping, Task
from trajanon.partition import dense
from trajanon.refine.grouped import Grouped
from trajanon.refine.swap import swap

# Records of a part times k, about, where the number of parts is left open: of larger
# groups there are more to choose from, and a large part then gains little for long.
_SUBSET = 1_500

_LARGEST = 4_000  # records of a part, whose distances are held pair by pair


def decomposition(task: Task) -> Grouping:
    """Group by distance, exchange records, regroup each part, exchange again.

    The paper's steps: the better of MDAV and V-MDAV; two-swapping; whole groups, in the order in
    which they were formed, fill parts of n / s records; column generation in each part;
    two-swapping of the union. A part is regrouped only for the better, for its own groups are among
    the columns.

    References
    ----------
    Castro, Gentile, Spagnolo-Arrizabalaga (PSD 2022), section 2.
    """
    labels = exchange(task, start(task))
    return Grouping(exchange(task, regroup(task, labels)))


def start(task: Task) -> Ints:
    """Group by the better of MDAV and V-MDAV (step 2)."""
    tried = [mdav(task).labels, v_mdav(task).labels]
    return min(tried, key=lambda labels: sse(task.records, labels))


def exchange(task: Task, labels: Ints) -> Ints:
    """Exchange records between groups, two at a time (steps 3 and 7)."""
    return swap(
        Grouped(
            records=task.records,
            labels=labels,
            k=task.k,
            subjects=task.subjects,
            random=task.random,
            shuffle_probability=0.0,
            max_events=0,
            progress=task.progress,
        )
    )


def regroup(task: Task, labels: Ints) -> Ints:
    """Regroup each part of the table by column generation (steps 4 to 6)."""
    from trajanon.bound.best_groups import best_groups  # loads HiGHS, which nothing else needs

    n = len(labels)
    subsets = task.subsets or max(round(n * task.k / _SUBSET), 1)
    if n > subsets * _LARGEST:
        msg = (
            f"subsets = {subsets} makes parts of {n // subsets} records, and "
            f"decomposition takes {_LARGEST} at most; ask for {-(-n // _LARGEST)} or "
            "more"
        )
        raise BadInput(msg)
    regrouped = np.empty_like(labels)
    groups = 0
    parts = fill_parts(labels, subsets)
    for number, rows in enumerate(parts):
        task.progress("Regrouping the parts of the table", number, len(parts))
        _, subjects = np.unique(task.subjects[rows], return_inverse=True)
        best = best_groups(
            task.records[rows], task.k, subjects, dense(labels[rows]), progress=task.progress
        )
        regrouped[rows] = groups + best
        groups += int(best.max()) + 1
    task.progress("Regrouping the parts of the table", len(parts), len(parts))
    return regrouped


def fill_parts(labels: Ints, subsets: int) -> list[Ints]:
    """Fill up to so many parts with whole groups, one after the other.

    A part is full from round(n / subsets) records on; the last one takes what is left.
    """
    least = max(round(len(labels) / subsets), 1)
    sizes = np.bincount(labels)
    part, held = np.empty(len(sizes), dtype=np.int64), 0
    number = 0
    for group, size in enumerate(sizes):
        part[group] = number
        held += size
        if held >= least:
            number, held = number + 1, 0
    number_of_row = part[labels]
    return [np.flatnonzero(number_of_row == part) for part in range(int(number_of_row.max()) + 1)]
