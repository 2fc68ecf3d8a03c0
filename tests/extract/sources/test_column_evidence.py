"""What the values of columns show, by small tables whose columns are chosen for it, or are not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chosen_columns import HALVES, MINUTES, ROWS, SECONDS, TWO, chosen, table

from trajanon.common.columns_read import NamesHeld
from trajanon.common.errors import BadInput
from trajanon.extract.sources.column_evidence import as_given

MEASURES = """
acc accuracy alt altitude azimuth bearing battery cadence comment course direction dist distance
dop hdop pdop vdop ele elev elevation event fix hacc vacc heading height hgt hr heart heartrate mode
note odometer power pressure quality rate rssi sat sats satellites signal speed state status temp
temperature vel velocity
"""


def names_held(maker: Sequence[Any], **owners: Sequence[Any]) -> NamesHeld | None:
    """What a column of no usual name may say of persons."""
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, **owners, "maker": maker})
    _, warned, reading = chosen(rows)
    assert not warned
    return reading.tables.names.get("maker")


def test_a_column_counts_rows_from_ten_rows_on() -> None:
    for rows in (9, 10):
        ids = pd.DataFrame({"lat": 40.0, "lon": 2.0, "time": SECONDS[:rows], "id": range(rows)})
        used, warned, _ = chosen(ids)
        assert ("id" in used, len(warned)) == ((True, 0) if rows == 9 else (False, 1))
    with_a_gap = table(id=[*range(ROWS - 1), None])
    assert chosen(with_a_gap)[0] == {"id": "id"}


@pytest.mark.parametrize("spelled", [str, str.upper, "gps_{}".format, "{} 2".format])
def test_no_column_under_the_name_of_a_measure_names_persons_or_recordings(spelled: Any) -> None:
    names = [spelled(word) for word in MEASURES.split()]
    numbers = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": TWO, **dict.fromkeys(names, 7)})
    assert not chosen(numbers)[2].tables.names
    texts = table(time=SECONDS, **dict.fromkeys(names, TWO))
    assert chosen(texts)[0] == {"time": "time"}


def test_a_word_of_a_measure_stands_alone() -> None:
    longer = {name for word in MEASURES.split() for name in (f"x{word}", f"{word}x")}
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": TWO, **dict.fromkeys(longer, 7)})
    assert set(chosen(rows)[2].tables.names) == longer


@pytest.mark.parametrize(
    ("name", "values", "possible"),
    [
        ("plate", [7, 7, 9, 9], True),
        ("plate", [7.0, 7.0, 9.5, 9.5], False),
        ("speed", [7, 7, 9, 9], False),
        ("speed", ["fast", "fast", "9", "9"], False),
        ("note", ["ann", "ann", "bob", "bob"], True),
    ],
)
def test_numbers_that_measure_name_no_persons(name: str, values: list[Any], possible: bool) -> None:
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": list("aabb"), name: values})
    assert list(chosen(rows)[2].tables.names) == [name] * possible


@pytest.mark.parametrize("other", [["inf"], [np.inf, 0.5], [-np.inf, 7.0]])
def test_an_infinite_value_is_no_number_and_no_fault(other: list[Any]) -> None:
    infinite = (other * ROWS)[:ROWS]
    assert chosen(table(id=["a"] * ROWS, speed=infinite))[0] == {"id": "id"}
    assert chosen(table(id=["a"] * ROWS, seq=infinite))[0] == {"id": "id"}


@pytest.mark.parametrize("role", ["id", "user", "time"])
def test_lists_under_names_of_owners_and_times_are_refused(role: str) -> None:
    columns: dict[str, Sequence[Any]] = {"time": SECONDS, role: [["x", "y"]] * ROWS}
    with pytest.raises(BadInput) as error:
        chosen(table(**columns))
    assert str(error.value) == (
        f"the column {role!r} of t.csv holds lists, not a value a row; name another in `columns`"
    )


def test_values_of_several_kinds_are_no_lists() -> None:
    assert chosen(table(id=[1, "a"] * (ROWS // 2), time=SECONDS))[0]["id"] == "id"


def test_other_lists_are_left_out() -> None:
    lists = [["x"], *[None] * (ROWS - 1)]
    rows = table(id=TWO, time=SECONDS, tz=lists, valid=lists, seq=lists, other=lists, ride=lists)
    used, warned, reading = chosen(rows)
    assert (used, warned) == ({"id": "id", "time": "time"}, [])
    assert not reading.tables.names
    assert chosen(rows.drop(columns=["id", "ride"]))[2].counts  # they tell no recordings apart


@pytest.mark.parametrize(
    ("owners", "maker", "held"),
    [
        # Each row without an id is of no recording.
        ({"id": ["a", "a", None, "b"]}, [*"xxzy"], NamesHeld(2, {*"xyz"})),
        ({"id": ["a", "a", None, None]}, [*"xxyz"], NamesHeld(1, {*"xyz"})),
        ({"id": ["a", "a", "b", "b"]}, [*"xxxy"], NamesHeld(varies=True)),
        ({"id": ["a", "b", "a", "b"]}, [*"xyxy"], NamesHeld(2, {*"xy"})),
        ({"id": ["a", "b", "a", "b"]}, ["x", None, None, "y"], NamesHeld(2, {*"xy"})),
        ({"id": [1, 2, 1, 2]}, [*"xxyy"], NamesHeld(varies=True)),
        # Parts of an id are recordings of their own; so is one id that another column divides.
        (
            {"track_fid": [1, 1, 1, 2], "track_seg_id": [0, 1, 1, 1]},
            [*"xyyz"],
            NamesHeld(3, {*"xyz"}),
        ),
        (
            {"track_fid": [1, 1, 1, 2], "track_seg_id": [0, 1, None, 1]},
            [*"xyvz"],
            NamesHeld(3, {*"xyzv"}),
        ),
        ({"id": pd.Categorical([*"aabb"], [*"cab"])}, [*"xxyy"], NamesHeld(2, {*"xy"})),
    ],
)
def test_recordings_are_told_apart_by_all_owners(
    owners: Mapping[str, Sequence[Any]], maker: Sequence[Any], held: NamesHeld
) -> None:
    assert names_held(maker, **owners) == held


@pytest.mark.parametrize(
    ("hires", "divides"),
    [
        ([*"abcd"], True),
        ([*"aabc"], True),
        ([*"aabb"], False),  # as many as users
        ([*"abbc"], False),  # one of two users
        (["a", "b", "c", None], False),
    ],
)
@pytest.mark.parametrize("last", [[], ["e"]])
def test_a_column_may_divide_what_each_subject_made(
    hires: Sequence[str | None], last: list[str], divides: bool
) -> None:
    """Tens of rows, two of each user; the last row may make them fewer than ten on average."""
    of_rows = [hire for hire in hires for _ in range(10)]
    times = pd.date_range("2024-05-01", periods=40, freq="s", tz="UTC").astype(str)
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "time": times, "user": ["u"] * 20 + ["v"] * 20})
    rows["hire"] = of_rows[: 40 - len(last)] + last
    sentence = (
        "the column 'hire' of t.csv may hold the recordings of each subject: if it does, set "
        "`columns` id=hire"
    )
    divides = divides if not last else hires == [*"aabc"] or hires == [*"aabb"]
    used, warned, reading = chosen(rows)
    assert (used["subject"], warned) == ("user", [sentence] * divides)
    assert not reading.tables.names  # as persons are known
    assert chosen(rows.assign(trip=rows["user"]))[1] == []


SIX = ROWS // 2


@pytest.mark.parametrize(
    ("columns", "order"),
    [
        # Each recording has its own times and numbers.
        ({"id": HALVES, "time": SECONDS[:SIX] * 2, "seq": [*range(SIX)] * 2}, False),
        ({"id": HALVES, "time": MINUTES[:SIX] * 2, "seq": [*range(SIX)] * 2}, True),
        ({"id": TWO, "time": [*SECONDS[:-1], None], "seq": range(ROWS)}, True),
        ({"id": HALVES, "seq": [*range(SIX)] * 2}, True),
        ({"id": HALVES, "seq": [*range(SIX), *range(SIX)][::-1]}, True),
        ({"id": TWO, "seq": [*range(SIX)] * 2}, False),  # twice in each
        # Under a usual name there may be gaps, and texts; but no fractions, and a number a row.
        ({"id": HALVES, "seq": [0, 5, 6, 10, 11, 12, 3, 4, 8, 9, 20, 21]}, True),
        ({"id": HALVES, "seq": [str(row) for row in range(ROWS)]}, True),
        ({"id": HALVES, "seq": [row / 2 for row in range(ROWS)]}, False),
        ({"id": HALVES, "seq": [*range(ROWS - 1), None]}, False),
        ({"id": HALVES, "seq": [*range(ROWS - 1), np.inf]}, False),
        ({"id": HALVES, "seq": ["x"] * ROWS}, False),
        # Under others, each follows another: in each recording, or in the table.
        ({"id": HALVES, "k": [*range(SIX), *range(7, 7 + SIX)]}, True),
        ({"id": HALVES, "k": [0, 1, 2, 3, 4, 6, *range(SIX)]}, False),
        ({"id": HALVES, "k": range(0, 2 * ROWS, 2)}, False),
        ({"id": TWO, "k": range(ROWS)}, True),
        ({"id": TWO, "k": range(ROWS)[::-1]}, True),
        ({"id": TWO, "k": [*range(1, ROWS), 12.0]}, True),
        ({"id": TWO, "k": [*range(ROWS - 1), ROWS]}, False),
        ({"id": TWO, "k": [*range(1, ROWS), ROWS - 1]}, False),
        # Where none of a usual name numbers points, one of another may.
        ({"id": HALVES, "seq": ["x"] * ROWS, "k": range(ROWS)}, True),
    ],
)
def test_whole_numbers_number_the_points_of_each_recording(
    columns: Mapping[str, Sequence[Any]], order: bool
) -> None:
    used = chosen(table(**columns))[0]
    expected = "k" if "k" in columns else "seq"
    assert used.get("order") == (expected if order else None)


@pytest.mark.parametrize(
    ("ids", "order", "is_order"),
    [
        ("aa", [0, 1], True),
        ("ab", [0, 1], False),  # a point each
        ("aabb", [0, 1, 0, 1], True),
        ("abababab", range(8), False),  # too few rows to say that these are counted
    ],
)
def test_few_points_are_numbered(ids: str, order: Sequence[int], is_order: bool) -> None:
    rows = pd.DataFrame({"lat": 40.0, "lon": 2.0, "id": [*ids], "k": order})
    assert ("order" in chosen(rows)[0]) == is_order


@pytest.mark.parametrize(
    ("values", "come_again"),
    [
        ([0, 20, 40] * 4, True),
        ([0, 20, 63] * 4, True),  # AIS has codes beyond 59
        ([20.5, 21, 22, 21, 20.5, 20, 19.5, 20, 20.5, 21, 21.5, 21], False),  # temperatures
        ([20.5, 21, 22, 21, 20.5, 20, 20, 20, 20.5, 21, 20.5, 21], True),
        ([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3], False),  # three fixes a second
        ([None] * ROWS, False),
        ([0, 1, 3, 5, 7] * 2 + [0, 0], True),
        ([0, 1, 3, 5, 7, 9] * 2, False),  # each twice is not again and again
        ([0, 20, 40, None] * 3, True),
        ([0, 20, 40, 41, None, None] * 2, False),
        ([1.7e9, 1.7e9 + 1] * 6, False),
        (["2024-05-01T08:00:00Z"] * ROWS, False),
        (["x"] * ROWS, False),
    ],
)
def test_numbers_that_come_again_and_again_are_no_times(
    values: list[Any], come_again: bool
) -> None:
    used, warned, _ = chosen(table(id=["a"] * ROWS, time=values))
    sentence = (
        "the column 'time' of t.csv holds numbers that come again and again, no times: name "
        "another, `columns` time=..."
    )
    assert ("time" in used, warned) == ((False, [sentence]) if come_again else (True, []))
    assert chosen(table(id=["a"] * ROWS, time=values), {"time": "time"})[0]["time"] == "time"


def test_seconds_come_again_within_a_recording() -> None:
    within = table(id=HALVES, time=[0, 30] * SIX)
    assert "time" not in chosen(within)[0]
    among_several = table(id=[*"abcdefghijkl"], time=[0, 30] * SIX)
    rows = pd.concat([among_several, among_several.assign(time=40)])  # so that no id is a row's
    assert "time" in chosen(rows)[0]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([7.0, 7.5, -3.0, np.nan], ["7", "7.5", "-3", None]),
        ([300000000000000.0, 1e300], ["300000000000000", "1e+300"]),
        ([7, 8], ["7", "8"]),
        (pd.array([7, None], "Int64"), ["7", None]),
        (pd.array([7.0, None], "Float64"), ["7", None]),
        (["7.0", " a ", "", "  ", "\u200b", None], ["7.0", " a ", None, None, None, None]),
        ([True, b"x", b"\xff"], ["True", "x", "\\xff"]),  # as files of Parquet are read
        ([], []),
    ],
)
def test_names_are_read_as_they_are_written(values: Any, names: list[str | None]) -> None:
    assert as_given(pd.Series(values)) == names
