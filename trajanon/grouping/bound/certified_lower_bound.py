"""A certified lower bound: an SSE that no partition into groups of at least k can undercut.

It is the optimum of a linear programme over all groups, found by column generation, and proven
anew from its prices. Subjects play no part: the bound holds for records, and so for subjects, too.
"""

from dataclasses import dataclass
from math import fsum
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from trajanon._kernels.column_search import PricingProblem
from trajanon.common.arrays import Floats
from trajanon.common.effort_of_the_search import EffortName
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import Settings, settings_from
from trajanon.grouping import loss
from trajanon.grouping.bound.column_generation import tighten
from trajanon.grouping.bound.master import Master, Relaxation
from trajanon.grouping.bound.pricing import first_groups, pricing_problem, search_best
from trajanon.grouping.k_promise import check_enough, check_k
from trajanon.grouping.methods.mdav_and_v_mdav import mdav
from trajanon.grouping.neighbours import exact_neighbours
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.descent import descend
from trajanon.grouping.standardised_records import as_records, as_weights, standardise

MOST_RECORDS_PAIRED = 5_000  # records up to which all their distances are held, at 16 bytes a pair

BOUND_ROUNDS = 200
"""Linear programmes solved at most between two rounds of cuts; 113 sufficed at k = 10."""

LARGEST_K_UNSTEADY = 5
"""Up to this k groups are grown at the prices as they are, above it at their moving average, as
large groups make prices swing."""

NODES = 20_000  # of the search for a group with a record that earns more than it costs
ACCURACY = 1e-6  # share of the bound that the proof may take back from the linear programme
_FINEST = 2.0**-20  # of a squared standard deviation, the least unit of the SSE


@dataclass(frozen=True, slots=True)
class Bound:
    """What no partition can undercut.

    Attributes
    ----------
    sse
        No partition of the standardised records into groups of at least k has a smaller SSE: true
        whether certified or not.
    information_loss
        The same in percent of the SST.
    certified
        Whether the bound is, to a millionth, the optimum of a linear relaxation over all groups,
        proven by a search through all of them: not that any partition reaches it. Else limits were
        met, or the table is too large, and the bound is then weaker. Of one group, or of equal
        records, nothing needs a proof.

    Examples
    --------
    >>> import trajanon
    >>> bound = trajanon.lower_bound([[0.0], [1.0], [10.0], [11.0]], k=2)
    >>> round(bound.sse, 4), round(bound.information_loss, 4), bound.certified
    (0.0297, 0.9901, True)
    """

    sse: float
    information_loss: float
    certified: bool


def lower_bound(
    X: ArrayLike,
    k: SupportsIndex,
    *,
    weights: ArrayLike | None = None,
    upper: float | None = None,
    effort: EffortName = "best",
    progress: Progress = silent,
) -> Bound:
    """Bound the SSE of every partition into groups of at least k from below.

    An optimal partition has groups of k to 2k - 1 records. Each of these is a column of a
    set-partitioning programme, and costs its SSE; the optimum of the linear relaxation is a bound.
    Column generation finds it, and cuts lift it: of all groups that hold two or more of some three
    records, one may be chosen. The bound returned is then computed from the prices alone, safely
    rounded: a branch and bound shows for each record that no group round it earns anything, which
    is its prices less its SSE and duals, or how much it could.

    Every limit is a count; the result is the same on any number of cores. A thousand records take
    seconds for k = 3 and a minute or so for k = 5, and of tracks, which lie along a few axes, for k
    = 10. Other records meet the limits there, after minutes; then, and over 5,000 records, the
    bound is made of the distances to the k - 1 nearest, and weak.

    Parameters
    ----------
    X
        Records, shape (n, p), in any units, finite.
    k
        Least number of records in a group.
    weights
        How much each column counts, as in `trajanon.microaggregate`.
    upper
        SSE on standardised records beyond which nothing has to be proven, as that of the best
        partition known: once the bound is as high, it is lifted no further. The bound is true
        whatever is given here.
    effort
        ``fast`` takes the distances to the k - 1 nearest alone, ``balanced`` the linear programme
        without cuts, ``best`` both and the cuts.
    progress
        Called with how far the work is.

    Returns
    -------
    Bound
        With fewer than 2k records, exactly the SSE of the one group there is.

    Raises
    ------
    TooFewRecords
        If there are fewer than k records.
    BadInput
        If X, k, upper or effort cannot be used.

    References
    ----------
    du Merle, Hansen, Jaumard, Mladenović (SIAM J. Sci. Comput. 21, 2000), column generation for
    minimum sum-of-squares clustering; Castro, Gentile, Spagnolo-Arrizabalaga (PSD 2022), for
    microaggregation; Jepsen, Petersen, Spoorendonk, Pisinger (Oper. Res. 56, 2008), subset-row
    cuts; Farley (Oper. Res. 38, 1990), bounds from prices that are not feasible; Wentges (Int.
    Trans. Oper. Res. 4, 1997), prices that move slowly.

    Examples
    --------
    No groups of two lose less than these do:

    >>> import trajanon
    >>> records = [[0.0], [1.0], [10.0], [11.0]]
    >>> bound = trajanon.lower_bound(records, k=2)
    >>> bound.certified, round(bound.information_loss, 4)
    (True, 0.9901)
    >>> round(trajanon.microaggregate(records, k=2).information_loss, 4)
    0.9901
    """
    k = check_k(k)
    table = as_records(X)
    n = len(table)
    check_enough(n, k)
    if upper is not None:
        is_number = isinstance(upper, int | float | np.integer | np.floating)
        if not is_number or isinstance(upper, bool) or not 0.0 <= upper < np.inf:
            raise BadInput(f"upper must be the SSE of a partition, 0 or more (got {upper!r})")
    settings_from({"effort": effort}, Settings)  # refuses one that is not known

    column_weights = None if weights is None else as_weights(weights, table.shape[1])
    records = standardise(table, column_weights)
    if n < 2 * k:
        sse = loss.sse(records, np.zeros(n, dtype=np.int64))
        certified = True
    elif n > MOST_RECORDS_PAIRED or effort == "fast":
        sse = nearest_bound(records, k)
        certified = False
    else:
        highest = np.inf if upper is None else upper
        sse, certified = _bound_by_columns(records, k, highest, progress, cuts=effort == "best")

    sst = float((records**2).sum())
    return Bound(sse, loss.information_loss(sse, sst), certified)


