"""What a report may say, and what the verdict then finds: its kind, its numbers and what helps."""

from typing import Any

from trajanon.common.command_lines import Options
from trajanon.files.release_contents import MADE_AS_PUBLISHED
from trajanon.release.verdict import (
    DRIVES,
    DRIVES_BETRAYED,
    FEW_DATA,
    HOURS_ALONE,
    IN_ONE_PLACE,
    PEOPLE,
    SHOWS_NOTHING,
    WIDE,
)
from trajanon.release.verdict_sentences import Share


def left(what: str, groups: int) -> dict[str, Any]:
    return {"mended": {what: {"groups": groups, "left": groups}}}


def chained(below: float) -> dict[str, Any]:
    return {"chains": {"drives": 1_000_000, "drives_below": int(below * 1_000_000)}}


def people(below: float) -> dict[str, Any]:
    return {"persons": {"people": 1_000_000, "people_below": int(below * 1_000_000)}}


def in_series(before: int | None, others: int = 0) -> dict[str, Any]:
    return {"people": 1_000, "ledger": {"rows": [], "people_before": before, "on_a_line": others}}


def moved(share: float) -> dict[str, Any]:
    return {"displacement": {"mean": 1_000.0 * share, "median": 1.0}}


def alone(hours: int) -> dict[str, Any]:
    off = dict.fromkeys(("mean", "median", "p95", "max"), 60.0)
    times = {"times": "of-day", "timezone": "Europe/Madrid", "step": 300, "minute_worth": 3.0}
    times |= {"departure_error": off, "duration_error": off}
    return {"times": times | {"alone": {"hours": ["03:00"] * hours, "of": 20}}}


def nameless(share: float, count_as: int | None = None) -> dict[str, Any]:
    number = int(1_000 * share)
    return {
        "source": {
            "recordings": 1_000,
            "used": 1_000,
            "nameless": number,
            "nameless_count_as": number if count_as is None else count_as,
            "left_out": {},
        }
    }


