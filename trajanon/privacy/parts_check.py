"""The check of a release in parts: one part in memory at a time."""

import hashlib
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Ints
from trajanon.errors import FileProblem
from trajanon.files.comparison import NOTHING_ELSE, compared
from trajanon.files.geoparquet import write_geoparquet
from trajanon.files.partition import is_part
from trajanon.files.release import read_as_found
from trajanon.files.release_lines import Lines
from trajanon.privacy.findings import Findings, not_trajectories, too_fine, too_rare
from trajanon.privacy.order import find_order, find_order_along


def check_parts(folder: Path, k: int, digits: int) -> Findings:
    """Check a folder of parts as one release.

    A trajectory may occur in several parts: it is counted in all of them, by a fingerprint of 128
    bits of its coordinates as written.
    """
    paths = sorted(folder.iterdir())
    if not any(is_part(path.name) for path in paths):
        msg = f"{folder} holds no part of a release: make one with trajanon anonymize"
        raise FileProblem(msg)
    problems: list[str] = []
    keys: list[NDArray[np.uint64]] = []
    middles: list[NDArray[np.float32]] = []
    widths: set[int] = set()
    claims: set[str] = set()
    first = 1
    for path in paths:
        if not is_part(path.name):
            problems.append(f"{path.name!r} is no part of a release")
            continue
        found = read_as_found(path)
        amiss, places = not_trajectories(found), None
        if not amiss:
            places = found.places
            widths.add(places.shape[1])
            middles.append(places.mean(axis=1).astype(np.float32))
            beside = compared(path, found, partial(write_geoparquet, first=first))
            claims.add(beside.claim)
            amiss = [*too_fine(found, digits), *beside.differences]
        amiss += find_order(found.groups, places)
        problems += [f"{path.name}: {problem}" for problem in amiss]
        keys.append(_keys(found))
        first += len(found)
    whole = np.concatenate(keys)
    sizes = _sizes(whole)
    if len(widths) > 1:
        problems.append("parts have trajectories of different numbers of points")
    if middles:
        lon, lat = np.concatenate(middles).T
        along = find_order_along({"mean latitude": lat, "mean longitude": lon})
        problems += [f"from part to part: {problem}" for problem in along]
    return Findings(
        k=k,
        trajectories=len(whole),
        groups=len(sizes),
        smallest=int(sizes.min(initial=len(whole))),
        problems=[*problems, *too_rare(sizes, k)],
        claim=max(claims, key=lambda claim: claim != NOTHING_ELSE, default=""),
    )


def _keys(found: Lines) -> NDArray[np.uint64]:
    """128 bits for each line, equal where lines are equal as written, (n, 2)."""
    groups = found.groups
    _, first = np.unique(groups, return_index=True)
    words = b"".join(hashlib.blake2b(key, digest_size=16).digest() for key in found.keys[first])
    return np.frombuffer(words, dtype=np.uint64).reshape(-1, 2)[groups]


def _sizes(keys: NDArray[np.uint64]) -> Ints:
    """How often each of the different keys occurs, (g,)."""
    some = keys[np.lexsort((keys[:, 1], keys[:, 0]))]
    new = np.flatnonzero((some[1:] != some[:-1]).any(axis=1)) + 1
    return np.diff(new, prepend=0, append=len(some))
