"""How a line is written: its group's mean, moved smoothly by a secret; and its times.

Source: B. Matérn, "Spatial variation" (1960); M. L. Stein, "Interpolation of spatial data" (1999),
section 2.7, for the correlation of order 5/2.
"""

import secrets
from hashlib import blake2b

import numpy as np
from scipy.special import ndtri

from trajanon.arrays import Floats, Ints
from trajanon.files.release_lines import rounded
from trajanon.geodesy import metres_of_degrees
from trajanon.loss import group_means
from trajanon.partition import dense
from trajanon.times import BEGINS, Clock

SIZE = 1.45
"""Root mean square of a displacement, as a share of the group's width by its members.

The width is the root mean square distance of members from their mean.
"""

LENGTH = 6.0
"""Points over which displacements are correlated."""

_ANY_WAY = 0.2  # share of a displacement's variance that does not follow the group's spread
_AROUND = 3.0  # points, the standard deviation of the weights of the spread around a point
_LEAST, _MOST = 0.5, 2.0  # of its mean, a duration
_AT_ONCE = 10_000  # trajectories that are measured, or lines that are drawn
_LANES = 4  # numbers of 64 bits in a group's seed


def new_key() -> bytes:
    """Draw a secret key: anyone who has it can compute every displacement."""
    return secrets.token_bytes(32)


def correlation(points: int, length: float = LENGTH) -> Floats:
    """Tell how displacements at the points of a line are correlated, (m, m): Matérn's of 5/2."""
    place = np.arange(points)
    apart = np.sqrt(5.0) * np.abs(place[:, None] - place) / length
    return np.asarray((1.0 + apart + apart**2 / 3.0) * np.exp(-apart))


def spread_around(spread: Floats) -> Floats:
    """Give the covariance of groups around each point, (..., m, 2, 2); a fifth goes any way."""
    place = np.arange(spread.shape[-3])
    near = np.exp(-0.5 * ((place[:, None] - place) / _AROUND) ** 2)
    around = np.einsum("...iab,ij->...jab", spread, near / near.sum(axis=0))
    alike = 0.5 * np.trace(around, axis1=-2, axis2=-1)[..., None, None] * np.eye(2)
    return np.asarray((1.0 - _ANY_WAY) * around + _ANY_WAY * alike)


def displacement_root(spread: Floats, parts: Floats) -> Floats:
    """Give the root of the covariance of displacements, (..., m, 2, 2), in metres."""
    covariance = spread_around(spread)
    side = np.sqrt(determinants(covariance).clip(0.0))[..., None, None]
    unit = np.sqrt(np.trace(covariance, axis1=-2, axis2=-1)[..., None, None] + 2.0 * side)
    root = (covariance + side * np.eye(2)) / np.where(unit > 0.0, unit, 1.0)  # the symmetric one
    return np.asarray(SIZE * root / parts[..., None, None, None])


def determinants(matrices: Floats) -> Floats:
    """Take the determinants of matrices, (..., 2, 2); numpy's way is for large ones."""
    crossed = matrices[..., 0, 1] * matrices[..., 1, 0]
    return np.asarray(matrices[..., 0, 0] * matrices[..., 1, 1] - crossed)


