"""Column generation: columns come in until none would lower the optimum."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from trajanon._kernels.pricing import PricingProblem, earnings
from trajanon.arrays import Floats
from trajanon.bound.master import Master
from trajanon.bound.pricing import (
    LEAST_EARNINGS,
    PRICING_NODES,
    grown_groups,
    search_best,
    with_cuts,
)
from trajanon.progress import Progress, silent

GENERATION_ROUNDS = 100
"""Linear programmes solved at most. Up to k = 5, 60 rounds sufficed on 1,080 records;
large groups of many records would go on for hundreds, for little.
"""

POOL = 30
"""Columns per record at which no more are generated; 20 are rarely needed, and 7 at k = 10 on
tracks."""

INERTIA, LEAST_INERTIA = 0.8, 0.1
"""Share of the average so far in the moving average of the prices. It is halved, and soon 0, when
no group grown at the average earns at the prices themselves.
"""


class Relaxation(NamedTuple):
    """The linear programme over all columns so far."""

    sse: float  # its optimum
    pricing: (
        PricingProblem  # the records at their prices, the duals, and with the duals of the cuts
    )
    proven: bool  # whether no group of k to 2k - 1 records could lower the optimum


def generate(
    master: Master,
    pricing: PricingProblem,
    progress: Progress = silent,
    *,
    rounds: int | None = None,
    steady: bool = False,
) -> Relaxation:
    """Add columns of negative reduced cost until there are none, or a limit is met.

    Groups are grown round each record first; only where none of them is new, or where there are
    cuts, which growing ignores, all groups are searched. ``steady``: grow at a moving average of
    the prices, which begins with the problem's; large groups need it, as prices swing a lot.

    Source: Wentges (Int. Trans. Oper. Res. 4, 1997), "Weighted Dantzig-Wolfe decomposition for
    linear mixed-integer programming".
    """
    rounds = GENERATION_ROUNDS if rounds is None else rounds
    average = _Average(pricing.prices, INERTIA if steady else 0.0)
    for done in range(1, rounds + 1):
        watch = partial(progress, "Generating groups", done, None)
        watch()
        value, prices = master.relax(watch)
        pricing = with_cuts(pricing._replace(prices=prices), master.cuts, master.cut_duals)
        if done == rounds or len(master.groups) >= POOL * len(prices):
            break
        if len(pricing.cut_duals) or not _grow(master, pricing, average, watch):
            groups, _, complete = search_best(pricing, LEAST_EARNINGS, PRICING_NODES, watch)
            if not complete or not master.add(groups):
                return Relaxation(value, pricing, complete)
    return Relaxation(value, pricing, proven=False)


@dataclass
class _Average:
    """A moving average of prices, and the share that it keeps of itself."""

    prices: Floats
    inertia: float


def _grow(
    master: Master, pricing: PricingProblem, average: _Average, watch: Callable[[], None]
) -> int:
    """Add groups grown at the average prices that earn at the real ones; their number."""
    while True:
        kept = average.inertia * average.prices
        average.prices = kept + (1.0 - average.inertia) * pricing.prices
        grown = grown_groups(pricing._replace(prices=average.prices), watch)
        new = master.add(group for group in grown if earnings(pricing, group) > LEAST_EARNINGS)
        if new or average.inertia == 0.0:
            return new
        half = average.inertia / 2.0
        average.inertia = half if half >= LEAST_INERTIA else 0.0
