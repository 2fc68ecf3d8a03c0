"""Weak points of a release that have a name: what no attack is needed for."""

from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.json_toml_and_regular_files import Json
from trajanon.evaluation.attacks.published_lines import nearest_line
from trajanon.evaluation.page.templates import words
from trajanon.evaluation.recordings import Originals, Recordings
from trajanon.files.rounding_order_and_keys_of_lines import line_numbers, out_of_order
from trajanon.trajectories.geodesy import metres_of_degrees

WeaknessName = Literal[
    "original_rows", "pieces", "ids_kept", "order_kept", "exact_times", "small_lines"
]

SAME = 1.5  # metres: two points written with five decimals are one
PIECE = 4  # points of an original in a row that make a piece of it
# Share of pairs from which on ids or the order tell whose a row is; 0.5 is chance.
_MOSTLY_NEARER = 0.75
_FEWEST_ROWS = 10  # of which an order can be told
_IN_ORDER = 0.5  # rank correlation from which on rows follow the order of the originals
_MOST_SMALL_LINES = 0.02  # share of the lines that may be small in a k-anonymous release
_BELOW_USUAL = 0.1  # share of the lines that may have fewer rows than what counts as its k
_SAME_SECOND = 0.5  # seconds within which times are the same


class Weakness(NamedTuple):
    """A weak point: how many rows have it, and which is the first of them."""

    name: WeaknessName
    rows: int
    first: int  # counted from 1

    @property
    def account(self) -> dict[str, Json]:
        """Return what JSON holds."""
        return self._asdict() | {"sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """Describe the weak point in a sentence."""
        return words("weakness", weak=self, piece=PIECE)


def weaknesses(
    originals: Originals, release: Recordings, *, ids_are_given: bool = False
) -> list[Weakness]:
    """Look for each weak point.

    ``ids_are_given``: the holder said that ids tell whose a row is, so they are no weakness.
    """
    trips = originals.recordings
    metres_away, nearest = nearest_line(release.points, trips.points)
    is_original = metres_away <= SAME
    marked_rows: dict[WeaknessName, Bools] = {
        "original_rows": is_original,
        "pieces": ~is_original & _has_piece(trips, release),
        "exact_times": _exact_times(originals, release),
        "small_lines": _on_small_lines(release),
    }
    weak_points = [
        Weakness(name, int(rows.sum()), int(rows.argmax()) + 1)
        for name, rows in marked_rows.items()
        if rows.any()
    ]

    # Where rows are sorted by their own coordinates, neither their order nor numbers that count
    # them tell anything else.
    if not out_of_order(release.points):
        return weak_points

    if _is_in_order(trips, release, nearest):
        weak_points.append(Weakness("order_kept", len(release.points), 1))
    if not ids_are_given and (rows_named := _rows_named(originals, release)):
        weak_points.append(Weakness("ids_kept", rows_named, 1))
    return weak_points


def _has_piece(trips: Recordings, release: Recordings) -> Bools:
    """Mark rows with points of one original in sequence, as both files hold them."""
    scale = metres_of_degrees(trips.points[..., 0].mean())
    points, vertices = (cKDTree(recorded.vertices * scale) for recorded in (release, trips))
    pairs = points.sparse_distance_matrix(vertices, SAME, output_type="ndarray")
    row = np.searchsorted(release.first, pairs["i"], "right") - 1
    original = np.searchsorted(trips.first, pairs["j"], "right") - 1

    # A run of points of a row, all near the same original, is a run of whole numbers. One number of
    # each pair of a row and an original is left free, so that the next pair begins another run.
    numbers_of_a_pair = len(release.vertices) + 1
    pair = row * len(trips.points) + original
    numbers = np.unique(pair * numbers_of_a_pair + pairs["i"])
    begins = np.flatnonzero(np.diff(numbers, prepend=-2) != 1)
    lengths = np.diff(np.append(begins, len(numbers)))
    first_of_pieces = numbers[begins[lengths >= PIECE]]

    rows_with_piece = first_of_pieces // numbers_of_a_pair // len(trips.points)
    return np.isin(np.arange(len(release.points)), rows_with_piece)


def _exact_times(originals: Originals, release: Recordings) -> Bools:
    """Mark rows that depart and arrive when an original does, if that is no chance."""
    known = originals.trips.times
    if release.times is None or known is None or release.clock is not None:
        return np.zeros(len(release.points), np.bool_)

    ends_of_trips = cKDTree(known[np.isfinite(known[:, 0])][:, [0, -1]])
    is_timed = np.isfinite(release.times[:, 0])
    departure = release.times[is_timed, 0]
    duration = release.times[is_timed, -1] - departure

    def are_of_a_trip(durations: Floats) -> Bools:
        ends = np.column_stack([departure, departure + durations])
        seconds_off, _ = ends_of_trips.query(ends, distance_upper_bound=_SAME_SECOND)
        return np.asarray(np.isfinite(seconds_off))

    # By chance: as many as fit with the durations of other rows. Three times as many are no chance,
    # if there are more than three.
    exact = are_of_a_trip(duration)
    by_chance = are_of_a_trip(np.random.default_rng(0).permutation(duration))
    is_exact = np.zeros(len(release.points), np.bool_)
    is_exact[is_timed] = exact & (exact.sum() > 3 * (by_chance.sum() + 1))
    return is_exact


def _on_small_lines(release: Recordings) -> Bools:
    """Mark rows of lines with fewer rows than nearly all lines of the release have.

    Only where small lines are so rare that the others seem to be k-anonymous.
    """
    line = line_numbers(release.points, release.times)
    copies = np.bincount(line)
    usual = int(np.quantile(copies, _BELOW_USUAL))
    is_small = copies < usual
    is_k_anonymous = usual >= 2 and is_small.mean() <= _MOST_SMALL_LINES
    return np.asarray(is_small[line] & is_k_anonymous)


def _is_in_order(trips: Recordings, release: Recordings, nearest: Ints) -> bool:
    """Check whether rows follow one another as the originals do, given the nearest of each row."""
    n = len(release.points)
    if n == len(trips.points) and _belong_together(trips.points, release.points):
        return True
    # Of rows that are all nearest to one original there is no correlation.
    if n < _FEWEST_ROWS or (nearest == nearest[0]).all():
        return False
    # Not above: it takes longer to load than all else here, and few releases are out of order.
    from scipy.stats import spearmanr

    return bool(spearmanr(np.arange(n), nearest).statistic > _IN_ORDER)


def _rows_named(originals: Originals, release: Recordings) -> int:
    """Count the rows whose id is that of an original, if these belong together."""
    for names in originals.names:
        number_of_name = {name: number for number, name in enumerate(names)}
        original = np.array([number_of_name.get(name, -1) for name in release.names])
        rows = np.flatnonzero(original >= 0)
        points = originals.recordings.points[original[rows]]
        if _belong_together(points, release.points[rows]):
            return len(rows)
    return 0


def _belong_together(points: Floats, lines: Floats) -> bool:
    """Check whether trips, (n, p, 2), are nearer to their lines than to others drawn at random."""
    if len(points) < _FEWEST_ROWS:
        return False

    scale = metres_of_degrees(lines[..., 0].mean())
    drawn = lines[np.random.default_rng(0).permutation(len(lines))]
    squares, squares_to_drawn = (
        (((points - rows) * scale) ** 2).sum(axis=(1, 2)) for rows in (lines, drawn)
    )
    # A tie counts half.
    nearer = (squares < squares_to_drawn) + 0.5 * (squares == squares_to_drawn)
    return float(nearer.mean()) > _MOSTLY_NEARER
