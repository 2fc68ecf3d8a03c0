"""Column generation: the linear programme of set partitioning, over all groups but without a list.

A column is a group, a sorted tuple of row numbers. Columns come in while they lower the optimum of
the linear programme (du Merle et al. 2000; Castro et al. 2022); subset-row cuts then lift it, and
with it the bound. `master` holds the programme, `pricing` finds the columns.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations

import numpy as np

from trajanon._kernels.column_search import PricingProblem, earnings
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.progress import Progress, silent
from trajanon.grouping.bound.master import Master, Relaxation
from trajanon.grouping.bound.pricing import (
    LEAST_EARNINGS,
    PRICING_NODES,
    first_groups,
    groups_within,
    grown_groups,
    pricing_problem,
    search_best,
)
from trajanon.grouping.loss import sse

GENERATION_ROUNDS = 100
"""Linear programmes solved at most. Up to k = 5, 60 sufficed on 1,080 records."""

COLUMNS_PER_RECORD = 30
"""Columns per record at which no more are generated; 20 are rarely needed, and 7 at k = 10."""

INERTIA = 0.8
LEAST_INERTIA = 0.1
"""Share of the average so far in that of the prices; halved, and soon 0, where it finds nothing."""

CUT_ROUNDS = 50  # times that cuts are added at most; ten sufficed up to k = 5
CUTS_PER_RECORD = 5  # cuts that a record takes part in, of those added at once: the most violated
LEAST_VIOLATION = 1e-3  # share of a group by which a cut has to be violated to be added
LEAST_GAIN = 1e-5  # share of the SSE by which a round of cuts has to raise the bound, to go on
_NEGLIGIBLE = 1e-6  # share of a column that is as good as none; one short of all by less, as all
EXTRA_PER_RECORD = 50  # groups round a record that may be chosen beside those generated
CHOICE_GAP = 1e-4  # share of the SSE that the choice of groups may leave on the table


def best_groups(
    records: Floats, k: int, subjects: Ints, incumbent: Ints, *, progress: Progress = silent
) -> Ints:
    """Group a few hundred records nearly as well as can be (Castro et al., PSD 2022, section 4).

    ``incumbent`` are labels, (m,), to begin with; those returned lose no more.
    """
    incumbent = renumbered(incumbent)
    pricing = pricing_problem(records, k, subjects)
    master = Master(pricing.squares, incumbent)
    master.add(first_groups(pricing))
    relaxation = generate(master, pricing, progress)

    watch = partial(progress, "Choosing groups", 0, None)
    watch()
    gap = master.incumbent_sse - relaxation.sse
    master.add(groups_within(relaxation.pricing, gap, EXTRA_PER_RECORD, watch))
    labels, _ = master.choose(relaxation, gap=CHOICE_GAP, watch=watch)
    return labels if sse(records, labels) < sse(records, incumbent) else incumbent


def generate(
    master: Master,
    pricing: PricingProblem,
    progress: Progress = silent,
    *,
    rounds: int | None = None,
    steady: bool = False,
) -> Relaxation:
    """Add columns of negative reduced cost to the master, until there are none, or a limit is met.

    Groups are grown first; where none is new, or cuts are there, which growing ignores, all are
    searched. ``steady``: grow at a moving average of the prices, as large groups need (Wentges,
    Int. Trans. Oper. Res. 4, 1997). The relaxation is proven if the search found no more columns.
    """
    rounds = GENERATION_ROUNDS if rounds is None else rounds
    average = pricing.prices
    inertia = INERTIA if steady else 0.0
    for done in range(1, rounds + 1):
        watch = partial(progress, "Generating groups", done, None)
        watch()
        relaxation = master.relax(pricing, watch)
        pricing = relaxation.pricing
        if done == rounds or len(master.groups) >= COLUMNS_PER_RECORD * len(pricing.prices):
            break

        # Growing is cheap and finds most columns. At an average of the prices it may find none that
        # earn at the last ones, so the average comes nearer to these until it does.
        new_columns = 0
        while not len(pricing.cut_duals):
            average = inertia * average + (1.0 - inertia) * pricing.prices
            grown = grown_groups(pricing._replace(prices=average), watch)
            earning = (group for group in grown if earnings(pricing, group) > LEAST_EARNINGS)
            new_columns = master.add(earning)
            if new_columns or inertia == 0.0:
                break
            inertia = inertia / 2.0 if inertia / 2.0 >= LEAST_INERTIA else 0.0

        # Only a search of all groups can show that none is left.
        if not new_columns:
            groups, _, complete = search_best(pricing, LEAST_EARNINGS, PRICING_NODES, watch)
            if not complete or not master.add(groups):
                return relaxation._replace(proven=complete)
    return relaxation


def tighten(
    master: Master,
    pricing: PricingProblem,
    progress: Progress = silent,
    *,
    upper: float = np.inf,
    rounds: int | None = None,
    steady: bool = False,
) -> Relaxation:
    """Generate columns, add cuts that the solution violates, and repeat, while the optimum rises.

    It need not rise beyond ``upper``. Source: Jepsen, Petersen, Spoorendonk, Pisinger (Oper. Res.
    56, 2008), subset-row cuts.
    """
    progress("Cutting", 0, None)
    relaxation = generate(master, pricing, progress, rounds=rounds, steady=steady)
    best = relaxation
    for done in range(1, CUT_ROUNDS + 1):
        if not relaxation.proven or relaxation.sse >= upper:
            break
        cuts = violated_cuts(master.groups, master.shares, master.cuts)
        if not len(cuts):
            break

        progress("Cutting", done, None)
        master.add_cuts(cuts)
        relaxation = generate(master, pricing, progress, rounds=rounds)
        gain = relaxation.sse - best.sse
        if relaxation.proven:
            best = relaxation
        if gain < LEAST_GAIN * best.sse:
            break
    return best


def violated_cuts(groups: Sequence[tuple[int, ...]], shares: Floats, known: Ints) -> Ints:
    """Find cuts that a solution violates, (t, 3), the worst first.

    A cut is three records: in a partition at most one group holds two of them or more. A solution
    with ``shares`` of the groups violates it if the shares of such groups add up to more than 1.
    The cuts that are ``known``, (s, 3), are not found again.
    """
    # Of each two or three records: the shares of all columns that hold them together.
    share_together: dict[tuple[int, ...], float] = {}
    is_fractional = (shares > _NEGLIGIBLE) & (shares < 1.0 - _NEGLIGIBLE)
    for column in np.flatnonzero(is_fractional).tolist():
        group = groups[column]
        for records in chain(combinations(group, 2), combinations(group, 3)):
            share_together[records] = share_together.get(records, 0.0) + float(shares[column])

    share_of_violated = {}
    for cut in _cuts_to_try(share_together):
        share = sum(share_together.get(pair, 0.0) for pair in combinations(cut, 2))
        # A group of all three counts once, not three times.
        share -= 2.0 * share_together.get(cut, 0.0)
        if share > 1.0 + LEAST_VIOLATION:
            share_of_violated[cut] = share
    for cut in known.tolist():
        share_of_violated.pop(tuple(cut), None)

    cuts_of_record: Counter[int] = Counter()
    chosen = []
    for cut in sorted(share_of_violated, key=lambda cut: (-share_of_violated[cut], cut)):
        if all(cuts_of_record[record] < CUTS_PER_RECORD for record in cut):
            cuts_of_record.update(cut)
            chosen.append(cut)
    return np.array(chosen, dtype=np.int64).reshape(-1, 3)


def _cuts_to_try(together: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Yield each three records of which one is together with both others, once or more."""
    partners: dict[int, set[int]] = {}
    for records in together:
        for record in records:
            partners.setdefault(record, set()).update(records)

    for record, partners_of_record in partners.items():
        for pair in combinations(sorted(partners_of_record - {record}), 2):
            yield tuple(sorted((record, *pair)))