def nearest_bound(records: Floats, k: int) -> float:
    """Bound the SSE by the distances of each record to its k - 1 nearest others."""
    n, p = records.shape
    nearest = exact_neighbours(records, k - 1)

    # `exact_neighbours` looks at records turned to their principal axes. Each turned coordinate is
    # a sum of p products, and a distance is of p coordinates; a factor of 64 covers all roundings.
    # One that is found may be farther than the true one by so much.
    slip = 64.0 * p * _rounding(p) * float(np.sqrt((records**2).sum(axis=1).max()))

    # The SSE of a group of s records is the sum of the squares of its pairs, divided by s. Summed
    # over members each pair comes twice: a member's share is the squares to its s - 1 others,
    # divided by 2s. As s >= k, that is at least the squares to its k - 1 nearest, divided by 2k.
    total = 0.0
    for neighbours in nearest.T:
        squared = ((records - records[neighbours]) ** 2).sum(axis=1)
        total += float((np.maximum(np.sqrt(squared) - slip, 0.0) ** 2).sum())
    return total / (2 * k) * (1.0 - _rounding(n + p + k))


def _bound_by_columns(
    records: Floats, k: int, upper: float, progress: Progress, *, cuts: bool
) -> tuple[float, bool]:
    """Bound the SSE by column generation; also return whether that is certified."""
    n = len(records)
    problem = Problem(records=records, subjects=np.arange(n), k=k)
    labels = descend(problem, mdav(problem))
    sse_reached = loss.sse(records, labels)
    if sse_reached == 0.0:
        return 0.0, True

    # In units near to what a record costs, for the solver's tolerance is 1e-7, whatever the unit;
    # by a power of two nothing is rounded. Costs are squares, so the unit is a root.
    unit = 2.0 ** np.round(np.log2(max(sse_reached / n, _FINEST)) / 2.0)
    pricing = pricing_problem(records / unit, k, subjects=np.arange(n))
    master = Master(pricing.squares, labels)
    # Prices that are to be steady begin near to what records cost now: each its share of the SSE of
    # its group.
    steady = k > LARGEST_K_UNSTEADY
    if steady:
        cost_per_member = np.array(master.costs) / np.bincount(labels)
        pricing = pricing._replace(prices=cost_per_member[labels])
    master.add(first_groups(pricing))

    # A bound that is high enough needs no cuts; without cuts any is.
    high_enough = upper / unit**2 * (1.0 - ACCURACY) if cuts else 0.0
    relaxation = tighten(
        master, pricing, progress, upper=high_enough, rounds=BOUND_ROUNDS, steady=steady
    )

    progress("Proving the bound", 0, None)
    sse, certified = prove(relaxation, records.shape[1])
    return max(sse * float(unit) ** 2, nearest_bound(records, k)), certified


def prove(relaxation: Relaxation, p: int) -> tuple[float, bool]:
    """Prove a bound from any prices and duals of cuts, of records of p columns.

    The groups of a partition cost the prices of all records, less what they earn, less the duals of
    cuts that count them: each once at most. There are n / k groups at most, and they share no
    record, so each can be counted at another one: the prices less the duals and the n / k largest
    earnings of a group that holds a record are a bound.
    Also returned is whether it is certified: all groups were searched, and it is the optimum of the
    linear programme.
    """
    pricing = relaxation.pricing
    search = search_best(pricing, 0.0, NODES)  # for groups that earn more than 0
    most_groups = len(pricing.prices) // pricing.k
    # No group that holds a record earns more than its `at_most`, (n,).
    most_earned = float(np.sort(search.at_most)[-most_groups:].sum())
    prices_less_duals = fsum(pricing.prices) - fsum(pricing.cut_duals)
    proven = max(prices_less_duals - most_earned - _margin(pricing, p), 0.0)

    reaches_programme = proven >= relaxation.sse * (1.0 - ACCURACY)
    return proven, search.complete and relaxation.proven and reaches_programme


def _margin(pricing: PricingProblem, p: int) -> float:
    """Bound the effect of rounding on a proof, for records of p columns."""
    # Let P be the largest price, T the sum of the duals, s the size of the largest group.
    # Its SSE and duals are less than sP, the squared distance of two members less than 2sP (the SSE
    # is at least half of it), and the sum of such distances to one member, divided by s, less than
    # sP. So each member adds terms of at most 3sP to any bound of the search, all of them 3s²P + T.
    # A squared distance is off by p + 3 roundings, its sums by one for each term (members, their
    # nearest, duals): in all fewer than four times these.
    s = pricing.half_sums.shape[1]  # 2k - 1
    prices = np.abs(pricing.prices)
    terms = 3.0 * s**2 * prices.max() + pricing.cut_duals.sum()
    off = 4.0 * terms * _rounding(p + 3 + 8 * s + len(pricing.cut_duals))

    # The SSE of a partition that is held against the bound is rounded, too.
    n = len(prices)
    return float(off * (n // pricing.k) + prices.sum() * _rounding(n + p + s))


def _rounding(count: int) -> float:
    """Return the share of a sum that this number of roundings may change."""
    return count * 2.0**-52
