"""KML and TCX, as sources of traces."""

import io
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_files import TIMED, WAY, Fixes, counted, fixes, iso, read, write
from fit_written import fit

from trajanon.common.errors import FileProblem
from trajanon.extract.sources import kml_and_tcx
from trajanon.extract.sources.reading import TIMES_DO_NOT_MATCH, Reading
from trajanon.extract.sources.trace_pieces import EMPTY
from trajanon.extract.trace import Trace

WHOLE = [(lat, lon, math.floor(time)) for lat, lon, time in WAY]


def tcx_of(*laps: Fixes, inside: str = "Activity") -> str:
    point = (
        "<Trackpoint><Time>{}</Time><Position><LatitudeDegrees>{}</LatitudeDegrees>"
        "<LongitudeDegrees>{}</LongitudeDegrees></Position><Cadence>9</Cadence></Trackpoint>"
    )
    tracks = ["".join(point.format(iso(t or 0), lat, lon) for lat, lon, t in lap) for lap in laps]
    body = "".join(f'<Lap StartTime="2023-11-14"><Track>{track}</Track></Lap>' for track in tracks)
    return f"<{inside}>{body}</{inside}>"


def tcx_file(*inside: str) -> str:
    return (
        '<?xml version="1.0"?>\n<TrainingCenterDatabase xmlns="http://x/v2">'
        f"{''.join(inside)}</TrainingCenterDatabase>"
    )


def test_laps_of_an_activity_go_on_and_activities_are_pieces(tmp_path: Path) -> None:
    content = tcx_file("<Activities>", tcx_of(TIMED[:1], TIMED[1:]), tcx_of(TIMED), "</Activities>")
    path = tmp_path / "x.dat"
    assert read(path, content) == [TIMED, TIMED]
    assert counted(path) == {}
    assert read(
        path,
        content.replace("<", "<t:")
        .replace("<t:/", "</t:")
        .replace("<t:?", "<?")
        .replace("xmlns", "xmlns:t"),
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.tcx", tcx_file("<Courses>", tcx_of(list(WAY), inside="Course"), "</Courses>")),
        ("x.fit", fit(WHOLE, file_type=6)),
    ],
)
def test_courses_were_planned_not_recorded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, content: Any
) -> None:
    path = tmp_path / name
    assert read(path, content) == []
    assert counted(path)[EMPTY] == 1
    assert "planned and not recorded" in caplog.text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (tcx_file(tcx_of(list(WAY)))[:-60], "it may be cut off"),
        ("<gpx/>", "begins with <gpx>, not with <TrainingCenterDatabase>"),
    ],
)
def test_other_xml_is_no_tcx(tmp_path: Path, content: str, says: str) -> None:
    path = write(tmp_path / "x.tcx", content)
    found: list[Trace] = []
    with pytest.raises(FileProblem, match=says):
        found.extend(kml_and_tcx.read_tcx(path, Reading().of_file(path, "label")))


def kml_file(*inside: str) -> str:
    space = 'xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.phones.com/kml/ext/2.2"'
    return f'<?xml version="1.0"?><kml {space}><Document>{"".join(inside)}</Document></kml>'


def track(way: Fixes, more: str = "") -> str:
    whens = "".join(f"<when>{iso(time or 0)}</when>" for *_, time in way)
    coords = "".join(f"<gx:coord>{lon} {lat} 12.5</gx:coord>" for lat, lon, _ in way)
    return f"<gx:Track>{whens}{more}{coords}</gx:Track>"


def placemark(*inside: str) -> str:
    return f"<Placemark><name>x</name>{''.join(inside)}</Placemark>"


def point(lat: float, lon: float, time: float | None) -> str:
    when = f"<TimeStamp><when>{iso(time)}</when></TimeStamp>" if time else ""
    look = "<LookAt><gx:TimeStamp><when>1999-01-01T00:00:00Z</when></gx:TimeStamp></LookAt>"
    return placemark(look, when, f"<Point><coordinates>{lon},{lat},3</coordinates></Point>")


PLACES = " ".join(f"{lon}, {lat},5" for lat, lon, _ in WAY)
LINE = f"<LineString><coordinates>\n{PLACES}\n</coordinates></LineString>"
POINTS = "".join(point(*one) for one in WAY)
POLYGON = (
    f"<Polygon><outerBoundaryIs><LinearRing>{LINE[12:-13]}</LinearRing></outerBoundaryIs></Polygon>"
)
UNTIMED: Fixes = [(lat, lon, None) for lat, lon, _ in WAY]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ([placemark(track(TIMED))], [TIMED]),
        ([placemark(f"<gx:MultiTrack>{track(TIMED[:1])}{track(TIMED)}</gx:MultiTrack>")],
         [TIMED[:1], TIMED]),
        ([placemark(track(TIMED, "<when>2024-01-01T00:00:00Z</when>"))], [UNTIMED]),
        ([placemark(track(TIMED).replace("<when>", "<was>", 1).replace("</when>", "</was>", 1))],
         [UNTIMED]),
        ([f"<Folder>{POINTS}</Folder><Folder>{POINTS}</Folder>"], [TIMED, TIMED]),
        ([POINTS, point(1.0, 2.0, None)], [TIMED]),
        ([placemark("<TimeSpan><begin>2024-01-01T00:00:00Z</begin></TimeSpan>", LINE)], [UNTIMED]),
        ([placemark(LINE), POINTS], [TIMED]),
        ([placemark(LINE), POINTS, placemark(track(TIMED))], [TIMED]),
        ([placemark("<gx:Track></gx:Track>"), POINTS], [TIMED]),
        ([placemark(POLYGON), placemark(f"<MultiGeometry>{LINE}{LINE}</MultiGeometry>")],
         [UNTIMED, UNTIMED]),
    ],
)  # fmt: skip
def test_tracks_then_points_with_times_then_lines_of_kml(
    tmp_path: Path, inside: Sequence[str], expected: list[Fixes]
) -> None:
    assert read(tmp_path / "x.dat", kml_file(*inside)) == expected


