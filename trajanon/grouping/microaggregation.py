"""Microaggregation of a table, on one page: records in, a partition into groups of at least k out.

A method forms groups, a refinement improves them. Records are rows, (n, p); the groups are
``labels``, (n,), the number of the group that each record is in.
"""

import logging
from collections.abc import Callable, Mapping
from typing import SupportsIndex, Unpack

import numpy as np
from numpy.typing import ArrayLike

from trajanon.common.arrays import Ints, renumbered
from trajanon.common.errors import BadInput, MergedWarning, warn
from trajanon.common.parameters_of_single_methods import (
    MicroaggregateKeywords,
    MicroaggregateSettings,
)
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import settings_from, takes_settings
from trajanon.grouping import loss
from trajanon.grouping.different_ends import Ends, merge_groups_lacking_places
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import check_enough, check_k, check_kept
from trajanon.grouping.methods.decomposition import decomposition
from trajanon.grouping.methods.hm2_and_compression import DISTANCE_METHODS, hm2
from trajanon.grouping.methods.mf_tsp import mf_tsp
from trajanon.grouping.partition import Partition
from trajanon.grouping.problem import Problem, whole_problem
from trajanon.grouping.refinements.annealing import anneal
from trajanon.grouping.refinements.descent import descend
from trajanon.grouping.refinements.shuffling_and_swapping import rcs, swap
from trajanon.grouping.standardised_records import as_records, as_weights, standardise, unit_of
from trajanon.trajectories.subjects import column_of, merged_sentences, numbered

_LOG = logging.getLogger(__name__)

Refinement = Callable[[Problem, Ints], Ints]
"""A problem and the labels of its records, (n,), to new labels, (n,), of no larger SSE; every group
keeps k different subjects."""

METHODS: Mapping[str, Callable[[Problem], Ints]] = {
    "hm2": hm2,
    **DISTANCE_METHODS,
    "mf-tsp": mf_tsp,
    "decomposition": decomposition,
}
"""What forms groups out of nothing, by the names in the settings."""

REFINEMENTS: dict[str, Refinement] = {
    "anneal": anneal,
    "descent": descend,
    "swap": swap,
    "rcs": rcs,
}
"""What improves groups, by the names in the settings. Annealing logs its steps by itself, the
others are one step each."""


