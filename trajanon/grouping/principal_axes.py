"""Principal axes of standardised records, and the coordinates of records along them."""

from threading import Event

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.common.threads_and_dask import in_parts
from trajanon.grouping.standardised_records import RECORDS_PER_SUM

MOST_COLUMNS_OF_LAPACK = 128
"""Of more columns, LAPACK's axes depend in their last digits on the number of its threads."""


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
    find = np.linalg.eigh if len(products) <= MOST_COLUMNS_OF_LAPACK else eigenvectors
    squares, axes = find(products)
    return axes[:, ::-1], squares[::-1].clip(0.0)


def eigenvectors(matrix: Floats) -> tuple[Floats, Floats]:
    """Find the eigenvalues of a symmetric matrix, (p, p), rising; and its eigenvectors, in columns.

    The digits are the same with any number of threads. Source: Householder (J. ACM 5, 1958).
    """
    from scipy.linalg import eigh_tridiagonal  # few tables have so many columns

    # Reflections leave one number beside the diagonal in each row; all together are ``turned``.
    size = len(matrix)
    tridiagonal = matrix.copy()
    turned = np.eye(size)
    for i in range(size - 2):
        behind = slice(i + 1, size)
        normal = tridiagonal[behind, i].copy()  # to the plane of the reflection
        normal[0] += np.copysign(np.sqrt((normal**2).sum()), normal[0])
        square = (normal**2).sum()
        if square == 0.0:
            continue  # there is nothing to reflect
        normal *= np.sqrt(2.0 / square)

        for rows in (tridiagonal[i:, behind], tridiagonal[behind, i:].T, turned[:, behind]):
            rows -= np.outer(np.einsum("ij,j->i", rows, normal), normal)

    values, vectors = eigh_tridiagonal(np.diagonal(tridiagonal), np.diagonal(tridiagonal, 1))
    return values, np.einsum("ij,jk->ik", turned, vectors)


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
