"""Tests of the order of a released file: a shuffled file shows none, nor that of its source."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp, pdtrc

from trajanon.arrays import Bools, Floats, Ints
from trajanon.words import number_of

CHANCE = 1e-6
"""A file has an order if a shuffle would give that order less often than this."""


def find_order(groups: Ints, points: Floats | None, times: Floats | None = None) -> list[str]:
    """Name the order in which trajectories stand, if one can be seen.

    Source: A. Wald, J. Wolfowitz, "On a test whether two samples are from the same population",
    Ann. Math. Statist. 11 (1940), for the number of runs.
    """
    if len(groups) < 2 or (groups == groups[0]).all():
        return []
    problems = [*_repeats(groups)]
    if points is not None and np.isfinite(points).all():
        measures = _measures(points)
        if times is not None:
            measures |= {"departure": times[:, 0], "duration": times[:, -1] - times[:, 0]}
        problems += find_order_along(measures)
    return problems


def _repeats(groups: Ints) -> Iterator[str]:
    """Compare how far equal trajectories stand apart with what a shuffle would give."""
    n = len(groups)
    sizes = np.bincount(groups).astype(np.float64)
    order = np.argsort(groups, kind="stable")
    apart = np.diff(order)[np.diff(groups[order]) == 0]
    counts = np.bincount(apart, minlength=2)
    pairs = float((sizes * (sizes - 1.0)).sum()) / (n * (n - 1.0))
    expected = pairs * (n - np.arange(len(counts)))
    chance = pdtrc(counts - 1.0, expected)
    if counts[1] and chance[1] < CHANCE:
        yield (
            f"trajectories stand in the order of their groups: {counts[1]} neighbours "
            f"in the file are equal, about {expected[1]:.0f} would be by chance; "
            "shuffle it"
        )
        return
    chance[:2] = 1.0
    chance[counts == 0] = 1.0
    if (least := int(np.argmin(chance))) and chance[least] < CHANCE / n:
        yield (
            f"trajectories stand in an order that repeats: {counts[least]} equal ones "
            f"are {number_of(least, 'row')} apart, about {expected[least]:.0f} would be by chance; "
            "shuffle it"
        )


def find_order_along(measured: Mapping[str, NDArray[np.floating]]) -> Iterator[str]:
    """Name measures that are sorted, or change sides too seldom along the file."""
    few: list[tuple[float, str]] = []
    for name, values in measured.items():
        _, copies = np.unique(values, return_counts=True)
        if len(copies) < 2:
            continue
        steps = np.diff(values)
        by_chance = gammaln(copies + 1.0).sum() - gammaln(len(values) + 1.0)
        in_order = (steps >= 0.0).all() or (steps <= 0.0).all()
        if in_order and by_chance < np.log(CHANCE / (2 * len(measured))):
            yield f"trajectories are sorted by their {name}; shuffle them"
            return
        above = values > np.median(values)
        few.append((_log_chance_of_few_runs(above), name))
    if few and min(few)[0] < np.log(CHANCE / len(measured)):
        yield (
            "trajectories that follow each other in the file resemble each other in "
            f"their {min(few)[1]} far more than by chance: this may be the order of "
            "the source; shuffle them"
        )


def _measures(points: Floats) -> dict[str, Floats]:
    """Measures by which files are often sorted, or in which neighbouring rows are alike."""
    lon, lat = points[..., 0], points[..., 1]
    hops = np.diff(points, axis=1)
    hops[..., 0] *= np.cos(np.radians(lat[:, :-1]))
    return {
        "first latitude": lat[:, 0],
        "first longitude": lon[:, 0],
        "last latitude": lat[:, -1],
        "last longitude": lon[:, -1],
        "northern edge": lat.max(axis=1),
        "southern edge": lat.min(axis=1),
        "eastern edge": lon.max(axis=1),
        "western edge": lon.min(axis=1),
        "mean latitude": lat.mean(axis=1),
        "mean longitude": lon.mean(axis=1),
        "length": np.hypot(hops[..., 0], hops[..., 1]).sum(axis=1),
        "extent": np.ptp(lat, axis=1) * np.ptp(lon, axis=1),
    }


def _log_chance_of_few_runs(above: Bools) -> float:
    """Logarithm of the chance that a shuffle has at most as many runs.

    Exact: it counts the orders of these True and False with each number of runs.
    """
    one, other = float(above.sum()), float((~above).sum())
    if not one or not other:
        return 0.0
    found = 1 + int((above[1:] != above[:-1]).sum())
    runs = np.arange(2, found + 1)
    half = (runs // 2).astype(np.float64)
    even = np.log(2.0) + _log_choose(one - 1, half - 1) + _log_choose(other - 1, half - 1)
    odd = np.logaddexp(
        _log_choose(one - 1, half) + _log_choose(other - 1, half - 1),
        _log_choose(one - 1, half - 1) + _log_choose(other - 1, half),
    )
    orders = np.where(runs % 2 == 0, even, odd)
    return float(logsumexp(orders) - _log_choose(one + other, np.array([one]))[0])


def _log_choose(n: float, k: Floats) -> Floats:
    """Logarithm of n over k; minus infinity where nothing can be chosen."""
    return np.asarray(-np.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0))


def find_source_order(file: Ints, source: Ints) -> list[str]:
    """Say whether released rows stand where their members stand among the originals."""
    n = len(file)
    sizes = np.bincount(source)
    ways = ((file, ""), (file[::-1], ", backwards"))
    by_chance = float(gammaln(sizes + 1.0).sum() - gammaln(n + 1.0))
    for rows, backwards in ways:
        exact = np.array_equal(rows, source) and by_chance < np.log(CHANCE / 4)
        if exact or _near_too_often(rows, source, sizes):
            return [
                "trajectories stand in the order of the originals, or nearly so"
                f"{backwards}: shuffle them"
            ]
    return []


def _near_too_often(rows: Ints, source: Ints, sizes: Ints) -> bool:
    """Whether rows are near members of their groups more often than by chance.

    Near is within 0, 1, 2, 4, ... rows, below an eighth of all.
    """
    n = len(rows)
    distances = [0, *(2**power for power in range(n.bit_length()) if 8 * 2**power < n)]
    least = np.log(CHANCE / (4 * len(distances)))
    return n > 0 and any(
        log_chance_of_nearness(rows, source, sizes, distance) < least for distance in distances
    )


def log_chance_of_nearness(rows: Ints, source: Ints, sizes: Ints, distance: int) -> float:
    """Bound the logarithm of the chance that a shuffle brings as many members as near.

    For each row it counts the share of its group's members that stand among the originals within
    ``distance`` rows of the row's own place.

    Source: S. Chatterjee, "Stein's method for concentration inequalities", Probab. Theory Relat.
    Fields 138 (2007), proposition 1.1.
    """
    n = len(rows)
    place = np.arange(n)
    # Each line's places follow each other, far enough apart from those of the next.
    apart = 2 * n + 2 * distance
    members = np.sort(source * apart + place)
    here = rows * apart + place
    near = np.searchsorted(members, here + distance, side="right")
    near -= np.searchsorted(members, here - distance, side="left")
    found = float((near / sizes[rows]).sum())
    expected = (n * (2 * distance + 1) - distance * (distance + 1)) / n
    more = found - expected
    if more <= 0.0:
        return 0.0
    return min(0.0, float(np.log(2.0) - more**2 / (4.0 * expected + 2.0 * more)))
