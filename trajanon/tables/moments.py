"""Means, standard deviations and correlations of columns before and after microaggregation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.grouping import loss

_MOST = 10  # pairs of columns for which the correlation is reported


def moments(before: Floats, after: Floats, names: Sequence[str]) -> dict[str, Any]:
    """Moments of columns before and after, for JSON; of correlations those that changed most."""
    old, new = loss.standardise(before), loss.standardise(after)
    spreads = _spreads(before, old), _spreads(after, new)
    varies = (spreads[0] > 0.0) & (spreads[1] > 0.0)
    correlations = [loss.sums_of_products(z) / max(len(z) - 1, 1) for z in (old, new)]
    one, other = np.triu_indices(len(names), 1)
    kept = varies[one] & varies[other]
    one, other = one[kept], other[kept]
    then, now = (r[one, other] for r in correlations)
    changed = np.argsort(-np.abs(now - then), kind="stable")[:_MOST]
    return {
        "mean": _pairs(names, _means(before), _means(after)),
        "sd": _pairs(names, *spreads),
        "correlations": [
            {
                "columns": [names[one[i]], names[other[i]]],
                "correlation": [float(then[i]), float(now[i])],
            }
            for i in changed.tolist()
        ],
    }


def _means(X: Floats) -> Floats:
    return np.asarray(X[0] + (X - X[0]).mean(axis=0))


def _spreads(X: Floats, standardised: Floats) -> Floats:
    """Sample standard deviations: what standardisation divided by."""
    width = np.ptp(standardised, axis=0)
    return np.asarray(np.ptp(X, axis=0) / np.where(width > 0.0, width, np.inf))


def _pairs(names: Sequence[str], before: Floats, after: Floats) -> dict[str, list[float]]:
    return dict(
        zip(names, map(list, zip(before.tolist(), after.tolist(), strict=True)), strict=True)
    )
