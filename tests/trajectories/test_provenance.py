"""Provenance: what a release needs of it is read from any file, and odd entries are none."""

from typing import Any

import pytest

from trajanon.trajectories.provenance import NAMELESS_SUBJECT, Provenance, Source, with_identities
from trajanon.trajectories.subjects import NAMELESS, Identities, Merged, Nameless


@pytest.mark.parametrize(
    ("account", "unit", "trips"),
    [
        ({}, "trajectory", 0),
        ({"trips": True}, "trip", 0),
        ({"trips": 1}, "trajectory", 0),
        ({"trips": True, "days": 3}, "day", 3),
        ({"trips": True, "days": "3"}, "trip", 0),
        ({"days": -1}, "trajectory", 0),
        ({"days": True}, "trajectory", 0),
    ],
)
def test_the_unit_is_a_trip_or_a_day_only_where_that_is_written(
    account: dict[str, Any], unit: str, trips: int
) -> None:
    found = Provenance.read(account)
    assert (found.unit, found.trips_of_day) == (unit, trips)


@pytest.mark.parametrize(
    ("source", "names_people"),
    [
        (Source(recordings=9, nameless=0), True),
        (Source(recordings=9, nameless=8), True),
        (Source(recordings=9, nameless=9), False),
        (Source(nameless=9, nameless_count_as=9), False),
        (Source(nameless=9, nameless_count_as=1), True),  # others have a name
        (Source(recordings=0), True),
    ],
)
def test_people_are_known_where_a_recording_has_a_name(source: Source, names_people: bool) -> None:
    assert source.names_people == names_people


def test_recordings_without_a_name_count_each_where_nothing_else_is_known() -> None:
    assert Source(nameless=7).unnamed == (7, 7)
    assert Source(nameless=7, nameless_count_as=1).unnamed == (7, 1)
    assert Provenance.read({"counts": {NAMELESS: 7}}).source.unnamed == (7, 7)


def test_counts_of_identities_are_added_and_their_nameless_subject_is_the_new_one() -> None:
    account = {NAMELESS_SUBJECT: 4, "counts": {NAMELESS: 2, "note": "by hand"}, "box": [1, 2]}
    found = Identities(None, None, Nameless(3, 1), Merged(), 9)
    added = with_identities(account, found)
    assert added[NAMELESS_SUBJECT] == 9
    counts: Any = added["counts"]
    assert counts[NAMELESS] == 5
    assert counts["note"] == "by hand"
    assert added["box"] == [1, 2]

    # Of nobody, no number of an earlier subject stays.
    assert NAMELESS_SUBJECT not in with_identities(account, found._replace(nameless_subject=None))
