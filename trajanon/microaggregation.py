"""Microaggregation of a table: what was asked for is checked, then searched."""

import logging
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trajanon import loss
from trajanon.arrays import Ints
from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.methods import METHODS
from trajanon.methods.hm2 import EXPANSIONS
from trajanon.partition import Partition, check_k
from trajanon.paths import HEURISTICS
from trajanon.pipeline import EFFORTS, Options, search
from trajanon.progress import Progress, silent
from trajanon.refine import REFINEMENTS
from trajanon.subjects import column_of, numbered
from trajanon.words import number_of

_LOG = logging.getLogger(__name__)

_MOST = 10**9
_MOST_EVENTS = 10**6  # each needs a record to be looked at, and passes go on till then
_MOST_GAMMA = 1_000.0  # long before it every group has grown as far as it may


def microaggregate(
    X: ArrayLike,
    k: int,
    *,
    method: str = "hm2",
    heuristic: str = "or-opt",
    compression: int = 1,
    expansion: str = "distance",
    gamma: float | None = None,
    subsets: int | None = None,
    refine: str = "anneal",
    shuffle_probability: float = 0.001,
    max_events: int = 10,
    effort: str = "balanced",
    subjects: ArrayLike | None = None,
    subjects_exact: bool = False,
    seed: int = 0,
    progress: Progress = silent,
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
    method
        ``hm2`` (a short path, cut optimally), ``mdav``, ``v-mdav``, ``md``, ``cbfs`` (groups round
        far records), ``mf-tsp`` (records that are neighbours on many paths) or ``decomposition``
        (column generation in parts of the table).
    heuristic
        How the paths of ``hm2`` and ``mf-tsp`` are found: ``or-opt``, ``two-opt``,
        ``nearest-neighbor``, ``repetitive-nn``, ``nearest-insertion``, ``farthest-insertion``,
        ``cheapest-insertion``, ``arbitrary-insertion``, ``mdav-lk``, ``npn``, ``md``, ``mdav``,
        ``cbfs``; ``concorde`` and ``lkh`` where those programs are installed.
    compression
        Of ``hm2``: its path leads through the centroids of MDAV's groups of so many records; 1
        leads through the records themselves.
    expansion
        Of compression: the members of a group come back on the path by ``distance`` to the centroid
        of all records, or in the order of their ``row``.
    gamma
        Of ``v-mdav``: how readily a group grows beyond k, from 0; None takes the best of 0, 0.05,
        ..., 1.
    subsets
        Of ``decomposition``: in how many parts the table is solved; None makes them of some 1,500 /
        k records.
    refine
        ``anneal`` searches far and wide, ``descent`` only moves records and groups as long as that
        gains; ``swap`` exchanges the two records that gain most, again and again, and ``rcs`` is
        Random Cluster Shuffling, with descent after either; ``none`` leaves the method's groups as
        they are.
    shuffle_probability, max_events
        Of ``rcs``: how probable a shuffle is after each record, and how many there may be.
    effort
        How many moves the search may try: ``fast`` is descent without annealing, ``balanced`` tries
        8,000 a record in each of two runs, ``best`` five times as many in each of 12, combines
        their groups, and beyond k = 5 anneals regions anew; tables of more than 2,500 records get
        fewer runs, and of more than 10,000 fewer moves a record.
    subjects
        Whose record each one is, shape (n,): numbers or names; None if each record is its own
        subject. Names that differ only in blanks, in how accents are encoded, or in upper and lower
        case are one subject; so are 1, 1.0 and "1".
    subjects_exact
        Whether names that differ in case are different subjects.
    seed
        Repeats a result bit for bit.
    progress
        Told how far the work is.

    Returns
    -------
    Partition
        Every group has at least k records of at least k different subjects. Ctrl-C during the
        refinement raises nothing but ends it: this then is the best partition so far, and its
        ``stopped`` says so.

    Raises
    ------
    BadInput
        If X is not a table of finite numbers, or an option is not known.
    TooFewRecords
        If there are fewer than k records.
    TooFewSubjects
        If there are fewer than k different subjects.

    Examples
    --------
    >>> partition = microaggregate([[0.0], [1.0], [10.0], [11.0]], k=2)
    >>> partition.labels.tolist(), partition.centroids.tolist()
    ([0, 0, 1, 1], [[0.5], [10.5]])
    """
    raw = loss.as_records(X)
    options = Options(
        method=method,
        heuristic=heuristic,
        compression=compression,
        expansion=expansion,
        gamma=gamma,
        subsets=subsets,
        refine=refine,
        shuffle_probability=shuffle_probability,
        max_events=max_events,
        effort=effort,
        seed=seed,
        progress=progress,
    )
    check_options(options)
    numbers = _numbered(subjects, len(raw), exact=subjects_exact)
    check_enough(len(raw), numbers, k, counted=subjects is not None)
    records = loss.standardise(raw)
    found = search(records, numbers, k, options, np.random.default_rng(seed))
    if found.stopped:
        _LOG.info("stopping: the best groups so far are taken")
    return Partition(
        labels=found.labels,
        centroids=loss.group_means(raw, found.labels),
        sse=loss.sse(records, found.labels),
        sst=found.course.sst,
        path_length=found.path_length,
        stages=tuple(found.course.stages),
        stopped=found.stopped,
    )


def check_options(options: Options) -> None:
    """Refuse options that are not known, or out of their range."""
    known: dict[str, Collection[str]] = {
        "method": METHODS,
        "heuristic": HEURISTICS,
        "expansion": EXPANSIONS,
        "refine": ["none", *REFINEMENTS],
        "effort": EFFORTS,
    }
    given: Mapping[str, Any] = options
    for name, choices in known.items():
        value = given[name]
        if not isinstance(value, str) or value not in choices:
            msg = f"{name} {value!r} is not known; choose from {', '.join(choices)}"
            raise BadInput(msg)
    _check_whole("compression", options["compression"], 1, _MOST)
    _check_whole("max_events", options["max_events"], 0, _MOST_EVENTS)
    _check_whole("seed", options["seed"], 0)
    if options["subsets"] is not None:
        _check_whole("subsets", options["subsets"], 1, _MOST)
    if options["gamma"] is not None:
        _check_within("gamma", options["gamma"], _MOST_GAMMA)
    _check_within("shuffle_probability", options["shuffle_probability"], 1.0)


def _check_whole(name: str, value: int, least: int, most: int | None = None) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        upper = "" if most is None else f" to {most}"
        msg = f"{name} must be a whole number from {least}{upper} (got {value!r})"
        raise BadInput(msg)


def _check_within(name: str, value: float, most: float) -> None:
    number = isinstance(value, int | float | np.integer | np.floating)
    if not number or isinstance(value, bool) or not 0.0 <= value <= most:
        msg = f"{name} must be a number from 0 to {most:g} (got {value!r})"
        raise BadInput(msg)


def _numbered(subjects: ArrayLike | None, n: int, *, exact: bool) -> Ints:
    """Number subjects from 0; without subjects each record is its own."""
    if subjects is None:
        return np.arange(n, dtype=np.int64)
    given = column_of(subjects)
    if given.shape != (n,):
        msg = f"subjects must have shape ({n},), one for each record; got {given.shape}"
        raise BadInput(msg)
    found = numbered(given, exact=exact)
    if said := found.merged.told("subjects_exact=True keeps these apart"):
        _LOG.warning("%s", said)
    return found.number


def check_enough(n: int, numbers: Ints, k: int, *, counted: bool) -> None:
    """Refuse what cannot form a group."""
    check_k(k)
    if n < k:
        msg = f"{n} records cannot form a group of k = {k}; lower k or add records"
        raise TooFewRecords(msg)
    different = int(numbers.max()) + 1
    if counted and different < k:
        msg = (
            f"the {n} records come from "
            f"{number_of(different, 'subject')}, and k = {k} needs "
            f"{k} different ones in each group; lower k or add subjects"
        )
        raise TooFewSubjects(msg)
