"""Perturbation: a line is its group's mean, moved smoothly by a secret; and so are its times.

`docs/proof.md` states what this hides, and proves it of the functions here; a test names them.

Source: B. Matérn, "Spatial variation" (1960); M. L. Stein, "Interpolation of spatial data" (1999),
section 2.7, for the correlation of order 5/2.
"""

from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from trajanon.common.arrays import Floats, Ints
from trajanon.files.rounding_order_and_keys_of_lines import rounded
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import member_weights, subjects_per_group
from trajanon.trajectories.clock_and_time_zones import DAY_BEGINS, Clock
from trajanon.trajectories.geodesy import metres_of_degrees

CORRELATION_LENGTH = 6.3
"""Points over which displacements are correlated."""

LEAST_METRES = 10.0
LEAST_SECONDS = 60.0
"""The least public widths: groups of copies are moved, too."""

ELAPSED_FACTOR = 3.0
"""Elapsed times are moved by so many widths of groups: they are rough along the way."""

_JITTER = 1e-9  # added to the diagonal, so that rounding keeps the correlation positive definite
_LINES_PER_DRAW = 10_000  # whose numbers are in memory at once
_TRAJECTORIES_PER_SUM = 10_000  # likewise
_LANES = 4  # numbers of 64 bits in a group's seed
_DIGEST = 8 * _LANES  # bytes


class GroupWidths(NamedTuple):
    """How far the members of groups are from their means: root mean squares, (g,) each."""

    places: Floats  # metres
    departures: Floats | None = None  # seconds
    elapsed: Floats | None = None  # seconds since the departure


class PublicWidths(NamedTuple):
    """What the displacements of a release are multiples of; anybody may know it."""

    places: float  # metres
    departures: float = 0.0  # seconds
    elapsed: float = 0.0  # seconds since the departure

    @classmethod
    def of(cls, groups: GroupWidths) -> "PublicWidths":
        """Compute the medians of groups, rounded up to two digits."""
        places = public_width(groups.places, LEAST_METRES)
        if groups.departures is None or groups.elapsed is None:
            return cls(places)
        departures = public_width(groups.departures, LEAST_SECONDS)
        elapsed = ELAPSED_FACTOR * public_width(groups.elapsed, LEAST_SECONDS)
        return cls(places, departures, elapsed)


def correlation(points: int, length: float = CORRELATION_LENGTH) -> Floats:
    """Return how displacements at the points of a line are correlated, (m, m): Matérn's of 5/2."""
    place = np.arange(points)
    scaled_distance = np.sqrt(5.0) * np.abs(place[:, None] - place) / length
    matern = (1.0 + scaled_distance + scaled_distance**2 / 3.0) * np.exp(-scaled_distance)
    return np.asarray(matern + _JITTER * np.eye(points))


def times_correlation(points: int, length: float = CORRELATION_LENGTH) -> Floats:
    """Return how displacements of elapsed times are correlated, (m, m): as rough as stops are."""
    place = np.arange(points)
    return np.asarray(np.exp(-np.abs(place[:, None] - place) / length))


def displacement_covariance(points: int, width: float) -> Floats:
    """Return the covariance of a displacement to the north, (m, m), in square metres.

    That to the east is the same, and independent. A line's displacement is one of the public width
    of the release, times the largest share of one person in the mean, 1/k of k people with one
    trajectory each. Everybody may know all of this.
    """
    return np.asarray(width**2 * correlation(points))


def mu_of(shift: Floats, width: float) -> float:
    """Return how well a trajectory is told from the same moved by ``shift``, (m, 2), in metres.

    It is the distance of two normal distributions of equal spread, in standard deviations: that of
    the released line where all else is known, and the trajectory's share in it is the largest.
    """
    uncorrelated = np.linalg.solve(np.linalg.cholesky(correlation(len(shift))), shift)
    return float(np.sqrt((uncorrelated**2).sum())) / width


def odds_of(mu: float) -> float:
    """Return the best share of right answers, at even odds, to which of two it was."""
    return float(ndtr(mu / 2.0))