THRESHOLDS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "ready", ""),
    (nameless(0.9, 1), "ready", ""),
    (nameless(0.002), "conditional", "10 recordings have no name: each was counted"),
    (nameless(1.0), "conditional", "at least 5 recordings stand behind"),
    ({"lines_of_few_named": 1}, "ready", ""),
    (
        {"lines_of_few_named": 2},
        "conditional",
        "On less than 5 % of the lines, one of the 5 people has no name",
    ),
    ({"source": {"perhaps_trips": 1}}, "conditional", "as if trips were taken for people"),
    ({"source": {"at_two_places": 1}}, "conditional", "may be another of the 5 people of a line"),
    ({"source": {"drawn_anew": 12}}, "conditional", "one person may have several names"),
    ({"source": {"person_columns": ["user_id"]}}, "ready", ""),
    ({"source": {"person_columns": ["Bike ID"]}}, "conditional", "The source names vehicles, not"),
    ({"source": {"person_columns": ["user_id", "imei"]}}, "conditional", "in 2 different columns"),
    ({"counted": "records", "subjects_per_group": None}, "conditional", "may be of one person"),
    (moved(FEW_DATA), "ready", ""),
    (moved(FEW_DATA + 0.01), "conditional", "the streets people used: by about 20 % of"),
    (moved(0.2), "conditional", "Several times as many trips would bring that down to 10 %"),
    (moved(0.2) | {"people": 50}, "conditional", "Several times as many trips would bring"),
    (moved(0.2) | {"people": 49}, "conditional", "Several times as many people would bring"),
    (moved(SHOWS_NOTHING), "conditional", "Lines lie far from the streets"),
    (
        moved(0.51),
        "stop",
        "The release shows nothing useful: points lie 51 % of a trip's length from where",
    ),
    (chained(DRIVES), "ready", ""),
    (chained(0.02), "conditional", "for 2 % of the drives, anyone who follows"),
    (chained(DRIVES_BETRAYED + 0.001), "stop", "Windows of one drive lie end to end"),
    (people(PEOPLE), "ready", ""),
    (people(0.02), "conditional", "For 2 % of the people on several lines, anyone who"),
    ({"shards": 2, "persons": None}, "conditional", "The lines of a person are not checked"),
    (in_series(None), "ready", ""),
    (in_series(10), "conditional", "Hardly anybody is on lines of earlier releases"),
    (in_series(0, others=10), "conditional", "as if names changed from release to release"),
    (in_series(0, others=11), "ready", ""),
    (in_series(20), "conditional", "2 % of the people are on lines of earlier releases"),
    (
        {"shards": 2, "counted": "records", "subjects_per_group": None},
        "conditional",
        "of one person",
    ),
    (left("one_place", int(100 * IN_ONE_PLACE)), "ready", ""),
    (left("one_place", 2), "conditional", "For less than 5 % of the lines, all trips begin, or"),
    ({"distinct_ends": 1}, "conditional", "With --distinct-ends 1, all trips of a line may begin"),
    (
        {"distinct_ends": 1, "unit": "trajectory"},
        "conditional",
        "With --distinct-ends 1, all recordings of a line may begin",
    ),
    (
        left("one_place", 2) | {"unit": "trajectory"},
        "conditional",
        "For less than 5 % of the lines, all recordings begin, or all end",
    ),
    (left("wide", int(100 * WIDE)), "ready", ""),
    (left("wide", 2), "conditional", "Less than 5 % of the lines stand for trips that"),
    (alone(int(20 * HOURS_ALONE)), "ready", ""),
    (alone(3), "conditional", "In 3 of the 20 hours with departures, only one line departs"),
    ({"k": 2}, "ready", ""),
    ({"k": 2, "unit": "trajectory"}, "conditional", "With k = 2, each step of a line"),
    ({"subjects_per_group": [4] + [5] * 99}, "stop", "1 of 100 groups hold fewer than 5 diff"),
    ({"sizes": [4] + [5] * 99, "subjects_per_group": None}, "stop", "fewer than 5 trips"),
    ({"as_published": True}, "stop", "made as published, for comparison with the papers"),
]
"""Facts of a report, the kind of its verdict, and words of its one sentence."""


RUN: dict[str, Options] = {"anonymize": {"k": 5}, "extract": {"paths": "FILES"}}
"""What is known of commands that nobody typed."""

