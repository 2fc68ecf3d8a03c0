"""A file that breaks off: what is whole is used, alone and in a folder, and counted once."""

import gzip
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from device_files import WAY, iso
from fit_written import fit
from gpx_written import document

from trajanon.common.errors import FileProblem
from trajanon.extract import extract, traces
from trajanon.extract.sources.reading import UNREADABLE, USED_IN_PART
from trajanon.extract.why_left_out import sentences

FIXES = [(41.0 + step / 1e3, -2.0, WAY[0][2] + 20 * step) for step in range(60)]


def gpx(*pieces: slice) -> bytes:
    def points(some: slice) -> str:
        return "".join(
            f'<trkpt lat="{lat}" lon="{lon}"><ele>1</ele><time>{iso(time)}</time></trkpt>\n'
            for lat, lon, time in FIXES[some]
        )

    text = "".join(f"<trkseg>{points(some)}</trkseg>" for some in pieces or (slice(None),))
    return document(f"<trk>{text}</trk>")


def place(content: bytes, share: float) -> int:
    return int(share * len(content))


CUTS: dict[str, Callable[[], bytes]] = {
    "a.gpx": lambda: gpx()[: place(gpx(), 0.5)],
    "b.gpx": lambda: gpx()[:-6],  # all points are there
    "c.gpx": lambda: gpx(slice(20), slice(20, 60))[: place(gpx(), 0.7)],
    "d.gpx": lambda: gpx().replace(b'<trkpt lat="41.04"', b"<trkpt lat=<<", 1),
    "e.gpx.gz": lambda: gzip.compress(gpx())[:-200],
    "f.fit": lambda: fit(FIXES)[:-250],
    "g.fit": lambda: fit(FIXES)[:-2],
}


@pytest.mark.parametrize("name", CUTS)
def test_the_whole_points_of_a_cut_file_are_used_alone_and_in_a_folder(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(CUTS[name]())
    seen = []
    for source in (path, tmp_path):
        caplog.clear()
        counts = Counter[str]()
        with caplog.at_level(logging.WARNING, "trajanon"):
            found = list(traces(source, counts=counts))
        points = [fix for one in found for fix in zip(one.lat, one.time, strict=True)]
        assert [time for _, time in points] == [time for *_, time in FIXES[: len(points)]]
        assert found[-1].cut_off
        assert counts[USED_IN_PART] == 1
        assert counts[UNREADABLE] == 0
        assert f"its {len(points)} points before that are used" in caplog.text
        seen.append(len(points))
    assert seen[0] == seen[1] >= 20
    assert {"b.gpx": 60, "d.gpx": 40, "g.fit": 60}.get(name, seen[0]) == seen[0]


def test_of_two_files_one_is_cut(tmp_path: Path) -> None:
    later = [(lat, lon + 0.01, time + 86_400) for lat, lon, time in FIXES]
    (tmp_path / "a.fit").write_bytes(fit([*FIXES, *later])[:-16])
    (tmp_path / "b.fit").write_bytes(fit(later))
    found = extract(tmp_path)
    assert len(found) == 2
    assert sentences(found.provenance)[0].startswith(
        "Left out: files from their damage on, 50 % (1 of 2)"
    )


@pytest.mark.parametrize("content", [b"", b"<gpx><trk><trkseg><trkpt lat='1'", fit(FIXES)[:30]])
def test_a_file_that_breaks_off_before_its_first_point_is_not_read(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / ("a.fit" if content[:1] == b"\x0e" else "a.gpx")
    path.write_bytes(content)
    with pytest.raises(FileProblem, match="cut off"):
        list(traces(path))
    (tmp_path / "b.gpx").write_bytes(gpx())
    counts = Counter[str]()
    assert len(list(traces(tmp_path, counts=counts))) == 1
    assert (counts[UNREADABLE], counts[USED_IN_PART]) == (1, 0)
