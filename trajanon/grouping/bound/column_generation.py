"""Column generation: columns come in while they lower the optimum, and subset-row cuts lift it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from trajanon._kernels.column_search import PricingProblem, earnings
from trajanon.common.arrays import Floats, Ints, dense
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

POOL = 30
"""Columns per record at which no more are generated; 20 are rarely needed, and 7 at k = 10."""

INERTIA = 0.8
LEAST_INERTIA = 0.1
"""Share of the average so far in that of the prices; halved, and soon 0, where it finds nothing."""

CUT_ROUNDS = 50  # times that cuts are added at most; ten sufficed up to k = 5
CUTS_PER_RECORD = 5  # cuts that a record takes part in, of those added at once: the most violated
VIOLATED = 1e-3  # share of a group by which a cut has to be violated to be added
GAIN = 1e-5  # share of the SSE by which a round of cuts has to raise the bound, to go on
_WHOLE = 1e-6  # from which share on a column is in the solution, and not all of it
ROOM = 50  # groups round a record that may be columns beside those generated
CHOICE_NODES = 200  # of the branch and bound that chooses; the root alone usually suffices
CHOICE_GAP = 1e-4  # share of the SSE that the choice of groups may leave on the table


def best_groups(
    records: Floats, k: int, subjects: Ints, incumbent: Ints, *, progress: Progress = silent
) -> Ints:
    """Group a few hundred records nearly as well as can be (Castro et al., PSD 2022, section 4)."""
    incumbent = dense(incumbent)
    pricing = pricing_problem(records, k, subjects)
    master = Master(pricing.distances, incumbent)
    master.add(first_groups(pricing))
    relaxation = generate(master, pricing, progress)

    watch = partial(progress, "Choosing groups", 0, None)
    watch()
    gap = master.incumbent_sse - relaxation.sse
    master.add(groups_within(relaxation.pricing, gap, ROOM, watch).groups)
    labels, _ = master.choose(relaxation, nodes=CHOICE_NODES, gap=CHOICE_GAP, watch=watch)
    return labels if sse(records, labels) < sse(records, incumbent) else incumbent


def generate(
    master: Master,
    pricing: PricingProblem,
    progress: Progress = silent,
    *,
    rounds: int | None = None,
    steady: bool = False,
) -> Relaxation:
    """Add columns of negative reduced cost until there are none, or a limit is met.

    Groups are grown first; where none is new, or cuts are there, which growing ignores, all are
    searched. ``steady``: grow at a moving average of the prices, as large groups need (Wentges,
    Int. Trans. Oper. Res. 4, 1997).
    """
    rounds = GENERATION_ROUNDS if rounds is None else rounds
    average = pricing.prices
    inertia = INERTIA if steady else 0.0
    for done in range(1, rounds + 1):
        watch = partial(progress, "Generating groups", done, None)
        watch()
        relaxation = master.relax(pricing, watch)
        pricing = relaxation.pricing
        if done == rounds or len(master.groups) >= POOL * len(pricing.prices):
            break

        # Growing is cheap and finds most columns. At an average of the prices it may find none that
        # earn at the last ones, so the average comes nearer to these until it does.
        new = 0
        while not len(pricing.cut_duals):
            average = inertia * average + (1.0 - inertia) * pricing.prices
            grown = grown_groups(pricing._replace(prices=average), watch)
            new = master.add(group for group in grown if earnings(pricing, group) > LEAST_EARNINGS)
            if new or inertia == 0.0:
                break
            inertia = inertia / 2.0 if inertia / 2.0 >= LEAST_INERTIA else 0.0

        # Only a search of all groups can show that none is left.
        if not new:
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
    """Generate columns, cut off solutions that share a record's groups out, and repeat.

    Source: Jepsen, Petersen, Spoorendonk, Pisinger (Oper. Res. 56, 2008), subset-row cuts.
    """
    progress("Cutting", 0, None)
    best = relaxation = generate(master, pricing, progress, rounds=rounds, steady=steady)
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
        if gain < GAIN * best.sse:
            break
    return best


def violated_cuts(groups: Sequence[tuple[int, ...]], shares: Floats, known: Ints) -> Ints:
    """Find new cuts with shares above 1 of groups of two records or more, the worst first."""
    # The shares of all columns that hold two records, or three.
    together: dict[tuple[int, ...], float] = {}
    for column in np.flatnonzero((shares > _WHOLE) & (shares < 1.0 - _WHOLE)).tolist():
        for size in (2, 3):
            for records in combinations(groups[column], size):
                together[records] = together.get(records, 0.0) + float(shares[column])

    violated = {}
    for cut in _joined_pairs(together):
        share = sum(together.get(pair, 0.0) for pair in combinations(cut, 2))
        # A group of all three counts once, not three times.
        share -= 2.0 * together.get(cut, 0.0)
        if share > 1.0 + VIOLATED:
            violated[cut] = share
    for cut in known.tolist():
        violated.pop(tuple(cut), None)

    cuts_of: Counter[int] = Counter()
    chosen = []
    for cut in sorted(violated, key=lambda cut: (-violated[cut], cut)):
        if all(cuts_of[record] < CUTS_PER_RECORD for record in cut):
            cuts_of.update(cut)
            chosen.append(cut)
    return np.array(chosen, dtype=np.int64).reshape(-1, 3)


def _joined_pairs(together: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """List three records of which two pairs are together, each cut once or more."""
    partners: dict[int, set[int]] = {}
    for records in together:
        for record in records:
            partners.setdefault(record, set()).update(records)

    for record, partners_of_record in partners.items():
        for pair in combinations(sorted(partners_of_record - {record}), 2):
            yield tuple(sorted((record, *pair)))
