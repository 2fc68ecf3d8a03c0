"""A hidden member rebuilt: the others taken from a line, and the rest followed on a map.

The map is of where other people go. Shapes: p points of a trajectory, s places on the map.
"""

from threading import Event
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon._kernels.rebuilt_ways import Hops, Places, Walk, likeliest_ways
from trajanon.common.arrays import Floats, Ints, indices_of_spans
from trajanon.common.progress import Progress, silent
from trajanon.common.threads_and_dask import in_parts
from trajanon.evaluation.attacks.attack import Guessed
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import (
    KnownTracks,
    Movement,
    groups_drawn,
)
from trajanon.grouping.k_promise import member_weights
from trajanon.release.perturbed_places_and_times import times_correlation

# The map.
_CELL = 12.0  # metres, a place on the map
_HEADINGS = 16
_HOPS_PER_BATCH = 100_000  # of which cells are found together, some tens of megabytes
_SEVERAL_PEOPLE = np.iinfo(np.int64).min  # in place of the only one who went there

# Which places are tried at a point.
_REACH = 3.0  # standard deviations within which places are tried
_MORE_REACH = 25.0  # metres, and so much more
_PLACES_NEAR = 5_000  # at most, about
_PLACES_TRIED = 400  # of these, the likeliest
_POPULAR = 0.3  # how much likelier a place is where more ways pass, as a power of their number
_POINTS_LIKE_ONE = 6.0  # that tell as much as one, as neighbouring points are alike

# How members lie about the mean of the others.
_POINTS_ON_A_SIDE = 8.0  # over which members stay on their side of the mean
_SMOOTHING = 3.0  # points, the standard deviation of the weights of the spread around a point
_ANY_WAY = 0.2  # share of a member's variance that does not follow the others
_HIDDEN_AT_FIRST = 0.5  # of what the others leave is the hidden member's; the rest is displacement
_ROUNDS = 3  # in which the spread of the group and the hidden member are inferred by turns
_ROUNDING = 1.0  # metres, what a line is rounded by; of times a second: no deviation is below

# How the hidden member follows the map.
_MAP_ERROR = 4.0  # metres, how exactly a place of the map is known
_HOP_VARIANCE = 0.02  # of the length of a hop, as a share
_HEADING_VARIANCE = 0.03  # of the heading of a hop
_LONGER = 1.05  # how much longer a hop is than one of the smooth way
_LEAST_LIKELY = 1e-4  # ways that are less likely, beside the best, count nothing

WAYS = ("left", "smooth", "on_map", "between")
"""What companions leave of the line; the likeliest without a map, and on it; half way between."""


class Ways(NamedTuple):
    """Where people went: lines through points, one after another."""

    points: Floats  # latitude and longitude, or metres, (t, 2)
    first: Ints  # where each way begins among the points, and the last ends, (w + 1,)
    owner: Ints  # who made each way, (w,)

    @classmethod
    def of(cls, points: Floats, owner: Ints) -> "Ways":
        """Put trajectories, (n, p, 2), one after another."""
        n, p = points.shape[:2]
        return cls(points.reshape(-1, 2), p * np.arange(n + 1), owner)


def rebuilding(
    published: Published,
    movement: Movement,
    ways: Ways,
    *,
    spacing: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Guessed, Guessed | None]:
    """Rebuild one hidden member of lines from the others, and from where other people go.

    The adversary knows all but the key. Taken from a multiple of the line, the others leave the
    hidden member and as many times the displacement, which the adversary smooths, inferring by
    turns how far members spread and where the hidden one was. Of the map, but for what only the
    hidden subject shows, the adversary tries all places near this, and takes the likeliest way: in
    hops of ``spacing`` metres (without it, of any one length), along known headings, rather where
    many went, while the rest goes on as noise does. Times are smoothed likewise, where they are
    released.

    Returned are the errors of places and, where they are released, of times.
    """
    tracks = KnownTracks(published)
    street_map = _Map(ways._replace(points=tracks.in_metres(ways.points)))
    groups = groups_drawn(published.labels, seed)
    errors = list[list[float]]([] for _ in groups)

    def rebuild(part: Ints, _: Event) -> None:
        """Set the errors of the one group of a part."""
        (number,) = part.tolist()
        errors[number] = _errors(tracks, movement, street_map, groups[number], spacing)

    def watch() -> None:
        progress("Hidden members", sum(map(bool, errors)), len(groups))

    in_parts(rebuild, np.arange(len(groups)), 1, watch)
    # As `_errors` returns them: of each of the WAYS and of the line; then of times, likewise.
    columns = np.array(errors).T

    *of_ways, of_line = columns[: len(WAYS) + 1]
    knows = "the other members of a line, and follows the rest on the map of other people's tracks,"
    rebuilt = Guessed.of(knows, dict(zip(WAYS, of_ways, strict=True)), of_line)
    if movement.times is None:
        return rebuilt, None

    left, smooth, of_line = columns[len(WAYS) + 1 :]
    knows = "when the other members of a line were where"
    return rebuilt, Guessed.of(knows, {"left": left, "smooth": smooth}, of_line, timed=True)


