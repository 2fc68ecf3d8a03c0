"""Pricing: groups that earn more than they cost at a price for each record."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from trajanon._kernels.pricing import (
    PricingProblem,
    earnings,
    grow_group,
    grow_groups,
    search_groups,
)
from trajanon.arrays import Floats, Ints
from trajanon.workers import Result, in_threads, unwatched

TINY = 1e-7
"""Of a squared standard deviation, what a group has to earn more than: no linear
programme is more exact.
"""

NEAREST = 4
"""Neighbours with each of which a record starts groups for the first pool.

With fewer, prices swing for many rounds before they tell anything.
"""

_SEEDS = 64  # records round which one call grows groups, a fraction of a second

PRICING_NODES = 20_000
"""Of a search through all groups round a record: some hundredths of a second. Up to
k = 5, a tenth sufficed on 1,080 records.
"""

HALVINGS = 10
"""How often what such a group may cost too much is halved, if they are too many."""

_ROOTS = 8  # records round which one call searches, a fraction of a second


def pricing_problem(records: Floats, k: int, subjects: Ints) -> PricingProblem:
    """Lay out records for pricing; the price of each is 0."""
    distances = cdist(records, records, "sqeuclidean")
    others = distances.copy()
    np.fill_diagonal(others, 0.0)  # is first, whatever the duplicates
    others.sort(axis=1)
    return PricingProblem(
        distances=distances,
        halves=others[:, : 2 * k - 1].cumsum(axis=1) / 2.0,
        subjects=subjects,
        prices=np.zeros(len(records)),
        k=k,
        cuts=np.zeros((0, 3), dtype=np.int64),
        cut_duals=np.zeros(0),
        first_cut=np.zeros(len(records) + 1, dtype=np.int64),
        cuts_of=np.zeros(0, dtype=np.int64),
    )


def with_cuts(pricing: PricingProblem, cuts: Ints, cut_duals: Floats) -> PricingProblem:
    """Let groups pay a dual for each cut of which they hold two records or more."""
    cuts, cut_duals = cuts[cut_duals > 0.0], cut_duals[cut_duals > 0.0]
    held = np.bincount(cuts.ravel(), minlength=len(pricing.prices))
    return pricing._replace(
        cuts=cuts,
        cut_duals=cut_duals,
        first_cut=np.concatenate([[0], held.cumsum()]),
        cuts_of=np.argsort(cuts.ravel(), kind="stable") // 3,
    )


def cut_coefficients(groups: Sequence[Sequence[int]], cuts: Ints, m: int) -> csr_array:
    """Which groups hold two records or more of which cuts, (groups, cuts)."""
    sizes = [len(group) for group in groups]
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    held = np.fromiter(chain.from_iterable(groups), np.int64, first[-1])
    members = csr_array((np.ones(len(held)), held, first), (len(groups), m))
    ends = np.arange(len(cuts) + 1) * 3
    of_trios = csr_array((np.ones(3 * len(cuts)), cuts.ravel(), ends), (len(cuts), m))
    together = members @ of_trios.T
    return csr_array(together > 1.5)


def nearest_groups(pricing: PricingProblem) -> Iterator[Ints]:
    """List the k nearest and the k + 1 nearest of each record, if of k subjects."""
    for row in _by_distance(pricing):
        for size in range(pricing.k, min(pricing.k + 1, len(row)) + 1):
            group = row[:size]
            if len(set(pricing.subjects[group])) >= pricing.k:
                yield group


def _by_distance(pricing: PricingProblem) -> Ints:
    """All records by their distance to each, (m, m), which comes first itself."""
    others = pricing.distances.copy()
    np.fill_diagonal(others, -1.0)
    return np.argsort(others, axis=1, kind="stable")


def first_groups(pricing: PricingProblem) -> Iterator[Ints]:
    """Grow groups of every size, at the problem's prices, from each near pair."""
    m, largest = pricing.halves.shape
    near = _by_distance(pricing)[:, 1 : NEAREST + 1]
    for record in range(m):
        for other in near[record]:
            members = np.array([record, other, *[-1] * (largest - 2)])
            grow_group(pricing, members, 2)
            for size in range(pricing.k, largest + 1):
                group = members[:size]
                if group[-1] >= 0 and len(set(pricing.subjects[group])) >= pricing.k:
                    yield group


