"""Files that strangers tried and that were misread: what they give now, from end to end."""

import logging

import numpy as np
import pytest
from real_data import SHARED

from trajanon.extract import extract

CASES = SHARED / "cases/2026-11-27"
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="../shared/cases is not here")

START = 1_683_964_800.0  # 2023-05-13T08:00:00Z
DAY = 86_400.0


@needs_cases
@pytest.mark.parametrize(
    ("name", "starts", "says"),
    [
        ("time-m-1.geojson", [START] * 4, ""),
        ("year-1.gpx", [START], "in the year 2566 of the Buddhist calendar: read as 2023"),
        ("year-mid.gpx", [START], "times 1,024 weeks early"),
        ("kmz-1.kmz", [START, START + 10_800.0], ""),
        ("comma-1", [START] * 4, ""),
        ("wrapped-1.json", [START], ""),
        ("cut-1", [START, START + DAY], "a.fit is cut off"),
        ("cut-1/a.fit", [START], "its 117 points before that are used"),
    ],
)
def test_the_trips_of_a_case_begin_when_they_did(
    caplog: pytest.LogCaptureFixture, name: str, starts: list[float], says: str
) -> None:
    with caplog.at_level(logging.WARNING, "trajanon"):
        found = extract(CASES / name)
    assert found.times is not None
    assert sorted(found.times[:, 0].tolist()) == pytest.approx(starts, abs=1.0)
    lasting = found.times[:, -1] - found.times[:, 0]
    assert np.allclose(lasting, 1_180.0, atol=1.0)
    assert says in caplog.text