def test_each_placemark_with_a_line_is_a_person_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.kml"
    folder = f"<Folder>{placemark(LINE)}</Folder>"
    nobody = placemark(track(TIMED)).replace("<name>x</name>", "")
    path.write_text(kml_file(placemark(track(TIMED)), folder, POINTS, nobody), encoding="utf-8")
    how = Reading(columns={"subject": "track"})
    found = [
        (trace.name, trace.subject) for trace in kml_and_tcx.read_kml(path, how.of_file(path, "x"))
    ]
    last = f"x/track {len(WAY) + 3}"
    assert found == [("x/track 1", "x"), ("x/track 2", "x"), (last, last)]


@pytest.mark.parametrize(("inside", "way"), [(track(TIMED), TIMED), (LINE, UNTIMED)])
def test_of_a_kml_that_is_cut_off_the_whole_points_are_used(
    tmp_path: Path, inside: str, way: Fixes
) -> None:
    content = kml_file(placemark(inside))
    path = write(tmp_path / "x.kml", content[: content.rindex("41.1") + 2])
    reading = kml_and_tcx.read_kml(path, Reading().of_file(path, "x"))
    assert fixes(next(reading)) == way[: len(way) - 1]
    with pytest.raises(FileProblem, match="is not well-formed XML"):
        next(reading)


def test_by_track_the_last_one_of_a_kml_that_is_cut_off_may_go_on(tmp_path: Path) -> None:
    content = kml_file(placemark(track(TIMED)), placemark(track(TIMED)))
    path = write(tmp_path / "x.kml", content[: content.rindex("41.1") + 2])
    reading = kml_and_tcx.read_kml(path, Reading(columns={"subject": "track"}).of_file(path))
    found = [next(reading), next(reading)]
    assert [(len(trace), trace.cut_off) for trace in found] == [(3, False), (2, True)]
    with pytest.raises(FileProblem, match="is not well-formed XML"):
        next(reading)


@pytest.mark.parametrize("lost", ["<when>", "<gx:coord>"])
def test_a_track_with_a_time_or_a_place_too_few_has_no_times(tmp_path: Path, lost: str) -> None:
    """Which one is missing is not known."""
    whole = track(TIMED)
    end = lost.replace("<", "</")
    inside = whole[: whole.index(lost)] + whole[whole.index(end) + len(end) :]
    path = write(tmp_path / "x.kml", kml_file(placemark(inside)))
    how = Reading().of_file(path)
    (trace,) = kml_and_tcx.read_kml(path, how)
    assert np.isnan(trace.time).all()
    assert how.counts[TIMES_DO_NOT_MATCH] == 1


def test_a_kmz_with_a_damaged_document_says_so(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("doc.kml", kml_file(placemark(track(TIMED)) + " " * 1_000_000))
    content = bytearray(packed.getvalue())
    content[500_000] ^= 1  # only its checksum tells
    (tmp_path / "x.kmz").write_bytes(content)
    with pytest.raises(FileProblem, match=r"cannot read .*doc\.kml to its end \(Bad CRC"):
        read(tmp_path / "x.kmz", bytes(content))


def test_every_kml_of_a_kmz_is_read(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("images/x.png", b"x")
        archive.writestr("doc.kml", kml_file(placemark(track(TIMED))))
        archive.writestr("other.kml", kml_file(POINTS))
    assert read(tmp_path / "x.kmz", packed.getvalue()) == [TIMED, TIMED]
    with zipfile.ZipFile(tmp_path / "z.kmz", "w") as archive:
        archive.writestr("files/a.KML", kml_file(placemark(track(TIMED))))
        archive.writestr("files/empty.kml", kml_file(""))
        archive.writestr("files/deep/b.kml", kml_file(placemark(LINE)))
        archive.writestr("files/c.kml", kml_file(POINTS)[:-9])
    reading = kml_and_tcx.read_kml(
        tmp_path / "z.kmz", Reading().of_file(tmp_path / "z.kmz", "label")
    )
    pieces = [next(reading), next(reading), next(reading)]  # the last of the file that is cut
    assert [(fixes(piece), piece.cut_off) for piece in pieces] == [
        (TIMED, False),
        (UNTIMED, False),
        (TIMED, True),
    ]
    with pytest.raises(FileProblem, match=r"z\.kmz/files/c\.kml is not well-formed XML"):
        next(reading)
    with zipfile.ZipFile(tmp_path / "y.kmz", "w") as archive:
        archive.writestr("x.png", b"x")
    with pytest.raises(FileProblem, match=r"y\.kmz holds no \.kml file"):
        list(
            kml_and_tcx.read_kml(tmp_path / "y.kmz", Reading().of_file(tmp_path / "y.kmz", "label"))
        )
