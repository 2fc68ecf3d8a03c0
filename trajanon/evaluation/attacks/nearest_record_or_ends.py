"""A known trip, or its two ends: attacks by the released rows nearest to it."""

from collections.abc import Sequence

import numpy as np

from trajanon.evaluation.attacks.attack import Attack, chances_of_rows
from trajanon.evaluation.attacks.published_lines import LineLists, Published, lines_nearest_to


def nearest_record(published: Published) -> Attack:
    """Link each original to the released row nearest to it, as the papers do.

    The adversary knows the whole of the target's trajectory, finds the released rows at the
    smallest Euclidean distance of the standardised records, and picks one of these at random. Where
    hours are published the adversary knows those of the trajectory, and distances are of metres and
    hours, or of places alone if that finds more.
    """
    knows = f"a person's whole {published.unit}"
    ways = [way.nearest for way in published.ways_to_look]
    return _pick_row("nearest record", knows, published, ways)


def nearest_ends(published: Published) -> Attack:
    """Link each original to the released row with the two ends nearest to its own.

    The adversary knows where the target's trajectory begins and where it ends, and when if hours
    are published; finds the rows with the smallest sum of the two squared distances, and picks one
    of these at random. Distances have no limit.
    """
    ways = [lines_nearest_to(*way.records([0, -1])) for way in published.ways_to_look]
    knows = f"both ends of a person's {published.unit}"
    return _pick_row("both ends, nearest", knows, published, ways)


def _pick_row(name: str, knows: str, published: Published, ways: Sequence[LineLists]) -> Attack:
    """Attack every original by a random row of its candidate lines, in the best of the ways."""
    if published.shows_hours:
        knows += " and when it was there"
    attacks = [_pick_row_of(name, knows, published, candidates) for candidates in ways]
    return max(attacks, key=lambda attack: attack.expected)


def _pick_row_of(name: str, knows: str, published: Published, candidates: LineLists) -> Attack:
    """Attack every original by a random row of its candidate lines."""
    n = len(published.points)
    # Pairs of an original and a candidate line. All originals are targets, so both numbers are one.
    original = np.repeat(np.arange(n), [len(lines) for lines in candidates])
    line = np.concatenate(candidates).astype(np.int64)
    rates, line_rates = chances_of_rows(published, original, original, line)
    # The same is known of every target, so the worst case is the usual one.
    return Attack(name, knows, published, np.arange(n), rates, line_rates, worst=rates)
