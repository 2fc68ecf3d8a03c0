"""Trips of lines counted in places and parts of the day, and rounded to what counts are worth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.common.arrays import Ints
from trajanon.street_counts.day_parts import ALL_DAY, DayPart
from trajanon.street_counts.lines_to_count import ReleasedLines

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_ROUNDED_TO_K_BELOW = 10  # times k; larger counts have two digits


def passages(places: dict[str, Ints], line: Ints, part: Ints) -> pd.DataFrame:
    """Select where each line first comes to each place, in a part of the day that is counted.

    ``places`` are columns that number a place together; ``part`` is -1 in no part.
    """
    passed = pd.DataFrame({**places, "line": line, "part": part})
    first = passed.drop_duplicates([*places, "line"])
    return first[first["part"] >= 0]


class Counts(NamedTuple):
    """Trips and lines, by place and part of the day, in this order."""

    table: pd.DataFrame
    trips_counted: int  # in any place, each once
    on_roads: float = 0.0  # of counts on streets: share of the trips' ways that lies on roads


def counts_of(passed: pd.DataFrame, lines: ReleasedLines) -> Counts:
    """Count the trips and lines of `passages`."""
    place_and_part = [column for column in passed.columns if column != "line"]
    with_trips = passed.assign(trips=lines.trips[passed["line"]])
    table = with_trips.groupby(place_and_part, as_index=False).agg(
        trips=("trips", "sum"), lines=("line", "size")
    )
    trips_counted = lines.trips[passed["line"].unique()].sum()
    return Counts(table, int(trips_counted))


def table_of_counts(
    places: pd.DataFrame,
    shapes: Sequence[object] | NDArray[np.object_],
    counts: Counts,
    lines: ReleasedLines,
    parts: tuple[DayPart, ...],
) -> "GeoDataFrame":
    """Make a table of places and what is counted in them, with what the counts are made of.

    ``places`` has the columns that name a place, and ``shapes`` a geometry for each, in the order
    of the counts.
    """
    import geopandas

    table = places.assign(
        trips=rounded_counts(counts.table["trips"].to_numpy(), lines.k),
        lines=counts.table["lines"].to_numpy(),
    )
    if parts != ALL_DAY:
        table["hours"] = [parts[number].label for number in counts.table["part"]]

    trips = int(lines.trips.sum())
    drawn = geopandas.GeoDataFrame(table, geometry=shapes, crs="EPSG:4326")
    drawn.attrs |= {
        "attribution": lines.attribution,
        "of_lines": len(lines.trips),
        "of_trips": trips,
        "share_counted": counts.trips_counted / max(trips, 1),
        "k": lines.k,
    }
    return drawn


def rounded_counts(counts: Ints, k: int | None) -> Ints:
    """Round counts to two digits, and those below 10 k to multiples of k; none falls below k.

    >>> rounded_counts(np.array([4, 9, 11, 37, 44, 1_234]), 4).tolist()
    [4, 8, 12, 36, 44, 1200]
    """
    least = k or 1
    digits = 1 + np.floor(np.log10(np.maximum(counts, 1)))
    step_of_two_digits = 10 ** np.maximum(digits - 2, 0)
    step = np.where(counts >= _ROUNDED_TO_K_BELOW * least, step_of_two_digits, least)
    rounded = np.floor(counts / step + 0.5) * step  # a half goes up
    return np.asarray(np.maximum(rounded, np.minimum(counts, least)).astype(np.int64))
