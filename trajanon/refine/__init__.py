"""Labels -> better labels: a registry of refinements."""

from collections.abc import Callable, Mapping

from trajanon.arrays import Ints
from trajanon.partition import dense
from trajanon.problem import Problem
from trajanon.refine.annealing import anneal
from trajanon.refine.descent import descend
from trajanon.refine.rcs import rcs
from trajanon.refine.swap import swap

Refinement = Callable[[Problem, Ints], Ints]
"""A problem and the groups of its records, (n,), to groups of no larger SSE, whose labels are new.
Every group keeps k different subjects."""


def in_steps(**steps: Refinement) -> Refinement:
    """Refine by one step after the other; the log is told of each."""

    def refinement(problem: Problem, labels: Ints) -> Ints:
        for name, step in steps.items():
            labels = dense(step(problem, labels))
            problem.log.end_step(name, labels)
        return labels

    return refinement


REFINEMENTS: Mapping[str, Refinement] = {
    "anneal": anneal,
    "descent": in_steps(descent=descend),
    "swap": in_steps(swap=swap),
    "swap+descent": in_steps(swap=swap, descent=descend),
    "rcs": in_steps(rcs=rcs),
    "rcs+descent": in_steps(rcs=rcs, descent=descend),
}
"""By the names in the options; each tells the log of its steps."""
