"""2-opt: a nearest neighbour path, and exchanges of two links that shorten it."""

from trajanon._kernels.search import TWO_OPT, improve_everywhere
from trajanon.arrays import Ints
from trajanon.paths.nearest_neighbour import nearest_neighbour
from trajanon.paths.tours import FEW, closed, from_any_start, opened, shortest
from trajanon.problem import Problem


@from_any_start
def two_opt(problem: Problem) -> Ints:
    """Exchange two links of the path for two shorter ones while that can be done.

    A link may only be exchanged for one to a record's 16 nearest. The first path is that of
    `trajanon.paths.nearest_neighbour`, so its start comes from the seed.

    References
    ----------
    Maya-López, thesis (URV 2023), section 2.2.3.
    """
    if len(problem.records) < FEW:
        return shortest(problem.records)
    tour = closed(problem.records, lambda *_: nearest_neighbour(problem), problem.random)
    improve_everywhere(tour, TWO_OPT)
    return opened(tour)