def grown_groups(pricing: PricingProblem, watch: Callable[[], None]) -> list[Ints]:
    """Groups grown round each record, if they earn more than they cost."""
    found = round_each(partial(_grow_round, pricing), len(pricing.prices), _SEEDS, watch)
    return [group for groups in found for group in groups]


def _grow_round(pricing: PricingProblem, roots: Ints, _: Event) -> list[Ints]:
    """Grow groups round a few records, if they earn more than they cost."""
    found = np.zeros((len(roots), pricing.halves.shape[1]), dtype=np.int64)
    sizes = np.zeros(len(roots), dtype=np.int64)
    grow_groups(pricing, roots, found, sizes)
    return [g for g in found_groups(found, sizes) if earnings(pricing, g) > TINY]


class Found(NamedTuple):
    """Groups that a search has found."""

    groups: list[Ints]  # their members, the root first
    at_most: Floats  # what no group round each record earns more than, shape (m,)
    complete: bool  # whether the search looked at all groups


def search(
    pricing: PricingProblem, least: float, nodes: int, watch: Callable[[], None] = unwatched
) -> Found:
    """Search for the best group round each record, if it earns more than the least."""
    return _search_parts(partial(_search_round, pricing, least, nodes), pricing, watch)


def groups_within(
    pricing: PricingProblem, gap: float, room: int, watch: Callable[[], None] = unwatched
) -> Found:
    """Search for all groups that cost up to a gap more than they earn.

    Where they are too many round a record, those within a half of the gap, or a quarter, ... stand
    for them: where records are dense, groups differ by less.
    """
    return _search_parts(partial(_search_within, pricing, gap, room), pricing, watch)


def _search_parts(
    work: Callable[[Ints, Event], Found], pricing: PricingProblem, watch: Callable[[], None]
) -> Found:
    """Search round a few records after the other, and gather what is found."""
    done = round_each(work, len(pricing.prices), _ROOTS, watch)
    return Found(
        [group for part in done for group in part.groups],
        np.concatenate([part.at_most for part in done]),
        complete=all(part.complete for part in done),
    )


def _search_round(
    pricing: PricingProblem, least: float, nodes: int, roots: Ints, _: Event
) -> Found:
    """Search round a few records, which takes a fraction of a second."""
    found = np.empty((len(roots), pricing.halves.shape[1]), dtype=np.int64)
    sizes, at_most = np.empty(len(roots), dtype=np.int64), np.empty(len(roots))
    complete, _ = search_groups(pricing, roots, least, nodes, found, sizes, at_most, False)
    return Found(found_groups(found, sizes), at_most, complete)


def _search_within(
    pricing: PricingProblem, gap: float, room: int, roots: Ints, stop: Event
) -> Found:
    """Search for all groups within a gap round a few records, one after the other."""
    found = np.empty((room, pricing.halves.shape[1]), dtype=np.int64)
    sizes, at_most = np.empty(room, dtype=np.int64), np.full(len(roots), np.inf)
    groups: list[Ints] = []
    at_full = 0
    for place, root in enumerate(roots):
        for halving in range(HALVINGS):
            complete, _ = search_groups(
                pricing,
                np.array([root]),
                -gap / 2**halving,
                PRICING_NODES,
                found,
                sizes,
                at_most[place : place + 1],
                True,
            )
            if complete:
                groups += found_groups(found, sizes)
                at_full += halving == 0
            if complete or stop.is_set():
                break
    return Found(groups, at_most, complete=at_full == len(roots))


def round_each(
    work: Callable[[Ints, Event], Result], m: int, count: int, watch: Callable[[], None]
) -> list[Result]:
    """Do the work round each of m records, so many at a time; in their order."""
    parts = np.split(np.arange(m), np.arange(count, m, count))
    return in_threads([partial(work, roots) for roots in parts], watch)


def found_groups(found: Ints, sizes: Ints) -> list[Ints]:
    """The groups that a kernel has found."""
    return [found[place, : sizes[place]].copy() for place in np.flatnonzero(sizes)]
