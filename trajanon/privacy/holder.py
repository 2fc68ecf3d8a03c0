"""What only the holder of the data can count: subjects, and two releases of them."""

import numpy as np
from numpy.typing import NDArray

from trajanon.partition import subjects_per_group


def too_few_subjects(
    labels: NDArray[np.int64], subjects: NDArray[np.int64], k: int
) -> list[str]:
    """Name how many groups hold fewer than k different subjects.

    Parameters
    ----------
    labels
        Group of each trajectory, shape (n,), numbered 0..g-1.
    subjects
        Whose each is, shape (n,), numbered from 0.
    k
        The promise.
    """
    held = subjects_per_group(labels, subjects)
    few = int((held < k).sum())
    if not few:
        return []
    return [
        f"{few} of {len(held)} groups hold trajectories of fewer than {k} different "
        f"subjects (the poorest of {held.min()})"
    ]


def told_by_both(
    labels: NDArray[np.int64],
    earlier: NDArray[np.int64],
    k: int,
    subjects: NDArray[np.int64] | None = None,
) -> list[str]:
    """Name how many trajectories two releases together hide among fewer than k.

    Whoever knows that a trajectory is in one group of this release and in another one
    of the earlier is left with what both hold in common.

    Parameters
    ----------
    labels, earlier
        Group of each trajectory in the two releases, shape (n,), numbered from 0.
    k
        The promise.
    subjects
        Whose each is, shape (n,), numbered from 0; None counts trajectories.
    """
    pairs = labels * (int(earlier.max(initial=0)) + 1) + earlier
    both = np.unique(pairs, return_inverse=True)[1]
    whose = np.arange(len(labels)) if subjects is None else subjects
    common = subjects_per_group(both, whose)[both]
    few = int((common < k).sum())
    if not few:
        return []
    alone = common == 1
    if subjects is None:
        what, whom = "trajectories", f"{alone.sum()} of them stand alone"
    else:
        what = "different subjects"
        whom = (
            f"{alone.sum()} of them have no other subject's beside them, which "
            f"concerns {len(np.unique(subjects[alone]))} subjects"
        )
    return [
        f"together with the earlier release, {few} of {len(labels)} trajectories are "
        f"in two groups that have fewer than {k} {what} in common; {whom}"
    ]
