"""Arrays of numbers that count and rank."""

import numpy as np
import pytest

from trajanon.common.arrays import renumbered


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "float32"])
def test_labels_of_any_size_stay_apart(kind: str) -> None:
    labels = np.arange(-100, 101) if kind[0] != "u" else np.arange(201)
    repeated = np.repeat(labels.astype(kind), 2)
    assert renumbered(repeated).tolist() == [number for number in range(201) for _ in "ab"]