def _errors(
    tracks: KnownTracks,
    movement: Movement,
    street_map: "_Map",
    members: Ints,
    spacing: float | None,
) -> list[float]:
    """Rebuild the first of the members in each way, and measure how far off these and the line are.

    ``members`` are row numbers. Returned are the mean metres of each of the WAYS, and of the line;
    where times are released, also the mean seconds of what is left, of smooth times, and of those
    of the line.
    """
    line = int(tracks.labels[members[0]])
    share = float(movement.shares[line])
    people = None if movement.people is None else movement.people[members]
    weights = member_weights(np.zeros(len(members), dtype=np.int64), people)

    # The line is a mean, so a multiple of it is the hidden member and a weighted sum of the others.
    factor = 1.0 / float(weights[0])
    weights_of_others = weights[1:] / weights[0]
    points = tracks.points[members]
    line_points = tracks.lines[line]
    remainder = factor * line_points - np.einsum("n,nmc->mc", weights_of_others, points[1:])

    noise = movement.places.covariance_times(factor, share)
    hidden_owner = int(tracks.owners[members[0]])
    guesses = _guesses(remainder, points[1:], noise, street_map, hidden_owner, spacing)
    metres_off = [float(np.hypot(*(way - points[0]).T).mean()) for way in (*guesses, line_points)]
    if movement.times is None or tracks.times is None or tracks.line_times is None:
        return metres_off

    times = tracks.times[members]
    line_times = tracks.line_times[line]
    late = factor * line_times - np.einsum("n,nm->m", weights_of_others, times[1:])
    smooth = _smooth_times(late, times[1:], movement.times.covariance_times(factor, share))
    return metres_off + [
        float(np.abs(guess - times[0]).mean()) for guess in (late, smooth, line_times)
    ]


def _smooth_times(remainder: Floats, others: Floats, noise: Floats) -> Floats:
    """Compute the likeliest times of the hidden member, (p,); it departs as the others do.

    ``remainder`` is what the times of the others, (k - 1, p), leave of the line's; ``noise`` is its
    covariance, (p, p).
    """
    mean_of_others = others.mean(axis=0)
    away = remainder - mean_of_others
    # What is left varies by the hidden member and by noise; it varies as the others do at least.
    beside_noise = float((away**2).mean() - np.trace(noise) / len(noise))
    variance = max(beside_noise, float(others.var(axis=0).mean()), _ROUNDING**2)
    # Members stay on their side of the mean as moved times do: for some points.
    covariance = variance * times_correlation(len(remainder), _POINTS_ON_A_SIDE)
    return np.asarray(mean_of_others + covariance @ np.linalg.solve(covariance + noise, away))


