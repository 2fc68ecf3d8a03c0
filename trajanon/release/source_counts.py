"""What a report counts of its source: what was read, what is in the release, and what is not."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from trajanon.common.command_lines import options_in
from trajanon.common.number_text import UNITS
from trajanon.trajectories.subjects import Nameless

# Counters of extraction that are no reason why points are missing.
_POINTS_KEPT = {"points read", "points used", "points spread over their minute"}


class LeftOut(NamedTuple):
    """How many of something are not in a release, and why."""

    what: str  # recordings, trips or points
    missing: int
    of: int
    why: Mapping[str, int]


def source_of(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Read from a provenance what a report says of its source, ready for JSON."""
    became = provenance.get("recordings")
    recordings = _counts_in(became)
    nameless = Nameless.counted_in(provenance)
    counts = _counts_in(provenance.get("counts"))
    points = {name: n for name, n in counts.items() if name.startswith(("points ", "stray points"))}
    trips = {name: n for name, n in counts.items() if name.startswith("trips ")}
    return {
        "recordings": recordings.get("read"),
        "used": recordings.get("with a trajectory", 0),
        "nameless": nameless.recordings,
        "nameless_count_as": nameless.subjects,
        "per_recording": provenance.get("per_recording"),
        "possible_persons": _columns_in(provenance.get("possible_persons")),
        "left_out": _counts_in(became.get("left out")) if isinstance(became, Mapping) else {},
        "trips": trips,
        "points": points,
        "run": options_in(provenance.get("run")),
    }


def left_out_of(report: Mapping[str, Any]) -> list[LeftOut]:
    """Count recordings, trips and points that are not in a release, as far as they are known."""
    source = report.get("source") or {}
    counted = []

    trips = _trips_left_out(report)
    if (recordings := source.get("recordings")) is not None:
        # Most recordings are left out with their trips: these say why.
        why = source.get("left_out") or {}
        others = {name: n for name, n in why.items() if f"trips {name}" not in trips.why}
        used = source.get("used", 0)
        counted.append(LeftOut("recordings", recordings - used, recordings, others))

    counted.append(trips)
    points = source.get("points") or {}
    used = points.get("points used", 0)
    if used:
        why = {name: n for name, n in points.items() if name not in _POINTS_KEPT and n}
        of = max(used + sum(why.values()), points.get("points read", 0))
        counted.append(LeftOut("points", of - used, of, why))
    return [counts._replace(why=_by_count(counts.why)) for counts in counted]


def _trips_left_out(report: Mapping[str, Any]) -> LeftOut:
    """Count trips, days or windows that extraction and anonymisation left out."""
    unit = str(report.get("unit", "trajectory"))
    units = UNITS[unit]
    released = report["n"]
    choice = report.get("choice") or {}
    ledger = report.get("ledger") or {}
    wide = (report.get("mended") or {}).get("wide") or {}
    by_anonymize = {
        f"other {units} of the same people": choice.get("left_out", 0),
        f"{units} far from all others": wide.get("trajectories", 0),
        f"{units} released before": ledger.get("already_released", 0),
        f"{units} of people who are on a line already": ledger.get("on_a_line", 0),
        "trips without times": choice.get("untimed", 0),
    }
    if "most" in choice:
        days = choice.get("days", released)
        too_many = choice.get("too_many", 0)
        explained = too_many + wide.get("trajectories", 0)
        by_anonymize |= {
            "days of too many trips": too_many,
            "days without enough others": max(days - released - explained, 0),
        }
        return LeftOut(units, days - released, days, by_anonymize)

    trips = dict((report.get("source") or {}).get("trips") or {})
    found = trips.pop("trips found", 0)
    why = by_anonymize | trips
    of = max(released + sum(why.values()), found)
    return LeftOut(units, of - released, of, why)


def _by_count(why: Mapping[str, int]) -> dict[str, int]:
    """Sort reasons, the most frequent first, without those that left out nothing."""
    return dict(sorted(((name, n) for name, n in why.items() if n), key=lambda item: -item[1]))


def _counts_in(found: object) -> dict[str, int]:
    """Read the counts in what a file says, which may be anything."""
    counts = found if isinstance(found, Mapping) else {}
    return {str(name): n for name, n in counts.items() if type(n) is int and n >= 0}


def _columns_in(found: object) -> list[dict[str, Any]]:
    """Read the columns, with how many values they have, in what a file says."""
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []
    return [
        {"column": str(row["column"]), "values": row["values"]}
        for row in rows
        if "column" in row and type(row.get("values")) is int
    ]
