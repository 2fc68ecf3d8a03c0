"""Zones of a column: offsets that exist, and times that no zone knows."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from point_tables import csv, read

from trajanon.common.arrays import Floats
from trajanon.extract.sources.time_zone_column import are_zones, seconds_east


@pytest.mark.parametrize("second", [1e12, -1e12, np.inf, np.nan, 253_402_300_799.0])
def test_times_that_no_zone_knows_are_unknown(second: float) -> None:
    zones = pd.Series(["America/New_York"] * 2)
    east = seconds_east(np.array([second, 1.6e9]), zones)
    np.testing.assert_array_equal(east, [np.nan, -4 * 3_600.0])


def test_one_impossible_time_costs_no_table(tmp_path: Path) -> None:
    rows = "".join(f"a,41,2.{second},{second},Europe/Madrid\n" for second in (0, 10, 20, 10**12))
    (found,) = read(csv(tmp_path, "id,lat,lon,time,timezone\n" + rows), zone="timezone")
    assert np.isfinite(found.time).tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("zone", "exists"), [("+14:00", True), ("-12:00", True), ("+14:45", False)]
)
def test_no_zone_is_farther_than_fourteen_hours(zone: str, *, exists: bool) -> None:
    assert are_zones(pd.Series([zone])) == exists


@pytest.mark.parametrize(
    ("zones", "hours"),
    [
        (["+02:00", "+02:00", "unknown"], [2.0, 2.0, np.nan]),
        ([2, 2, 9_999], [2.0, 2.0, np.nan]),
        ([120, -60, 9_999], [2.0, -1.0, np.nan]),
        (["2", "5.5", "inf"], [2.0, 5.5, np.nan]),
        ([7_200_000, 0, -3_600_000], [2.0, 0.0, -1.0]),
    ],
)
def test_one_wrong_zone_costs_no_other(zones: list[Any], hours: list[float]) -> None:
    column = pd.Series(zones)
    assert are_zones(column) != bool(np.isnan(hours).any())
    assert are_zones(column, 0.5)
    np.testing.assert_array_equal(seconds_east(np.zeros(3), column) / 3_600.0, hours)


def test_a_table_with_a_wrong_zone_is_not_read_as_utc(tmp_path: Path) -> None:
    def times_of_zones(name: str, *zones: str) -> Floats:
        rows = "".join(
            f"a,41,2.{second},2020-09-13T12:26:{second},{zone}\n"
            for second, zone in zip((10, 20, 30), zones, strict=True)
        )
        (found,) = read(csv(tmp_path, f"id,lat,lon,time,{name}\n{rows}"), counts=counts)
        return found.time - 1_599_999_960.0

    counts = Counter[str]()
    times = times_of_zones("tz", "+02:00", "unknown", "+02:00")
    np.testing.assert_array_equal(times, [10.0 - 2 * 3_600.0, np.nan, 30.0 - 2 * 3_600.0])
    assert counts == {"times that could not be read": 1}

    # Fare zones.
    np.testing.assert_array_equal(times_of_zones("zone", "Z", "W", "Z"), [10.0, 20.0, 30.0])


@pytest.mark.parametrize("columns", [{}, {"zone": "tz"}])
def test_a_zone_is_that_of_times_that_do_not_say_theirs(
    tmp_path: Path, columns: dict[str, Any]
) -> None:
    times = ["12:26:40Z", "13:26:40", "15:26:40+03:00", "13:26:40.0", "14:26:40 +0200"]
    rows = "".join(f"a,41,2,2020-09-13T{time},+01:00\n" for time in times)
    (found,) = read(csv(tmp_path, "id,lat,lon,time,tz\n" + rows), **columns)
    assert found.time.tolist() == [1_600_000_000.0] * 5


def test_a_zone_beside_times_with_a_zone_moves_none(tmp_path: Path) -> None:
    times = pd.to_datetime([1_600_000_000], unit="s", utc=True).tz_convert("Europe/Madrid")
    frame = pd.DataFrame({"id": "a", "lat": 41.0, "lon": 2.0, "time": times, "tz": "+01:00"})
    path = tmp_path / "a.parquet"
    frame.to_parquet(path)
    (found,) = read(path, zone="tz")
    assert found.time.tolist() == [1_600_000_000.0]
