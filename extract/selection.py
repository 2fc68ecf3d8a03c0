"""The trajectories that are taken: within the limits of a recording and of a subject."""

from collections import Counter

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Ints
from trajanon.extract.rules import Rules


def selected_windows(subject: Ints, trace: Ints, rules: Rules, counts: Counter[str]) -> Bools:
    """Mark the trajectories to take."""
    taken = np.ones(len(subject), dtype=np.bool_)

    def take(which: str, of: Ints, most: int) -> None:
        key = np.unique(of[taken], return_inverse=True)[1]
        kept = some_of_each(key, most)
        taken[np.flatnonzero(taken)[~kept]] = False
        counts[f"trajectories over the limit {which}"] += int((~kept).sum())

    if not rules.trips and rules.per_recording is not None:
        take("of a recording", trace, rules.per_recording)
    if rules.max_per_subject is not None:
        take("of a subject", subject, rules.max_per_subject)
    return taken


def some_of_each(key: Ints, most: int) -> Bools:
    """Mark so many of each key at most, spread evenly among its own.

    Examples
    --------
    >>> some_of_each(np.zeros(6, int), 2).nonzero()[0].tolist()
    [1, 4]
    """
    rank = pd.Series(key).groupby(key).cumcount().to_numpy()
    whole = np.bincount(key)[key]
    of = np.minimum(most, whole)

    def before(place: Ints) -> Ints:
        """How many middles (2 j + 1) / (2 of) of the parts lie before place / whole."""
        return -(-2 * of * place // whole) // 2

    return np.asarray(before(rank + 1) > before(rank))
