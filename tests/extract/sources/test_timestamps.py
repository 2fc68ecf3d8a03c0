"""Times of tables, however they are written, as numbers or in digits alone too."""

import math
from datetime import date, time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from point_tables import ROWS, csv, is_the_two_traces, read

from trajanon.common.errors import BadInput
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.timestamps import (
    UNREAD_TIMES,
    are_times_of_day,
    reader_of_times,
    times_in,
)

SEVEN = 1212908400  # 2008-06-08T07:00:00Z


def times(folder: Path, *values: str, names: str = "time") -> list[float | None]:
    """What becomes of times as they stand in a CSV; None is an unknown one."""
    rows = "".join(f"{i / 1000},2,a,{value}\n" for i, value in enumerate(values))
    (one,) = read(csv(folder, f"lat,lon,id,{names}\n{rows}"))
    return [None if math.isnan(second) else float(second) for second in one.time]


@pytest.mark.parametrize(
    "text",
    [
        "2008-06-08T07:00:00Z",
        "2008-06-08T07:00:00",
        "2008-06-08 07:00:00",
        "2008-06-08T09:00:00+02:00",
        "2008-06-08T09:00:00.000+0200",
        "2008/06/08 07:00:00",
        "20080608T070000Z",
        # a zone after UTC is to the east; what stands after dashes is no zone
        "2008-06-08 09:00:00 UTC+2",
        "Sun Jun 08 2008 09:00:00 GMT+0200 (CEST)",
        "2008-06-08-07-00-00",
        "2008-06-08 07-00-00",
        "1212908400",
        "1212908400.0",
        "1212908400000",
        "1212908400000000",
        "1212908400000000000",
    ],
)
def test_a_time_is_understood_however_it_is_written(tmp_path: Path, text: str) -> None:
    """Without a zone it is UTC; numbers are seconds or thousandth parts of them."""
    assert times(tmp_path, text, text) == [SEVEN] * 2


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2008-06-08T07:00:00.25Z"], [SEVEN + 0.25]),
        (["1212908400250"], [SEVEN + 0.25]),
        # zones and formats may be mixed
        (
            ["2008-06-08T07:00:00Z", "2008-06-08T09:00:01+02:00", "2008-06-08 07:00:02"],
            [SEVEN, SEVEN + 1, SEVEN + 2],
        ),
        (
            ["2008-06-08 07:00:00", "2008/06/08 07:00:01", "2008-06-08T07:00:02.5Z"],
            [SEVEN, SEVEN + 1, SEVEN + 2.5],
        ),
        # what cannot be read is unknown, and changes no other
        (
            ["2008-06-08 07:00:00", "", "tomorrow", "2008-06-08 07:00:03"],
            [SEVEN, None, None, SEVEN + 3],
        ),
        (["1212908400", "-", "1212908402"], [SEVEN, None, SEVEN + 2]),
        (["1212908400", "1212908401", "9999999999999"], [SEVEN, SEVEN + 1, None]),
        (["1683964800", "0", "1683964801"], [1683964800, None, 1683964801]),
        (["2008-02-29 00:00:01", "2007-02-29 00:00:01"], [1204243201, None]),
        (["", ""], [None, None]),
        # cleaning sorts them
        (["30", "20", "10"], [30, 20, 10]),
        # day and month: that order which reads more, else the day first
        (["10:00:00 02/03/2020", "11:00:00 02/03/2020"], [1583143200, 1583146800]),
        (["01/02/2008 00:00:01", "13/02/2008 00:00:00"], [1201824001, 1202860800]),
        (["01/02/2024 00:00:00"], [1706745600]),
        # or that of the shorter span
        (["10/01/2024 23:59:59", "11/01/2024 00:00:00"], [1704931199, 1704931200]),
        (["01/10/2024 23:59:59", "01/11/2024 00:00:00"], [1704931199, 1704931200]),
        # no warning of a guess reaches the user: here it would be an error
        (["13/09/2020 12:26:40"], [1600000000]),
        (["13.09.2020 12:26:40"], [1600000000]),
        (["09/13/2020 12:26:40 PM"], [1600000000]),
        (["13/09/2020 12:26:40 PM"], [1600000000]),
        # the year first, with two digits; and after four of them never the day
        (["20-09-13 12:26:40", "20-09-14 12:26:40"], [1600000000, 1600086400]),
        (["2020-09-06 12:26:40 UTC+0"], [1599395200]),
        # spreadsheets leave out midnight
        (["13/09/2020", "13/09/2020 12:26:40"], [None, 1600000000]),
    ],
)
def test_times_of_a_column_are_read_or_unknown(
    tmp_path: Path, texts: list[str], expected: list[float | None]
) -> None:
    assert times(tmp_path, *texts) == expected


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Madrid"])
def test_dates_of_parquet_are_read_in_every_unit_and_zone(
    tmp_path: Path, unit: str, zone: str | None
) -> None:
    when = pd.Series([pd.Timestamp("2008-06-08 07:00:00")] * 4)
    when = when.dt.tz_localize("UTC").dt.tz_convert(zone or "UTC").dt.as_unit(unit)
    when = when.dt.tz_localize(None) if zone is None else when
    path = tmp_path / "points.parquet"
    ROWS.assign(time=when).to_parquet(path)
    assert read(path)[0].time.tolist() == [SEVEN] * 2


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("kind", ["int64", "float64", "string"])
def test_epochs_of_parquet_are_read_in_every_unit(tmp_path: Path, scale: int, kind: str) -> None:
    path = tmp_path / "points.parquet"
    when = pd.Series([SEVEN * scale] * 4).astype(kind)
    ROWS.assign(time=when).to_parquet(path)
    assert read(path)[0].time.tolist() == [SEVEN] * 2


