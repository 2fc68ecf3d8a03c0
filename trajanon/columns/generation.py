"""Column generation: columns come in until none would lower the optimum."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from trajanon._kernels.pricing import Market, earnings
from trajanon.arrays import Floats
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

INERTIA, LEAST_INERTIA = 0.8, 0.1
"""Share of the average so far in a moving average of the prices. Where nothing grown
there earns at the prices themselves it is halved, and soon it is 0.
"""


class Relaxation(NamedTuple):
    """The linear programme over all columns so far."""

    sse: float  # its optimum
    market: Market  # the records, at the price that each one's constraint costs, and with the tolls
    proven: bool  # whether no group of k to 2k - 1 records could lower the optimum


def generate(
    master: Master,
    market: Market,
    progress: Progress = silent,
    *,
    rounds: int | None = None,
    pool: int | None = None,
    steady: bool = False,
) -> Relaxation:
    """Add columns of negative reduced cost until there are none, or a limit is met.

    Groups are grown round each record first; only where none of them is new, or tolls are due, of
    which growing knows nothing, all groups are searched.

    Source: Wentges (Int. Trans. Oper. Res. 4, 1997), "Weighted Dantzig-Wolfe decomposition for
    linear mixed-integer programming".
    """
    rounds = ROUNDS if rounds is None else rounds
    pool = POOL if pool is None else pool
    average = _Average(market.prices, INERTIA if steady else 0.0)
    for done in range(1, rounds + 1):
        watch = partial(progress, "Generating groups", done, None)
        watch()
        value, prices = master.relax(watch)
        market = with_trios(market._replace(prices=prices), master.trios, master.tolls)
        if done == rounds or len(master.groups) >= pool * len(prices):
            break
        if len(market.tolls) or not _grow(master, market, average, watch):
            nodes = searching.PRICING_NODES
            groups, _, complete = searching.search(market, TINY, nodes, watch)
            if not complete or not master.add(groups):
                return Relaxation(value, market, complete)
    return Relaxation(value, market, proven=False)


@dataclass
class _Average:
    """A moving average of prices, and the share that it keeps of itself."""

    prices: Floats
    inertia: float


def _grow(master: Master, market: Market, average: _Average, watch: Callable[[], None]) -> int:
    """Add groups grown at the average prices that earn at the market's; how many."""
    while True:
        kept = average.inertia * average.prices
        average.prices = kept + (1.0 - average.inertia) * market.prices
        grown = grown_groups(market._replace(prices=average.prices), watch)
        new = master.add(group for group in grown if earnings(market, group) > TINY)
        if new or average.inertia == 0.0:
            return new
        half = average.inertia / 2.0
        average.inertia = half if half >= LEAST_INERTIA else 0.0
