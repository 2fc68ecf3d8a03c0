"""MDAV: groups of k round the records farthest from the middle."""

from trajanon.arrays import Ints
from trajanon.methods.remaining import Remaining
from trajanon.problem import Problem


def mdav(problem: Problem) -> Ints:
    """Group records round the farthest ones, k at a time ("classic" MDAV).

    While 3k records remain: the record farthest from their centroid takes its k - 1 nearest, then
    the record farthest from that one does. Of 2k to 3k - 1 the farthest from the centroid takes its
    k - 1 nearest; the last k to 2k - 1 are one group.

    With subjects, a record takes the nearest record of each of the k - 1 nearest other subjects.
    What remains when fewer than k subjects do joins the groups with the nearest centroids, so a
    group may then be larger than 2k - 1.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented microaggregation for
    statistical disclosure control"; the variant without its final reassignment.

    Examples
    --------
    The mean is 15.4. Farthest from it is 1, which takes 5; farthest from 1 is 26, which takes 23.
    Of the other four, 8 is farthest from their mean, and takes 17:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> trajanon.microaggregate(ages, k=2, method="mdav", refine="none").labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    left = Remaining(problem, "Grouping by MDAV")
    while left.enough_for(3):
        seed = left.leaves.farthest(left.centroid())
        left.group_round(seed)
        if left.enough_for(1):
            left.group_round(left.leaves.farthest(problem.records[seed]))
        left.tell()
    if left.enough_for(2):
        left.group_round(left.leaves.farthest(left.centroid()))
    return left.finished()