def test_durations_are_times_that_begin_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(time=pd.to_timedelta(ROWS["time"], unit="s")).to_parquet(path)
    assert is_the_two_traces(read(path))


def test_times_of_day_are_refused_and_days_alone_order_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(BadInput, match=r"times of day \(15:36:08\)"):
        times(tmp_path, "15:36:08", "15:36:09")
    assert times(tmp_path, "2008-02-02", "2008-02-03") == [None, None]
    assert "points.csv has days but no times of day: it is untimed" in caplog.text


@pytest.mark.parametrize(
    "wrong", ["0000-00-00 00:00:00", "2020-02-30 00:00:00", "2020-01-01 24:00:00"]
)
def test_an_impossible_date_costs_one_time_of_many(tmp_path: Path, wrong: str) -> None:
    minutes = pd.date_range("2020-02-01", periods=900, freq="min").astype(str).tolist()
    found = times(tmp_path, *minutes[:700], wrong, *minutes[700:])
    assert found.pop(700) is None
    assert found == [1580515200 + 60 * i for i in range(900)]


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        ("date,time\n1,2,a,2008-10-23,02:53:04\n1,2,a,2008-10-24,2:53:10\n", {},
         [1224730384, 1224816790]),
        ("fecha,hora\n1,2,a,2008/10/23,02:53:04\n", {"date": "fecha", "time": "hora"},
         [1224730384]),
        ("date,time\n1,2,a,1999-01-01,2008-10-23 02:53:04\n", {}, [1224730384]),  # not needed
        ("date,time\n1,2,a,01/02/2024,3:04:05 PM\n", {}, [1704207845]),  # month first
        ("date,time\n1,2,a,01/02/2024,15:04:05\n", {}, [1706799845]),
        ("date,time\n1,2,a,2008-10-23,02:53:04\n1,2,a,,02:53:05\n", {}, [1224730384, np.nan]),
        ("date,time\n1,2,a,2008-10-03 00:00:00,02:53:04\n", {}, [1223002384]),
        ("time,timestamp\n1,2,a,20,2008-10-23 02:53:04\n", {}, [1224730384]),
    ],
)  # fmt: skip
def test_times_of_day_are_joined_with_their_date(
    tmp_path: Path, rows: str, columns: dict[str, Any], expected: list[float]
) -> None:
    (one,) = read(csv(tmp_path, f"lat,lon,id,{rows}"), **columns)
    np.testing.assert_array_equal(one.time, expected)


@pytest.mark.parametrize(
    ("day", "of_day"),
    [
        (date(2008, 10, 23), time(2, 53, 4)),
        (pd.Timestamp("2008-10-23"), "02:53:04"),
        ("2008-10-23", pd.Timedelta(hours=2, minutes=53, seconds=4)),
    ],
)
def test_dates_and_times_of_day_of_parquet_are_joined(
    tmp_path: Path, day: Any, of_day: Any
) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(date=[day] * 4, time=[of_day] * 4).to_parquet(path)
    assert read(path)[0].time.tolist() == [1224730384] * 2


EIGHT = 1683964800.0
"""2023-05-13 08:00:00 UTC."""


