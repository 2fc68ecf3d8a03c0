"""GPX files, of many makers, damaged and hostile."""

import gzip
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from gpx_written import POINT, SEGMENT, document, timed, write
from real_data import REAL, needs_real_data

from trajanon.common.errors import FileProblem
from trajanon.extract.sources import gpx
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace


def api_page(body: str) -> bytes:
    return document(body, 'version="1.0" creator="OpenStreetMap.org"')


def traces(path: Path) -> list[Trace]:
    """What a file gives that is no answer of the API."""
    found = list(gpx.read(path, Reading().of_file(path)))
    assert not any(trace.page for trace in found)
    return found


def answers(paths: Sequence[Path]) -> list[list[Trace]]:
    found = [list(gpx.read(path, Reading().of_file(path))) for path in paths]
    assert [{trace.page for trace in page} for page in found if page] == [
        {str(path)} for path, page in zip(paths, found, strict=True) if page
    ]
    return found


def test_a_file_is_one_recording_of_nobody_known(tmp_path: Path) -> None:
    text = document(f"<trk>{SEGMENT}{SEGMENT}</trk><trk>{SEGMENT}</trk>")
    path = write(tmp_path / "walk.gpx", text)
    found = [
        (trace.name, trace.subject) for trace in gpx.read(path, Reading().of_file(path, "a/walk"))
    ]
    assert found == [("a/walk", None)] * 3


def test_each_track_is_a_person_where_that_is_said(tmp_path: Path) -> None:
    """By its name; two tracks of one name are one person's."""
    ada, nobody = f"<trk><name> Ada </name>{SEGMENT}</trk>", f"<trk>{SEGMENT}{SEGMENT}</trk>"
    path = write(tmp_path / "ride.gpx", document(f"<name>no</name>{ada}{nobody}{ada}"))
    how = Reading(columns={"subject": "track"})
    found = [(trace.name, trace.subject) for trace in gpx.read(path, how.of_file(path, "ride"))]
    second = ("ride/track 2", "ride/track 2")
    assert found == [("ride/track 1", "Ada"), second, second, ("ride/track 3", "Ada")]


@pytest.mark.parametrize(
    ("points", "seconds", "kept"), [(40, 0.9, 0), (40, 1.0, 40), (10, 0.9, 10)]
)
def test_a_clock_that_stood_still_gives_no_times(
    tmp_path: Path, points: int, seconds: float, kept: int
) -> None:
    """Unless the points are those of a train, ten times a second."""
    times = [f"2020-01-01T00:00:{second:09.6f}Z" for second in np.linspace(0.0, seconds, points)]
    (trace,) = traces(write(tmp_path / "walk.gpx", timed(*times)))
    assert np.isfinite(trace.time).sum() == kept


def test_a_clock_that_stood_still_gives_no_times_though_one_is_missing(tmp_path: Path) -> None:
    times = ["2020-01-01T00:00:00Z"] * 40
    times[7] = ""
    (trace,) = traces(write(tmp_path / "walk.gpx", timed(*times)))
    assert np.isnan(trace.time).all()


def test_times_that_cannot_be_read_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path / "walk.gpx", timed("13/05/2023 08:00:00", "2023-05-13T08:00:20Z"))
    assert np.isfinite(traces(path)[0].time).tolist() == [False, True]
    assert f"{path} has times that cannot be read, 1 in all: write them as" in caplog.text


@pytest.mark.parametrize("body", ["<trk/>", "<trk><trkseg/></trk>", '<wpt lat="1" lon="1"/>', ""])
def test_a_file_without_points_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, body: str
) -> None:
    path = write(tmp_path / "walk.gpx", document(body))
    assert traces(path) == []
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith(f"{path} holds no track points")


def test_a_damaged_file_gives_what_was_complete(tmp_path: Path) -> None:
    text = document(f"<trk>{SEGMENT}{SEGMENT}<trkseg>{POINT}</trk>")
    path = write(tmp_path / "a.gpx", text)
    reading = gpx.read(path, Reading().of_file(path))
    found = [next(reading) for _ in range(3)]
    assert [(len(trace), trace.cut_off) for trace in found] == [(2, False), (2, False), (1, True)]
    with pytest.raises(FileProblem, match=r"a\.gpx is not well-formed XML"):
        next(reading)


