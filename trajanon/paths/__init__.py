"""Records -> a Hamiltonian path through them: a registry of heuristics."""

from collections.abc import Callable, Mapping

from trajanon.arrays import Ints
from trajanon.paths.concorde import concorde
from trajanon.paths.insertion import (
    arbitrary_insertion,
    cheapest_insertion,
    farthest_insertion,
    nearest_insertion,
)
from trajanon.paths.lkh import lkh
from trajanon.paths.nearest_neighbour import nearest_neighbour, repetitive_nn
from trajanon.paths.or_opt import or_opt
from trajanon.paths.through_groups import cbfs, md, mdav, mdav_lk, npn
from trajanon.paths.two_opt import two_opt
from trajanon.problem import Problem

Heuristic = Callable[[Problem, int | None], Ints]
"""A problem, and the record that the path begins with or None to leave that open, to the order of
the records on the path, (n,)."""

HEURISTICS: Mapping[str, Heuristic] = {
    "or-opt": or_opt,
    "two-opt": two_opt,
    "nearest-neighbor": nearest_neighbour,
    "repetitive-nn": repetitive_nn,
    "nearest-insertion": nearest_insertion,
    "farthest-insertion": farthest_insertion,
    "cheapest-insertion": cheapest_insertion,
    "arbitrary-insertion": arbitrary_insertion,
    "mdav-lk": mdav_lk,
    "npn": npn,
    "md": md,
    "mdav": mdav,
    "cbfs": cbfs,
    "concorde": concorde,
    "lkh": lkh,
}