@takes_settings(MicroaggregateSettings)
def microaggregate(
    X: ArrayLike,
    k: SupportsIndex,
    *,
    subjects: ArrayLike | None = None,
    subjects_exact: bool = False,
    weights: ArrayLike | None = None,
    ends: Ends | None = None,
    progress: Progress = silent,
    **options: Unpack[MicroaggregateKeywords],
) -> Partition:
    """Partition records into groups of at least k with little information loss.

    Parameters
    ----------
    X
        Records, shape (n, p), finite, in any units: columns are standardised inside, and a constant
        column counts nothing.
    k
        Least number of records in a group, at least 2; with ``subjects``, least number of different
        subjects.
    subjects
        Subject of each record, shape (n,): numbers or names; None if each record is its own
        subject. Names that differ only in case, blanks, punctuation at the ends or the writing of
        a number are one subject. All records whose subject is None are one subject's, or each is
        its own if nobody has a name.
    subjects_exact
        Whether names that differ in case are different subjects.
    weights
        How much each column counts, shape (p,), 0 or more: one of weight 2 counts as if it stood
        there twice. The information loss is then that of the weighted columns. None counts all
        alike.
    ends
        Where trips begin and end: each group shall hold trips from different places at each end.
        Before a refinement, groups of the method that lack a place are merged with others, unless
        these would be too wide, and no move of descent or annealing leaves a group with fewer
        places than it needs.
    progress
        Called with how far the work is.
    options
        Those of the search, ``method`` to ``seed``: see `Settings`. Those of one
        method alone: ``gamma`` of v-mdav; ``compress_by``, ``expansion`` and ``direction`` of hm2
        with ``compression``; ``path_neighbours`` of mf-tsp; ``subsets`` and ``exchange_first`` of
        decomposition; ``shuffle_probability`` and ``max_events`` of rcs: see
        `trajanon.common.parameters_of_single_methods`.

    Returns
    -------
    Partition
        Every group has at least k records of at least k different subjects. Ctrl-C during the
        refinement ends it without an error: the best partition so far is returned, and its
        ``stopped`` is True.

    Raises
    ------
    BadInput
        If X is not a table of finite numbers, weights are none, or an option is not known.
    TooFewRecords, TooFewSubjects
        If there are fewer than k records, or different subjects.

    Examples
    --------
    Two groups of two; each record may then be replaced by the mean of its group:

    >>> import trajanon
    >>> partition = trajanon.microaggregate([[0.0], [1.0], [10.0], [11.0]], k=2)
    >>> partition.labels.tolist(), partition.centroids.tolist()
    ([0, 0, 1, 1], [[0.5], [10.5]])

    The first two are of one person, who would be alone in a group:

    >>> records, people = [[0.0], [1.0], [10.0], [11.0]], ["Ada", "Ada", "Bob", "Cem"]
    >>> trajanon.microaggregate(records, k=2, subjects=people).labels.tolist()
    [0, 1, 0, 1]

    One gamma of V-MDAV; and the one that loses least, if none is named:

    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> options = {"method": "v-mdav", "refine": "none"}
    >>> trajanon.microaggregate(ages, k=2, gamma=0.2, **options).labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    >>> trajanon.microaggregate(ages, k=2, **options).stages[0].chosen
    {'gamma': 1.05}
    """
    k = check_k(k)
    settings = settings_from(options, MicroaggregateSettings)
    table = as_records(X)
    record_count = len(table)

    if subjects is None:
        check_enough(record_count, k)
        subject_numbers = np.arange(record_count)
    else:
        subject_numbers = _subject_numbers(subjects, record_count, exact=subjects_exact)
        check_enough(record_count, k, int(subject_numbers.max(initial=-1)) + 1)

    column_weights = None if weights is None else as_weights(weights, table.shape[1])
    records = standardise(table, column_weights)
    unit = unit_of(records)
    records /= unit

    problem = whole_problem(records, subject_numbers, k, settings, progress, ends)
    labels, stopped = find_groups(problem)
    if stopped:
        _LOG.info("stopping: the best groups so far are taken")

    path_length = problem.log.path_length
    return Partition(
        labels=labels,
        centroids=group_means(table, labels),
        sse=loss.sse(records, labels) * unit**2,
        sst=problem.log.sst * unit**2,
        path_length=None if path_length is None else path_length * unit,
        stages=tuple(problem.log.stages),
        stopped=stopped,
    )


def _subject_numbers(subjects: ArrayLike, record_count: int, *, exact: bool) -> Ints:
    """Number the subjects of records, (n,), and warn of names that became one."""
    column = column_of(subjects)
    if column.shape != (record_count,):
        raise BadInput(
            f"subjects must have shape ({record_count},), one for each record; got {column.shape}"
        )

    numbered_subjects = numbered(column, exact=exact)
    for sentence in merged_sentences(numbered_subjects.merged):
        warn(MergedWarning(sentence, "names"))
    return numbered_subjects.number


def find_groups(problem: Problem) -> tuple[Ints, bool]:
    """Group records by the method, and refine the groups.

    Returns the labels, (n,), and whether Ctrl-C ended the refinement.
    """
    settings = problem.settings
    log = problem.log

    labels = renumbered(METHODS[settings.method](problem))
    log.end_step("MHM" if settings.method == "hm2" else settings.method, labels)

    stopped = False
    if settings.refine != "none":
        if problem.ends is not None:
            # The moves of a refinement keep the places that a group has, and find no missing ones.
            # The groups of the method may lack places, so the log shall not choose them any more.
            labels = renumbered(merge_groups_lacking_places(problem.records, labels, problem.ends))
            log.forget_best()
        try:
            labels = REFINEMENTS[settings.refine](problem, labels)
            if settings.refine != "anneal":
                log.end_step(settings.refine, renumbered(labels))
        except KeyboardInterrupt:
            stopped = True
            log.end_step("Ctrl-C", log.best)

    # A refinement that was ended, or came to a worse partition, has met a better one before.
    if log.best is not None:
        labels = renumbered(log.best)

    check_kept(labels, problem.subjects, problem.k, settings.method)
    return labels, stopped
