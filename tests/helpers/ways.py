"""Every way to microaggregate."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import strategies as st

from trajanon.grouping.methods.hm2_and_compression import HEURISTICS
from trajanon.grouping.microaggregation import METHODS, REFINEMENTS

OURS = [name for name in HEURISTICS if name not in ("concorde", "lkh")]
"""What needs no other program; see paths/test_external_solvers*.py for the rest."""


def ways() -> Iterator[dict[str, Any]]:
    """Every method, heuristic, compression and refinement, not all of them together."""
    for name in OURS:
        yield {"heuristic": name, "refine": "none", "effort": "fast"}
    for method, refine in product(("hm2", "mdav"), ("none", *REFINEMENTS)):
        yield {"method": method, "refine": refine, "effort": "balanced"}
    yield {"refine": "anneal", "effort": "fast"}
    yield {"refine": "anneal", "effort": "best"}
    for method, refine in product(METHODS, ("none", "descent")):
        if method not in ("hm2", "mdav"):
            yield {"method": method, "effort": "fast", "refine": refine}
    yield {"method": "v-mdav", "gamma": 1.5, "refine": "swap"}
    yield {"method": "mf-tsp", "heuristic": "nearest-neighbor", "refine": "none"}
    yield {"method": "mf-tsp", "heuristic": "arbitrary-insertion", "refine": "swap"}
    yield {
        "method": "mf-tsp",
        "path_neighbours": "next",
        "heuristic": "two-opt",
        "refine": "rcs",
        "shuffle_probability": 0.3,
        "max_events": 5,
    }
    yield {"method": "decomposition", "subsets": 2, "exchange_first": False, "refine": "none"}
    for c in (2, 3, 7):
        yield {"compression": c, "refine": "none", "effort": "fast"}
    yield {"compression": 3, "heuristic": "mdav", "compress_by": "md", "refine": "descent"}
    yield {"compression": 2, "heuristic": "nearest-insertion", "refine": "none"}


HOW = list(ways())

every_way = pytest.mark.parametrize("how", HOW, ids=lambda how: "-".join(map(str, how.values())))


def method_of(how: dict[str, Any]) -> str:
    return str(how.get("method", "hm2"))


def is_slow(how: dict[str, Any]) -> bool:
    """Whether it gets a few examples only."""
    return "decomposition" in how.values() or how.get("effort") == "best"


seeds = st.integers(0, 10**6)