def test_an_answer_of_the_server_stays_one_document(tmp_path: Path) -> None:
    url = "<url> /user/ann/traces/1\n</url>"
    cloud = '<trk><trkseg><trkpt lat="3" lon="1"/></trkseg></trk>'
    text = api_page(f"<trk>{url}{SEGMENT}{SEGMENT}</trk>{cloud}")
    (answer,) = answers([write(tmp_path / "page0.gpx", text)])
    assert [(part.name, part.subject, len(part)) for part in answer] == [
        ("track 1", "/user/ann/traces/1", 2),
        ("track 1", "/user/ann/traces/1", 2),
        ("track 2", None, 1),
    ]


def test_the_trace_in_which_a_saved_answer_breaks_off_is_cut_off(tmp_path: Path) -> None:
    text = api_page(f"<trk>{SEGMENT}</trk><trk>{SEGMENT}</trk>")
    path = write(tmp_path / "page0.gpx", text[: text.rindex(b"<trkpt")])
    reading = gpx.read(path, Reading().of_file(path))
    found = [next(reading) for _ in range(2)]
    assert [(len(part), part.cut_off) for part in found] == [(2, False), (1, True)]
    with pytest.raises(FileProblem, match="not well-formed XML"):
        next(reading)


def test_a_file_from_openstreetmap_is_known(tmp_path: Path) -> None:
    path = tmp_path / "a.gpx"
    for text, answer in (
        (api_page(SEGMENT), True),
        (gzip.compress(api_page(SEGMENT)), True),
        (document(SEGMENT, 'version="1.0" creator="OSM gpx_dump.py"'), True),
        (document(SEGMENT), False),
        (api_page(f"<!-- synthetic: nobody's -->{SEGMENT}"), False),
    ):
        how = Reading()
        list(gpx.read(write(path, text), how))
        assert (how.counts[gpx.FROM_OSM] > 0) is answer


@needs_real_data
def test_the_answers_for_alicante_hold_traces_and_a_cloud() -> None:
    paths = sorted((REAL / "osm_trackpoints_alicante").glob("page*.gpx"))
    found = answers(paths)
    sizes = [sum(len(part.lat) for part in answer) for answer in found]
    assert sizes == [5000, 5000, 3249, 0]
    segments = [segment for answer in found for segment in answer]
    assert sum(int(np.isfinite(part.time).sum()) for part in segments) == 5458
    assert sum(len(p.lat) for p in segments if np.isnan(p.time).all()) == 7791


@needs_real_data
@pytest.mark.parametrize(
    ("name", "points", "timed_points", "segments"),
    [
        ("osm_trace_3458743", 398, 398, 1),
        ("osmapir_st_geroni", 218, 218, 1),
        ("movingpandas_304_to_UL_20190218", 2144, 2144, 1),
        ("gpxpy_korita-zbevnica", 871, 513, 3),  # and an empty one
        ("gpxpy_cerknicko-jezero", 296, 296, 7),  # likewise
        ("gpxpy_cerknicko-without-times", 296, 5, 7),  # likewise
        ("gpxpy_Mojstrovka", 184, 0, 1),  # its clock stood still, in 1901
        ("gpxpy_around-visnjan-with-car", 104, 104, 1),
        ("graphhopper_test1", 264, 264, 1),
        ("graphhopper_andorra", 21, 0, 1),
        ("graphhopper_gpxv1_0", 14, 14, 1),
        ("graphhopper_tour4_uturn", 5, 5, 1),
        ("graphhopper_no_trkseg", 0, 0, 0),
    ],
)
def test_files_of_many_makers_are_read(
    name: str, points: int, timed_points: int, segments: int
) -> None:
    found = traces(REAL / "gpx" / f"{name}.gpx")
    assert len(found) == segments
    assert sum(map(len, found)) == points
    assert sum(int(np.isfinite(trace.time).sum()) for trace in found) == timed_points


@pytest.mark.parametrize("comma", [",", "."])
def test_decimal_commas_are_read(tmp_path: Path, comma: str) -> None:
    lats = [41.0 + step / 1e3 for step in range(60)]
    fixes = [f'<trkpt lat="{str(lat).replace(".", comma)}" lon=" -2{comma}0"/>' for lat in lats]
    path = write(tmp_path / "a.gpx", document(f"<trk><trkseg>{''.join(fixes)}</trkseg></trk>"))
    (found,) = traces(path)
    assert found.lat.tolist() == lats
    assert found.lon.tolist() == [-2.0] * 60


def test_a_segment_that_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpx, "_MOST_POINTS", 39)
    path = write(tmp_path / "a.gpx", document(f"<trk><trkseg>{POINT * 40}</trkseg></trk>"))
    with pytest.raises(FileProblem, match=r"a\.gpx has over 39 points in a segment"):
        traces(path)
    monkeypatch.setattr(gpx, "_MOST_POINTS", 40)
    assert [len(trace) for trace in traces(path)] == [40]
