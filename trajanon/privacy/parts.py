"""The gate before publication, for a release in parts: one part in memory at once."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.partition import is_part
from trajanon.files.release import read_as_found
from trajanon.files.released import ReleasedFile
from trajanon.privacy.findings import (
    Findings,
    ids_of_the_source,
    not_trajectories,
    points_of,
    too_fine,
    too_rare,
)
from trajanon.privacy.order import told_along, told_by_order


def check_parts(folder: Path, k: int, digits: int) -> Findings:
    """Check a folder of parts as one release.

    A trajectory may occur in several parts: it is counted in all of them, by a
    fingerprint of 128 bits of its coordinates as written. What else a release may not
    hold is looked for in each part; so is an order, and by the middles of the lines in
    all parts one after another.

    Parameters
    ----------
    folder
        With GeoParquet parts, and nothing else.
    k
        The group size promised.
    digits
        Decimals of a degree that the release claims to have at most.

    Raises
    ------
    FileProblem
        If there is no part, or one cannot be read.
    """
    paths = sorted(folder.iterdir())
    if not any(is_part(path.name) for path in paths):
        msg = f"{folder} holds no part of a release: make one with trajanon anonymize"
        raise FileProblem(msg)
    problems: list[str] = []
    keys: list[NDArray[np.uint64]] = []
    middles: list[NDArray[np.float32]] = []
    widths: set[int] = set()
    first = 1
    for path in paths:
        if not is_part(path.name):
            problems.append(f"{path.name!r} is no part of a release")
            continue
        found = read_as_found(path)
        n = len(found.lines)
        problems += [
            f"{path.name}: {problem}"
            for problem in _amiss(found, first, digits, widths, middles)
        ]
        keys.append(_keys(found))
        first += n
    whole = np.concatenate(keys)
    sizes = _sizes(whole)
    if len(widths) > 1:
        problems.append("parts have trajectories of different numbers of points")
    if middles:
        lon, lat = np.concatenate(middles).T
        along = told_along({"mean latitude": lat, "mean longitude": lon})
        problems += [f"from part to part: {problem}" for problem in along]
    return Findings(
        k=k,
        trajectories=len(whole),
        groups=len(sizes),
        smallest=int(sizes.min(initial=len(whole))),
        problems=[*problems, *too_rare(sizes, k)],
    )


def _amiss(
    found: ReleasedFile,
    first: int,
    digits: int,
    widths: set[int],
    middles: list[NDArray[np.float32]],
) -> Iterator[str]:
    """Name what is wrong in a part whose ids begin at the first one.

    Where its lines are sound, how many points they have and where their middles are
    (longitude and latitude, (n, 2), in few bytes) is kept.
    """
    amiss = not_trajectories(found.lines)
    yield from amiss or too_fine(found.lines, digits)
    yield from ids_of_the_source(found.ids, len(found.lines), first)
    points = None if amiss else points_of(found.lines)
    if points is not None:
        widths.add(points.shape[1])
        middles.append(points.mean(axis=1).astype(np.float32))
    yield from told_by_order(found.lines.groups, points)
    for extra in found.extras:
        yield f"a release holds no more than lines and ids: {extra}"


def _keys(found: ReleasedFile) -> NDArray[np.uint64]:
    """128 bits for each line, equal where lines are equal as written, (n, 2)."""
    groups = found.lines.groups
    _, first = np.unique(groups, return_index=True)
    words = b"".join(
        hashlib.blake2b(key, digest_size=16).digest() for key in found.lines.keys[first]
    )
    return np.frombuffer(words, dtype=np.uint64).reshape(-1, 2)[groups]


def _sizes(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How often each of the different keys occurs, (g,)."""
    some = keys[np.lexsort((keys[:, 1], keys[:, 0]))]
    new = np.flatnonzero((some[1:] != some[:-1]).any(axis=1)) + 1
    return np.diff(new, prepend=0, append=len(some))
