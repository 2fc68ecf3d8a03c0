"""Pricing: groups of negative reduced cost, which earn more than they cost at given prices.

A group earns the prices of its members, less its SSE and the duals of the cuts that count it.
Records are numbered 0..m-1; groups are arrays of these, the record that they were grown or searched
round (the root) first.
"""

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
from trajanon.common.threads_and_dask import in_parts, unwatched

LEAST_EARNINGS = 1e-7  # squared standard deviations, of a group: prices are no more exact

FIRST_NEIGHBOURS = 4
"""Neighbours with which first groups begin; with fewer, prices swing for many rounds."""

PRICING_NODES = 20_000
"""Nodes of a search round a record, some hundredths of a second; a tenth sufficed to k = 5."""

GAPS_TRIED = 10
"""Gaps within which groups round a record are looked for, each half of the one before."""

_ROOTS_PER_GROWTH = 64
_ROOTS_PER_SEARCH = 8
"""Records of one call, a fraction of a second."""


class FoundGroups(NamedTuple):
    """The best group round each record."""

    groups: list[Ints]  # their members, the root first; of records whose best earns enough
    at_most: Floats  # what no group round each record earns more than, shape (m,)
    complete: bool  # whether the search looked at all groups


def pricing_problem(records: Floats, k: int, subjects: Ints) -> PricingProblem:
    """Lay out records for pricing, without cuts; the price of each is 0."""
    squares = cdist(records, records, "sqeuclidean")
    rising = squares.copy()
    np.fill_diagonal(rising, 0.0)  # exactly: each is its own nearest
    rising.sort(axis=1)
    return PricingProblem(
        squares=squares,
        half_sums=rising[:, : 2 * k - 1].cumsum(axis=1) / 2.0,
        subjects=subjects,
        prices=np.zeros(len(records)),
        k=k,
        cuts=np.zeros((0, 3), dtype=np.int64),
        cut_duals=np.zeros(0),
        first_cut=np.zeros(len(records) + 1, dtype=np.int64),
        cuts_by_record=np.zeros(0, dtype=np.int64),
    )


def with_cuts(pricing: PricingProblem, cuts: Ints, cut_duals: Floats) -> PricingProblem:
    """Set subset-row cuts, (t, 3), and their duals, (t,), which a group with two records pays."""
    cuts = cuts[cut_duals > 0.0]
    cut_duals = cut_duals[cut_duals > 0.0]
    # Three numbers in turn are the records of one cut.
    records_of_cuts = cuts.ravel()
    cuts_per_record = np.bincount(records_of_cuts, minlength=len(pricing.prices))
    return pricing._replace(
        cuts=cuts,
        cut_duals=cut_duals,
        first_cut=np.concatenate([[0], cuts_per_record.cumsum()]),
        cuts_by_record=np.argsort(records_of_cuts, kind="stable") // 3,
    )


def cut_coefficients(groups: Sequence[Sequence[int]], cuts: Ints, m: int) -> csr_array:
    """Find which groups each cut counts, (g, t): those that hold two of its records or more.

    The groups are of m records.
    """
    records_held = members_marked(groups, m) @ members_marked(cuts, m).T
    return csr_array(records_held > 1.5)


def members_marked(groups: Sequence[Sequence[int]] | Ints, m: int) -> csr_array:
    """Mark which of m records are in each group: ones in a sparse matrix, (g, m)."""
    sizes = [len(group) for group in groups]
    begins = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    records = np.fromiter(chain.from_iterable(groups), np.int64, begins[-1])
    return csr_array((np.ones(len(records)), records, begins), (len(groups), m))


def first_groups(pricing: PricingProblem) -> Iterator[Ints]:
    """Yield groups of k, and of k + 1, of each record and records near it that follow one another.

    They begin with one of its nearest few; groups of fewer than k subjects are left out.
    """
    squares = pricing.squares.copy()
    np.fill_diagonal(squares, -1.0)  # each record is its own nearest
    for nearest_first in np.argsort(squares, axis=1, kind="stable"):
        for first in range(1, FIRST_NEIGHBOURS + 1):
            for size in (pricing.k, pricing.k + 1):
                end = first + size - 1
                if end > len(nearest_first):
                    break
                group = np.append(nearest_first[:1], nearest_first[first:end])
                if len(set(pricing.subjects[group])) >= pricing.k:
                    yield group


def grown_groups(pricing: PricingProblem, watch: Callable[[], None]) -> list[Ints]:
    """Grow a group round each record; return those that earn more than they cost."""

    def grow(roots: Ints, _: Event) -> list[Ints]:
        """Grow the groups of some roots, each in a row of ``members``."""
        members = np.zeros((len(roots), pricing.half_sums.shape[1]), dtype=np.int64)
        members[:, 0] = roots
        sizes = np.zeros(len(roots), dtype=np.int64)
        grow_groups(pricing, members, sizes, np.empty(len(pricing.prices)))
        grown = _groups_in_rows(members, sizes)
        return [group for group in grown if earnings(pricing, group) > LEAST_EARNINGS]

    roots = np.arange(len(pricing.prices))
    return list(chain.from_iterable(in_parts(grow, roots, _ROOTS_PER_GROWTH, watch)))


def search_best(
    pricing: PricingProblem, least: float, nodes: int, watch: Callable[[], None] = unwatched
) -> FoundGroups:
    """Search for the best group round each record, if it earns more than ``least``.

    The search round a record is given up after so many nodes.
    """

    def best(roots: Ints, _: Event) -> FoundGroups:
        search = room_for(pricing, len(roots), finds_all=False)
        at_most = np.empty(len(roots))
        complete = search_groups(pricing, search, roots, least, nodes, at_most)
        return FoundGroups(_groups_in_rows(search.results, search.sizes), at_most, complete)

    parts = in_parts(best, np.arange(len(pricing.prices)), _ROOTS_PER_SEARCH, watch)
    return FoundGroups(
        groups=list(chain.from_iterable(part.groups for part in parts)),
        at_most=np.concatenate([part.at_most for part in parts]),
        complete=all(part.complete for part in parts),
    )


def groups_within(
    pricing: PricingProblem, gap: float, room: int, watch: Callable[[], None] = unwatched
) -> list[Ints]:
    """Search for all groups round each record that cost up to ``gap`` more than they earn.

    Where there are more than ``room``, or the search takes too long, for those up to a half of the
    gap, a quarter, and so on; of a record where each of these searches is given up, for none.
    """

    def within(roots: Ints, stop: Event) -> list[Ints]:
        search = room_for(pricing, room, finds_all=True)
        at_most = np.empty(1)  # which the search fills in
        groups: list[Ints] = []
        for root in roots[:, None]:
            if stop.is_set():
                break
            for halvings in range(GAPS_TRIED):
                least = -gap / 2**halvings
                if search_groups(pricing, search, root, least, PRICING_NODES, at_most):
                    groups += _groups_in_rows(search.results, search.sizes)
                    break
        return groups

    parts = in_parts(within, np.arange(len(pricing.prices)), _ROOTS_PER_SEARCH, watch)
    return list(chain.from_iterable(parts))


def _groups_in_rows(members: Ints, sizes: Ints) -> list[Ints]:
    """Return the groups in rows of ``members``: of each row so many entries as its size."""
    return [members[row, : sizes[row]].copy() for row in np.flatnonzero(sizes)]
