"""Path heuristics by name: a problem to a Hamiltonian path through its records."""

from collections.abc import Mapping

from trajanon.methods.md import md
from trajanon.methods.mdav import mdav
from trajanon.methods.v_mdav import cbfs
from trajanon.paths.external import concorde, lkh
from trajanon.paths.insertion import (
    arbitrary_insertion,
    cheapest_insertion,
    farthest_insertion,
    nearest_insertion,
)
from trajanon.paths.local_search import mdav_lk, or_opt, two_opt
from trajanon.paths.nearest_neighbour import nearest_neighbour, npn, repetitive_nn, through_groups
from trajanon.paths.tours import Heuristic

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
    "md": through_groups(md),
    "mdav": through_groups(mdav),
    "cbfs": through_groups(cbfs),
    "concorde": concorde,
    "lkh": lkh,
}
