"""Measure how often the other members of a group are found by the equal spacing.

    trajanon extract --source cabs.parquet --spacing 100 --max-gap 1000 ...
    python benchmarks/companions.py trajectories.parquet --spacing 100

Somebody holds all windows but one, as they were cut, and a release without alignment. From k times
a line he subtracts each k - 1 of the windows nearest to it, and ranks what is left by how far its
hops are from the spacing. Printed is in how many groups of k, with one member hidden at random, the
true others are near enough to be tried, and in how many they come first; docs/privacy.md shows the
result.
"""

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.utility.displacements import metres_of_degrees


def main() -> None:
    """Print a row for each number of decimals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--spacing", type=float, default=100.0)
    parser.add_argument("-k", type=int, default=4)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--near", type=int, default=50)
    given = parser.parse_args()
    trajectories = trajanon.read_trajectories(given.file)
    points = trajectories.points
    release = trajanon.anonymize(trajectories, given.k, count="records", align=False)
    labels = np.array(release.report["labels"])
    plane = metres_of_degrees(points[..., 0].mean())
    metres = points * plane
    print("decimals  groups  tried  first  hidden member off by (median)")
    for digits in (7, 6, 5, 4):
        random = np.random.default_rng(0)
        of_k = np.flatnonzero(np.bincount(labels) == given.k)
        tried = first = 0
        off: list[float] = []
        chosen = random.choice(of_k, min(given.groups, len(of_k)), replace=False)
        for group in chosen:
            members = random.permutation(np.flatnonzero(labels == group))
            hidden, others = members[0], set(members[1:].tolist())
            line = np.round(points[members].mean(axis=0), digits) * plane
            far = ((metres - line) ** 2).sum(axis=(1, 2))
            far[hidden] = np.inf
            near = np.argsort(far)[: given.near]
            if not others <= set(near.tolist()):
                continue
            tried += 1
            best, left = _best(metres[near], given.k * line, given.k, given.spacing)
            if set(near[best].tolist()) == others:
                first += 1
                off.append(float(np.hypot(*(left - metres[hidden]).T).mean()))
        median = np.median(off) if off else np.nan
        print(f"{digits:8}  {len(chosen):6}  {tried:5}  {first:5}  {median:.3f} m")


def _best(near: Floats, whole: Floats, k: int, spacing: float) -> tuple[Ints, Floats]:
    """Find the k - 1 of these windows that leave points nearest to equal spacing."""
    sets = np.array(list(combinations(range(len(near)), k - 1)))
    worth = np.empty(len(sets))
    for start in range(0, len(sets), 5_000):
        some = slice(start, start + 5_000)
        left = whole - near[sets[some]].sum(axis=1)
        hops = np.hypot(*np.moveaxis(np.diff(left, axis=1), -1, 0))
        off = np.abs(hops - spacing)
        worth[some] = np.minimum(off, spacing / 2).mean(axis=1)
    best = sets[np.argmin(worth)]
    return best, whole - near[best].sum(axis=0)


if __name__ == "__main__":
    main()