def _guesses(
    remainder: Floats,
    others: Floats,
    noise: Floats,
    street_map: "_Map",
    hidden_owner: int,
    spacing: float | None,
) -> tuple[Floats, ...]:
    """Rebuild the hidden member in each of the WAYS, (p, 2); all in metres.

    ``remainder`` is what the others, (k - 1, p, 2), leave of the line; ``noise`` is the covariance
    of it on each axis, (p, p).
    """
    smoothed = _smoothed(remainder, others, noise)
    places = _places_tried(street_map, hidden_owner, smoothed, others.mean(axis=0))
    if spacing is None:
        spacing = _LONGER * float(np.hypot(*np.diff(smoothed.way, axis=0).T).mean())

    # On the map the noise counts as equally large at all points, (p, 2, 2).
    deviation = np.sqrt(np.trace(noise) / len(noise))
    whitening = np.broadcast_to(np.eye(2) / (deviation + _ROUNDING), (len(remainder), 2, 2))
    factors = _noise_factors(noise / deviation**2, whitening)
    hops = Hops(float(spacing), _HOP_VARIANCE, _HEADING_VARIANCE)
    walk = likeliest_ways(places, remainder, whitening, factors, hops)
    on_map = _mean_way(places, walk)
    return remainder, smoothed.way, on_map, 0.5 * (smoothed.way + on_map)


class _Smoothed(NamedTuple):
    """The hidden member without a map."""

    way: Floats  # the likeliest, (p, 2)
    deviation: Floats  # standard deviation of it, metres, (p,)
    # Roots of the covariances of a member about the mean of the others, (p, 2, 2).
    roots_about_others: Floats


def _smoothed(remainder: Floats, others: Floats, noise: Floats) -> _Smoothed:
    """Infer by turns how far members spread and where the hidden one was.

    Arguments are those of `_guesses`. What the others leave of the line is the hidden member plus
    noise. Both are taken as normal, so from their covariances follows what to expect of the member.
    """
    k = len(others) + 1
    p = len(remainder)
    mean_of_others = others.mean(axis=0)
    scatter = _outer_squares(others - mean_of_others).sum(axis=0)
    hidden = _HIDDEN_AT_FIRST * _outer_squares(remainder - mean_of_others)
    for _ in range(_ROUNDS):
        # A member that joins the others adds this part of its square to those about their mean.
        spread = _smoothed_along((scatter + hidden * ((k - 1) / k)) / k)
        # From the mean of the others a member is k/(k-1) times as far as from that of all.
        roots_about_others = _roots(spread * (k / (k - 1)) ** 2 + _ROUNDING**2 * np.eye(2))

        covariance = _covariance_along(roots_about_others, times_correlation(p, _POINTS_ON_A_SIDE))
        # Which part of what is left is the member's, (2 p, 2 p).
        gain = np.linalg.solve(covariance + np.kron(noise, np.eye(2)), covariance).T
        way = mean_of_others + (gain @ (remainder - mean_of_others).ravel()).reshape(p, 2)

        # How uncertain the way still is: along it, (2 p, 2 p), and at each point, (p, 2, 2).
        uncertain = covariance - gain @ covariance
        uncertain_at_points = uncertain.reshape(p, 2, p, 2)[np.arange(p), :, np.arange(p)]
        hidden = _outer_squares(way - mean_of_others) + uncertain_at_points

    variance = 0.5 * np.trace(uncertain_at_points, axis1=1, axis2=2)  # mean of both axes
    return _Smoothed(way, np.sqrt(variance.clip(_ROUNDING**2)), roots_about_others)


def _smoothed_along(spread: Floats) -> Floats:
    """Smooth along the way the covariances of members at each point, (p, 2, 2).

    A fifth of the variance goes alike in all directions.
    """
    place = np.arange(len(spread))
    weights = np.exp(-0.5 * ((place[:, None] - place) / _SMOOTHING) ** 2)
    smooth = np.einsum("iab,ij->jab", spread, weights / weights.sum(axis=0))
    alike_on_axes = 0.5 * np.trace(smooth, axis1=1, axis2=2)[:, None, None] * np.eye(2)
    return np.asarray((1.0 - _ANY_WAY) * smooth + _ANY_WAY * alike_on_axes)


def _square_lengths(vectors: Floats) -> Floats:
    """Compute the squared lengths of vectors, (2, n), several times faster than a sum of rows."""
    x, y = vectors
    return np.asarray(x * x + y * y)


def _outer_squares(vectors: Floats) -> Floats:
    """Multiply vectors, (..., 2), by themselves, (..., 2, 2)."""
    return np.asarray(vectors[..., :, None] * vectors[..., None, :])


