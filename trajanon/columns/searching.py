"""Groups searched for round each record, by branch and bound through all of them."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from trajanon._kernels.pricing import Market, search_groups
from trajanon.arrays import Floats, Ints
from trajanon.columns.roots import found_groups, round_each
from trajanon.workers import unwatched

PRICING_NODES = 20_000
"""Of a search through all groups round a record: some hundredths of a second. Up to
k = 5, a tenth sufficed on 1,080 records.
"""

HALVINGS = 10
"""How often what such a group may cost too much is halved, if they are too many."""

_ROOTS = 8  # records round which one call searches, a fraction of a second


class Found(NamedTuple):
    """Groups that a search has found."""

    groups: list[Ints]  # their members, the root first
    at_most: Floats  # what no group round each record earns more than, shape (m,)
    complete: bool  # whether the search looked at all groups


def search(
    market: Market, least: float, nodes: int, watch: Callable[[], None] = unwatched
) -> Found:
    """Search for the best group round each record, if it earns more than the least."""
    return _search_parts(partial(_search_round, market, least, nodes), market, watch)


def groups_within(
    market: Market, gap: float, room: int, watch: Callable[[], None] = unwatched
) -> Found:
    """Search for all groups that cost up to a gap more than they earn.

    Where they are too many round a record, those within a half of the gap, or a quarter, ... stand
    for them: where records are dense, groups differ by less.
    """
    return _search_parts(partial(_search_within, market, gap, room), market, watch)


def _search_parts(
    work: Callable[[Ints, Event], Found], market: Market, watch: Callable[[], None]
) -> Found:
    """Search round a few records after the other, and gather what is found."""
    done = round_each(work, len(market.prices), _ROOTS, watch)
    return Found(
        [group for part in done for group in part.groups],
        np.concatenate([part.at_most for part in done]),
        complete=all(part.complete for part in done),
    )


def _search_round(market: Market, least: float, nodes: int, roots: Ints, _: Event) -> Found:
    """Search round a few records, which takes a fraction of a second."""
    found = np.empty((len(roots), market.halves.shape[1]), dtype=np.int64)
    sizes, at_most = np.empty(len(roots), dtype=np.int64), np.empty(len(roots))
    complete, _ = search_groups(market, roots, least, nodes, found, sizes, at_most, False)
    return Found(found_groups(found, sizes), at_most, complete)


def _search_within(market: Market, gap: float, room: int, roots: Ints, stop: Event) -> Found:
    """Search for all groups within a gap round a few records, one after the other."""
    found = np.empty((room, market.halves.shape[1]), dtype=np.int64)
    sizes, at_most = np.empty(room, dtype=np.int64), np.full(len(roots), np.inf)
    groups: list[Ints] = []
    at_full = 0
    for place, root in enumerate(roots):
        for halving in range(HALVINGS):
            complete, _ = search_groups(
                market,
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
