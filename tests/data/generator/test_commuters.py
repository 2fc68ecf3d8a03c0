"""The drawn commuters: the script makes them again, and their days hang together."""

from collections import defaultdict
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import commuters
import pandas as pd
import pytest
from make_sample import EAST, NORTH, SOUTH, WEST

from trajanon.extract import extract


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("drawn") / "commuters.csv"
    commuters.write(path, people=5, days=7)
    return path


def test_the_same_people_come_out_again(file: Path) -> None:
    commuters.write(again := file.with_name("again.csv"), people=5, days=7)
    assert again.read_bytes() == file.read_bytes()


def test_the_next_trip_of_a_day_begins_where_the_last_ended(file: Path) -> None:
    rows = pd.read_csv(file)
    assert rows.subject.nunique() == 5
    assert rows.lat.between(SOUTH, NORTH).all()
    assert rows.lon.between(WEST, EAST).all()
    trips = defaultdict[tuple[str, str], list[pd.DataFrame]](list)
    for _, trip in rows.groupby("id", sort=False):
        times = [datetime.fromisoformat(time) for time in trip.time]
        assert times == sorted(times)
        trips[trip.subject.iloc[0], trip.time.iloc[0][:10]].append(trip)
    near = 0
    for day in trips.values():
        for before, after in pairwise(day):
            assert before.time.iloc[-1] < after.time.iloc[0]
            apart = (before.iloc[-1][["lat", "lon"]] - after.iloc[0][["lat", "lon"]]).abs().max()
            near += apart < 0.005  # but for trips that were not recorded, and parks
    steps = sum(len(day) - 1 for day in trips.values())
    assert near > 0.7 * steps > 0


def test_they_are_extracted_as_trips_of_their_people(file: Path) -> None:
    trips = extract([file])
    assert trips.subject is not None
    assert len(set(trips.subject.tolist())) == 5
    assert trips.times is not None
