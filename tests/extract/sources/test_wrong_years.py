"""Times of years that no receiver has: mended where that is certain, left out where not."""

import logging
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from gpx_written import document, timed
from hypothesis import given
from hypothesis import strategies as st

from trajanon.extract import traces
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.timestamps import EARLIEST, LATEST, UNREAD_TIMES
from trajanon.extract.sources.wrong_years import MENDED, with_true_years
from trajanon.extract.trace import Trace

MAY = 1_683_964_800.0  # 2023-05-13T08:00:00Z
ERA = 1_024 * 604_800.0


def written(path: Path, content: bytes) -> tuple[list[float | None], Counter[str]]:
    """The times of a file, None for none, and what is counted."""
    path.write_bytes(content)
    counts = Counter[str]()
    found = np.concatenate([trace.time for trace in traces(path, counts=counts)])
    return [None if np.isnan(time) else float(time) for time in found], +counts


def kml(*times: str) -> bytes:
    whens = "".join(f"<when>{time}</when><gx:coord>2 1</gx:coord>" for time in times)
    return f'<kml xmlns:gx="x"><Placemark><gx:Track>{whens}</gx:Track></Placemark></kml>'.encode()


def table(*times: str) -> bytes:
    return ("lat,lon,time\n" + "".join(f"1,2,{time}\n" for time in times)).encode()


@pytest.mark.parametrize(("name", "write"), [("x.gpx", timed), ("x.kml", kml), ("x.csv", table)])
def test_years_of_the_buddhist_calendar_are_ours_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, write: type[bytes]
) -> None:
    with caplog.at_level(logging.WARNING, "trajanon"):
        content = write("2566-05-13T08:00:00Z", "2566-05-13T08:00:20.5Z", "2567-03-01T00:00:00Z")
        times, counts = written(tmp_path / name, content)
    assert times == [MAY, MAY + 20.5, 1_709_251_200.0]
    assert counts[MENDED] == 3
    assert (
        f"{name} has times in the year 2566 of the Buddhist calendar: read as 2023" in caplog.text
    )


@pytest.mark.parametrize("year", ["1402", "1979", "2150", "4000", "0001"])
def test_other_years_are_left_out_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, year: str
) -> None:
    content = timed(f"{year}-05-13T08:00:00Z", f"{year}-05-13T08:00:20Z", "2023-05-13T08:00:00Z")
    with caplog.at_level(logging.WARNING, "trajanon"):
        times, counts = written(tmp_path / "x.gpx", content)
    assert times == [None, None, MAY]
    assert counts == {UNREAD_TIMES: 2}
    assert f"x.gpx has times in the year {int(year)}, 2 in all: they are left out" in caplog.text


EARLY = ["2003-09-27T07:59:00Z", "2003-09-27T07:59:40Z"]
LATE = ["2023-05-13T08:00:00Z", "2023-05-13T08:00:20Z"]


@pytest.mark.parametrize("split", [False, True], ids=["a segment", "two segments"])
def test_times_before_a_change_of_the_weeks_are_brought_to_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, split: bool
) -> None:
    content = timed(*EARLY, *LATE)
    if split:
        late = b'<trkpt lat="1" lon="2"><time>2023'
        content = content.replace(late, b"</trkseg><trkseg>" + late, 1)
    with caplog.at_level(logging.WARNING, "trajanon"):
        times, counts = written(tmp_path / "x.gpx", content)
    assert times == [MAY - 60, MAY - 20, MAY, MAY + 20]
    assert counts == {MENDED: 2}
    assert "has times 1,024 weeks early" in caplog.text
    assert "2 in all: read as 2023" in caplog.text


def test_two_rides_twenty_years_apart_stay_so(tmp_path: Path) -> None:
    early = ["2003-10-27T07:59:00Z", "2003-10-27T07:59:40Z"]
    times, counts = written(tmp_path / "x.gpx", timed(*early, *LATE))
    assert times == [1_067_241_540.0, 1_067_241_580.0, MAY, MAY + 20]
    assert counts == {}


def test_a_clock_that_was_never_set_counts_from_an_unknown_beginning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "trajanon"):
        content = timed("1970-01-01T00:00:05Z", "1970-01-01T00:00:06Z")
        times, _ = written(tmp_path / "x.gpx", content)
    assert times == [5.0, 6.0]
    assert "read as seconds from an unknown beginning" in caplog.text


def test_nothing_is_said_of_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "x.gpx").write_bytes(document("<trk/>"))
    assert list(traces(tmp_path / "x.gpx")) == []


TIMES = st.lists(st.none() | st.floats(-1e12, 1e14) | st.floats(EARLIEST, 5e9), max_size=12)


@given(TIMES)
def test_what_comes_out_is_a_time_of_gps_or_none(times: list[float | None]) -> None:
    time = np.array([np.nan if one is None else one for one in times])
    piece = Trace("a", None, time, time, time)
    counts = Counter[str]()
    (found,) = with_true_years([piece], Reading(what="a", counts=counts))
    known = np.isfinite(found.time)
    relative = np.nanmax(time, initial=0.0) < LATEST / 100 and np.nanmin(time, initial=0.0) >= 0.0
    assert relative or ((found.time[known] >= EARLIEST) & (found.time[known] < LATEST)).all()
    assert len(found) == len(times)
    assert known.sum() + counts[UNREAD_TIMES] == np.isfinite(time).sum()


@given(st.lists(st.floats(0.0, 3_000.0), min_size=2, max_size=9).map(sorted), st.integers(0, 9))
def test_a_change_of_the_weeks_is_mended_wherever_it_is(steps: list[float], place: int) -> None:
    true = np.array(steps) + MAY
    early = np.arange(len(true)) < min(place, len(true) - 1)
    piece = Trace("a", None, true, true, true - ERA * early)
    (found,) = with_true_years([piece], Reading(what="a"))
    assert found.time.tolist() == pytest.approx(true.tolist(), abs=1e-3)
