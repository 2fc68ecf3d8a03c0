"""Pricing: groups of negative reduced cost, which earn more than they cost at given prices."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from trajanon._kernels.column_search import (
    PricingProblem,
    earnings,
    grow_groups,
    room_for,
    search_groups,
)
from trajanon.common.arrays import Floats, Ints
from trajanon.common.workers import in_parts, unwatched

LEAST_EARNINGS = 1e-7  # squared standard deviations, of a group: no programme is more exact

NEAREST = 4  # neighbours with which first groups begin; with fewer, prices swing for many rounds

PRICING_NODES = 20_000
"""Nodes of a search round a record, some hundredths of a second; a tenth sufficed to k = 5."""

HALVINGS = 10  # how often the gap is halved for a record that has too many groups within it

_ROOTS_PER_GROWTH = 64
_ROOTS_PER_SEARCH = 8
"""Records of one call, a fraction of a second."""


class FoundGroups(NamedTuple):
    """Groups that a search has found."""

    groups: list[Ints]  # their members, the root first
    at_most: Floats  # what no group round each record earns more than, shape (m,)
    complete: bool  # whether the search looked at all groups


def pricing_problem(records: Floats, k: int, subjects: Ints) -> PricingProblem:
    """Lay out records for pricing, without cuts; the price of each is 0."""
    distances = cdist(records, records, "sqeuclidean")
    others = distances.copy()
    np.fill_diagonal(others, 0.0)  # exactly: each is its own nearest
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
    """Add subset-row cuts, (t, 3), and their duals, (t,), which a group pays that it is cut by."""
    cuts = cuts[cut_duals > 0.0]
    cut_duals = cut_duals[cut_duals > 0.0]
    cuts_per_record = np.bincount(cuts.ravel(), minlength=len(pricing.prices))
    return pricing._replace(
        cuts=cuts,
        cut_duals=cut_duals,
        first_cut=np.concatenate([[0], cuts_per_record.cumsum()]),
        cuts_of=np.argsort(cuts.ravel(), kind="stable") // 3,
    )


def cut_coefficients(groups: Sequence[Sequence[int]], cuts: Ints, m: int) -> csr_array:
    """Find which cuts count which groups: those with two of their records or more, (g, t)."""
    sizes = [len(group) for group in groups]
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    records = np.fromiter(chain.from_iterable(groups), np.int64, first[-1])
    in_groups = csr_array((np.ones(len(records)), records, first), (len(groups), m))

    first = np.arange(len(cuts) + 1) * 3
    in_cuts = csr_array((np.ones(3 * len(cuts)), cuts.ravel(), first), (len(cuts), m))
    return csr_array(in_groups @ in_cuts.T > 1.5)


def first_groups(pricing: PricingProblem) -> Iterator[Ints]:
    """List groups of k, and of k + 1, of each record and its next ones from the first few on.

    Those of fewer than k subjects are left out.
    """
    others = pricing.distances.copy()
    np.fill_diagonal(others, -1.0)
    for row in np.argsort(others, axis=1, kind="stable"):
        for first in range(1, NEAREST + 1):
            for last in range(first + pricing.k - 1, min(first + pricing.k + 1, len(row) + 1)):
                group = np.append(row[:1], row[first:last])
                if len(set(pricing.subjects[group])) >= pricing.k:
                    yield group


def grown_groups(pricing: PricingProblem, watch: Callable[[], None]) -> list[Ints]:
    """Grow a group round each record; those that earn more than they cost."""

    def grow(roots: Ints, _: Event) -> list[Ints]:
        members = np.zeros((len(roots), pricing.halves.shape[1]), dtype=np.int64)
        members[:, 0] = roots
        sizes = np.zeros(len(roots), dtype=np.int64)
        grow_groups(pricing, members, sizes, np.empty(len(pricing.prices)))
        return [
            group for group in _cut_out(members, sizes) if earnings(pricing, group) > LEAST_EARNINGS
        ]

    roots = np.arange(len(pricing.prices))
    return list(chain.from_iterable(in_parts(grow, roots, _ROOTS_PER_GROWTH, watch)))


def search_best(
    pricing: PricingProblem, least: float, nodes: int, watch: Callable[[], None] = unwatched
) -> FoundGroups:
    """Search for the best group round each record, if it earns more than the least."""

    def best(roots: Ints, _: Event) -> FoundGroups:
        search = room_for(pricing, len(roots), every=False)
        at_most = np.empty(len(roots))
        complete, _count = search_groups(pricing, search, roots, least, nodes, at_most)
        return FoundGroups(_cut_out(search.results, search.sizes), at_most, complete)

    return _searched_round_each(pricing, best, watch)


def groups_within(
    pricing: PricingProblem, gap: float, room: int, watch: Callable[[], None] = unwatched
) -> FoundGroups:
    """Search for all groups that lose up to a gap; up to a half, ..., if over ``room`` do."""

    def within(roots: Ints, stop: Event) -> FoundGroups:
        search = room_for(pricing, room, every=True)
        at_most = np.full(len(roots), np.inf)
        groups: list[Ints] = []
        at_full_gap = 0
        for place, root in enumerate(roots):
            # Too many groups within the gap are as good as none: those within a half of it may fit.
            most = at_most[place : place + 1]
            for halving in range(HALVINGS):
                least = -gap / 2**halving
                complete, _ = search_groups(
                    pricing, search, np.array([root]), least, PRICING_NODES, most
                )
                if complete:
                    groups += _cut_out(search.results, search.sizes)
                    at_full_gap += halving == 0
                if complete or stop.is_set():
                    break
        return FoundGroups(groups, at_most, complete=at_full_gap == len(roots))

    return _searched_round_each(pricing, within, watch)


def _searched_round_each(
    pricing: PricingProblem, search: Callable[[Ints, Event], FoundGroups], watch: Callable[[], None]
) -> FoundGroups:
    parts = in_parts(search, np.arange(len(pricing.prices)), _ROOTS_PER_SEARCH, watch)
    return FoundGroups(
        groups=[group for part in parts for group in part.groups],
        at_most=np.concatenate([part.at_most for part in parts]),
        complete=all(part.complete for part in parts),
    )


def _cut_out(members: Ints, sizes: Ints) -> list[Ints]:
    return [members[row, : sizes[row]].copy() for row in np.flatnonzero(sizes)]
