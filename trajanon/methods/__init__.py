"""The published methods as a registry: standardised records -> labels."""

from collections.abc import Callable, Mapping

from trajanon.arrays import Ints
from trajanon.methods.by_distance import cbfs, md, mdav, v_mdav
from trajanon.methods.decomposition import decomposition
from trajanon.methods.hm2 import hm2
from trajanon.methods.mf_tsp import mf_tsp
from trajanon.problem import Problem

Method = Callable[[Problem], Ints]

METHODS: Mapping[str, Method] = {
    "hm2": hm2,
    "mdav": mdav,
    "v-mdav": v_mdav,
    "md": md,
    "cbfs": cbfs,
    "mf-tsp": mf_tsp,
    "decomposition": decomposition,
}
