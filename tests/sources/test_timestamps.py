"""Times of tables, however they are written, as numbers or in digits alone too."""

import logging
import math
from collections import Counter
from datetime import date, time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from point_tables import ROWS, csv, is_the_two_traces, read

from trajanon.errors import BadInput
from trajanon.extract.sources import timestamps

SEVEN = 1212908400  # 2008-06-08T07:00:00Z


def times(folder: Path, *values: str) -> list[float | None]:
    """What becomes of times as they stand in a CSV; None is an unknown one."""
    rows = "".join(f"{i / 1000},2,a,{value}\n" for i, value in enumerate(values))
    (one,) = read(csv(folder, f"lat,lon,id,time\n{rows}"))
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
        (["2008-02-29 00:00:01", "2007-02-29 00:00:01"], [1204243201, None]),
        (["xx", "xx"], [None, None]),
        (["-", "-"], [None, None]),
        (["", ""], [None, None]),
        # cleaning sorts them
        (["30", "20", "10"], [30, 20, 10]),
        # day and month: that order which reads more, else the month first
        (["10:00:00 02/03/2020", "11:00:00 02/03/2020"], [1580724000, 1580727600]),
        (["01/02/2008 00:00:01", "13/02/2008 00:00:00"], [1201824001, 1202860800]),
        # no warning of a guess reaches the user: here it would be an error
        (["13/09/2020 12:26:40"], [1600000000]),
        (["13.09.2020 12:26:40"], [1600000000]),
        (["09/13/2020 12:26:40 PM"], [1600000000]),
        (["13/09/2020 12:26:40 PM"], [1600000000]),
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
    assert "points has days but no times of day: it is untimed" in caplog.text


def test_a_table_of_which_no_time_can_be_read_says_that_it_is_untimed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    counts: Counter[str] = Counter()
    zones = "".join(f"1,2,a,2020-09-13 12:26:{second} CET\n" for second in (40, 41))
    (one,) = read(csv(tmp_path, f"lat,lon,id,time\n1,2,a,\n{zones}"), counts=counts)
    assert np.isnan(one.time).all()
    assert counts == {"times that could not be read": 2}
    assert caplog.messages == [
        "none of the times of points can be read, such as '2020-09-13 12:26:40 "
        "CET': it is untimed; write them as 2020-09-13T12:26:40Z"
    ]


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
        ("date,time\n1,2,a,2008-10-23,02:53:04\n1,2,a,,02:53:05\n", {}, [1224730384, np.nan]),
    ],
)  # fmt: skip
def test_times_of_day_are_joined_with_their_date(
    tmp_path: Path, rows: str, columns: dict[str, Any], expected: list[float]
) -> None:
    (one,) = read(csv(tmp_path, f"lat,lon,id,{rows}"), **columns)
    np.testing.assert_array_equal(one.time, expected)


@pytest.mark.parametrize(
    ("day", "of_day"),
    [(date(2008, 10, 23), time(2, 53, 4)), (pd.Timestamp("2008-10-23"), "02:53:04")],
)
def test_dates_and_times_of_day_of_parquet_are_joined(
    tmp_path: Path, day: Any, of_day: Any
) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(date=[day] * 4, time=[of_day] * 4).to_parquet(path)
    assert read(path)[0].time.tolist() == [1224730384] * 2


@given(
    when=st.lists(st.datetimes(pd.Timestamp(1678, 1, 1), pd.Timestamp(2262, 1, 1))),
    form=st.sampled_from(["%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M", "%Y%m%dT%H%M%S"]),
)
def test_times_of_arrow_are_those_of_pandas(when: list[pd.Timestamp], form: str) -> None:
    texts = [f"{each:{form}}" for each in [pd.Timestamp("2008-06-08 07:00:00"), *when]]
    texts[2::3] = ["?"] * len(texts[2::3])
    found = timestamps._by_arrow(pa.array(texts, pa.string()), form)
    known = pd.to_datetime(pd.Series(texts, dtype="str"), format=form, errors="coerce")
    seconds = ((known - pd.Timestamp(0)) / pd.Timedelta("1s")).round().to_numpy(float)
    assert found[0] == SEVEN
    assert (np.isnan(found) | (found == seconds)).all()


