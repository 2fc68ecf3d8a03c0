"""MDAV: groups of k round the records farthest from the middle."""

from trajanon.arrays import Floats, Ints
from trajanon.grouping.remaining import Remaining
from trajanon.progress import Progress, silent


def mdav(records: Floats, k: int, subjects: Ints, progress: Progress = silent) -> Ints:
    """Group records round the farthest ones, k at a time ("classic" MDAV).

    While 3k records remain: the record farthest from their centroid takes its k - 1 nearest, then
    the record farthest from that one does. Of 2k to 3k - 1 the farthest from the centroid takes its
    k - 1 nearest; the last k to 2k - 1 are one group.

    With subjects, a record takes the nearest record of each of the k - 1 nearest other subjects.
    What remains when fewer than k subjects do joins the groups with the nearest centroids, so a
    group may then be larger than 2k - 1.

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,), numbered from 0; at least k different. ``arange(n)``
        counts records.
    progress
        Told of the records grouped.

    Returns
    -------
    Ints
        Group of each record, shape (n,).

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), "Practical data-oriented microaggregation for
    statistical disclosure control"; the variant without its final reassignment.
    """
    left = Remaining(records, k, subjects)
    task, n = "Grouping by MDAV", len(records)
    while len(left) >= 3 * k and left.subjects_left >= k:
        seed = left.farthest_from(left.centroid())
        left.group_round(seed)
        if left.subjects_left >= k:
            left.group_round(left.farthest_from(records[seed]))
        progress(task, n - len(left), n)
    if len(left) >= 2 * k and left.subjects_left >= k:
        left.group_round(left.farthest_from(left.centroid()))
    if left.subjects_left >= k:
        left.group(left.rows)
    else:
        left.join_nearest()
    progress(task, n, n)
    return left.labels