TAXIS = [{"column": "a,b", "values": 4}, {"column": "cab", "values": 5}]
BELOW = {"k": 5, "share": Share(0.02, 1_000_000)}
HELPS: list[tuple[dict[str, Any], str, dict[str, Any], tuple[Any, ...] | None]] = [
    (
        {"as_published": True},
        "plain_means",
        {"problem": MADE_AS_PUBLISHED},
        ("not_as_published", "anonymize", {"as_published": None}),
    ),
    (
        {"subjects_per_group": [4] + [5] * 99},
        "people_below_k_behind_records",
        {"k": 5, "groups": 100, "people": 1},
        ("again", "anonymize", {}),
    ),
    (
        {"sizes": [4, 4] + [5] * 98, "subjects_per_group": [4] + [5] * 99},
        "groups_below_k_people",
        {"k": 5, "groups": 100, "people": 1},
        ("again", "anonymize", {}),
    ),
    (
        {"sizes": [4, 4] + [5] * 98, "subjects_per_group": None},
        "groups_below_k_trajectories",
        {"k": 5, "groups": 100, "trajectories": 2, "units": "trips"},
        ("again", "anonymize", {}),
    ),
    (
        moved(0.6),
        "shows_nothing",
        {"share": 0.6, "unit": "trip"},
        ("smaller_k", "anonymize", {"k": 4}),
    ),
    (moved(0.6) | {"k": 2}, "shows_nothing", {"share": 0.6, "unit": "trip"}, None),
    (
        chained(DRIVES_BETRAYED),
        "drives_below_k",
        {"k": 5, "share": Share(0.05, 1_000_000)},
        ("one_window_each", "extract", {"windows": True, "per_recording": "1"}),
    ),
    (
        chained(0.06),
        "drives_betrayed",
        {"k": 5, "share": Share(0.06, 1_000_000)},
        ("one_window_each", "extract", {"windows": True, "per_recording": "1"}),
    ),
    (
        {"counted": "records", "subjects_per_group": None},
        "people_unknown",
        {"k": 5, "units": "trips"},
        None,
    ),
    (
        {"counted": "records", "subjects_per_group": None, "source": {"possible_persons": TAXIS}},
        "people_unknown",
        {"k": 5, "units": "trips"},
        ("name_persons", "extract", {"columns": "subject=cab"}),
    ),
    (
        {
            "counted": "records",
            "subjects_per_group": None,
            "source": {"possible_persons": TAXIS[:1]},
        },
        "people_unknown",
        {"k": 5, "units": "trips"},
        ("name_persons", "extract", {"columns": "subject=NAME"}),
    ),
    (
        people(0.02) | {"unit": "day"},
        "people_below_k",
        BELOW | {"units": "days", "unit": "trip"},
        ("one_line_each", "anonymize", {"one_line_each": True, "days": None}),
    ),
    (
        people(0.02) | {"unit": "trajectory"},
        "people_below_k",
        BELOW | {"units": "trajectories", "unit": "trajectory"},
        ("one_line_each", "anonymize", {"one_line_each": True, "days": None}),
    ),
    ({"shards": 2, "persons": None}, "people_not_checked", {"k": 5, "units": "trips"}, None),
    ({"lines_of_few_named": 5}, "nameless_are_others", {"k": 5, "share": Share(0.05, 100)}, None),
    (
        in_series(500),
        "people_in_series",
        {"k": 5, "units": "trips", "unit": "trip", "share": Share(0.5, 1_000)},
        ("one_line_each", "anonymize", {"one_line_each": True}),
    ),
    (
        alone(3),
        "hours_alone",
        {"alone": 3, "hours": 20},
        ("departures_may_differ", "anonymize", {"minute_worth": 1.0}),
    ),
    (
        {"times": alone(3)["times"] | {"minute_worth": 1.2}},
        "hours_alone",
        {"alone": 3, "hours": 20},
        ("departures_may_differ", "anonymize", {"minute_worth": 0.5}),
    ),
    (
        {"times": alone(3)["times"] | {"times": "of-week"}},
        "hours_alone",
        {"alone": 3, "hours": 20},
        ("hours_alone_of_day", "anonymize", {"times": "of-day"}),
    ),
    (
        left("one_place", 2),
        "ends_in_one_place",
        {"share": Share(0.02, 100), "units": "trips", "places": 2},
        ("trim_ends", "extract", {"trim_ends": 200}),
    ),
    (
        left("one_place", 2) | {"distinct_ends": 3},
        "ends_in_few_places",
        {"share": Share(0.02, 100), "units": "trips", "places": 3},
        ("trim_ends", "extract", {"trim_ends": 200}),
    ),
    (
        {"distinct_ends": 1},
        "ends_not_checked",
        {"units": "trips"},
        ("ends_apart", "anonymize", {"distinct_ends": None}),
    ),
    (
        {"mended": {"one_place": {"unknown": 5}}, "unit": "trajectory"},
        "ends_unknown",
        {"units": "trajectories"},
        None,
    ),
    ({"k": 2, "unit": "trajectory"}, "pairs_of_windows", {}, ("larger_k", "anonymize", {"k": 3})),
    (
        left("wide", 2),
        "unlike_members",
        {"share": Share(0.02, 100), "units": "trips"},
        ("smaller_k", "anonymize", {"k": 4}),
    ),
    (
        {"n": 74, "choice": {"most": 3, "days": 100}, "unit": "day"},
        "days_left_out",
        {"share": Share(0.26, 100), "most": 3, "k": 5},
        ("trips_not_days", "anonymize", {"days": None}),
    ),
]
"""Facts of a report, what is found, its numbers, and the remedy: its kind, command and changes."""
