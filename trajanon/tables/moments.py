"""Means, standard deviations and correlations of columns before and after microaggregation."""

from collections.abc import Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.grouping import loss

_MOST = 10  # pairs of columns for which the correlation is reported


class Columns(NamedTuple):
    """Columns with their means and standard deviations, over the values that are there."""

    mean: Floats  # (p,)
    sd: Floats  # of a sample, (p,); 0 of a constant column
    standardised: Floats  # (n, p): values less their mean, over their sd; 0 where one is missing


def columns_of(X: Floats, weights: Floats | None = None) -> Columns:
    """Compute weighted means and standard deviations of columns, (n, p); NaN is a missing value."""
    present = ~np.isnan(X)
    weight = present if weights is None else present * weights[:, None]
    share = weight / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)

    # Subtract one value first: numbers far from zero lose digits.
    origin = X[present.argmax(axis=0), np.arange(X.shape[1])]
    centred = np.where(present, X - origin, 0.0)
    constant = (centred == 0.0).all(axis=0)
    shift = (share * centred).sum(axis=0)
    centred = np.where(present & ~constant, centred - shift, 0.0)

    # Divide by the largest deviation, so that squares neither over- nor underflow.
    unit = np.abs(centred).max(axis=0, initial=0.0)
    centred /= np.where(unit > 0.0, unit, 1.0)

    count = present.sum(axis=0)
    bessel = count / np.maximum(count - 1, 1)
    spread = np.sqrt((share * centred**2).sum(axis=0) * bessel)
    centred /= np.where(spread > 0.0, spread, 1.0)
    return Columns(origin + shift, unit * spread, centred)


def moments(
    before: Floats, after: Floats, names: Sequence[str], weights: Floats | None = None
) -> dict[str, Any]:
    """Compute moments of columns before and after; of correlations those that changed most."""
    tables = (before, after)
    columns = [columns_of(X, weights) for X in tables]
    vary = np.flatnonzero(np.all([c.sd > 0.0 for c in columns], axis=0))
    left, right = vary[np.array(np.triu_indices(len(vary), 1))]

    correlations = np.array(
        [
            _correlations(X, c.standardised, weights)[left, right]
            for X, c in zip(tables, columns, strict=True)
        ]
    )
    changed = np.argsort(-np.abs(correlations[1] - correlations[0]), kind="stable")[:_MOST]
    return {
        "mean": _pairs(names, [c.mean for c in columns]),
        "sd": _pairs(names, [c.sd for c in columns]),
        "correlations": [
            {
                "columns": [names[left[pair]], names[right[pair]]],
                "correlation": correlations[:, pair].tolist(),
            }
            for pair in changed
        ],
    }


def _correlations(X: Floats, standardised: Floats, weights: Floats | None) -> Floats:
    """Correlate columns with each other, (p, p), over the rows in which both have a value."""
    z = standardised
    if weights is not None:
        z = z * np.sqrt(weights / weights.max())[:, None]
    present = (~np.isnan(X)).astype(np.float64)
    squares = np.einsum("ij,ik->jk", z**2, present)  # of each column where the other one has values
    norm = np.sqrt(squares * squares.T)
    return np.asarray(loss.sums_of_products(z) / np.where(norm > 0.0, norm, 1.0))


def _pairs(names: Sequence[str], moments: list[Floats]) -> dict[str, list[float | None]]:
    """Pair a moment before and after by the names of their columns; None of no values."""
    pairs = np.column_stack(moments).tolist()
    known = [[None if isnan(number) else number for number in pair] for pair in pairs]
    return dict(zip(names, known, strict=True))
