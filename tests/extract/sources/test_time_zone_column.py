"""Zones of a column: offsets that exist, and times that no zone knows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from point_tables import csv, read

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
