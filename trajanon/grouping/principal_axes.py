"""Principal axes of standardised records, and the coordinates of records along them."""

from threading import Event

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.common.threads_and_dask import in_parts
from trajanon.grouping.standardised_records import RECORDS_PER_SUM


def sums_of_products(records: Floats) -> Floats:
    """Sum the products of each two columns of records, (n, p): their cross-products, (p, p)."""

    # By einsum, in a fixed order, which a library of matrices does not keep.
    def products(rows: Floats, stop: Event) -> Floats:
        return np.asarray(np.einsum("ij,ik->jk", rows, rows))

    return np.asarray(np.sum(in_parts(products, records, RECORDS_PER_SUM), axis=0))


def axes_and_squares(products: Floats) -> tuple[Floats, Floats]:
    """Find principal axes, and the sum of squares of the records along each, (p,), largest first.

    ``products`` are the cross-products of centred records, (p, p); each column of the axes, (p, p),
    is one axis.
    """
    # The smallest comes first, and may be below 0 by rounding.
    squares, axes = np.linalg.eigh(products)
    return axes[:, ::-1], squares[::-1].clip(0.0)


def principal_axes(records: Floats) -> Floats:
    """Find the principal axes of centred records, (n, p): in columns, (p, p), longest first."""
    return axes_and_squares(sums_of_products(records))[0]


def leading_axes(products: Floats, left_out: float) -> Floats:
    """Find the fewest principal axes, (p, q), that leave out at most ``left_out`` of the squares.

    ``products`` are the cross-products of centred records, (p, p).
    """
    # What is left out when an axis is the last one: the squares along all behind it.
    axes, squares = axes_and_squares(products)
    squares_behind = squares[::-1].cumsum()[::-1] - squares
    last = int(np.argmax(squares_behind <= left_out))  # the first that leaves out so little
    return axes[:, : last + 1]


def turn(records: Floats, axes: Floats) -> Floats:
    """Compute the coordinates of records, (n, p), along axes, (p, q), in columns: (n, q).

    Along all p axes distances stay as they are.
    """
    # Not by a library of matrices, whose sums depend on the number of its threads.
    return np.ascontiguousarray(np.einsum("ij,jk->ik", records, axes))
