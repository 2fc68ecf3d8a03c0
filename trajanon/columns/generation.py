"""Column generation: columns come in until none would lower the optimum."""

from functools import partial
from typing import NamedTuple

from trajanon._kernels.pricing import Market
from trajanon.columns import searching
from trajanon.columns.growing import grown_groups
from trajanon.columns.market import TINY, with_trios
from trajanon.columns.master import Master
from trajanon.progress import Progress, silent

ROUNDS = 100
"""Linear programmes solved at most. Up to k = 5, 60 rounds sufficed on 1,080 records;
large groups of many records would go on for hundreds, for little.
"""

POOL = 30
"""Columns per record at which no more are generated; 20 are rarely needed."""


class Relaxation(NamedTuple):
    """The linear programme over all columns so far.

    Attributes
    ----------
    sse
        Its optimum.
    market
        The records, at the price that each one's constraint costs, and with the tolls.
    proven
        Whether no group of k to 2k - 1 records could lower the optimum.
    """

    sse: float
    market: Market
    proven: bool


def generate(
    master: Master,
    market: Market,
    progress: Progress = silent,
    *,
    rounds: int | None = None,
    pool: int | None = None,
) -> Relaxation:
    """Add columns of negative reduced cost until there are none, or a limit is met.

    Groups are grown round each record first; only where none of them is new, or tolls
    are due, of which growing knows nothing, all groups are searched.

    Parameters
    ----------
    master
        Columns that hold each record once are among its own.
    market
        The same records; its prices do not matter.
    progress
        Told how far the work is.
    rounds, pool
        Linear programmes solved at most, and columns per record at which no more are
        generated; `ROUNDS` and `POOL` if left out.
    """
    rounds = ROUNDS if rounds is None else rounds
    pool = POOL if pool is None else pool
    for done in range(1, rounds + 1):
        watch = partial(progress, "Generating groups", done, None)
        watch()
        value, prices = master.relax(watch)
        market = with_trios(market._replace(prices=prices), master.trios, master.tolls)
        if done == rounds or len(master.groups) >= pool * len(prices):
            break
        if len(market.tolls) or not master.add(grown_groups(market, watch)):
            nodes = searching.PRICING_NODES
            groups, _, complete = searching.search(market, TINY, nodes, watch)
            if not complete or not master.add(groups):
                return Relaxation(value, market, complete)
    return Relaxation(value, market, proven=False)
