"""Roles of columns: their usual names, what shows that they fit, and what a user may say."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest
from chosen_columns import MINUTES, ROWS, SECONDS, TWO, chosen, refused, table

from trajanon.common.errors import BadInput
from trajanon.extract.sources.column_role_names import MARKS, known_as, parse_columns

LOCAL = [text[:-1] for text in SECONDS]
OF_DAY = [text[11:-1] for text in SECONDS]
DAYS = [f"2024-05-{day:02}" for day in range(1, ROWS + 1)]
SINCE_1980 = [1.2e9 + second for second in range(ROWS)]
SINCE_1970 = [1.7e9 + second for second in range(ROWS)]


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        *((name, ["lat"]) for name in ("lat", " LAT ", "Latitude N/S", "GPS-Lat.")),
        *((name, ["lat"]) for name in ("lat (deg)", "lat [°]", "\ufefflat", "latitude n/s ")),
        *((name, ["lon"]) for name in ("Longitude E/W", "location-long", "LNG (°E)")),
        *((name, ["id"]) for name in ("trip id", "Trip_ID", "trip#id", "TripId", "trip\tid")),
        ("lat,lon", ["place"]),
        ("date", ["time", "date"]),
        ("utc", ["time"]),
        ("latitude north", []),
        ("lat (deg) 2", []),
        ("Latitude n/e", []),
        ("", []),
    ],
)
def test_names_are_known_however_they_are_written(name: str, roles: list[str]) -> None:
    assert known_as(name) == roles


def test_marks_say_which_rows_are_wrong() -> None:
    assert MARKS == {
        "visible": False,
        "valid": False,
        "outlier": True,
        "outlier_by_algorithm": True,
        "outlier_at_import": True,
    }


@pytest.mark.parametrize(
    ("columns", "used"),
    [
        # Days are no times if others are; nor are times of day, without a day beside them.
        ({"time": DAYS, "ts": MINUTES}, {"time": "ts"}),
        ({"time": DAYS}, {"time": "time"}),
        ({"time": OF_DAY, "ts": MINUTES}, {"time": "ts"}),
        ({"time": OF_DAY, "date": DAYS}, {"time": "time", "date": "date"}),
        ({"time": OF_DAY, "day": DAYS, "ts": MINUTES}, {"time": "time", "date": "day"}),
        ({"date": OF_DAY, "ts": MINUTES}, {"time": "ts"}),
        ({"time": ["x"] * ROWS, "date": DAYS, "ts": MINUTES}, {"time": "ts"}),
        ({"time": ["x"] * ROWS}, {"time": "time"}),
        # Seconds since 1970, under a name with GPS, too; those since 1980 have a name for it.
        ({"gps_time": SINCE_1970}, {"time": "gps_time"}),
        ({"gps_time": SINCE_1980, "ts": MINUTES}, {"time": "ts"}),
        ({"time": SINCE_1980, "ts": MINUTES}, {"time": "time"}),
        ({"gps_seconds": SINCE_1980}, {"gps_seconds": "gps_seconds"}),
        ({"gps_seconds": SINCE_1980, "time": SECONDS}, {"gps_seconds": "gps_seconds"}),
        ({"tow": range(ROWS), "time": SECONDS}, {"time": "time"}),
        (
            {"tow": range(ROWS), "gps_week": [2_300] * ROWS, "time": SECONDS},
            {"gps_seconds": "tow", "gps_week": "gps_week"},
        ),
        (
            {"tow": [0] * ROWS, "gps_week": [2_300] * ROWS},
            {"gps_seconds": "tow", "gps_week": "gps_week"},
        ),
        ({"tow": [-1] * ROWS, "gps_week": [2_300] * ROWS, "time": SECONDS}, {"time": "time"}),
        ({"tow": ["x"] * ROWS, "gps_week": [2_300] * ROWS, "time": SECONDS}, {"time": "time"}),
        # Texts under another name are times if they are finer, but neither days nor numbers are.
        ({"time": MINUTES, "seen": SECONDS}, {"time": "seen"}),
        ({"time": MINUTES, "seen": DAYS}, {"time": "time"}),
        ({"time": MINUTES, "seen": SINCE_1970}, {"time": "time"}),
        ({"time": ["x"] * ROWS, "seen": [SECONDS[0]] * ROWS}, {"time": "time"}),
        ({"time": ["x"] * ROWS, "seen": MINUTES}, {"time": "seen"}),
        ({"seen": SECONDS}, {}),
        # Zones stand beside local times, by name or offset; numbers of a zone are of a place.
        ({"time": LOCAL, "tz": ["Europe/Vienna"] * ROWS}, {"time": "time", "zone": "tz"}),
        ({"time": LOCAL, "tz": [2] * ROWS}, {"time": "time", "zone": "tz"}),
        ({"time": LOCAL, "tz": ["x"] * ROWS}, {"time": "time"}),
        ({"time": LOCAL, "Zone": ["+02:00"] * ROWS}, {"time": "time", "zone": "Zone"}),
        ({"time": LOCAL, "Zone": [2] * ROWS}, {"time": "time"}),
        ({"time": LOCAL, "zone": ["+02:00", "2"] * (ROWS // 2)}, {"time": "time"}),
        ({"time": SECONDS, "tz": ["+02:00"] * ROWS}, {"time": "time"}),
        ({"utc": LOCAL, "tz": ["+02:00"] * ROWS}, {"time": "utc"}),
        # Letters of both coordinates, in other columns than those of usual names, are their signs.
        (
            {"y side": ["N", " s ", "", None, "n", "S"] * 2, "x side": ["e", "W"] * 6},
            {"lat_sign": "y side", "lon_sign": "x side"},
        ),
        (
            {"y side": ["N"] * ROWS, "x side": ["E"] * ROWS},
            {"lat_sign": "y side", "lon_sign": "x side"},
        ),
        ({"y side": ["N"] * ROWS, "x side": ["E", "x"] * 6}, {}),
        ({"y side": ["N"] * ROWS, "x side": [""] * ROWS}, {}),
        ({"y side": ["N"] * ROWS}, {}),
        ({"x side": ["E"] * ROWS}, {}),
    ],
)
def test_a_column_plays_a_role_if_its_values_show_it(
    columns: Mapping[str, Sequence[Any]], used: dict[str, str]
) -> None:
    assert chosen(table(id=["a"] * ROWS, **columns))[0] == {"id": "id", **used}


def test_letters_are_judged_by_the_first_rows() -> None:
    rows = pd.DataFrame({"lat": [40.0] * 21, "lon": 2.0, "id": "a", "up": "N", "side": "E"})
    for place, used in ((19, False), (20, True)):
        written = rows.copy()
        written.loc[place, "up"] = "x"
        assert ("lat_sign" in chosen(written)[0]) == used


def test_seconds_since_1980_are_asked_about_under_a_name_of_gps() -> None:
    assert "gps_seconds=gps_time" in str(refused(table(id=TWO, gps_time=SINCE_1980)))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("lat=y", {"lat": "y"}),
        (" lat = y , lon=x x", {"lat": "y", "lon": "x x"}),
        ("id=file,subject=folder", {"id": "file", "subject": "folder"}),
        ("subject=track,nameless=different", {"subject": "track", "nameless": "different"}),
        ("id=a,subject=a", {"id": "a", "subject": "a"}),
        ("id=X,time=XX", {"id": "X", "time": "XX"}),
    ],
)
def test_columns_are_said_by_role(text: str, columns: dict[str, str]) -> None:
    assert parse_columns(text) == columns


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        *(
            (
                text,
                f"`columns` {text!r} is not understood at {part!r}; write "
                "id=...,lat=...,lon=...,time=...,subject=... with your column names",
            )
            for text, part in (
                ("", ""),
                ("lat", "lat"),
                ("lat=", "lat="),
                ("lat=y,,x", ""),
                ("lat=y,lat=x", "lat=x"),
                ("lat=y;lon=x", "lat=y;lon=x"),
                ("lat=y=x", "lat=y=x"),
            )
        ),
        *(
            (
                f"{role}=y",
                f"columns have no role {role!r}: choose from lat, lon, place, lat_sign, lon_sign, "
                "id, part, subject, gps_week, gps_seconds, time, date, zone, visible, valid, "
                "outlier, outlier_by_algorithm, outlier_at_import, order",
            )
            for role in ("width", "")
        ),
        ("nameless=same", "`columns` nameless=same is not known: use nameless=different"),
        ("id=b,lat=a,lon=a", "`columns` lat=a,lon=a names one column twice"),
        ("id=b,lon=b", "`columns` lon=b,id=b names one column twice"),
    ],
)
def test_columns_that_are_not_understood_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as error:
        parse_columns(text)
    assert str(error.value) == sentence


def test_columns_of_other_programs_are_checked_as_well() -> None:
    with pytest.raises(BadInput, match="no role 'driver': choose from lat, lon, place"):
        chosen(table(id=TWO), {"driver": "id"})


@pytest.mark.parametrize("word", ["folder", "track", "none"])
def test_words_stand_in_place_of_a_column_of_persons(word: str) -> None:
    said = {"subject": word, "id": "file", "nameless": "different"}
    assert chosen(table(id=TWO, user=TWO, time=SECONDS), said)[0] == {"time": "time"}
    with pytest.raises(BadInput, match=f"has a column '{word}', and subject={word} means no col"):
        chosen(table(id=TWO, **{word: TWO}), {"subject": word})
