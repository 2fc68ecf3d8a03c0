"""Records for sale: laid out for pricing, and the tolls that trios of them ask."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from trajanon._kernels.pricing import Market
from trajanon.arrays import Floats, Ints

TINY = 1e-7
"""Of a squared standard deviation, what a group has to earn more than: no linear
programme is more exact.
"""


def open_market(records: Floats, k: int, subjects: Ints) -> Market:
    """Lay out records for pricing; the price of each is 0."""
    distances = cdist(records, records, "sqeuclidean")
    others = distances.copy()
    np.fill_diagonal(others, 0.0)  # is first, whatever the duplicates
    others.sort(axis=1)
    return Market(
        distances=distances,
        halves=others[:, : 2 * k - 1].cumsum(axis=1) / 2.0,
        subjects=subjects,
        prices=np.zeros(len(records)),
        k=k,
        trios=np.zeros((0, 3), dtype=np.int64),
        tolls=np.zeros(0),
        first_trio=np.zeros(len(records) + 1, dtype=np.int64),
        trios_of=np.zeros(0, dtype=np.int64),
    )


def with_trios(market: Market, trios: Ints, tolls: Floats) -> Market:
    """Let groups pay a toll for each trio of which they hold two records or more."""
    trios, tolls = trios[tolls > 0.0], tolls[tolls > 0.0]
    held = np.bincount(trios.ravel(), minlength=len(market.prices))
    return market._replace(
        trios=trios,
        tolls=tolls,
        first_trio=np.concatenate([[0], held.cumsum()]),
        trios_of=np.argsort(trios.ravel(), kind="stable") // 3,
    )


def meetings(groups: Sequence[Sequence[int]], trios: Ints, m: int) -> csr_array:
    """Which groups hold two records or more of which trios, (groups, trios)."""
    sizes = [len(group) for group in groups]
    first = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    held = np.fromiter(chain.from_iterable(groups), np.int64, first[-1])
    members = csr_array((np.ones(len(held)), held, first), (len(groups), m))
    ends = np.arange(len(trios) + 1) * 3
    of_trios = csr_array((np.ones(3 * len(trios)), trios.ravel(), ends), (len(trios), m))
    together = members @ of_trios.T
    return csr_array(together > 1.5)