@pytest.mark.parametrize("number", ["705657600", "2023133080000"])
def test_numbers_that_are_probably_of_another_clock_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, number: str
) -> None:
    """Seconds since 2001, and the day of a year, are not told from others."""
    times(tmp_path, number, number)
    assert "seconds since 1970, " in caplog.text


def test_fractions_of_a_second_beside_a_day_are_kept(tmp_path: Path) -> None:
    rows = ["20230513,080000.25", "20230513,80000.5"]
    assert times(tmp_path, *rows, names="date,time") == [EIGHT + 0.25, EIGHT + 0.5]


@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("20230513", "080000 080020"),
        ("20230513", "80000 80020"),
        ("2023-05-13", "080000.00 080020.00"),
        ("13.05.2023", "08:00:00 08:00:20"),
        ("20230513", "8:00:00AM 8:00:20AM"),
        ("20230513", "08:00:00 08:00:20"),
    ],
)
def test_a_time_of_day_is_read_beside_its_day(tmp_path: Path, date: str, time: str) -> None:
    rows = [f"{date},{one}" for one in time.split()]
    assert times(tmp_path, *rows, names="date,time") == [EIGHT, EIGHT + 20.0]


@pytest.mark.parametrize(
    ("rows", "names", "words"),
    [
        (["00:00.0", "00:20.0"], "time", "minutes and seconds but no hours"),
        (["59:40", "00:20"], "time", "minutes and seconds but no hours"),
        (["130523,59:40.0", "130523,00:20.0"], "date,time", "minutes and seconds but no hours"),
        (["8:00:00 AM", "8:00:20 AM"], "time", r"times of day \(8:00:00 AM\)"),
        (["08:00:00Z", "08:00:20Z"], "time", r"times of day \(08:00:00Z\)"),
        (["080000", "080020"], "time", r"times of day \(080000\)"),
        (
            [str(80000 + 100 * i + s) for i in range(9) for s in (0, 20, 40)],
            "time",
            r"times of day \(80000\)",
        ),
        (["120523,08:00:00"], "date,time", "none of the times .* can be read"),
        (["20230513,8.5", "20230513,8.6"], "date,time", "numbers of no known clock"),
        (["20230513,45059.33333", "20230513,45059.3336"], "date,time", "of no known clock"),
        (["638195616000000000", "638195616200000000"], "time", "numbers of no known clock"),
        (["2020-09-13 12:26:40 CET+1"], "time", "none of the times"),
        (["45059.333333333", "45059.333564815"], "time", "numbers of no known clock"),
        (["133284384000000000", "133284384200000000"], "time", "numbers of no known clock"),
        (["202305130800", "202305130801"], "time", "numbers of no known clock"),
        (["2020-09-13 12:26:40 CET"], "time", "none of the times .* write them as 2020"),
        (["05-13 08:00:00", "05-13 08:00:01"], "time", "none of the times"),
        (["13 May 08:00", "13 May 08:01"], "time", "none of the times"),
        (["2023-05 at eight", "2023-05 at nine"], "time", "none of the times"),
        (["2023.36438", "2023.36440"], "time", "numbers of no known clock"),
        (["99999999999", "99999999998"], "time", "numbers of no known clock"),
    ],
)
def test_what_is_not_certain_is_refused(
    tmp_path: Path, rows: list[str], names: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        times(tmp_path, *rows, names=names)


def test_numbers_from_an_unknown_beginning_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert times(tmp_path, "0", "60", "61.5") == [0.0, 60.0, 61.5]
    assert caplog.messages == [
        f"{tmp_path / 'points.csv'} has times such as 0: read as seconds from an unknown beginning"
    ]


def test_a_stamp_of_fourteen_digits_is_read_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert times(tmp_path, "20230513080000", "20230513080020") == [EIGHT, EIGHT + 20.0]
    (message,) = caplog.messages
    assert message.endswith("points.csv has times such as 20230513080000: read as YYYYMMDDhhmmss")


@pytest.mark.parametrize("beyond", [1e20, -1e300, np.inf])
def test_one_number_beyond_all_days_costs_one_time(tmp_path: Path, beyond: float) -> None:
    """A placeholder, as programs write it into columns of floats."""
    days = [20_230_513.0] * 4 + [beyond]
    rows = {"id": "a", "lat": np.arange(5.0), "lon": 2.0, "date": days, "time": "08:00:00"}
    pd.DataFrame(rows).to_parquet(tmp_path / "points.parquet")
    (found,) = read(tmp_path / "points.parquet")
    np.testing.assert_array_equal(found.time, [EIGHT] * 4 + [np.nan])


def test_numbers_beyond_all_times_are_refused(tmp_path: Path) -> None:
    rows = {"id": "a", "lat": np.arange(5.0), "lon": 2.0, "time": 1e300}
    pd.DataFrame(rows).to_parquet(tmp_path / "points.parquet")
    with pytest.raises(BadInput, match=r"such as 1e\+300, are numbers of no known clock"):
        read(tmp_path / "points.parquet")


def test_a_format_is_found_after_many_rows_without_time(tmp_path: Path) -> None:
    texts = ["13/09/2020 12:26:40", "13/09/2020 12:26:41"]
    assert times(tmp_path, *[""] * 100, *texts) == [*[None] * 100, 1600000000, 1600000001]
    days_apart = [text.replace(" ", ",") for text in texts]
    found = times(tmp_path, *["13/09/2020,"] * 100, *days_apart, names="date,time")
    assert found == [*[None] * 100, 1600000000, 1600000001]


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["2008-06-08 07:00:00", "2008-06-08 07:00:01"], [SEVEN, SEVEN + 1]),
        (["1212908400", "1212908401"], [SEVEN, SEVEN + 1]),
        (["2008-06-08", "2008-06-09"], [np.nan, np.nan]),  # days alone
    ],
)
def test_later_times_are_read_after_a_chunk_without_any(
    texts: list[str], seconds: list[float]
) -> None:
    reading = Reading()
    empty = pd.DataFrame({"time": pd.Series([None] * 10, dtype="string")})
    late = pd.DataFrame({"time": pd.Series(texts, dtype="string")})
    read_seconds = reader_of_times(empty, reading)
    for rows, expected in ((empty, [np.nan] * 10), (late, seconds), (late, seconds)):
        np.testing.assert_array_equal(read_seconds(rows), expected)
    assert reading.counts[UNREAD_TIMES] == 0


