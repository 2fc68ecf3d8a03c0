"""Labels -> better labels: a registry of refinements."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from trajanon.arrays import Ints
from trajanon.partition import dense
from trajanon.refine.anneal import anneal
from trajanon.refine.descend import descend
from trajanon.refine.grouped import Grouped
from trajanon.refine.rcs import rcs
from trajanon.refine.swap import swap

Refinement = Callable[[Grouped], Ints]
"""Records in groups to labels, (n,), of no larger SSE. Every group keeps k different
subjects."""


def in_steps(**steps: Refinement) -> Refinement:
    """Refine by one step after the other; the course is told of each."""

    def refinement(grouped: Grouped) -> Ints:
        for name, step in steps.items():
            grouped = replace(grouped, labels=dense(step(grouped)))
            grouped.course.arrived(name, grouped.labels)
        return grouped.labels

    return refinement


REFINEMENTS: Mapping[str, Refinement] = {
    "anneal": anneal,
    "descent": in_steps(descent=descend),
    "swap": in_steps(swap=swap, descent=descend),
    "rcs": in_steps(rcs=rcs, descent=descend),
}
"""By the names in the options; each tells its course of its steps."""