class ToldApart(NamedTuple):
    """How well a trajectory is told from the same one moved to the side, by its released line."""

    metres: float  # to the side
    mu: float  # as `mu_of` computes it
    right: float  # share of right answers at even odds, at most

    @classmethod
    def of(cls, points: int, width: float, metres: float = 100.0) -> "ToldApart":
        """Compute it for a trajectory of so many points, in a release of this public width."""
        mu = mu_of(np.tile([0.0, metres], (points, 1)), width)
        return cls(metres, mu, odds_of(mu))


def public_width(widths: Floats, least: float) -> float:
    """Return the median width of groups, rounded up to two digits, and not below the least."""
    median = float(np.median(widths)) if len(widths) else 0.0
    if median <= least:
        return least
    second_digit = 10.0 ** (np.floor(np.log10(median)) - 1.0)
    # A median of two digits is kept, although its division may end just above them.
    return round(float(np.ceil(median / second_digit - 1e-9) * second_digit), 9)


def group_widths(points: Floats, means: Floats, labels: Ints, weights: Floats) -> Floats:
    """Measure how far people are from their mean, (g,): root mean squares of metres.

    ``weights`` are how much each trajectory counts in the mean of its group, (n,).
    """
    metres_of_degree = _metres_of_degree(means)
    mean_squares = np.zeros(len(means))
    for begin in range(0, len(points), _TRAJECTORIES_PER_SUM):
        batch = slice(begin, begin + _TRAJECTORIES_PER_SUM)
        group = labels[batch]
        metres = (points[batch] - means[group]) * metres_of_degree[group]
        np.add.at(mean_squares, group, weights[batch] * (metres**2).sum(axis=2).mean(axis=1))
    return np.asarray(np.sqrt(mean_squares))


def largest_shares(labels: Ints, subjects: Ints | None) -> Floats:
    """Return the most that one person counts in the mean of each group, (g,): all count alike."""
    people = np.bincount(labels) if subjects is None else subjects_per_group(labels, subjects)
    return np.asarray(1.0 / people)


def perturbed(
    points: Floats,
    means: Floats,
    labels: Ints,
    key: bytes,
    width: float,
    subjects: Ints | None = None,
) -> Floats:
    """Write the mean of the people of each group, (g, m, 2): moved smoothly, and rounded.

    Anyone who holds all others of k people subtracts them from k times their line and has the last
    one's mean, off by k times the displacement. At each point this has a standard deviation of the
    public ``width``, in metres to the north and to the east, in every group: its size tells nothing
    of the members. It follows from them by a keyed hash: without the key, guesses cannot be tried.
    """
    deviations = width * largest_shares(labels, subjects)
    weights = member_weights(labels, subjects)
    seeds = group_seeds(points, labels, weights, deviations, key, b"places")

    lines = np.empty_like(means)
    for begin in range(0, len(means), _LINES_PER_DRAW):
        batch = slice(begin, begin + _LINES_PER_DRAW)
        metres = displacements(seeds[batch], deviations[batch], points.shape[1])
        lines[batch] = moved_and_rounded(means[batch], metres)
    return lines


def displacements(seeds: Ints, deviations: Floats, m: int) -> Floats:
    """Draw a displacement of each line from its seed, (g, m, 2), in metres."""
    factor = np.linalg.cholesky(correlation(m))
    drawn = normal_numbers(seeds, 2 * m).reshape(-1, m, 2)
    return np.asarray(deviations[:, None, None] * np.einsum("ij,gjc->gic", factor, drawn))


def moved_and_rounded(means: Floats, metres: Floats) -> Floats:
    """Move lines by metres to the north and to the east, (g, m, 2): on Earth, and rounded."""
    moved = means + (metres / _metres_of_degree(means)).clip(-180.0, 180.0)
    north_east = np.array([90.0, 180.0])
    return rounded(moved.clip(-north_east, north_east))


