"""Path heuristics by name: a problem to a Hamiltonian path through its records."""

from collections.abc import Mapping

from trajanon.methods.md import md
from trajanon.methods.mdav import mdav
from trajanon.methods.v_mdav import cbfs
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
from trajanon.paths.through_groups import mdav_lk, npn, through_groups
from trajanon.paths.tours import Heuristic
from trajanon.paths.two_opt import two_opt

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
