"""Records for sale, for the tests of groups as columns."""

import numpy as np
import pytest
from hypothesis import reject
from hypothesis import strategies as st
from naive_refine import Grouped, random_groups

from trajanon._kernels.column_search import PricingProblem
from trajanon.common.arrays import Floats, Ints
from trajanon.grouping.bound import column_generation, master
from trajanon.grouping.bound import pricing as pricing_module
from trajanon.grouping.bound.pricing import pricing_problem

seeds = st.integers(0, 10**6)
peoples = st.none() | st.integers(2, 12)

HOMES = (column_generation, pricing_module, master)


def set_limit(monkeypatch: pytest.MonkeyPatch, limit: str, value: int) -> None:
    """Set a limit of the search for columns where it stands."""
    for module in HOMES:
        if limit in vars(module):
            monkeypatch.setattr(module, limit, value)


def several(seed: int, n: int, k: int, people: int | None, grid: bool) -> Grouped:
    """Random groups of at least 2 subjects."""
    groups = random_groups(seed, n, k, people, grid)
    if groups.k < 2:
        reject()
    return groups


def random_pricing(
    seed: int, m: int, k: int, people: int | None, grid: bool
) -> tuple[Floats, PricingProblem]:
    """Records for sale, at about what groups cost."""
    groups = several(seed, m, k, people, grid)
    rng = np.random.default_rng(seed)
    prices = rng.normal(0.5, 1.0, m)
    pricing = pricing_problem(groups.records, groups.k, groups.subjects)
    return groups.records, pricing._replace(prices=prices)


def room(pricing: PricingProblem) -> tuple[Ints, Ints]:
    """Where a kernel writes one group round each record, and its size."""
    return np.zeros_like(pricing.half_sums, dtype=np.int64), np.zeros(
        len(pricing.half_sums), dtype=np.int64
    )


def different(pricing: PricingProblem, group: Ints) -> int:
    """How many subjects a group holds."""
    return len(set(pricing.subjects[group].tolist()))
