"""One person's tracks for sharing: what is asked for is checked, and no pause is overlooked."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trajanon.common.errors import BadInput
from trajanon.extract import Radius, Trimmed, trim

KEY = bytes(range(32))
PAUSE = 41.05  # where the track stands still for two hours


@pytest.fixture(autouse=True)
def ride(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A track to the north for 11 km, with a pause in its middle."""
    monkeypatch.chdir(tmp_path)
    lat = np.linspace(41.0, 41.1, 201)
    time = np.arange(201) * 10.0 + np.where(lat > PAUSE, 7_200.0, 0.0) + 1.7e9
    table = pd.DataFrame({"id": "ride", "lat": lat, "lon": 2.0, "time": time})
    table.to_csv("ride.csv", index=False)
    return table


def trimmed(**options: Any) -> Trimmed:
    return trim("ride.csv", "shared.csv", **{"key": KEY, **options})


def test_a_pause_is_seen_where_most_points_have_no_time(ride: pd.DataFrame) -> None:
    """The points without a time are left out, and that is counted."""
    assert trimmed().places == 3
    some = ride.assign(time=ride["time"].where(np.arange(201) % 5 < 2))
    some.to_csv("ride.csv", index=False)
    found = trimmed()
    assert found.places == 3
    assert found.points_dropped == 201 - some["time"].notna().sum()
    shared = pd.read_csv("shared.csv")
    assert (np.abs(shared["lat"] - PAUSE) > 0.0015).all()
    assert shared["time"].notna().all()


def test_a_track_without_any_time_keeps_its_points(ride: pd.DataFrame) -> None:
    ride.drop(columns="time").to_csv("ride.csv", index=False)
    assert trimmed().points_dropped == 0


def test_times_that_are_not_written_are_not_cut() -> None:
    with_times, without = trimmed(), trimmed(times=False)
    assert without == with_times
    assert 0.0 < without.seconds_cut < without.seconds
    assert pd.read_csv("shared.csv")["time"].isna().all()


def test_the_key_may_be_a_file(tmp_path: Path) -> None:
    made = [trimmed(key=path) for path in ("my.key", tmp_path / "my.key")]
    assert made[0] == made[1]
    assert (tmp_path / "my.key").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"key": b""}, "`key` must have 16 to 64 bytes"),
        ({"key": bytes(32)}, "the same byte everywhere"),
        ({"key": bytes(66)}, "`key` must have 16 to 64 bytes"),
        ({"radius": Radius(200.0, 200.0)}, r"end at twice that or more.*\(got 200-200\)"),
        ({"hide": [[200.0, 500.0]]}, "place 0 of `hide` is not on Earth"),
        ({"hide": [[np.nan, 2.0]]}, "place 0 of `hide` is not on Earth"),
        ({"hide": [41.0, 2.0]}, r"`hide` must be latitudes and longitudes, \(n, 2\)"),
    ],
)
def test_what_would_hide_nothing_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        trimmed(**options)
    assert not Path("shared.csv").exists()