@given(st.text(alphabet="0123456789-: T", max_size=20))
def test_no_text_is_a_fixed_time_but_those_of_its_format(text: str) -> None:
    (found,) = timestamps._by_arrow(pa.array([text]), "%Y-%m-%d %H:%M:%S")
    (known,) = pd.to_datetime(pd.Series([text]), format="%Y-%m-%d %H:%M:%S", errors="coerce")
    assert math.isnan(found) or found == known.timestamp()


EIGHT = 1683964800.0
"""2023-05-13 08:00:00 UTC."""


def seconds(folder: Path, *rows: str, names: str = "time") -> list[float]:
    """Times of a table with these columns, one row for each, after the first."""
    lines = "".join(f"{i},2,a,{row}\n" for i, row in enumerate(rows))
    (one,) = read(csv(folder, f"lat,lon,id,{names}\n{lines}"))
    return [float(time) for time in one.time]


@pytest.mark.parametrize(
    ("first", "second", "clock"),
    [
        ("20230513080000", "20230513080020", "YYYYMMDDhhmmss"),
        ("20230513080000250", "20230513080020250", "YYYYMMDDhhmmsssss"),
        ("230513080000", "230513080020", "YYMMDDhhmmss"),
        ("13052023080000", "13052023080020", "DDMMYYYYhhmmss"),
        ("467768.000000", "467768.005556", "hours since 1970"),
        ("45059.333333333", "45059.333564815", "days of Excel"),
        ("19490.333333333", "19490.333564815", "days since 1970"),
        ("739019.333333333", "739019.333564815", "days of Matlab"),
        ("2460077.833333333", "2460077.833564815", "Julian days"),
        ("638195616000000000", "638195616200000000", "ticks of .NET"),
        ("133284384000000000", "133284384200000000", "ticks of Windows"),
    ],
)
def test_numbers_of_odd_clocks_are_read_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, first: str, second: str, clock: str
) -> None:
    found = np.array(seconds(tmp_path, first, second))
    expected = [EIGHT, EIGHT + 20.0]
    assert found == pytest.approx(
        np.add(expected, 0.25 if clock.endswith("sss") else 0.0), abs=0.01
    )
    (record,) = caplog.records
    said = f"points has times such as {first}: read as {clock}, 2023-05-13"
    assert record.getMessage() == said


@pytest.mark.parametrize(
    ("first", "second", "clock"),
    [
        ("202305130800", "202305130801", "YYYYMMDDhhmm"),
        ("2305130800", "2305130801", "YYMMDDhhmm"),
        ("28066080", "28066081", "minutes since 1970"),
    ],
)
def test_minutes_of_odd_clocks_are_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, first: str, second: str, clock: str
) -> None:
    assert seconds(tmp_path, first, second) == [EIGHT, EIGHT + 60.0]
    said = f"points has times such as {first}: read as {clock}, 2023-05-13"
    assert caplog.messages == [said]


@pytest.mark.parametrize("number", ["705657600", "2023133080000"])
def test_numbers_that_are_probably_of_another_clock_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, number: str
) -> None:
    """Seconds since 2001, and the day of a year, are not told from others."""
    seconds(tmp_path, number, number)
    assert "seconds since 1970, " in caplog.text


@pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
@given(at=st.integers(946684800, 1_990_000_000), steps=st.lists(st.integers(1, 90), max_size=30))
def test_usual_numbers_are_seconds_since_1970(unit: int, at: int, steps: list[int]) -> None:
    """Whatever their digits happen to be."""
    times = at + np.cumsum([0, 61, 61, *steps])
    clock = timestamps.clock_of((times * unit).astype(np.float64))
    assert clock is not None
    assert clock.usual
    assert clock.seconds((times * unit).astype(np.float64)) == pytest.approx(times)


@pytest.mark.parametrize(
    ("date", "time", "said"),
    [
        ("20230513", "080000 080020", "read as hhmmss"),
        ("20230513", "80000 80020", "read as hhmmss"),
        ("2023-05-13", "080000.00 080020.00", "read as hhmmss"),
        ("13.05.2023", "28800 28820", "read as seconds of the day"),
        ("20230513", "0.333333333 0.333564815", "read as shares of a day"),
        ("20230513", "8:00:00AM 8:00:20AM", ""),
        ("20230513", "08:00:00 08:00:20", ""),
    ],
)
def test_a_time_of_day_is_read_beside_its_day(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, date: str, time: str, said: str
) -> None:
    rows = [f"{date},{one}" for one in time.split()]
    found = seconds(tmp_path, *rows, names="date,time")
    assert found == pytest.approx([EIGHT, EIGHT + 20.0], abs=0.003)
    assert said in caplog.text
    assert bool(said) == bool(caplog.text)


