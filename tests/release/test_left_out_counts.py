"""What a report counts of its source: how much is missing, of how much, and why."""

from typing import Any

from msgspec import structs
from reports import reported

from trajanon.release.left_out_counts import LeftOut, left_out_of
from trajanon.release.report import Choice, InLedger, Mended, WideGroups, WorstGroups
from trajanon.trajectories.provenance import Source


def counted(what: str, **facts: Any) -> LeftOut:
    """Return what is counted of recordings, trips, days or points."""
    (found,) = (counts for counts in left_out_of(reported(**facts)) if counts.what == what)
    return found


def test_reasons_stand_with_the_most_frequent_first_and_none_of_zero() -> None:
    trips = {"trips found": 510, "trips too short": 2, "trips with a gap": 5, "trips outside": 0}
    source = {"recordings": 1_000, "used": 1_000, "trips": trips}
    found = counted("trips", source=source, choice={"people": 500, "left_out": 3})
    assert (found.missing, found.of) == (10, 510)
    assert list(found.why.items()) == [
        ("trips with a gap", 5),
        ("other trips of the same people", 3),
        ("trips too short", 2),
    ]


def test_trips_may_be_missing_without_a_reason_and_none_is_missing_twice() -> None:
    of_extraction = {"recordings": 9, "used": 9}
    without_reason = of_extraction | {"trips": {"trips found": 520}}
    assert counted("trips", source=without_reason)[:3] == ("trips", 20, 520)
    # A report by hand may have found fewer than are in the release.
    odd = of_extraction | {"trips": {"trips found": 7, "trips too short": 1}}
    assert counted("trips", source=odd) == ("trips", 1, 501, {"trips too short": 1})


def test_what_anonymize_leaves_out_is_counted_by_its_reasons() -> None:
    report = structs.replace(
        reported(),
        mended=Mended(wide=WideGroups(trajectories=4), worst=WorstGroups(trajectories=6)),
        ledger=InLedger(already_released=2, on_a_line=1, rows=[]),
    )
    _, trips = left_out_of(report)
    assert trips == LeftOut(
        "trips",
        13,
        513,
        {
            "trips of the worst groups": 6,
            "trips far from all others": 4,
            "trips released before": 2,
            "trips of people who are on a line already": 1,
        },
    )


def test_recordings_are_not_said_to_be_missing_for_the_reasons_of_their_trips() -> None:
    trips = {"trips found": 503, "trips too short": 3}
    left_out = {"too short": 3, "unreadable": 1}
    source = {"recordings": 40, "used": 36, "trips": trips, "left_out": left_out}
    found = counted("recordings", source=source)
    assert found == ("recordings", 4, 40, {"unreadable": 1})
    assert [counts.what for counts in left_out_of(reported(source={}))] == ["trips"]


def test_points_are_counted_where_some_were_used() -> None:
    points = {"points read": 100, "points used": 80, "stray points": 15}
    points |= {"points spread over their minute": 7}
    source = {"recordings": 9, "used": 9, "points": points}
    assert counted("points", source=source) == ("points", 20, 100, {"stray points": 15})
    unread = source | {"points": {"points used": 80, "stray points": 15}}
    assert counted("points", source=unread) == ("points", 15, 95, {"stray points": 15})
    unused = structs.replace(reported(), source=Source(points={"stray points": 5}))
    assert [counts.what for counts in left_out_of(unused)] == ["trips"]


def test_trips_that_are_in_no_day_are_counted_before_days() -> None:
    choice = Choice(most=3, trips=900, untimed=10, nameless=20, days=600, too_many=30)
    report = structs.replace(reported(unit="day"), choice=choice)
    _, trips, days = left_out_of(report)
    assert trips[:3] == ("trips", 30, 900)
    assert list(trips.why.items()) == [("trips without a name", 20), ("trips without times", 10)]
    assert days[:3] == ("days", 100, 600)
    assert days.why == {"days without enough others": 70, "days of too many trips": 30}
