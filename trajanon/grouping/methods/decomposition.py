"""Decomposition: the best groups in each part of the table, by column generation.

Castro, Gentile and Spagnolo-Arrizabalaga (PSD 2022); the steps are numbered as there.
"""

from dataclasses import replace

import numpy as np

from trajanon.common.arrays import Ints, renumbered
from trajanon.grouping.loss import sse
from trajanon.grouping.methods.mdav_and_v_mdav import mdav, v_mdav
from trajanon.grouping.problem import Problem, SearchLog
from trajanon.grouping.refinements.blocks import put_together
from trajanon.grouping.refinements.shuffling_and_swapping import swap

# A part has about so many records divided by k. The larger k is, the more groups there are to
# choose from, and a large part would take long and gain little.
_RECORDS_OF_PART_TIMES_K = 1_500


def decomposition(problem: Problem) -> Ints:
    """Group by distance, exchange records, regroup each part, exchange again.

    The paper's steps: the better of MDAV and V-MDAV; two-swapping; whole groups, in the order in
    which they were formed, fill parts of n / s records; column generation in each part;
    two-swapping of the union. ``subsets`` names s; without ``exchange_first`` the first
    two-swapping is left out. A part's own groups are among the columns, so it never gets worse.

    References
    ----------
    Castro, Gentile, Spagnolo-Arrizabalaga (PSD 2022), section 2.

    Examples
    --------
    MDAV makes pairs. Of all groups, these three lose the least:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="decomposition", refine="none").labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """
    settings = problem.settings
    # What the steps would log (V-MDAV's gamma, say) is no choice of the whole method.
    without_log = replace(problem, log=SearchLog())

    labels = group_by_distance(without_log)
    if settings.exchange_first:
        labels = swap(without_log, labels)  # step 3

    labels = regroup_parts(problem, labels, settings.subsets)
    return swap(without_log, labels)  # step 7


def group_by_distance(problem: Problem) -> Ints:
    """Group by the better of MDAV and V-MDAV (step 2)."""
    return min(mdav(problem), v_mdav(problem), key=lambda labels: sse(problem.records, labels))


def regroup_parts(problem: Problem, labels: Ints, subsets: int | None = None) -> Ints:
    """Regroup parts of the table by column generation (steps 4 to 6).

    Without a number of ``subsets`` a part has about 1,500 / k records.
    """
    # Only here, as nothing else loads HiGHS.
    from trajanon.grouping.bound.column_generation import best_groups

    n = len(labels)
    default_subsets = max(round(n * problem.k / _RECORDS_OF_PART_TIMES_K), 1)
    parts = fill_parts(labels, subsets or default_subsets)

    regrouped = []
    task = "Regrouping the parts of the table"
    for parts_done, rows in enumerate(parts):
        problem.progress(task, parts_done, len(parts))
        part_labels = best_groups(
            problem.records[rows],
            problem.k,
            renumbered(problem.subjects[rows]),
            renumbered(labels[rows]),
            progress=problem.progress,
        )
        regrouped.append((rows, part_labels))
    problem.progress(task, len(parts), len(parts))
    return put_together(regrouped)


def fill_parts(labels: Ints, subsets: int) -> list[Ints]:
    """Return the rows of each part: groups fill it in turn, until it has n / ``subsets`` records.

    The last part may have fewer.
    """
    # Parts are made of whole groups, so these are a solution to begin with.
    least_records = max(round(len(labels) / subsets), 1)
    sizes = np.bincount(labels)

    part_of_group = np.empty(len(sizes), dtype=np.int64)
    part = 0
    records_in_part = 0
    for group, size in enumerate(sizes):
        part_of_group[group] = part
        records_in_part += size
        if records_in_part >= least_records:
            part += 1
            records_in_part = 0

    part_of_record = part_of_group[labels]
    return [np.flatnonzero(part_of_record == part) for part in range(int(part_of_group.max()) + 1)]