def widths_of_times(seconds: Floats, labels: Ints, weights: Floats) -> tuple[Floats, Floats]:
    """Measure how far departures and elapsed times are from their group's mean, (g,) each.

    ``seconds``, (n, m), are times by a clock, and ``weights``, (n,), add up to 1 in each group.
    """
    off_mean = seconds - group_means(seconds, labels, weights)[labels]
    departure = off_mean[:, 0]
    elapsed = off_mean - off_mean[:, :1]

    def root_mean_square(squares: Floats) -> Floats:
        """Average squares of trajectories, (n,), by group, and take their roots, (g,)."""
        return np.asarray(np.sqrt(np.bincount(labels, weights * squares)))

    return root_mean_square(departure**2), root_mean_square((elapsed**2).mean(axis=1))


def perturbed_times(
    points: Floats,
    seconds: Floats,
    labels: Ints,
    clock: Clock,
    key: bytes,
    widths: PublicWidths,
    subjects: Ints | None = None,
) -> Floats:
    """Write the mean times of each group, (g, m): moved smoothly along the way, and rounded.

    The departure moves all of them, and a rough process moves each. Times that would run back wait,
    and departures stay within the clock's day or week.
    """
    m = seconds.shape[1]
    weights = member_weights(labels, subjects)
    means = group_means(seconds, labels, weights)
    shares = largest_shares(labels, subjects)
    scale = np.hypot(widths.departures, widths.elapsed) * shares
    seeds = group_seeds(np.dstack([points, seconds]), labels, weights, scale, key, b"times")

    # One number moves the departure, the others each point's time.
    drawn = normal_numbers(seeds, m + 1)
    along = drawn[:, 1:] @ np.linalg.cholesky(times_correlation(m)).T
    moved = widths.departures * drawn[:, :1] + widths.elapsed * along

    times = np.maximum.accumulate(means + shares[:, None] * moved, axis=1)
    if np.isfinite(clock.period):
        departures = times[:, :1].clip(DAY_BEGINS, DAY_BEGINS + clock.period)
        times += departures - times[:, :1]
    return clock.rounded(times)


def normal_numbers(seeds: Ints, count: int) -> Floats:
    """Return ``count`` normal numbers of each seed, (g, count), from 52 random bits each."""
    # A digest has 64 bytes, which are 8 numbers; the salt numbers the digests of a seed.
    digests = -(-count // 8)
    salts = [number.to_bytes(2, "little") for number in range(digests)]
    keys = [seed.tobytes() for seed in seeds]
    drawn = b"".join(blake2b(key=key, salt=salt).digest() for key in keys for salt in salts)
    bits = np.frombuffer(drawn, dtype="<u8").reshape(len(seeds), 8 * digests)[:, :count]
    return np.asarray(ndtri(((bits >> np.uint64(12)) + 0.5) / 2.0**52))


def _metres_of_degree(lines: Floats) -> Floats:
    """Return metres of a degree of latitude and longitude about each line's middle, (g, 1, 2)."""
    return metres_of_degrees(lines[..., 0].mean(axis=1))[:, None]


def group_seeds(
    members: Floats, labels: Ints, weights: Floats, scale: Floats, key: bytes, purpose: bytes
) -> Ints:
    """Return a secret seed for each group, (g, 4), of its members, in any order, and its scale.

    The same members with other weights, or moved on another scale, get other numbers: from two
    means with the same displacement, or two multiples of it, anyone could compute it.
    """
    digests = b""
    for begin in range(0, len(members), _TRAJECTORIES_PER_SUM):
        batch = slice(begin, begin + _TRAJECTORIES_PER_SUM)
        numbers = members[batch].reshape(len(members[batch]), -1)
        weighted = np.column_stack([numbers + 0.0, weights[batch]])  # there is one zero
        digests += b"".join(
            blake2b(member, digest_size=_DIGEST, key=key, person=purpose).digest()
            for member in weighted
        )

    # The sum of all members' digests, modulo 2**64, is the same in any order.
    sums = np.zeros((len(scale), _LANES), dtype="<u8")
    np.add.at(sums, labels, np.frombuffer(digests, dtype="<u8").reshape(-1, _LANES))

    seeds = b"".join(
        blake2b(
            total.tobytes() + size.tobytes(), digest_size=_DIGEST, key=key, person=purpose + b" of"
        ).digest()
        for total, size in zip(sums, scale, strict=True)
    )
    return np.frombuffer(seeds, dtype="<u8").reshape(-1, _LANES)
