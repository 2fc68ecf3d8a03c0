"""Means, standard deviations and correlations of columns before and after microaggregation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.grouping import loss

_MOST = 10  # pairs of columns for which the correlation is reported


def moments(before: Floats, after: Floats, names: Sequence[str]) -> dict[str, Any]:
    """Compute moments of columns before and after; of correlations those that changed most."""
    records = [loss.standardise(X) for X in (before, after)]
    spreads = [_spreads(X, z) for X, z in zip((before, after), records, strict=True)]
    varies = (spreads[0] > 0.0) & (spreads[1] > 0.0)

    correlations = [loss.sums_of_products(z) / max(len(z) - 1, 1) for z in records]
    left, right = np.triu_indices(len(names), 1)
    both_vary = varies[left] & varies[right]
    left = left[both_vary]
    right = right[both_vary]
    of_originals, of_means = (matrix[left, right] for matrix in correlations)
    changed = np.argsort(-np.abs(of_means - of_originals), kind="stable")[:_MOST]
    return {
        "mean": _pairs(names, _means(before), _means(after)),
        "sd": _pairs(names, *spreads),
        "correlations": [
            {
                "columns": [names[left[pair]], names[right[pair]]],
                "correlation": [float(of_originals[pair]), float(of_means[pair])],
            }
            for pair in changed.tolist()
        ],
    }


def _means(X: Floats) -> Floats:
    """Compute means about the first row, as numbers far from zero lose digits."""
    return np.asarray(X[0] + (X - X[0]).mean(axis=0))


def _spreads(X: Floats, standardised: Floats) -> Floats:
    """Compute sample standard deviations: what standardisation divided by."""
    width = np.ptp(standardised, axis=0)
    return np.asarray(np.ptp(X, axis=0) / np.where(width > 0.0, width, np.inf))


def _pairs(names: Sequence[str], before: Floats, after: Floats) -> dict[str, list[float]]:
    pairs = np.column_stack([before, after]).tolist()
    return dict(zip(names, pairs, strict=True))
