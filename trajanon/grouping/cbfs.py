"""CBFS: groups of k round the records farthest from the middle of all."""

from trajanon.arrays import Floats, Ints
from trajanon.grouping.v_mdav import v_mdav
from trajanon.progress import Progress, silent


def cbfs(records: Floats, k: int, subjects: Ints, progress: Progress = silent) -> Ints:
    """Group records round those farthest from the centroid of all, k at a time.

    The centroid is computed once: `trajanon.grouping.v_mdav` with groups that never grow.

    Parameters
    ----------
    records
        Standardised, shape (n, p).
    k
        Least number of different subjects in a group.
    subjects
        Subject of each record, shape (n,), numbered from 0; at least k different.
    progress
        Told of the records grouped.

    Returns
    -------
    Ints
        Group of each record, shape (n,).

    References
    ----------
    Laszlo, Mukherjee (2005), "Minimum spanning tree partitioning algorithm for
    microaggregation".
    """
    return v_mdav(records, k, subjects, 0.0, progress)
