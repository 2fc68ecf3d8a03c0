"""Times of tables, however they are written."""

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