def group_spread(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Measure the covariance of each group at each point, (g, m, 2, 2), in square metres."""
    sizes, degree = np.bincount(labels), _degrees(means)
    spread = np.zeros((*means.shape, 2))
    for begin in range(0, len(points), _AT_ONCE):
        label = labels[begin : begin + _AT_ONCE]
        away = (points[begin : begin + _AT_ONCE] - means[label]) * degree[label]
        np.add.at(spread, label, away[..., :, None] * away[..., None, :])
    return spread / sizes[:, None, None, None]


def perturbed(
    points: Floats, means: Floats, labels: Ints, key: bytes, subjects: Ints | None = None
) -> Floats:
    """Write the mean of each group, (g, m, 2): moved smoothly, and rounded.

    Anyone who holds all other members of a group of s subtracts them from s times its line and has
    the last, off by s times the displacement. So this is as large as an s-th of the group's width,
    and follows from its members by a keyed hash: without the key, guesses cannot be tried.
    """
    m = points.shape[1]
    # What rounding adds keeps the matrix of equal points positive.
    factor = np.linalg.cholesky(correlation(m) + 1e-9 * np.eye(m))
    spread, parts = group_spread(points, means, labels), group_parts(labels, subjects)
    seeds, lines = _seeds(points, labels, key, b"places"), np.empty_like(means)
    degree, most = _degrees(means), np.array([90.0, 180.0])
    for begin in range(0, len(means), _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        drawn = _normal(seeds[some], 2 * m, key).reshape(-1, m, 2)
        smooth = np.einsum("ij,gjc->gic", factor, drawn)
        root = displacement_root(spread[some], parts[some])
        metres = np.einsum("giab,gib->gia", root, smooth)
        moved = means[some] + (metres / degree[some]).clip(-180.0, 180.0)
        lines[some] = rounded(moved.clip(-most, most))
    return lines


def perturbed_times(
    points: Floats,
    seconds: Floats,
    labels: Ints,
    clock: Clock,
    key: bytes,
    subjects: Ints | None = None,
) -> Floats:
    """Write the mean times of each group, (g, m): departure and duration moved as places are."""
    means, sizes = group_means(seconds, labels), np.bincount(labels)
    parts = group_parts(labels, subjects)
    drawn = _normal(_seeds(np.dstack([points, seconds]), labels, key, b"times"), 2, key)

    def moved(each: Floats, mean: Floats, drawn: Floats) -> Floats:
        width = np.bincount(labels, np.abs(each - mean[labels])) / sizes
        return np.asarray(mean + SIZE * width / parts * drawn)

    departs = moved(seconds[:, 0], means[:, 0], drawn[:, 0])
    if np.isfinite(clock.round):
        departs = np.clip(departs, BEGINS, BEGINS + clock.round)
    mean = means[:, -1] - means[:, 0]
    takes = moved(seconds[:, -1] - seconds[:, 0], mean, drawn[:, 1])
    takes = np.clip(takes, _LEAST * mean, _MOST * mean)
    stretched = takes / np.where(mean > 0.0, mean, 1.0)
    return clock.rounded(departs[:, None] + stretched[:, None] * (means - means[:, :1]))


def group_parts(labels: Ints, subjects: Ints | None) -> Floats:
    """How many times each group is as large as what a subject has in it at most, (g,)."""
    sizes = np.bincount(labels).astype(np.float64)
    if subjects is None:
        return sizes
    own, people = dense(subjects), len(subjects)
    pairs, held = np.unique(labels * people + own, return_counts=True)
    most = np.zeros(len(sizes))
    np.maximum.at(most, pairs // people, held)
    return sizes / np.where(most < sizes, most, 1.0)


def _degrees(lines: Floats) -> Floats:
    """Metres of a degree of latitude and longitude about the middle of each line, (g, 1, 2)."""
    return metres_of_degrees(lines[..., 0].mean(axis=1))[:, None]


def _seeds(members: Floats, labels: Ints, key: bytes, what: bytes) -> Ints:
    """A seed for each group, (g, 4), of what its members are, in any order."""
    size = 8 * _LANES
    each = (
        blake2b((one + 0.0).tobytes(), digest_size=size, key=key, person=what) for one in members
    )
    digests = np.frombuffer(b"".join(one.digest() for one in each), dtype="<u8")
    seeds = np.zeros((int(labels.max(initial=-1)) + 1, _LANES), dtype="<u8")
    np.add.at(seeds, labels, digests.reshape(-1, _LANES))
    return seeds


def _normal(seeds: Ints, count: int, key: bytes) -> Floats:
    """Draw ``count`` normal numbers from each seed, (g, count)."""
    blocks = [n.to_bytes(2, "little") for n in range(-(-4 * count // 64))]
    drawn = b"".join(
        blake2b(seed.tobytes(), key=key, salt=block).digest() for seed in seeds for block in blocks
    )
    bits = np.frombuffer(drawn, dtype="<u4").reshape(len(seeds), 16 * len(blocks))[:, :count]
    return np.asarray(ndtri((bits + 0.5) / 2.0**32))
