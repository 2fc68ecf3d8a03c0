"""Files that are made to fill the memory: a sentence for each, and no memory."""

import gc
import gzip
import io
import lzma
import tarfile
import weakref
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import track

from trajanon.common.errors import FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import archives, gpx, gpx_archive, reading, trace_pieces

MB = 1 << 20

Pack = Callable[[bytes], bytes]


def packed(
    path: Path, head: bytes, unit: bytes, size: int, end: bytes = b"", pack: Pack = gzip.compress
) -> Path:
    """Repeat something up to a size, packed a piece at a time."""
    piece = unit * (4 * MB // len(unit))
    repeated = pack(piece) * (size // len(piece) + 1)
    path.write_bytes(pack(head) + repeated + pack(end))
    return path


def sentence_of(path: Path) -> str:
    with pytest.raises(FileProblem) as refused:
        list(traces(path))
    return str(refused.value).replace(f"{path.parent}/", "")


GEOJSON = b'{"type":"FeatureCollection","features":['
FEATURE = b'{"type":"Feature","geometry":null,"properties":{}}'
POINT = b'{"lat":41.0,"lon":2.0,"time":"2026-11-27T10:00:00Z"}'
ROW = b"a,1,2,3\n"


@pytest.mark.parametrize(
    ("name", "head", "unit", "end", "pack"),
    [
        ("a.json.gz", b"[" + POINT, b",{}", b"]", gzip.compress),
        ("a.json.gz", POINT + b"\n", POINT + b"\n", b"", gzip.compress),
        ("a.mfjson.xz", GEOJSON + b"{}", b",{}", b"]}", lzma.compress),
        ("a.geojson.gz", GEOJSON + FEATURE, b"," + FEATURE, b"]}", gzip.compress),
        ("a.kml.gz", b"<kml>", b"<a/>", b"</kml>", gzip.compress),
        ("a.tcx.gz", b"<TrainingCenterDatabase>", b"<a/>", b"", gzip.compress),
        ("a.csv.gz", b"id,lat,lon,time\n", ROW, b"", gzip.compress),
    ],
)
def test_values_that_take_hardly_any_place_are_refused(
    tmp_path: Path,
    name: str,
    head: bytes,
    unit: bytes,
    end: bytes,
    pack: Pack,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(archives, "_VALUES", 100_000)
    path = packed(tmp_path / name, head, unit, 8 * MB, end, pack)
    assert "values take hardly any place" in sentence_of(path)


def test_as_many_values_that_are_not_packed_so_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_VALUES", 1_000)
    rng = np.random.default_rng(0)
    rows = (f"a,{lat:.7f},{lat:.7f},{n}\n" for n, lat in enumerate(rng.uniform(0, 1, 2_000)))
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("".join(["id,lat,lon,time\n", *rows]).encode()))
    assert sum(map(len, traces(path))) == 2_000


@pytest.mark.parametrize(
    ("name", "head"),
    [("a.mfjson.gz", GEOJSON), ("a.geojson.gz", GEOJSON), ("a.nmea.gz", b"$GPRMC,\n")],
)
def test_what_unpacks_to_more_than_a_thousand_times_its_size_is_refused(
    tmp_path: Path, name: str, head: bytes
) -> None:
    path = packed(tmp_path / name, head, b" ", 80 * MB)
    assert "it unpacks to more than 1,000 times its size" in sentence_of(path)


def test_a_member_that_unpacks_to_more_than_a_thousand_times_its_size_is_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.gpx", b"<gpx>" + b" " * (80 * MB))
        archive.writestr("good.gpx", track())
    counts: Counter[str] = Counter()
    (found,) = traces(path, counts=counts)
    assert found.name.endswith("good.gpx")
    assert counts[reading.UNREADABLE] == 1


@pytest.mark.parametrize(
    ("name", "head", "unit", "says"),
    [
        ("a.csv.gz", b"id,lat,lon\na,1,2\nb,1,", b"2" * 64 + b"13", "a line of more than 64 MB"),
        ("a.csv.gz", b'id,lat,lon\na,1,2\nb,1,"', b"2" * MB + b"\n", "a row of more than 64 MB"),
        ("a.gpx.gz", b"<gpx>", b" ", "a tag or text of more than 8 MB"),
        ("a.gpx.gz", b'<gpx a="', b"no end ", "a tag or text of more than 8 MB"),
        ("a.gpx.gz", b"<gpx><trk><url>", b"no end ", "a tag or text of more than 8 MB"),
        ("a.gpx.gz", b"<gpx>", b"<a>", "more than 10,000 elements within each other"),
    ],
)
def test_a_record_that_never_ends_is_refused(
    tmp_path: Path, name: str, head: bytes, unit: bytes, says: str
) -> None:
    assert says in sentence_of(packed(tmp_path / name, head, unit, 90 * MB))


def test_a_sparse_table_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.write(b"id,lat,lon\na,1,2\n")
        file.truncate(10_000 * MB)
    assert "a line of more than 64 MB" in sentence_of(path)


@pytest.mark.parametrize("name", ["a.json", "a.mfjson", "a.kml"])
def test_a_large_document_that_is_held_whole_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "_LARGEST_DOCUMENT", MB)
    path = tmp_path / name
    path.write_bytes({"a.json": b"[" + POINT, "a.kml": b"<kml>"}.get(name, GEOJSON) + b" " * MB)
    assert "it has more than 1 GB, and is held whole: split it" in sentence_of(path)


def test_a_parquet_file_of_hardly_any_bytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    zeros = np.zeros(10_000_000)
    table = pa.table({"id": zeros.astype(np.int8), "lat": zeros, "lon": zeros})
    pq.write_table(table, path, row_group_size=len(zeros))
    assert "it unpacks to more than 1,000 times its size" in sentence_of(path)


def test_a_huge_name_in_an_archive_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 5_000 * MB
    path = tmp_path / "a.tgz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.USTAR_FORMAT) + b"1" * MB))
    assert "a name in it has more than 1 MB" in sentence_of(path)


@pytest.mark.parametrize(
    ("module", "limit", "most", "name", "says"),
    [
        (gpx, "_MOST_POINTS", 39, "a.gpx", "has over 39 points in a segment"),
        (trace_pieces, "_MOST_FIXES", 39, "a.kml", "has over 39 points in one piece"),
    ],
)
def test_a_recording_that_never_ends_is_refused(
    tmp_path: Path, module: Any, limit: str, most: int, name: str, says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, limit, most)
    path = tmp_path / name
    places = "".join(f"2.0,41.{n:02d} " for n in range(40))
    line = f"<kml><LineString><coordinates>{places}</coordinates></LineString></kml>"
    path.write_text(track(points=40) if name == "a.gpx" else line, "utf-8")
    assert says in sentence_of(path)
    monkeypatch.setattr(module, limit, most + 1)
    assert len(next(traces(path))) == 40


def test_the_members_of_an_archive_do_not_wait_for_the_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(20):
            info = tarfile.TarInfo(f"{number}.gpx")
            document = track().encode()
            info.size = len(document)
            archive.addfile(info, io.BytesIO(document))
    opened: list[weakref.ref[Any]] = []

    class Watched(gpx.GpxDocument):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            opened.append(weakref.ref(self))

    monkeypatch.setattr(gpx_archive, "GpxDocument", Watched)
    gc.disable()
    try:
        for _ in traces(path):
            assert sum(one() is not None for one in opened) <= 3
    finally:
        gc.enable()
    assert len(opened) >= 20
