"""Slow twin of how lines are written: group by group, point by point."""

from collections.abc import Sequence
from hashlib import blake2b
from math import erf, sqrt
from struct import pack

import numpy as np

from trajanon.common.arrays import Floats
from trajanon.trajectories.geodesy import metres_of_degrees


def alike(m: int) -> Floats:
    """Matérn's correlation of order 5/2."""
    table = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            far = sqrt(5.0) * abs(i - j) / 6.3
            table[i, j] = (1.0 + far + far**2 / 3.0) * np.exp(-far) + 1e-9 * (i == j)
    return table


def normal(bits: int) -> float:
    """The normal number below which so large a share of 2^52 lies, by halving."""
    share, low, high = (bits + 0.5) / 2.0**52, -9.0, 9.0
    for _ in range(70):
        middle = (low + high) / 2.0
        if 0.5 * (1.0 + erf(middle / sqrt(2.0))) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def drawn(
    members: Sequence[bytes], count: int, key: bytes, purpose: bytes, scale: float
) -> list[float]:
    """Normal numbers of a group, by a keyed hash of each member, added up in four parts."""
    lanes = [0] * 4
    for member in members:
        digest = blake2b(member, digest_size=32, key=key, person=purpose).digest()
        for lane in range(4):
            lanes[lane] += int.from_bytes(digest[8 * lane : 8 * lane + 8], "little")
    total = b"".join((lane % 2**64).to_bytes(8, "little") for lane in lanes) + pack("<d", scale)
    seed = blake2b(total, digest_size=32, key=key, person=purpose + b" of").digest()
    bits = b"".join(
        blake2b(key=seed, salt=block.to_bytes(2, "little")).digest()
        for block in range(count // 8 + 1)
    )
    numbers = (int.from_bytes(bits[8 * n : 8 * n + 8], "little") for n in range(count))
    return [normal(number >> 12) for number in numbers]


def mean_of_people(members: Floats, people: Sequence[int]) -> Floats:
    """The mean of what each person has in the mean."""
    own = [
        np.mean([member for member, who in zip(members, people, strict=True) if who == person], 0)
        for person in sorted(set(people))
    ]
    return np.asarray(np.mean(own, axis=0))


def weights_of(people: Sequence[int]) -> list[bytes]:
    """What each member counts in that mean, as bytes."""
    return [pack("<d", 1.0 / (len(set(people)) * people.count(person))) for person in people]


def line(members: Floats, people: list[int], key: bytes, deviation: float) -> Floats:
    """The line of a group as it is before it is rounded."""
    mean, m = mean_of_people(members, people), members.shape[1]
    moved: Floats = mean.copy()
    scale = metres_of_degrees(mean[:, 0].mean())
    factor = np.linalg.cholesky(alike(m))
    both = zip(members, weights_of(people), strict=True)
    rows = [member.tobytes() + weight for member, weight in both]
    numbers = drawn(rows, 2 * m, key, b"places", deviation)
    for t in range(m):
        for axis in range(2):
            smooth = sum(factor[t, u] * numbers[2 * u + axis] for u in range(m))
            moved[t, axis] += deviation * smooth / scale[axis]
    return moved


def times(
    points: Floats, seconds: Floats, people: list[int], key: bytes, widths: tuple[float, float]
) -> Floats:
    """The times of a group as they are before the clock cuts and rounds them."""
    departures, elapsed = widths
    mean, m, share = mean_of_people(seconds, people), seconds.shape[1], 1.0 / len(set(people))
    rows = [
        np.column_stack([place, when]).tobytes() + weight
        for place, when, weight in zip(points, seconds, weights_of(people), strict=True)
    ]
    numbers = drawn(rows, m + 1, key, b"times", float(np.hypot(departures, elapsed)) * share)
    rough = [[np.exp(-abs(i - j) / 6.3) for j in range(m)] for i in range(m)]
    factor = np.linalg.cholesky(rough)
    moved: list[float] = []
    for t in range(m):
        smooth = sum(factor[t, u] * numbers[1 + u] for u in range(m))
        then = mean[t] + share * (departures * numbers[0] + elapsed * smooth)
        moved.append(max([then, *moved[-1:]]))
    return np.array(moved)
