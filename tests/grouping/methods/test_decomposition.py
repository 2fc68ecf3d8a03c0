"""The steps of the decomposition heuristic, and which of them are left out."""

from typing import Any

import numpy as np
import pytest
from problems import problem

from trajanon.grouping.methods.decomposition import (
    decomposition,
    fill_parts,
    group_by_distance,
    regroup_parts,
)
from trajanon.grouping.refinements.shuffling_and_swapping import swap
from trajanon.grouping.standardised_records import standardise

RECORDS = standardise(np.random.default_rng(3).normal(size=(40, 2)))


@pytest.mark.parametrize("subsets", [1, 3])
@pytest.mark.parametrize("exchange_first", [True, False])
def test_the_parameters_name_the_parts_and_leave_out_step_3(
    subsets: int, exchange_first: bool
) -> None:
    how: dict[str, Any] = {"subsets": subsets, "exchange_first": exchange_first}
    asked = problem(RECORDS, 3, method="decomposition", **how)
    labels = group_by_distance(asked)
    if exchange_first:
        labels = swap(asked, labels)
    expected = swap(asked, regroup_parts(asked, labels, subsets))
    again = problem(RECORDS, 3, method="decomposition", **how)
    assert np.array_equal(decomposition(again), expected)
    assert len(fill_parts(labels, subsets)) == subsets
    assert again.log.chosen == {}, "the gamma is not that of decomposition"
