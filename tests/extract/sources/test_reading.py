"""How a file is read, and what a reader reports."""

import gzip
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from trajanon.common.errors import BadInput, FileProblem
from trajanon.extract.sources.reading import UNREADABLE, USED_IN_PART, Reading, meter


def test_a_file_is_named_in_messages_by_its_path_and_in_recordings_by_its_label() -> None:
    reading = Reading(columns={"lat": "y"})
    of_file = reading.of_file(Path("deep/a.csv"))
    assert (of_file.what, of_file.label) == ("deep/a.csv", "a.csv")
    assert reading.of_file(Path("deep/a.csv"), "deep/a.csv").label == "deep/a.csv"
    assert of_file.counts is reading.counts
    assert of_file.columns == {"lat": "y"}


def test_columns_that_a_user_says_go_before_those_of_a_format() -> None:
    reading = Reading(columns={"lat": "y"}).with_columns(lat="latitude", lon="longitude")
    assert reading.columns == {"lat": "y", "lon": "longitude"}


def test_what_is_marked_is_counted_and_nothing_has_no_counter() -> None:
    reading = Reading()
    reading.count("rows", np.array([True, False, True]))
    reading.count("rows", pd.Series([True, False]))
    reading.count("others", np.array([False]))
    assert reading.counts == {"rows": 3}


def test_a_finding_is_counted_each_time_and_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reading = Reading(what="a.csv")
    for count in (0, 2, 3):
        reading.found("longitudes to 360", count, example=200.5)
    assert reading.counts == {"longitudes to 360": 5}
    assert caplog.messages == ["a.csv has longitudes from 0 to 360, such as 200.5: read as such"]


def test_without_a_count_a_finding_is_a_warning_alone(caplog: pytest.LogCaptureFixture) -> None:
    reading = Reading(what="a.csv")
    reading.found("longitudes to 360", example=200.5)
    assert not reading.counts
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(("points_used", "kind"), [(0, UNREADABLE), (5, USED_IN_PART)])
def test_a_file_is_left_out_or_used_in_part(
    caplog: pytest.LogCaptureFixture, points_used: int, kind: str
) -> None:
    reading = Reading()
    with caplog.at_level(logging.WARNING, "trajanon"):
        reading.leave_out(FileProblem("a.gpx is cut off"), points_used)
    assert reading.counts == {kind: 1}
    (message,) = caplog.messages
    assert message.startswith("a.gpx is cut off")
    assert ("its 5 points before that are used" in message) == bool(points_used)


def test_a_stream_counts_bytes_of_the_file_and_not_what_they_unpack_to(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    text = b"id,lat,lon\n" * 100_000
    path.write_bytes(gzip.compress(text))
    read: list[int] = []
    with Reading(report_bytes=read.append).unpacked(path) as stream:
        assert stream.read() == text
    assert sum(read) == path.stat().st_size
    with Reading().open(path) as stream:
        assert stream.read() == path.read_bytes()


def test_a_file_that_is_not_there_or_may_never_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match=r"cannot read .*none\.csv: No such file"):
        Reading().open(tmp_path / "none.csv")
    with pytest.raises(BadInput, match="/dev/zero is a device or a pipe"):
        Reading().open(Path("/dev/zero"))


def test_progress_adds_up_and_never_passes_the_whole() -> None:
    reported: list[tuple[str, float, float | None]] = []
    report_bytes = meter(
        "Reading", 10, lambda task, done, total, note="": reported.append((task, done, total))
    )
    for size in (4, 4, 4):
        report_bytes(size)
    assert reported == [("Reading", 4, 10), ("Reading", 8, 10), ("Reading", 10, 10)]
