"""Record linkage: who takes the released row nearest to what he knows."""

from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from trajanon.arrays import Floats, Ints
from trajanon.axes import principal_axes, turn
from trajanon.privacy.attack import Attack
from trajanon.privacy.published import Published
from trajanon.workers import in_parts

_AT_ONCE = 500  # originals that a thread links
_TIED = 1e-9  # distances that differ by less, as a share, are equal but for rounding
_SAME = 1e-12  # a distance of 0 but for rounding, in standard deviations


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The lines nearest to each original; several where distances are equal."""

    original: Ints  # pairs, (l,), sorted by original, then by line
    line: Ints  # pairs, (l,), sorted by original, then by line


def nearest_record(
    points: Floats, released: Floats, labels: Ints, k: int, *, subjects: Ints | None = None
) -> Attack:
    """Link each original to the released row nearest to it, as the papers do.

    The adversary knows the whole of his target's trajectory. He takes the released rows at the
    smallest Euclidean distance of the standardised records, and picks one.
    """
    published = Published.release(points, released, labels, k, subjects)
    links = nearest_lines(published)
    n = len(points)
    rows, own = rows_linked(published, links)
    right = links.line == labels[links.original]
    home = np.bincount(links.original, right * published.sizes[links.line], n)
    told = np.column_stack([own / rows, home / rows, own / rows])
    return published.attack("nearest record", "the target's whole trajectory", told)


def nearest_lines(published: Published) -> Links:
    """Find the lines at the smallest distance from each original, exactly."""
    originals, lines = _standardised(published)
    axes = principal_axes(originals)
    tree = cKDTree(turn(lines, axes))

    def link(rows: Ints, stop: Event) -> Any:
        if stop.is_set():
            raise KeyboardInterrupt
        some = turn(originals[rows], axes)
        away, _ = tree.query(some)
        reach = away * (1.0 + _TIED) + _SAME
        return tree.query_ball_point(some, reach, return_sorted=True)

    found = np.concatenate(in_parts(link, np.arange(len(originals)), _AT_ONCE))
    count = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
    return Links(
        original=np.repeat(np.arange(len(found)), count),
        line=np.concatenate(found).astype(np.int64),
    )


def rows_linked(published: Published, links: Links) -> tuple[Ints, Ints]:
    """Count the rows on the lines linked to each original, and its subject's of them."""
    n, g = len(published.points), len(published.lines)
    _, subject = np.unique(published.subjects, return_inverse=True)
    # How many rows a subject has on a line: a pair as one number.
    pairs, count = np.unique(subject * g + published.labels, return_counts=True)
    asked = subject[links.original] * g + links.line
    place = np.minimum(np.searchsorted(pairs, asked), len(pairs) - 1)
    theirs = np.where(pairs[place] == asked, count[place], 0)
    rows = np.bincount(links.original, published.sizes[links.line], n)
    own = np.bincount(links.original, theirs, n)
    return rows.astype(np.int64), own.astype(np.int64)


def _standardised(published: Published) -> tuple[Floats, Floats]:
    """Both as records, by the means and deviations of the originals; see `loss`."""
    originals = published.points.reshape(len(published.points), -1)
    lines = published.lines.reshape(len(published.lines), -1)
    origin = originals[:1]
    centred, moved = originals - origin, lines - origin
    mean = centred.mean(axis=0)
    centred -= mean
    moved -= mean
    constant = (originals == origin).all(axis=0)
    centred[:, constant] = moved[:, constant] = 0.0
    spread = np.sqrt((centred**2).sum(axis=0) / max(len(centred) - 1, 1))
    unit = np.where(spread > 0.0, spread, 1.0)
    return centred / unit, moved / unit
