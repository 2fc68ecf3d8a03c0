"""What tells the recordings of a table apart, where no column is known to."""

import logging
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from trajanon.errors import BadInput
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.columns import FILE, listed
from trajanon.extract.sources.tables.timestamps import holds_times
from trajanon.extract.sources.tables.unused_columns import First, single_values
from trajanon.extract.trace import Trace

logger = logging.getLogger(__name__)

ONE_A_FILE = "tables without ids, each taken for one recording"

_MEASURES = re.compile(
    r"(?<![a-z])(acc|accuracy|alt|altitude|azimuth|bearing|battery|cadence|comment|course"
    r"|direction|dist|distance|[hpv]?dop|elev?|elevation|event|fix|[hv]acc|heading|height|hgt|hr"
    r"|heart|heartrate|mode|note|odometer|power|pressure|quality|rate|rssi|sats?|satellites"
    r"|signal|speed|state|status|temp|temperature|vel|velocity)(?![a-z])",
    re.IGNORECASE,
)
"""Words in the names of columns that tell of a point, and not whose it is."""

_FEW = 10  # rows
_YEAR = 365.0 * 86_400.0  # seconds

_FAR, _FAST, _MANY = 1_000.0, 400.0, 0.05
"""Metres of a hop, metres a second, and the share of such hops that no one recording has."""


def with_recordings(
    names: Sequence[str],
    column_of: Mapping[str, str],
    first: First,
    what: str,
    how: Reading,
    begin: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, str]:
    """Leave out an id that counts rows; without any id, take the file for one recording.

    Only if no other column may be one, and times tell the order of the points. The values with
    which columns ``begin`` spare reading more of most tables.

    Raises
    ------
    BadInput
        If it cannot be told what is a recording.
    """
    found = dict(column_of)
    said = how.columns.get("id")
    key = found.get("id") if said is None else None
    differ = begin is None or key is None or len(set(begin[key])) == len(begin[key])
    counts_rows = key is not None and differ and _counts_rows(first, key)
    if counts_rows:
        del found["id"]
    if said == FILE:
        found.pop("id", None)
    elif found.keys().isdisjoint(("id", "subject")):
        others = [name for name in names if name not in (*found.values(), key)]
        _check_single(first, others, found, f"{what} has no column known as id; {listed(names)}")
    if found.keys().isdisjoint(("id", "subject")):
        how.counts[ONE_A_FILE] += 1
    if counts_rows:
        one = f"each subject ({found['subject']})" if "subject" in found else "a file"
        msg = (
            f"the column {key!r} of {what} counts rows: {one} is taken for one recording; if "
            "another column tells recordings apart, say `columns` id=..."
        )
        how.warn(logger, f"counts rows {key}", msg)
    return found


def _counts_rows(first: First, column: str) -> bool:
    """Say whether each row has an id of its own; of few rows nobody can tell."""
    ids = single_values(first, [column])
    return len(ids) >= _FEW and bool(ids[column].is_unique) and bool(ids[column].notna().all())


def _check_single(
    first: First, others: Sequence[str], found: Mapping[str, str], problem: str
) -> None:
    """Refuse a table of which a file may be several recordings."""
    suspects = ["..."]
    if "time" in found:
        rows = single_values(first, [found["time"], *others]) if others else pd.DataFrame()
        suspects = [name for name in others if name in rows and _may_name(rows[name], name)]
    if suspects:
        raise BadInput(
            f"{problem}: say `columns` id={suspects[0]}, or id={FILE} if each file is one recording"
        )


def _may_name(values: pd.Series, name: str) -> bool:
    """Say whether a column may name recordings or people: a few texts or whole numbers."""
    values = values.dropna()
    several = 1 < values.nunique() < len(values)
    if not several or _MEASURES.search(name):
        return False
    numbers = pd.to_numeric(values, errors="coerce")
    fractions = numbers.notna().all() and bool((numbers % 1.0 != 0.0).any())
    return not fractions and not holds_times(values, name)


def warn_of_namesakes(trace: Trace, what: str, how: Reading) -> None:
    """Warn of an id that is not used for a year: a name may stand for several recordings."""
    long = trace.subject is None and np.ptp(trace.time) > _YEAR
    if long and np.diff(np.sort(trace.time)).max() > _YEAR:
        msg = (
            f"{trace.name} of {what} has points more than a year apart: if this id stands for "
            "several recordings, name a column that tells them apart, `columns` id=..."
        )
        how.warn(logger, "namesakes", msg)


def check_one_recording(trace: Trace, what: str) -> None:
    """Refuse points without an order, or that leap to and fro, as those of several people do."""
    if not np.isfinite(trace.time).any():
        raise BadInput(
            f"{what} has no column known as id, and no times: say `columns` id=..., or id={FILE} "
            "if it is one recording, in the order of its rows"
        )
    order = np.argsort(trace.time, kind="stable")
    lat, lon, time = trace.lat[order], trace.lon[order], trace.time[order]
    north, east = np.diff(lat), np.diff(lon) * np.cos(np.radians(lat[:-1]))
    metres, seconds = 111_000.0 * np.hypot(north, east), np.diff(time)
    leaps = (metres > _FAR) & (metres > _FAST * seconds)
    if leaps.sum() > max(2, _MANY * len(leaps)):
        raise BadInput(
            f"{what} has no column known as id, and its points leap {leaps.sum():,} times, as if "
            f"several people were in it: say `columns` id=..., or id={FILE} if it is one recording"
        )