def test_later_times_that_cannot_be_read_are_refused() -> None:
    empty = pd.DataFrame({"time": pd.Series([None] * 10, dtype="string")})
    read_seconds = reader_of_times(empty, Reading())
    read_seconds(empty)
    with pytest.raises(BadInput, match="none of the times"):
        read_seconds(empty.fillna("at eight"))


@pytest.mark.parametrize(
    ("first_of_date", "days"),
    [
        ("day", ["05/05/2020", "06/05/2020", "07/05/2020"]),
        ("day", ["06/05/2020", "07/05/2020"]),
        ("month", ["05/05/2020", "05/06/2020", "05/07/2020"]),
    ],
)
def test_an_order_of_day_and_month_that_may_be_another_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, first_of_date: str, days: list[str]
) -> None:
    """Also if the first text has one meaning only."""
    times(tmp_path, *(f"{day} 12:00:00" for day in days))
    (message,) = caplog.messages
    assert f"read as {first_of_date} first; if that is wrong, " in message


def test_a_column_without_values_holds_no_times_of_day() -> None:
    assert not are_times_of_day(pd.Series([None, None], dtype="string"))
    assert not are_times_of_day(pd.Series([None, None], dtype="timedelta64[ns]"))


@pytest.mark.parametrize(
    ("utc", "leap_seconds"),
    [
        ("1981-06-30T23:59:59", 0),
        ("1981-07-01T00:00:00", 1),
        ("1995-11-05T00:53:10", 10),
        ("1998-12-31T23:59:59", 12),
        ("1999-01-01T00:00:00", 13),
        ("2016-12-31T23:59:59", 17),
        ("2017-01-01T00:00:00", 18),
        ("2023-05-13T08:00:00", 18),
    ],
)
def test_gps_is_ahead_by_the_leap_seconds_of_its_time(utc: str, leap_seconds: int) -> None:
    seconds = pd.Timestamp(utc).timestamp()
    by_gps = seconds - pd.Timestamp("1980-01-06").timestamp() + leap_seconds
    rows = pd.DataFrame({"gps_seconds": [by_gps]})
    assert reader_of_times(rows, Reading())(rows).tolist() == [seconds]


def test_times_are_most_of_the_numbers_or_none() -> None:
    nan = np.nan
    for values, seconds in (
        ([SEVEN, 5.0, SEVEN + 1], [SEVEN, nan, SEVEN + 1]),
        ([SEVEN * 1e3, nan], [SEVEN, nan]),
        ([5.0, 6.0, SEVEN], None),
        ([nan, nan], None),
    ):
        found = times_in(np.array(values))
        assert (found if found is None else found.tolist()) == pytest.approx(seconds, nan_ok=True)
