"""Path heuristics by name: a problem to a Hamiltonian path through its records."""

from trajanon.methods.md import md
from trajanon.methods.mdav import mdav
from trajanon.methods.v_mdav import cbfs
from trajanon.paths.external import concorde, lkh
from trajanon.paths.local_search import mdav_lk, or_opt, two_opt
from trajanon.paths.nearest_neighbour import nearest_neighbour, through_groups
from trajanon.paths.tours import Heuristic
from trajanon.problem import Registry

HEURISTICS: Registry[Heuristic] = Registry(
    {
        "or-opt": or_opt,
        "two-opt": two_opt,
        "nearest-neighbor": nearest_neighbour,
        "mdav-lk": mdav_lk,
        "md": through_groups(md),
        "mdav": through_groups(mdav),
        "cbfs": through_groups(cbfs),
        "concorde": concorde,
        "lkh": lkh,
    }
)