def _roots(covariances: Floats) -> Floats:
    """Compute the symmetric roots of covariances, (p, 2, 2)."""
    variances, axes = np.linalg.eigh(covariances)
    return np.asarray(axes * np.sqrt(variances)[:, None] @ np.swapaxes(axes, 1, 2))


def _covariance_along(roots: Floats, correlation: Floats) -> Floats:
    """Compute the covariance of all points, (2 p, 2 p), from the roots at each, (p, 2, 2).

    ``correlation``, (p, p), is that between points.
    """
    covariance = np.einsum("iab,jcb,ij->iajc", roots, roots, correlation)
    return np.asarray(covariance.reshape(2 * len(roots), -1))


def _noise_factors(correlation: Floats, whitening: Floats) -> Floats:
    """Compute what noise takes over from the three points before, and its variance, (p, 4).

    The last point comes first; early points have fewer before them. ``correlation``, (p, p), is
    that of the noise. The error of the map, whitened as the noise is, comes on top at each point.
    """
    map_variance = 0.5 * _MAP_ERROR**2 * (whitening**2).sum(axis=(1, 2))
    factors = np.zeros((len(correlation), 4))
    for point in range(len(correlation)):
        before = slice(max(point - 3, 0), point)
        with_before = correlation[before, point]
        among_before = correlation[before, before] + np.diag(map_variance[before])
        taken_over = np.linalg.solve(among_before, with_before)
        factors[point, : len(taken_over)] = taken_over[::-1]
        explained = taken_over @ with_before
        factors[point, 3] = correlation[point, point] - explained + map_variance[point]
    return factors


def _mean_way(places: Places, walk: Walk) -> Floats:
    """Average the likeliest ways to all last places, by how likely they are, (p, 2)."""
    # Places of the last point, from which each way is followed back.
    at = np.arange(places.first[-2], places.first[-1])
    weight = np.exp(walk.worth[at] - walk.worth[at].max())
    at = at[weight > _LEAST_LIKELY]
    weight = weight[weight > _LEAST_LIKELY]
    weight /= weight.sum()

    way = np.empty((len(places.first) - 1, 2))
    for point in range(len(way) - 1, -1, -1):
        way[point] = weight @ places.poses[at, :2]
        at = walk.back[at]
    return way


def _places_tried(
    street_map: "_Map", hidden_owner: int, smoothed: _Smoothed, mean_of_others: Floats
) -> Places:
    """Find the places near each point of the smooth way, but what only the hidden subject shows.

    A point without one has itself, with the heading of the way.
    """
    way = smoothed.way
    heading = np.gradient(way, axis=0)
    # A way that stands still has no heading, and stays (0, 0).
    heading /= np.maximum(np.hypot(*heading.T), 1e-9)[:, None]
    whitening = np.asarray(np.linalg.inv(smoothed.roots_about_others), dtype=np.float64)

    poses = list[Floats]()  # of each point, as `Places` has them
    likelihoods = list[Floats]()  # as logarithms
    for point, metres in enumerate(_REACH * smoothed.deviation + _MORE_REACH):
        near = street_map.near(way[point], metres)
        near = near[street_map.only_owner[near] != hidden_owner]
        if not len(near):
            poses.append(np.append(way[point], heading[point])[None])
            likelihoods.append(np.zeros(1))
            continue

        from_others = (street_map.poses[near, :2] - mean_of_others[point]) @ whitening[point]
        likelihood = _POPULAR * street_map.log_ways[near]
        likelihood = likelihood - 0.5 * _square_lengths(from_others.T) / _POINTS_LIKE_ONE
        if len(near) > _PLACES_TRIED:
            squares = _square_lengths((street_map.poses[near, :2] - way[point]).T)
            unlikely = 0.5 * (squares / smoothed.deviation[point] ** 2) - likelihood
            likeliest = np.argpartition(unlikely, _PLACES_TRIED)[:_PLACES_TRIED]
            near = near[likeliest]
            likelihood = likelihood[likeliest]
        poses.append(street_map.poses[near])
        likelihoods.append(likelihood)
    first = np.cumsum([0] + [len(poses_of_point) for poses_of_point in poses])
    return Places(np.concatenate(poses), np.concatenate(likelihoods), first)


