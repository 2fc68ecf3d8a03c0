"""The published methods as a registry: standardised records -> labels."""

from collections.abc import Callable, Mapping

from trajanon.methods.hm2 import hm2
from trajanon.methods.mdav import mdav
from trajanon.methods.task import Grouping, Task

Method = Callable[[Task], Grouping]

METHODS: Mapping[str, Method] = {"hm2": hm2, "mdav": mdav}
