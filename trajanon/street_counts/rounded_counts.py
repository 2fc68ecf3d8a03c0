"""Counts rounded to what they are worth: averages cut corners, and small counts are rough."""

import numpy as np

from trajanon.common.arrays import Ints

_STEPS = 10  # times k; smaller counts are written in steps of k


def rounded_counts(counts: Ints, k: int | None) -> Ints:
    """Round counts to two digits, and those below 10 k to multiples of k; none falls below k.

    >>> rounded_counts(np.array([4, 9, 11, 37, 44, 1_234]), 4).tolist()
    [4, 8, 12, 36, 44, 1200]
    """
    step = np.full(len(counts), k or 1)
    digits = np.floor(np.log10(np.maximum(counts, 1)))
    is_large = counts >= _STEPS * (k or 1)
    step = np.where(is_large, 10 ** np.maximum(digits - 1, 0), step)
    rounded = np.floor(counts / step + 0.5) * step
    return np.asarray(np.maximum(rounded, np.minimum(counts, k or 1)).astype(np.int64))
