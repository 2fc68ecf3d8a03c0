"""Subjects behind each line, and what two releases of the same data reveal together."""

import numpy as np

from trajanon.arrays import Ints
from trajanon.partition import broken_promises, subjects_per_group
from trajanon.releases import too_few


def too_few_subjects(labels: Ints, subjects: Ints, k: int) -> list[str]:
    """Name how many groups hold fewer than k different subjects."""
    sizes = np.bincount(labels)
    records, people = int((sizes < k).sum()), broken_promises(labels, subjects, k)
    return [too_few(k, len(sizes), records=records, people=people)] if people else []


def intersect_releases(
    labels: Ints, earlier: Ints, k: int, subjects: Ints | None = None
) -> list[str]:
    """Count the trajectories that two releases together hide among fewer than k.

    Anyone who knows the group of a trajectory in both releases is left with the members that the
    two groups have in common.
    """
    released = (labels >= 0) | (earlier >= 0)
    labels, earlier = labels[released], earlier[released]
    owners = np.arange(len(labels)) if subjects is None else subjects[released]
    pairs = (labels + 1) * (int(earlier.max(initial=0)) + 2) + earlier + 1
    cell = np.unique(pairs, return_inverse=True)[1]
    common = subjects_per_group(cell, owners)[cell]
    both = (labels >= 0) & (earlier >= 0)
    what = "trajectories" if subjects is None else "different subjects"
    problems = []
    if few := int((common[both] < k).sum()):
        alone = both & (common == 1)
        whom = f"{alone.sum()} of them stand alone"
        if subjects is not None:
            whom = (
                f"{alone.sum()} of them have no other subject's beside them, which "
                f"concerns {len(np.unique(owners[alone]))} subjects"
            )
        problems.append(
            f"together with the earlier release, {few} of {both.sum()} trajectories "
            f"are in two groups that have fewer than {k} {what} in common; {whom}"
        )
    if few := int((common[~both] < k).sum()):
        problems.append(
            f"{few} trajectories are in a group of one release and left out of the "
            f"other together with fewer than {k} {what}: the difference of the two may "
            "tell where they went"
        )
    return problems
