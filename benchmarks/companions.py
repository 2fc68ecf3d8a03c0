"""Measure how often the other members of a group are found by the equal spacing.

    trajanon extract --source cabs.parquet --spacing 100 --max-gap 1000 ...
    python benchmarks/companions.py trajectories.parquet --spacing 100

Somebody holds all windows but one, as they were cut, and a release without alignment. From k times
a line he subtracts each k - 1 of the windows nearest to it, and ranks what is left by how far its
hops are from the spacing. Printed is in how many groups of k, with one member hidden at random, the
true others are near enough to be tried, and in how many they come first; docs/privacy.md shows the
result.
"""

from itertools import combinations
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from measures import command_line

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.utility.displacements import metres_of_degrees


def companions(
    file: Path,
    spacing: float = 100.0,
    k: Annotated[int, typer.Option("-k")] = 4,
    groups: int = 100,
    near: int = 50,
) -> None:
    """Print a row for each number of decimals."""
    trajectories = trajanon.read_trajectories(file)
    release = trajanon.anonymize(trajectories, k, count="records", align=False)
    labels = np.array(release.report["labels"])
    plane = metres_of_degrees(trajectories.points[..., 0].mean())
    metres = trajectories.points * plane
    print("decimals  groups  tried  first  hidden member off by (median)")
    for digits in (7, 6, 5, 4):
        random = np.random.default_rng(0)
        of_k = np.flatnonzero(np.bincount(labels) == k)
        tried, off = 0, list[float]()
        chosen = random.choice(of_k, min(groups, len(of_k)), replace=False)
        for group in chosen:
            members = random.permutation(np.flatnonzero(labels == group))
            hidden, others = members[0], members[1:]
            line = np.round(trajectories.points[members].mean(axis=0), digits) * plane
            far = ((metres - line) ** 2).sum(axis=(1, 2))
            far[hidden] = np.inf
            nearest = np.argsort(far)[:near]
            if not np.isin(others, nearest).all():
                continue
            tried += 1
            best, left = _best(metres[nearest], k * line, k, spacing)
            if np.isin(others, nearest[best]).all():
                off.append(float(np.hypot(*(left - metres[hidden]).T).mean()))
        median = np.median(off) if off else np.nan
        print(f"{digits:8}  {len(chosen):6}  {tried:5}  {len(off):5}  {median:.3f} m")


def _best(near: Floats, whole: Floats, k: int, spacing: float) -> tuple[Ints, Floats]:
    """Find the k - 1 of these windows that leave points nearest to equal spacing."""
    sets = np.array(list(combinations(range(len(near)), k - 1)))
    worth = np.empty(len(sets))
    for start in range(0, len(sets), 5_000):
        some = slice(start, start + 5_000)
        left = whole - near[sets[some]].sum(axis=1)
        hops = np.hypot(*np.moveaxis(np.diff(left, axis=1), -1, 0))
        worth[some] = np.minimum(np.abs(hops - spacing), spacing / 2).mean(axis=1)
    best = sets[np.argmin(worth)]
    return best, whole - near[best].sum(axis=0)


if __name__ == "__main__":
    command_line(__doc__, companions)
