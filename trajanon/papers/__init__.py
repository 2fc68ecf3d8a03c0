"""What only the papers' tables need: methods, paths and refinements, and the tables themselves.

The registries of the search call `add` when a name of these is first used.
"""

from trajanon.papers.decomposition import decomposition
from trajanon.papers.insertion_paths import (
    arbitrary_insertion,
    cheapest_insertion,
    farthest_insertion,
    nearest_insertion,
)
from trajanon.papers.mf_tsp import mf_tsp
from trajanon.papers.rcs import rcs
from trajanon.papers.two_swapping import swap
from trajanon.papers.walks import npn, repetitive_nn
from trajanon.search.descent import descend
from trajanon.search.hm2 import HEURISTICS, METHODS
from trajanon.search.refinements import REFINEMENTS, in_steps


def add() -> None:
    """Add these methods, paths and refinements to the registries of the search."""
    METHODS.update({"mf-tsp": mf_tsp, "decomposition": decomposition})
    HEURISTICS.update(
        {
            "repetitive-nn": repetitive_nn,
            "nearest-insertion": nearest_insertion,
            "farthest-insertion": farthest_insertion,
            "cheapest-insertion": cheapest_insertion,
            "arbitrary-insertion": arbitrary_insertion,
            "npn": npn,
        }
    )
    REFINEMENTS.update(
        {
            "swap": in_steps(swap=swap),
            "swap+descent": in_steps(swap=swap, descent=descend),
            "rcs": in_steps(rcs=rcs),
            "rcs+descent": in_steps(rcs=rcs, descent=descend),
        }
    )
