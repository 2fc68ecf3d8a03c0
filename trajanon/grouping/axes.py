"""Principal axes of standardised records, alike on any number of cores; records turned to them."""

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.grouping.loss import sums_of_products


def decomposed(products: Floats) -> tuple[Floats, Floats]:
    """Find axes, in columns, longest first, and the sum of squares on each, by sums of products."""
    squares, axes = np.linalg.eigh(products)
    return axes[:, ::-1], squares[::-1].clip(0.0)


def principal_axes(records: Floats) -> Floats:
    """Find the principal axes of records: in columns, (p, p), longest first."""
    return decomposed(sums_of_products(records))[0]


def leading_axes(products: Floats, left_out: float) -> Floats:
    """Find as few axes, (p, q), as leave out at most a sum of squares."""
    axes, squares = decomposed(products)
    squares_behind = squares[::-1].cumsum()[::-1] - squares
    return axes[:, : int(np.argmax(squares_behind <= left_out)) + 1]


def turn(records: Floats, axes: Floats) -> Floats:
    """Turn records, (n, p), to axes, (p, q); all axes leave distances as they are."""
    return np.ascontiguousarray(np.einsum("ij,jk->ik", records, axes))
