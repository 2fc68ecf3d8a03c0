"""Slow twin of how lines are written: group by group, point by point."""

from hashlib import blake2b
from math import erf, sqrt

import numpy as np

from trajanon.arrays import Floats
from trajanon.geodesy import metres_of_degrees
from trajanon.perturbation import LENGTH, SIZE


def alike(m: int) -> Floats:
    """Matérn's correlation of order 5/2."""
    table = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            far = sqrt(5.0) * abs(i - j) / LENGTH
            table[i, j] = (1.0 + far + far**2 / 3.0) * np.exp(-far)
    return table


def root(covariance: Floats) -> Floats:
    """The symmetric root by axes."""
    held, axes = np.linalg.eigh(covariance)
    return np.asarray(axes @ np.diag(np.sqrt(held.clip(0.0))) @ axes.T)


def around_points(spread: list[Floats]) -> list[Floats]:
    """How groups spread around each point, from how they do at each."""
    found = []
    for t in range(len(spread)):
        weight = [np.exp(-0.5 * ((t - other) / 3.0) ** 2) for other in range(len(spread))]
        near = np.average(spread, axis=0, weights=weight)
        found.append(0.8 * near + 0.1 * np.trace(near) * np.eye(2))
    return found


def around(members: Floats) -> list[Floats]:
    """How members spread around each point; in units of their own."""
    away = members - members.mean(axis=0)
    points = range(members.shape[1])
    return around_points(
        [np.mean([np.outer(one[t], one[t]) for one in away], axis=0) for t in points]
    )


def normal(bits: int) -> float:
    """The normal number below which so large a share of 2^32 lies, by halving."""
    share, low, high = (bits + 0.5) / 2.0**32, -8.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if 0.5 * (1.0 + erf(middle / sqrt(2.0))) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def drawn(members: list[bytes], count: int, key: bytes, what: bytes) -> list[float]:
    """Normal numbers of a group, by a keyed hash of each member, added up in four parts."""
    lanes = [0] * 4
    for one in members:
        digest = blake2b(one, digest_size=32, key=key, person=what).digest()
        for lane in range(4):
            lanes[lane] += int.from_bytes(digest[8 * lane : 8 * lane + 8], "little")
    seed = b"".join((lane % 2**64).to_bytes(8, "little") for lane in lanes)
    bits = b"".join(
        blake2b(seed, key=key, salt=block.to_bytes(2, "little")).digest()
        for block in range(count // 16 + 1)
    )
    return [normal(int.from_bytes(bits[4 * n : 4 * n + 4], "little")) for n in range(count)]


def line(members: Floats, key: bytes, parts: float) -> Floats:
    """The line of a group as it is before it is rounded."""
    mean, m = members.mean(axis=0), members.shape[1]
    moved: Floats = mean.copy()
    scale = metres_of_degrees(mean[:, 0].mean())
    factor = np.linalg.cholesky(alike(m) + 1e-9 * np.eye(m))
    numbers = drawn([one.tobytes() for one in members], 2 * m, key, b"places")
    for t, spread in enumerate(around((members - mean) * scale)):
        both = [sum(factor[t, u] * numbers[2 * u + axis] for u in range(m)) for axis in range(2)]
        moved[t] += SIZE / parts * root(spread) @ both / scale
    return moved