@pytest.mark.parametrize(
    ("days", "form"),
    [
        (("230513", "230514"), "YYMMDD"),
        (("130523", "140523"), "DDMMYY"),
        (("051323", "051423"), "MMDDYY"),
        (("13052023", "14052023"), "DDMMYYYY"),
    ],
)
def test_days_in_digits_are_read_in_the_order_of_the_shorter_span(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, days: tuple[str, str], form: str
) -> None:
    rows = [f"{day},08:00:00" for day in days]
    assert seconds(tmp_path, *rows, names="date,time") == [EIGHT, EIGHT + 86_400.0]
    assert caplog.messages == [f"points has days such as {days[0]}: read as {form}"]


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
        (["120523,08:00:00"], "date,time", "may be 2012-05-23 or 2023-05-12 or 2023-12-05"),
        (["991399,08:00:00"], "date,time", "may be anything"),
        (["20230513,8.5", "20230513,8.6"], "date,time", "no times of day"),
        (["2023.36438", "2023.36440"], "time", "numbers of no known clock"),
        (["99999999999", "99999999998"], "time", "numbers of no known clock"),
    ],
)
def test_what_is_not_certain_is_refused(
    tmp_path: Path, rows: list[str], names: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        seconds(tmp_path, *rows, names=names)


def test_numbers_from_an_unknown_beginning_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert seconds(tmp_path, "0", "60", "61.5") == [0.0, 60.0, 61.5]
    assert caplog.messages == [
        "points has times such as 0: read as seconds from an unknown beginning"
    ]


def test_a_number_outside_1980_to_2100_is_no_time_of_a_clock(tmp_path: Path) -> None:
    found = seconds(tmp_path, "1683964800", "0", "1683964801")
    assert [found[0], found[2]] == [EIGHT, EIGHT + 1.0]
    assert np.isnan(found[1])


@pytest.mark.parametrize("text", ["05-13 08:00:00", "13 May 08:00", "2023-05 at eight"])
def test_a_day_that_is_not_written_is_not_made_up(tmp_path: Path, text: str) -> None:
    """Pandas would take the year 1."""
    assert np.isnan(seconds(tmp_path, text, text)).all()


def test_dates_of_other_centuries_are_used_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    found = seconds(tmp_path, "1851-06-25 00:00:01", "1851-06-25 06:00:00")
    assert found[1] - found[0] == 21599.0
    with caplog.at_level(logging.WARNING):
        assert "outside 1980 to 2100 such as 1851-06-25T00:00:01Z" in caplog.text


@given(when=st.lists(st.datetimes(pd.Timestamp(1980, 1, 1), pd.Timestamp(2079, 1, 1)), min_size=1))
@pytest.mark.parametrize(
    ("form", "written"),
    [("YYYYMMDDhhmmss", "%Y%m%d%H%M%S"), ("YYMMDDhhmmss", "%y%m%d%H%M%S"), ("DDMMYY", "%d%m%y")],
)
def test_digits_are_read_as_they_were_written(
    when: list[pd.Timestamp], form: str, written: str
) -> None:
    numbers = np.array([float(f"{each:{written}}") for each in when])
    unit = "D" if "h" not in form else "s"
    expected = np.array(when, "datetime64[s]").astype(f"datetime64[{unit}]").astype("datetime64[s]")
    found = timestamps.seconds_of_digits(numbers, form)
    np.testing.assert_array_equal(found, expected.astype(np.int64))


@given(st.lists(st.integers(0, 10**15), min_size=1))
def test_no_digits_are_a_date_but_those_of_one(numbers: list[int]) -> None:
    found = timestamps.seconds_of_digits(np.array(numbers, float), "YYYYMMDDhhmmss")
    known = pd.to_datetime(pd.Series(map(str, numbers)), format="%Y%m%d%H%M%S", errors="coerce")
    known = known.where([len(str(each)) == 14 for each in numbers])
    known = known.where((known >= "1980") & (known < "2100"))
    np.testing.assert_array_equal(np.isnan(found), known.isna())
