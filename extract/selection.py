"""The windows that are taken: within the limits of a trace, of a subject and in all."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Ints
from trajanon.extract.rules import Rules


def selected_windows(subject: Ints, trace: Ints, rules: Rules, counts: Counter[str]) -> Bools:
    """Mark the windows to take."""
    taken = np.ones(len(subject), dtype=np.bool_)

    def take(which: str, of: Ints, quota: Callable[[Ints], Ints]) -> None:
        _, key, size = np.unique(of[taken], return_inverse=True, return_counts=True)
        kept = some_of_each(key, quota(size), spread=rules.windows == "spread")
        taken[np.flatnonzero(taken)[~kept]] = False
        counts[f"trajectories over the limit {which}"] += int((~kept).sum())

    if rules.windows != "all":
        take("of a trace", trace, lambda size: np.full_like(size, rules.per_trace or 1))
    if rules.max_per_subject is not None:
        take("of a subject", subject, lambda size: np.full_like(size, rules.max_per_subject))
    if (limit := rules.limit) is not None:
        take("in all", subject, lambda size: even_quotas(size, limit))
    return taken


def some_of_each(key: Ints, quota: Ints, *, spread: bool) -> Bools:
    """Mark a quota of each key: the first ones, or ones spread evenly among its own.

    Examples
    --------
    >>> some_of_each(np.zeros(6, int), np.array([2]), spread=True).nonzero()[0].tolist()
    [1, 4]
    """
    rank = pd.Series(key).groupby(key).cumcount().to_numpy()
    whole = np.bincount(key)[key]
    of = np.minimum(quota[key], whole)
    if not spread:
        return np.asarray(rank < of)

    def before(place: Ints) -> Ints:
        """How many middles (2 j + 1) / (2 of) of the parts lie before place / whole."""
        return -(-2 * of * place // whole) // 2

    return np.asarray(before(rank + 1) > before(rank))


def even_quotas(size: Ints, limit: int) -> Ints:
    """Share a limit evenly: quotas that are below their sizes differ by one at most.

    Examples
    --------
    >>> even_quotas(np.array([1, 9, 4]), 8).tolist()
    [1, 4, 3]
    """
    more = len(size) - np.cumsum(np.bincount(size))  # how many have more than 0, 1, 2, ...
    level = np.searchsorted(np.cumsum(more), limit, side="right")  # that all may have
    quota = np.minimum(size, level)
    rest = np.flatnonzero(size > level)[: limit - int(quota.sum())]
    quota[rest] += 1
    return quota
