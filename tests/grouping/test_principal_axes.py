"""Principal axes: eigenvectors of cross-products, the same with any number of threads."""

import os
import subprocess
import sys

import numpy as np
import pytest

from trajanon.common.arrays import Floats
from trajanon.grouping.principal_axes import MOST_COLUMNS_OF_LAPACK, eigenvectors

AXES_OF_MANY_COLUMNS = """\
import numpy as np
from trajanon.grouping.principal_axes import principal_axes

records = np.random.default_rng(0).normal(size=(300, 200))
print(principal_axes(records).tobytes().hex())
"""


def test_axes_of_many_columns_do_not_depend_on_threads() -> None:
    axes = {
        subprocess.run(
            [sys.executable, "-c", AXES_OF_MANY_COLUMNS],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "3")
    }
    assert len(axes) == 1
    assert len(axes.pop()) > 200 * 200 * 16


@pytest.mark.parametrize(
    "matrix",
    [
        np.zeros((5, 5)),
        np.diag([3.0, -1.0, 0.0, 3.0]),
        np.full((6, 6), 2.0),
        np.array([[7.0]]),
        np.array([[1.0, 2.0], [2.0, -3.0]]),
        np.cov(np.random.default_rng(0).normal(size=(MOST_COLUMNS_OF_LAPACK + 20, 40))),
    ],
    ids=["zero", "diagonal", "rank 1", "one column", "two columns", "fewer records than columns"],
)
def test_eigenvectors(matrix: Floats) -> None:
    values, vectors = eigenvectors(matrix)
    size = max(np.abs(values).max(), 1.0)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix), atol=1e-12 * size)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-12 * size)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(matrix)), atol=1e-12)
