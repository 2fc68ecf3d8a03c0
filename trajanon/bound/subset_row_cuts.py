"""Subset-row cuts: of the groups that hold two or more of three records, one may be chosen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from trajanon._kernels.pricing import PricingProblem
from trajanon.arrays import Floats, Ints
from trajanon.bound.column_generation import Relaxation, generate
from trajanon.bound.master import Master
from trajanon.progress import Progress, silent

CUT_ROUNDS = 50
"""Times that cuts are added at most; ten sufficed up to k = 5."""

CUTS_PER_RECORD = 5
"""Cuts that a record takes part in, of those added at once: the most violated."""

VIOLATED = 1e-3
"""Share of a group by which a cut has to be violated to be added."""

GAIN = 1e-5
"""Share of the SSE by which a round of cuts has to raise the bound to be followed by
another.
"""

_WHOLE = 1e-6  # from which share on a column is in the solution, and not all of it


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

    The cuts change the prices, so other columns are then needed.

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
    """Find the cuts that a solution violates, beside the known ones, the most violated first.

    A cut is violated where the groups that hold two or more of its records have shares above 1.
    """
    together: dict[tuple[int, ...], float] = {}
    for column in np.flatnonzero((shares > _WHOLE) & (shares < 1.0 - _WHOLE)).tolist():
        for size in (2, 3):
            for few in combinations(groups[column], size):
                together[few] = together.get(few, 0.0) + float(shares[column])
    violated = {}
    for cut in _joined_pairs(together):
        held = sum(together.get(pair, 0.0) for pair in combinations(cut, 2))
        held -= 2.0 * together.get(cut, 0.0)  # a group of all three counts once
        if held > 1.0 + VIOLATED:
            violated[cut] = held
    for cut in known.tolist():
        violated.pop(tuple(cut), None)
    taken: Counter[int] = Counter()
    chosen = []
    for cut in sorted(violated, key=lambda cut: (-violated[cut], cut)):
        if all(taken[record] < CUTS_PER_RECORD for record in cut):
            taken.update(cut)
            chosen.append(cut)
    return np.array(chosen, dtype=np.int64).reshape(-1, 3)


def _joined_pairs(together: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Three records of which two pairs are together, each cut once or more."""
    partners: dict[int, set[int]] = {}
    for few in together:
        for record in few:
            partners.setdefault(record, set()).update(few)
    for record, others in partners.items():
        for pair in combinations(sorted(others - {record}), 2):
            yield tuple(sorted((record, *pair)))
