"""Each decision on the columns of a table, by small tables: roles, warnings and refusals, whole."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest
from chosen_columns import MINUTES, NOTHING, PLACES, ROWS, SECONDS, TWO, chosen, refused, table

from trajanon.common.columns_read import NamesHeld
from trajanon.common.errors import BadInput, ColumnsUnclear, TrajanonWarning
from trajanon.extract.sources.column_role_names import ONE_A_FILE
from trajanon.extract.sources.columns_chosen_for_roles import columns_of_lines, is_row, used_columns
from trajanon.extract.sources.reading import Reading


@pytest.mark.parametrize(
    ("columns", "said", "used"),
    [
        # Fine times before coarse ones; of fine ones those in UTC, by name or values; none local.
        ({"id": TWO, "date": MINUTES, "time": SECONDS}, {}, {"id": "id", "time": "time"}),
        ({"id": TWO, "time": MINUTES, "ts": SECONDS}, {}, {"id": "id", "time": "ts"}),
        (
            {"id": TWO, "time": [t[:-1] for t in SECONDS], "ts": SECONDS},
            {},
            {"id": "id", "time": "ts"},
        ),
        (
            {"id": TWO, "time": [t[:-1] for t in SECONDS], "utc": [t[:-1] for t in SECONDS]},
            {},
            {"id": "id", "time": "utc"},
        ),
        ({"id": TWO, "time": SECONDS, "local time": SECONDS}, {}, {"id": "id", "time": "time"}),
        (
            {"id": TWO, "time": MINUTES, "local fix": SECONDS, "fix": SECONDS},
            {},
            {"id": "id", "time": "fix"},
        ),
        (
            {"id": TWO, "time": [t[:-1] for t in SECONDS], "UTC": [t[:-1] for t in SECONDS]},
            {},
            {"id": "id", "time": "UTC"},
        ),
        (
            {"id": TWO, "time": MINUTES, "LOCAL FIX": SECONDS, "fix": SECONDS},
            {},
            {"id": "id", "time": "fix"},
        ),
        # Points are numbered where times repeat, or are missing, or if it was said.
        ({"id": TWO, "time": SECONDS, "seq": range(ROWS)}, {}, {"id": "id", "time": "time"}),
        (
            {"id": TWO, "time": MINUTES, "seq": range(ROWS)},
            {},
            {"id": "id", "time": "time", "order": "seq"},
        ),
        ({"id": TWO, "seq": range(ROWS)}, {}, {"id": "id", "order": "seq"}),
        (
            {"id": TWO, "time": SECONDS, "seq": range(ROWS)},
            {"order": "seq"},
            {"id": "id", "time": "time", "order": "seq"},
        ),
        # A whole time has no need of a day, nor one in UTC of a zone, unless they are named.
        (
            {"id": TWO, "time": SECONDS, "day": ["2024-05-01"] * ROWS, "tz": ["+02:00"] * ROWS},
            {},
            {"id": "id", "time": "time"},
        ),
        (
            {"id": TWO, "time": SECONDS, "day": ["2024-05-01"] * ROWS, "tz": ["+02:00"] * ROWS},
            {"date": "day", "zone": "tz"},
            {"id": "id", "time": "time", "date": "day", "zone": "tz"},
        ),
        (
            {"id": TWO, "time": SECONDS, "seq": range(ROWS), "nr": range(ROWS)},
            {"order": "nr"},
            {"id": "id", "time": "time", "order": "nr"},
        ),
        ({"id": TWO, "time": MINUTES, "k": range(ROWS)}, {}, {"id": "id", "time": "time"}),
        # Of usual names the best, though another has more values.
        ({"id": [*"abcdef"] * 2, "trip": TWO, "time": SECONDS}, {}, {"id": "trip", "time": "time"}),
        ({"id": TWO, "leg": TWO, "time": SECONDS}, {}, {"id": "id", "time": "time"}),
        (
            {"id": TWO, "leg": TWO, "time": SECONDS},
            {"part": "leg"},
            {"id": "id", "part": "leg", "time": "time"},
        ),
    ],
)
def test_of_several_columns_the_best_plays_a_role(
    columns: Mapping[str, Sequence[Any]], said: dict[str, str], used: dict[str, str]
) -> None:
    rows = table(**columns)
    found, warned, reading = chosen(rows, said)
    assert found == used
    assert not warned
    assert reading.counts[ONE_A_FILE] == 0
    ((roles, unused),) = reading.tables.uses
    assert dict(roles) == {"lat": "lat", "lon": "lon", **used}
    assert set(unused) == set(rows) - set(PLACES) - set(used.values())


def test_times_named_by_a_user_are_asked_nothing() -> None:
    numbers = [1.0e9 + row for row in range(ROWS)]
    rows = table(id=TWO, gps_time=numbers)
    error = refused(rows)
    assert (error.roles, error.table) == (("time",), "")
    assert str(error) == (
        "the times of t.csv, such as 1000000000.0, may count from 1970 or, as GPS does, from 1980; "
        "its columns are lat, lon, id, gps_time: set `columns` time=gps_time, or "
        "gps_seconds=gps_time"
    )
    assert chosen(rows, {"time": "gps_time"})[0] == {"id": "id", "time": "gps_time"}


@pytest.mark.parametrize(
    ("columns", "said", "missing"),
    [
        ({"north": PLACES["lat"], "id": TWO}, {}, ["lat", "lon"]),
        ({"lat": PLACES["lat"], "id": TWO}, {}, ["lon"]),
        ({"lat": PLACES["lat"], "user": TWO}, {}, ["lon"]),
        ({"lat": PLACES["lat"], "east": TWO}, {"id": "east"}, ["lon"]),
        ({"lat": PLACES["lat"], "when": SECONDS}, {}, ["lon", "id"]),
    ],
)
def test_without_coordinates_all_that_is_missing_is_named_at_once(
    columns: dict[str, Sequence[Any]], said: dict[str, str], missing: list[str]
) -> None:
    error = refused(pd.DataFrame(columns), said)
    assert (list(error.roles), error.table) == (missing, "t.csv")
    assert str(error) == (
        f"t.csv has no column recognised as {' or '.join(missing)}; "
        f"its columns are {', '.join(columns)}: set `columns` "
        f"{','.join(f'{role}=...' for role in missing)}"
    )


def test_a_table_without_columns_is_refused() -> None:
    error = refused(pd.DataFrame())
    assert "its columns are none: set `columns` lat=...,lon=...,id=..." in str(error)


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"time": SECONDS, "car": TWO}, "car"),
        ({"time": SECONDS, "car": ["a", "b"] + ["c"] * (ROWS - 2)}, "car"),
        ({"time": SECONDS, "car": ["a", "b", "b", *[None] * (ROWS - 3)]}, "car"),
        ({"time": SECONDS, "car": TWO, "collection": TWO}, "collection"),
        ({"car": TWO}, "..."),
        ({}, "..."),
    ],
)
def test_what_may_tell_recordings_apart_must_be_named(
    columns: dict[str, Sequence[Any]], column: str
) -> None:
    error = refused(table(**columns))
    assert (error.roles, error.table) == (("id",), "t.csv")
    assert error.problem.startswith("t.csv has no column recognised as id; its columns are lat, ")
    assert str(error).endswith(
        f": set `columns` id={column}, or id=file if each file is one recording"
    )


def test_times_tell_no_recordings_apart() -> None:
    assert chosen(table(time=SECONDS, sent=MINUTES))[0] == {"time": "time"}
    of_gps = table(gps_seconds=[1.2e9 + row for row in range(ROWS)])
    assert chosen(of_gps)[0] == {"gps_seconds": "gps_seconds"}


def test_tables_of_equal_columns_are_counted() -> None:
    rows = table(id=TWO, time=SECONDS)
    reading = Reading()
    for tables in (1, 2):
        used_columns(list(rows), rows, reading)
        assert list(reading.tables.uses.values()) == [tables]


def test_the_end_of_a_nested_name_may_count_rows() -> None:
    rows = table(**{"time": SECONDS, "maker.id": range(ROWS)})
    with pytest.warns(TrajanonWarning, match="'maker.id' .* a file is taken for one recording"):
        used_columns(list(rows), rows, Reading(nested=True))


@pytest.mark.parametrize(
    "car",
    [
        ["a"] * ROWS,  # one for all
        [*"abcdefghijk", None],  # another in each row that has one
        [*"abcdefghijkl"],
    ],
)
def test_what_tells_nothing_apart_leaves_a_file_one_recording(car: Sequence[Any]) -> None:
    used, warned, reading = chosen(table(time=SECONDS, car=car))
    assert (used, warned, reading.counts[ONE_A_FILE]) == ({"time": "time"}, [], 1)
    rows = table(time=SECONDS, car=TWO)
    for number in (1, 2):  # of files that were read
        with warnings.catch_warnings():
            used_columns(list(rows), rows, reading := Reading(columns={"id": "file"}))
        assert reading.counts[ONE_A_FILE] == 1
        reading.counts.update({ONE_A_FILE: number})
        used_columns(list(rows), rows, reading)
        assert reading.counts[ONE_A_FILE] == number + 2


def test_a_column_that_counts_rows_is_no_owner_and_that_is_said() -> None:
    rows_counted = list(range(ROWS))
    set_ = "set `columns`"
    no_owner: dict[str, Sequence[Any]] = {}
    for owners, recording_of in ((no_owner, "a file"), ({"user": TWO}, "each subject (user)")):
        _, warned, _ = chosen(table(time=SECONDS, id=rows_counted, **owners))
        assert warned == [
            f"the column 'id' of t.csv counts rows: {recording_of} is taken for one recording; if "
            f"another tells them apart, {set_} id=..."
        ]

    _, warned, _ = chosen(table(time=SECONDS, trip=TWO, user=rows_counted))
    assert warned == [
        "the column 'user' of t.csv counts rows: it names no persons; if another does, "
        f"{set_} subject=..."
    ]
    # Where another one plays the role, nothing is asked; of two, each is.
    assert chosen(table(time=SECONDS, id=rows_counted, trip=TWO))[1] == []
    _, warned, _ = chosen(table(time=SECONDS, trip=TWO, id=rows_counted, user=rows_counted))
    assert len(warned) == 1
    _, warned, _ = chosen(table(time=SECONDS, id=rows_counted, user=rows_counted))
    assert len(warned) == 2
    # Nor where a word stands in its place.
    words = {"id": "file", "subject": "none"}
    assert chosen(table(time=SECONDS, id=rows_counted, user=rows_counted), words)[1] == []


def test_times_that_no_column_is_used_for_are_told_or_refused() -> None:
    day = ["2024-05-01T08:00:00Z"] * ROWS
    texts = table(id=["a"] * ROWS, recorded=["x"] * ROWS, constant=day, seen=day)
    _, warned, _ = chosen(texts, timed=True)
    end = "without, points are taken in their order"
    assert warned == [
        f"t.csv: no column is used as time, but {name!r} holds times: set `columns` time={name}; "
        f"{end}"
        for name in ("constant", "seen")
    ]
    numbers = table(id=["a"] * ROWS, counted=[1.7e9 + 5 * row for row in range(ROWS)])
    error = refused(numbers, timed=True)
    assert error.roles == ("time",)
    assert str(error) == (
        "t.csv: no column is used as time, but 'counted' holds times: set `columns` time=counted"
    )
    assert len(chosen(numbers)[1]) == 1


@pytest.mark.parametrize(
    ("column", "held"),
    [
        (["ann", "ann", "bob", "bob"], NamesHeld(2, {"ann", "bob"})),
        (["Ann", "Ann", None, None], NamesHeld(1, {"ann"})),
        (["ann", "bob", "bob", "bob"], NamesHeld(varies=True)),
        (["yes", "yes", "no", "no"], None),
        ([0.5, 0.5, 1.0, 1.0], None),
        (["2024-05-01", "2024-05-01", "2024-05-02", "2024-05-02"], None),
        ([1.7e9, 1.7e9, 1.8e9, 1.8e9], NamesHeld(2, {"1700000000", "1800000000"})),
    ],
)
def test_what_may_name_persons_is_noted(column: list[Any], held: NamesHeld | None) -> None:
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": ["a", "a", "b", "b"], "maker": column})
    for said, expected in ((NOTHING, held), ({"subject": "none"}, None)):
        _, _, reading = chosen(rows, said)
        assert reading.tables.names == ({} if expected is None else {"maker": expected})


def test_all_ways_to_answer_yes_or_no_are_no_persons() -> None:
    flags = ["true", "false", "yes", "no", "t", "f", "y", "n", "0", "1"]
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": range(10), "maker": flags})
    rows = pd.concat([rows, rows], ignore_index=True)
    assert not chosen(rows)[2].tables.names


def test_times_are_fine_from_four_fifths_of_the_finest_on() -> None:
    for different, best in ((8, "time"), (7, "ts")):
        coarser = [SECONDS[min(row, different - 1)] for row in range(10)]
        rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": "a", "time": coarser})
        assert chosen(rows.assign(ts=SECONDS[:10]))[0]["time"] == best


@pytest.mark.parametrize("name", ["begin", "BEGIN", "bus time", "seen_ts"])
def test_numbers_under_a_name_of_times_name_no_persons(name: str) -> None:
    numbers = [1.7e9, 1.7e9, 1.8e9, 1.8e9]
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": ["a", "a", "b", "b"], name: numbers})
    assert not chosen(rows)[2].tables.names


def holds_times(name: str) -> bool:
    """Whether a column has lists of the times of points, in these tests."""
    return name == "time"


def test_lines_have_owners_and_a_time_by_their_names() -> None:
    reading = Reading(what="t.gpkg")
    lines = pd.DataFrame({"trip": ["a", "a", "b"], "maker": ["x", "x", "y"], "part": [1, 2, 3]})
    assert columns_of_lines(lines, ["begins"], holds_times, reading) == {"id": "trip"}
    ((roles, unused),) = reading.tables.uses
    assert (roles, unused) == ((("id", "trip"), ("time", "begins")), ("maker", "part"))
    assert reading.tables.names["maker"] == NamesHeld(2, {"x", "y"})

    # Each line is a recording where no column says which.
    reading = Reading(what="t.gpkg")
    assert columns_of_lines(lines[["maker"]], [], holds_times, reading) == {}
    assert reading.tables.names["maker"] == NamesHeld(3, {"x", "y"})

    # By their names alone: a column of ids may count lines, and one of times hold lists.
    lists = pd.DataFrame({"id": range(ROWS), "time": [[1.0, 2.0]] * ROWS, "1": 1, "2": 2})
    assert columns_of_lines(lists, [], holds_times, Reading()) == {"id": "id", "time": "time"}
    with pytest.raises(ColumnsUnclear, match="has no column 'nowhere' for id") as error:
        columns_of_lines(lists, [], holds_times, Reading(columns={"id": "nowhere", "lat": "x"}))
    assert (error.value.roles, error.value.table) == (("id",), "")


def test_a_first_line_with_two_numbers_is_a_row() -> None:
    assert is_row(["a", "40.5", " -3,7 "])
    assert not is_row(["a", "40.5", "lon"])
    with pytest.raises(BadInput) as error:
        chosen(pd.DataFrame({"1": ["a"], "40.5": [1.0], "2.5": [1.0]}))
    assert str(error.value) == (
        "t.csv has no line with the names of its columns, as its first line holds numbers: write "
        "one above it, such as id,lat,lon,time"
    )


@pytest.mark.parametrize("role", ["lat", "lon", "lat_sign", "lon_sign", "place"])
def test_lines_need_no_column_of_coordinates(role: str) -> None:
    """Not even the one that is named for tables beside them."""
    lines = pd.DataFrame({"trip": ["a", "b"]})
    reading = Reading(columns={role: "trip"})
    assert columns_of_lines(lines, [], holds_times, reading) == {"id": "trip"}


def test_lists_under_the_name_of_an_owner_of_lines_are_refused() -> None:
    lines = pd.DataFrame({"trip": ["a", "b"], "user": [["x"], ["y"]]})
    with pytest.raises(BadInput, match=r"the column 'user' of .* holds lists, not a value a row"):
        columns_of_lines(lines, [], holds_times, Reading(what="t.gpkg"))


def test_times_that_a_user_names_go_before_those_of_gps() -> None:
    rows = table(id=TWO, gps_week=[2_100] * ROWS, tow=range(ROWS), moment=SECONDS)
    assert chosen(rows)[0] == {"id": "id", "gps_week": "gps_week", "gps_seconds": "tow"}
    assert chosen(rows, {"time": "moment"})[0] == {"id": "id", "time": "moment"}


@pytest.mark.parametrize(
    ("role", "others"),
    [
        ("zone", {}),
        ("gps_week", {"time": "moment"}),
        ("lat_sign", {}),
        ("time", {"gps_seconds": "tow"}),
    ],
)
def test_a_column_that_is_named_without_use_is_warned_of(role: str, others: dict[str, str]) -> None:
    rows = table(id=TWO, gps_week=[2_100] * ROWS, tow=range(ROWS), moment=SECONDS, x=TWO)
    _, warned, _ = chosen(rows, {**others, role: "x"})
    assert warned == [f"t.csv does not use `columns` {role}=x: no other column needs it"]


def test_beside_coordinates_a_place_is_used_if_it_is_named() -> None:
    rows = table(id=TWO, point=["POINT (2 40)"] * ROWS)
    assert chosen(rows)[0] == {"id": "id"}
    named = Reading(columns={"place": "point"})
    assert used_columns(list(rows), rows, named) == {"place": "point"}


def test_a_list_gives_way_to_another_column_of_coordinates() -> None:
    rows = table(id=TWO, latitude=PLACES["lat"]).assign(lat=[[40.0, 2.0]] * ROWS)
    used = used_columns(list(rows), rows, Reading())
    assert used == {"lat": "latitude", "lon": "lon", "id": "id"}


def nested(names: Sequence[str], said: Mapping[str, str] = NOTHING) -> dict[str, str]:
    rows = pd.DataFrame({name: ["a"] for name in names}).assign(**{"fix.lat": 40.0, "fix.lon": 2.0})
    return used_columns(list(rows), rows, Reading(what="t.json", columns=said, nested=True))


def test_the_end_of_a_nested_name_is_enough_if_it_is_the_only_one() -> None:
    places = {"lat": "fix.lat", "lon": "fix.lon"}
    assert nested(["ride.trip_id"]) == {**places, "id": "ride.trip_id"}
    assert nested(["x.ride.trip_id"]) == {**places, "id": "x.ride.trip_id"}
    assert nested(["ride.trip_id", "ride.maker"], {"subject": "maker"}) == {
        **places,
        "id": "ride.trip_id",
        "subject": "ride.maker",
    }
    assert nested(["trip_id", "maker", "x.maker"], {"subject": "maker"})["subject"] == "maker"
    with pytest.raises(ColumnsUnclear, match=r"^t.json has no column 'maker' for subject; its "):
        nested(["trip_id", "x.maker", "y.maker"], {"subject": "maker"})

    # Elsewhere a dot is a sign between words.
    error = refused(pd.DataFrame({"fix.lat": [40.0], "fix.lon": [2.0], "trip_id": ["a"]}))
    assert error.roles == ("lat", "lon")


def test_a_word_in_place_of_a_column_may_be_no_name_of_one() -> None:
    with pytest.raises(BadInput) as error:
        chosen(table(id=TWO, none=TWO), {"subject": "none"})
    assert str(error.value) == (
        "t.csv has a column 'none', and subject=none means no column: rename it"
    )
    columns = {"id": TWO, "different": ["x"] * ROWS}
    assert chosen(table(**columns), {"nameless": "different"})[0] == {"id": "id"}


@pytest.mark.parametrize(
    ("columns", "used"),
    [
        ({"point": ["POINT (2 40)"] * 2, "id": ["a", "b"]}, {"place": "point"}),
        (
            {"lat": [40.0] * 2, "lon": [2.0] * 2, "n/s": ["N"] * 2, "e/w": ["E"] * 2, "id": "ab"},
            {"lat": "lat", "lon": "lon", "lat_sign": "n/s", "lon_sign": "e/w", "id": "id"},
        ),
        (
            {"lat": [40.0] * 2, "lon": [2.0] * 2, "n/s": ["N"] * 2, "id": "ab"},
            {"lat": "lat", "lon": "lon", "id": "id"},
        ),
        (
            {
                "lat": [40.0] * 2,
                "lon": [2.0] * 2,
                "id": "ab",
                "visible": ["t"] * 2,
                "outlier": "ff",
            },
            {"lat": "lat", "lon": "lon", "id": "id", "visible": "visible", "outlier": "outlier"},
        ),
        (
            {"lat": [40.0] * 2, "lon": [2.0] * 2, "track_fid": [1, 1], "track_seg_id": [0, 1]},
            {"lat": "lat", "lon": "lon", "id": "track_fid", "part": "track_seg_id"},
        ),
        (
            {"lat": [40.0] * 2, "lon": [2.0] * 2, "id": "ab", "track_seg_id": [0, 1]},
            {"lat": "lat", "lon": "lon", "id": "id"},
        ),
    ],
)
def test_coordinates_signs_marks_and_parts(
    columns: Mapping[str, Sequence[Any]], used: dict[str, str]
) -> None:
    rows = pd.DataFrame({name: list(values) for name, values in columns.items()})
    reading = Reading(what="t.csv")
    assert used_columns(list(rows), rows, reading) == used
    assert len(reading.tables.uses) == ("place" not in used)


def test_a_column_of_lists_or_of_a_name_that_comes_twice_is_refused() -> None:
    lists = table(id=TWO, time=[[1.0, 2.0]] * ROWS)
    with pytest.raises(BadInput) as error:
        chosen(lists, {"time": "time"})
    assert str(error.value) == (
        "the column 'time' of t.csv holds lists, not a value a row; name another in `columns`"
    )
    rows = table(id=TWO)
    with pytest.raises(BadInput) as error:
        used_columns([*rows, "id"], rows, Reading(what="t.csv"))
    assert str(error.value) == ("the column 'id' appears twice in t.csv: rename one of the two")
