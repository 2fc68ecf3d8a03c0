"""What a release holds, costs and leaves out, in words."""

from typing import Any

import pytest
from msgspec import structs
from reports import reported

from trajanon.release.public_figures import Crowd
from trajanon.release.release_words import cost, left_out, lines_sentence, people_sentences
from trajanon.release.report import InLedger, Mended, WorstGroups
from trajanon.trajectories.provenance import Provenance


def test_the_source_says_what_is_not_in_the_release() -> None:
    became = {"read": 40, "with a trajectory": 37, "left out": {"too short": 3, "outside": 0}}
    counts = {"trips found": 1_041, "trips too short": 3, "trips with a gap": 0}
    counts |= {"points read": 9_000, "points used": 8_800, "stray points": 200}
    source = Provenance.read({"recordings": became, "counts": counts}).source
    in_ledger = InLedger(already_released=2, rows=[])
    report = structs.replace(reported(n=1_036), source=source, ledger=in_ledger)
    assert left_out(report) == (
        "3 of 40 recordings, 5 of 1,041 trips and 200 of 9,000 points were left out. Reasons: "
        "trips too short (3), trips released before (2), stray points (200)."
    )
    for odd in (7, None, {"read": "many", "left out": {"too short": -1}}, {"left out": 7}):
        found = Provenance.read({"counts": odd, "recordings": odd, "run": odd}).source
        assert found.recordings is None
        assert found.left_out == found.trips == found.points == {}


@pytest.mark.parametrize(("recordings", "count_as"), [(3, 1), (3, 3), (0, 0)])
def test_who_has_no_name_may_be_on_two_lines(recordings: int, count_as: int) -> None:
    source = {"nameless": recordings, "nameless_count_as": count_as}
    sentence = people_sentences(reported(choice={"people": 500}, source=source))
    named = " with a name" if recordings else ""
    assert sentence == f"Nobody{named} is on two lines."


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({}, "100 lines, each shared by at least 5 people, stand for 500 trips."),
        ({"lines": 1}, "1 line, each shared by at least 5 people, stands for 500 trips."),
        (
            {"counted": "records", "unit": "trajectory"},
            "100 lines, each shared by at least 5 trajectories, stand for 500 trajectories.",
        ),
        (
            {"source": {"recordings": 9, "used": 9, "nameless": 9}},
            "100 lines, each shared by at least 5 recordings, stand for 500 trips.",
        ),
    ],
)
def test_lines_are_shared_by_what_k_counts(facts: dict[str, Any], sentence: str) -> None:
    assert lines_sentence(reported(**facts)) == sentence


def test_whole_days_are_said_to_be_such() -> None:
    assert people_sentences(reported(choice={"most": 1})) == (
        "A line is a whole day of up to 1 trip; a shorter day ends with a stay."
    )
    assert people_sentences(reported()) == ""


def test_costs_are_exact_for_the_holder_and_rounded_for_others() -> None:
    of_ways = {"mean": 31.0, "median": 21.0, "p95": 0.0, "max": 0.0}
    of_lines = of_ways | {"mean": 42.0, "median": 22.0}
    report = reported(curve_distance={"to_line": of_ways, "to_way": of_lines})
    assert cost(report) == (
        "Released points lie 50 m on average (median 30 m) from where people were at the same "
        "share of the way, 5 % of a trip's length. At the nearest point, the ways lie 31 m (median "
        "21 m) from the lines, and the lines 42 m (median 22 m) from the ways. Information loss: "
        "1.2 %."
    )
    public = cost(report, Crowd(100.0))
    assert "31 m" not in public
    assert "median 21" not in public
    unknown = reported(length={"mean": 0.0, "median": 0.0})
    assert "length" not in cost(unknown)


def test_counts_become_shares_where_others_read_them() -> None:
    trips = {"trips found": 1_000, "trips too short": 499, "trips with a gap": 1}
    report = reported(source={"recordings": 9, "used": 9, "trips": trips})
    assert left_out(report) == (
        "500 of 1,000 trips were left out. Reasons: trips too short (499), trips with a gap (1)."
    )
    public = left_out(report, Crowd(100.0))
    assert public.startswith("50 % of the trips were left out.")
    assert "499" not in public
    # A reason's share of few people would be a range that says nothing.
    assert left_out(report, Crowd(8.0)).endswith(" Reasons: trips too short, trips with a gap.")
    nothing = reported(source={"recordings": 9, "used": 9})
    assert left_out(nothing) == (
        "Nothing was left out: all trips that were read are in the release."
    )


def test_the_bias_of_leaving_out_the_worst_groups_is_said() -> None:
    worst = WorstGroups(
        1, 5, longest=1, of_longest=4, shorter=0, of_shorter=9, metres=3, of_metres=6
    )
    said = left_out(structs.replace(reported(), mended=Mended(worst=worst)))
    assert said.endswith(
        " The worst groups take 25 % of the longest tenth of the trips with them, 0 % of the "
        "shorter half, and 50 % of the kilometres."
    )
