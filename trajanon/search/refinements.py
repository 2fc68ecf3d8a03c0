"""Labels -> better labels: a registry of refinements."""

from collections.abc import Callable

from trajanon.arrays import Ints
from trajanon.partition import dense
from trajanon.problem import Problem, Registry
from trajanon.search.annealing import anneal
from trajanon.search.descent import descend

Refinement = Callable[[Problem, Ints], Ints]
"""A problem and the groups of its records, (n,), to new labels of groups of no larger SSE.
Every group keeps k different subjects."""


def in_steps(**steps: Refinement) -> Refinement:
    """Refine by one step after the other; each is logged."""

    def refinement(problem: Problem, labels: Ints) -> Ints:
        for name, step in steps.items():
            labels = dense(step(problem, labels))
            problem.log.end_step(name, labels)
        return labels

    return refinement


REFINEMENTS: Registry[Refinement] = Registry(
    {"anneal": anneal, "descent": in_steps(descent=descend)}
)
"""By the names in the options; each tells the log of its steps."""
