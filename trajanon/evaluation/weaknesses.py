"""Weak points of a release that have a name: what no attack is needed for."""

from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import spearmanr

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.inputs import Json
from trajanon.evaluation.attacks.inference import nearest_line
from trajanon.evaluation.page.templates import words
from trajanon.evaluation.recordings import Originals, Recordings
from trajanon.files.release_contents import line_numbers, out_of_order
from trajanon.trajectories.geodesy import metres_of_degrees

WeaknessName = Literal[
    "original_rows", "pieces", "ids_kept", "order_kept", "exact_times", "small_lines"
]

SAME = 1.5  # metres: two points written with five decimals are one
PIECE = 4  # points of an original in a row that make a piece of it
_NEARER = 0.75  # share of pairs from which on ids or the order tell which row is whose; 0.5: none
_FEWEST = 10  # rows of which an order can be told
_ORDERED = 0.5  # rank correlation from which on rows follow the order of the originals
_FEW_SMALL = 0.02  # share of lines that may be small among those of a k-anonymous release
_MOST = 0.1  # share of lines that may have fewer rows than what counts as its k
_SECOND = 0.5  # seconds within which times are the same


class Weakness(NamedTuple):
    """A weak point: how many rows have it, and which is the first of them."""

    name: WeaknessName
    rows: int
    first: int  # counted from 1

    @property
    def account(self) -> dict[str, Json]:
        """Ready for JSON."""
        return self._asdict() | {"sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """Describe it."""
        return words("weakness", weak=self, piece=PIECE)


def weaknesses(
    originals: Originals, release: Recordings, *, ids_are_given: bool = False
) -> list[Weakness]:
    """Look for each weak point."""
    trips = originals.recordings
    away, nearest = nearest_line(release.points, trips.points)
    is_original = away <= SAME
    rows_with = {
        "original_rows": is_original,
        "pieces": ~is_original & _has_piece(trips, release),
        "exact_times": _exact_times(originals, release),
        "small_lines": _on_small_lines(release),
    }
    weak = [
        Weakness(name, int(rows.sum()), int(rows.argmax()) + 1)  # type: ignore[arg-type]
        for name, rows in rows_with.items()
        if rows.any()
    ]

    # Rows sorted by their own coordinates, and numbers that count them, tell nothing else.
    if not out_of_order(release.points):
        return weak
    n = len(release.points)
    if _follows(trips, release, nearest):
        weak.append(Weakness("order_kept", n, 1))
    if not ids_are_given and (named := _named(originals, release)):
        weak.append(Weakness("ids_kept", named, 1))
    return weak


def _has_piece(trips: Recordings, release: Recordings) -> Bools:
    """Mark rows with points of one original in sequence, as both files hold them."""
    scale = metres_of_degrees(trips.points[..., 0].mean())
    points, vertices = (cKDTree(recorded.vertices * scale) for recorded in (release, trips))
    pairs = points.sparse_distance_matrix(vertices, SAME, output_type="ndarray")
    row = np.searchsorted(release.first, pairs["i"], "right") - 1
    original = np.searchsorted(trips.first, pairs["j"], "right") - 1

    # A run of points of a row, all near the same original, is a run of whole numbers.
    of_pair = (row * len(trips.points) + original) * (len(release.vertices) + 1)
    numbers = np.unique(of_pair + pairs["i"])
    begins = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    size = np.diff(np.append(begins, len(numbers)))
    long = numbers[begins[size >= PIECE]]
    rows = long // ((len(release.vertices) + 1) * len(trips.points))
    return np.isin(np.arange(len(release.points)), rows)


def _exact_times(originals: Originals, release: Recordings) -> Bools:
    """Mark rows that depart and arrive when an original does, if that is no chance."""
    none = np.zeros(len(release.points), np.bool_)
    known = originals.trips.times
    if release.times is None or known is None or release.clock is not None:
        return none

    tree = cKDTree(known[np.isfinite(known[:, 0])][:, [0, -1]])
    departure = release.times[:, 0]
    duration = release.times[:, -1] - departure

    def same(durations: Floats) -> Bools:
        times = np.column_stack([departure, departure + durations])
        return np.asarray(np.isfinite(tree.query(times, distance_upper_bound=_SECOND)[0]))

    exact = same(duration)
    by_chance = same(np.random.default_rng(0).permutation(duration)).sum()
    return exact if exact.sum() > 3 * (by_chance + 1) else none


def _on_small_lines(release: Recordings) -> Bools:
    """Mark rows of lines with fewer rows than nearly all lines of the release have."""
    line = line_numbers(release.points, release.times)
    copies = np.bincount(line)
    usual = int(np.quantile(copies, _MOST))
    small = copies < usual
    is_k_anonymous = usual >= 2 and small.mean() <= _FEW_SMALL
    return np.asarray(small[line] & is_k_anonymous)


def _follows(trips: Recordings, release: Recordings, nearest: Ints) -> bool:
    """Check whether rows follow one another as the originals do."""
    n = len(release.points)
    if n == len(trips.points) and _belong(trips.points, release.points):
        return True
    return n >= _FEWEST and bool(spearmanr(np.arange(n), nearest).statistic > _ORDERED)


def _named(originals: Originals, release: Recordings) -> int:
    """Count the rows whose id is that of an original, if these belong together."""
    for names in originals.names:
        place = {name: number for number, name in enumerate(names)}
        original = np.array([place.get(name, -1) for name in release.names])
        rows = np.flatnonzero(original >= 0)
        points = originals.recordings.points[original[rows]]
        if _belong(points, release.points[rows]):
            return len(rows)
    return 0


def _belong(points: Floats, lines: Floats) -> bool:
    """Check whether trips are nearer to their lines than to others drawn at random."""
    if len(points) < _FEWEST:
        return False
    scale = metres_of_degrees(lines[..., 0].mean())
    drawn = lines[np.random.default_rng(0).permutation(len(lines))]
    to_line, to_drawn = (
        (((points - rows) * scale) ** 2).sum(axis=(1, 2)) for rows in (lines, drawn)
    )
    nearer = (to_line < to_drawn) + 0.5 * (to_line == to_drawn)
    return float(nearer.mean()) > _NEARER