class _Map:
    """Where people went, and in which heading: cells of 12 m, in 16 headings.

    The number of a cell in a heading is (row * columns + column) * headings + heading; rows count
    to the north, columns to the east, and headings turn from north to east.
    """

    def __init__(self, ways: Ways) -> None:
        """Count the ways, in metres, that pass each cell in each heading."""
        # No hop leads from the end of a way to the start of the next.
        is_hop = np.ones(len(ways.points) - 1, dtype=np.bool_)
        is_hop[ways.first[1:-1] - 1] = False
        way = np.repeat(np.arange(len(ways.owner)), np.diff(ways.first))[:-1][is_hop]
        begin = ways.points[:-1][is_hop]
        vector = ways.points[1:][is_hop] - begin

        corner = ways.points.min(axis=0)
        width = np.ptp(ways.points[:, 1]) if len(ways.points) else 0.0
        columns = int(width / _CELL) + 1
        parts = []
        for start in range(0, len(vector), _HOPS_PER_BATCH):
            batch = slice(start, start + _HOPS_PER_BATCH)
            hops = begin[batch] - corner, vector[batch], way[batch]
            parts.append(_different(_cells_passed(*hops, columns, len(ways.owner))))
        cell, way = np.divmod(_different(np.concatenate(parts)), len(ways.owner))

        # The ways of a cell stand together.
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        self.log_ways: Floats = np.log(np.diff(first, append=len(cell)))
        owner = ways.owner[way]
        # The owners of a cell are one if the least is the largest.
        least = np.minimum.reduceat(owner, first)
        is_only = least == np.maximum.reduceat(owner, first)
        self.only_owner: Ints = np.where(is_only, least, _SEVERAL_PEOPLE)

        place, heading = np.divmod(cell[first], _HEADINGS)  # a place: row * columns + column
        angle = heading * (2.0 * np.pi / _HEADINGS)
        middle = (np.column_stack(np.divmod(place, columns)) + 0.5) * _CELL + corner
        # Middle and heading of each cell, (c, 4), as `Places` has them.
        self.poses: Floats = np.column_stack([middle, np.cos(angle), np.sin(angle)])
        self._middles = cKDTree(middle)

    def near(self, point: Floats, metres: float) -> Ints:
        """Find the cells whose middles are within so many metres; of very many, the nearer ones.

        These are rows of ``poses``.
        """
        cells = self._middles.query_ball_point(point, metres, return_length=True)
        if cells > _PLACES_NEAR:
            metres *= np.sqrt(_PLACES_NEAR / cells)
        near = self._middles.query_ball_point(point, metres, return_sorted=True)
        return np.array(near, dtype=np.int64)


def _cells_passed(begin: Floats, vector: Floats, way: Ints, columns: int, ways: int) -> Ints:
    """Number the cells and headings that hops pass, times the number of ways, plus the way of each.

    A hop goes from ``begin``, (h, 2), metres from the corner of the map, along its ``vector``.
    """
    moves = np.hypot(*vector.T) > 0.0
    vector = vector[moves]
    begin = begin[moves]
    way = way[moves]

    # Steps are shorter than cells, so that a hop skips none but for a corner.
    steps = np.ceil(np.hypot(*vector.T) / (0.75 * _CELL)).astype(np.int64)
    hop = np.repeat(np.arange(len(steps)), steps)
    share = (indices_of_spans(0, steps) + 0.5) / steps[hop]
    row, column = np.floor((begin[hop] + share[:, None] * vector[hop]) / _CELL).astype(np.int64).T

    turns = np.arctan2(vector[:, 1], vector[:, 0]) * (_HEADINGS / (2.0 * np.pi))
    heading = np.round(turns).astype(np.int64)[hop] % _HEADINGS
    cell = (row * columns + column) * _HEADINGS + heading
    return np.asarray(cell * ways + way[hop])


def _different(numbers: Ints) -> Ints:
    """Sort numbers and drop repeated ones, several times faster than `numpy.unique`."""
    numbers = np.sort(numbers)
    return np.asarray(numbers[np.flatnonzero(np.diff(numbers, prepend=-1))])
