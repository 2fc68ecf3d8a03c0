"""What a report counts of its source: what was read, what is in the release, and what is not."""

from collections.abc import Mapping
from typing import NamedTuple

from trajanon.common.number_text import UNITS
from trajanon.release.report import Choice, InLedger, Report

# Counters of extraction that are no reason why points are missing.
_POINTS_KEPT = {"points read", "points used", "points spread over their minute"}


class LeftOut(NamedTuple):
    """How many recordings, trips or points are not in a release, and why; entries of JSON."""

    what: str  # what is counted: recordings, points, or the units of the release
    missing: int  # how many are not in the release
    of: int  # how many were read
    why: Mapping[str, int]  # how many for each reason


def left_out_of(report: Report) -> list[LeftOut]:
    """Count recordings, trips and points that are not in a release, as far as they are known."""
    source = report.source
    trips = _trips_left_out(report)
    counted = [trips]
    choice = report.choice or Choice()
    # Where whole days are released, some trips cannot be put into a day.
    in_no_day = {
        "trips without times": choice.untimed or 0,
        "trips without a name": choice.nameless or 0,
    }
    if missing := sum(in_no_day.values()):
        all_trips = max(choice.trips or 0, missing)  # a report may be made by hand
        counted.insert(0, LeftOut("trips", missing, all_trips, in_no_day))

    recordings = source.recordings
    if recordings is not None:
        # Most recordings are left out with their trips, of which the reasons stand below.
        reasons = {
            reason: n for reason, n in source.left_out.items() if f"trips {reason}" not in trips.why
        }
        counted.insert(0, LeftOut("recordings", recordings - source.used, recordings, reasons))

    points = source.points
    used = points.get("points used", 0)
    if used:  # else points were not counted
        reasons = {reason: n for reason, n in points.items() if reason not in _POINTS_KEPT and n}
        # Points that were read may be missing without a reason that was counted.
        read = max(used + sum(reasons.values()), points.get("points read", 0))
        counted.append(LeftOut("points", read - used, read, reasons))
    return [counts._replace(why=_by_count(counts.why)) for counts in counted]


def _trips_left_out(report: Report) -> LeftOut:
    """Count trips, days or windows that extraction and anonymisation left out."""
    units = UNITS[report.unit]
    released = report.n
    choice = report.choice or Choice()
    ledger = report.ledger or InLedger(rows=[])
    mended = report.mended_groups
    wide = mended.wide
    by_anonymize = {
        f"other {units} of the same people": choice.left_out or 0,
        f"{units} far from all others": wide.trajectories,
        f"{units} of the worst groups": mended.worst.trajectories,
        f"{units} released before": ledger.already_released or 0,
        f"{units} of people who are on a line already": ledger.on_a_line or 0,
    }
    # Whole days were released; a ledger knows only trips, so that no day was released before.
    if choice.most is not None:
        days = max(released, choice.days or 0)  # a report may be made by hand, with 0 days
        too_many = choice.too_many or 0
        explained = too_many + wide.trajectories + mended.worst.trajectories
        by_anonymize |= {
            "days of too many trips": too_many,
            "days without enough others": max(days - released - explained, 0),
        }
        return LeftOut(units, days - released, days, by_anonymize)

    by_extraction = {**report.source.trips}
    trips_found = by_extraction.pop("trips found", 0)
    reasons = by_anonymize | by_extraction
    # As above: trips that were found may be missing without a reason that was counted.
    trips = max(released + sum(reasons.values()), trips_found)
    return LeftOut(units, trips - released, trips, reasons)


def _by_count(reasons: Mapping[str, int]) -> dict[str, int]:
    """Sort reasons, the most frequent first, without those that left out nothing."""
    most_first = sorted(reasons.items(), key=lambda reason_and_count: -reason_and_count[1])
    return {reason: count for reason, count in most_first if count}
