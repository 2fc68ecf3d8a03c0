"""What only the papers' tables need; the search calls `add` when a name of these is first used."""

from trajanon.microaggregation import REFINEMENTS, in_one_step
from trajanon.papers.decomposition import decomposition
from trajanon.papers.mf_tsp import mf_tsp
from trajanon.papers.path_heuristics import INSERTIONS, npn, repetitive_nn
from trajanon.papers.shuffling_and_swapping import rcs, swap
from trajanon.search.hm2 import HEURISTICS, METHODS


def add() -> None:
    """Add these methods, paths and refinements to the registries of the search."""
    METHODS.update({"mf-tsp": mf_tsp, "decomposition": decomposition})
    HEURISTICS.update({"repetitive-nn": repetitive_nn, **INSERTIONS, "npn": npn})
    REFINEMENTS.update({"swap": in_one_step("swap", swap), "rcs": in_one_step("rcs", rcs)})
