"""Sentences of what was dropped in numbers."""

import re
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest
from recorded_trips import RULES, east

from trajanon.common.errors import NoTrajectories
from trajanon.extract import Rules, cut, sources, why_left_out
from trajanon.extract.trace import Trace
from trajanon.trajectories.subjects import AT_TWO_PLACES
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

WAY = np.arange(0, 4_001, 100.0)
SECONDS = 10.0 * np.arange(41)


def told(recorded: Trace, rules: Rules = RULES) -> list[str]:
    good = east(WAY, SECONDS, "good")
    return why_left_out.sentences(cut([good, recorded], rules).provenance)


def test_of_what_all_is_taken_nothing_is_told() -> None:
    assert told(east(WAY, SECONDS, "other", start=(40.3, -3.7))) == []


def with_places(some: int, lat: float) -> Trace:
    recorded = east(WAY, SECONDS, "other", start=(40.3, -3.7))
    return replace(recorded, lat=np.where(np.arange(41) < some, lat, recorded.lat))


@pytest.mark.parametrize("some", [8, 9])
def test_a_tenth_of_the_points_is_told_with_its_cause(some: int) -> None:
    """Of 82 points."""
    assert told(with_places(some, 91.0)) == [
        "Left out: points impossible, 11 % (9 of 82); name the right columns "
        "(`columns` lat=...,lon=...)."
    ] * (some == 9)


def test_most_is_told_first_and_trips_are_told_together() -> None:
    recorded = east(np.repeat(WAY, 5), 0.4 * np.arange(205), "other", start=(40.3, -3.7))
    standing, fast = told(recorded, replace(RULES, max_speed=40.0))
    assert standing == "Left out: points repeated in place, 66.7 % (164 of 246)."
    assert fast.startswith(
        "50 % of the trips (1 of 2) were left out: 1 with a gap; raise `max_gap`, or `max_speed`"
    )


def test_of_windows_the_way_that_is_left_is_told() -> None:
    (way,) = told(east([0, 1_000], [0, 100], "short"), Rules(spacing=100, points=24))
    assert way == (
        "20 % of the way lies in pieces too short for a window of 2,300 m: lower `spacing` or "
        "`points`, raise `max_gap`, `max_pause` or `max_speed`, or take whole trips."
    )


def provenance(**counts: int) -> dict[str, Any]:
    names = {name.replace("_", " "): count for name, count in counts.items()}
    whole: Trajectories = cut([east(WAY, SECONDS)], RULES)
    return {**whole.provenance, "counts": {**whole.provenance["counts"], **names}}


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"points_without_an_id": 41}, "Left out: points without an id, 50 % (41 of 82); name"),
        ({"trips_without_a_route": 3}, "Left out: trips without a route, 75 % (3 of 4)."),
        (
            {"positions_that_could_not_be_read": 41},
            "Left out: positions that could not be read, 50 %",
        ),
        ({"points_without_an_id": 4, "trips_without_a_route": 0}, ""),
    ],
)
def test_what_a_reader_left_out_is_told(counts: dict[str, int], says: str) -> None:
    found = why_left_out.sentences(provenance(**counts))
    assert [one[: len(says)] for one in found] == [says] * bool(says)


@pytest.mark.parametrize("rules", [RULES, Rules(spacing=100, points=4)])
def test_times_to_the_hour_give_nothing_and_say_why(rules: Rules) -> None:
    hours = 3_600.0 * np.repeat([0.0, 1.0], [20, 21])
    with pytest.raises(NoTrajectories, match=r"points merged .* give finer times"):
        cut([replace(east(WAY, SECONDS), time=hours)], rules)


def counters_of_readers() -> set[str]:
    """The names under which readers count what they leave out."""
    modules = [
        import_module(f"{sources.__name__}.{m.name}") for m in iter_modules(sources.__path__)
    ]
    constants = [(name, value) for module in modules for name, value in vars(module).items()]
    return {
        value
        for name, value in constants
        if name.isupper() and isinstance(value, str) and " " in value and not name.startswith("_")
    }


NOTHING_IS_LOST = {
    *("tables without ids, each taken for one recording", "tables cut off in their last line"),
    *("lines that repeat the names of columns", "archives cut off", "a table of points"),
    "layers of a GPX file with the same recordings, or with none",
    "messages of OwnTracks that are no locations",
    "timeline points of which there are raw signals",
    "recordings before the accounts of their dump",
    "mended times (Buddhist years, or 1,024 weeks early)",
    "pieces of a recording with overlapping times",
    "seconds from an unknown beginning",
    "files from OpenStreetMap",
}


def test_each_counter_of_a_reader_says_what_it_is_a_share_of() -> None:
    ways_out = {value for value in counters_of_readers() if re.search("`|EPSG|write them", value)}
    counted = counters_of_readers() - NOTHING_IS_LOST - ways_out - {OSM_ATTRIBUTION}
    assert len(counted) > 20
    assert counted <= why_left_out.POINTS_LEFT_OUT_BY_COUNTER.keys()


def test_what_is_left_out_before_it_is_counted_is_all_of_itself() -> None:
    """Lines whose times cannot be used, of which the others are refused as untimed."""
    counts = {"lines with more or fewer times than points": 8}
    why = why_left_out.why_nothing({**provenance(), "counts": counts})
    assert why == "lines with more or fewer times than points, 100 % (8 of 8)"


def test_subjects_at_two_places_are_told_beside_tracks_that_overlap() -> None:
    """The overlap of one subject does not hide 40 others."""
    counts = {why_left_out.OVERLAPS: 1, AT_TWO_PLACES: 40}
    overlap, two_places = why_left_out.people_sentences({**provenance(), "counts": counts})
    assert overlap.startswith("1 track overlaps in time with others of the same recording")
    assert two_places.startswith("40 subjects are repeatedly in two places")
