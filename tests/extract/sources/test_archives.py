"""Packed files and archives: what is in them; those made to fill the memory are a sentence each."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import track

from trajanon.common.errors import FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import archives, reading
from trajanon.extract.sources.archives import CutOff, members, stream_of, unpacked

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


def stream(content: bytes) -> archives.Stream:
    return stream_of(io.BytesIO(content).read)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_stream_is_unpacked_if_it_is_packed(pack: Pack) -> None:
    assert unpacked(stream(pack(b"first\nsecond\n"))).readlines() == [b"first\n", b"second\n"]


def test_what_comes_before_a_damaged_place_is_unpacked() -> None:
    rows = b"".join(b"%d\n" % number for number in range(100_000))
    damaged = unpacked(stream(gzip.compress(rows)[:-1000]))
    before = b""

    def read_on() -> None:
        nonlocal before
        while piece := damaged.read1():
            before += piece

    with pytest.raises(archives.DAMAGED):
        read_on()
    assert len(before) > len(rows) // 2
    assert rows.startswith(before)


def test_closing_what_is_unpacked_closes_the_packed_stream() -> None:
    packed_stream = stream(gzip.compress(b"text"))
    unpacked(packed_stream).close()
    assert packed_stream.closed


def zip_of(names: Sequence[str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            archive.writestr(name, gzip.compress(name.encode()))
    return made.getvalue()


def tar_of(names: Sequence[str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name in names:
            info = tarfile.TarInfo(name.rstrip("/"))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            content = gzip.compress(name.encode())
            info.size = 0 if info.isdir() else len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, names[0]
        archive.addfile(link)
    return made.getvalue()


@pytest.mark.parametrize("make", [zip_of, tar_of])
def test_members_come_unpacked_and_in_their_order_without_folders(
    tmp_path: Path, make: Callable[[Sequence[str]], bytes]
) -> None:
    path = tmp_path / "archive"
    names = ["b.txt", "a/", "a/c.txt", "a/two\nlines"]
    path.write_bytes(make(names))
    found = {
        name: None if open_member is None else open_member().read()
        for name, open_member in members(archives.Stream(io.FileIO(path)), path)
    }
    if make is tar_of:
        assert found.pop("link") is None
    assert [*found.items()] == [
        ("b.txt", b"b.txt"),
        ("a/c.txt", b"a/c.txt"),
        (r"a/two\nlines", b"a/two\nlines"),
    ]


def test_a_tar_archive_that_is_cut_off_gives_its_first_members() -> None:
    content = tar_of(["a.txt", "b.txt"])
    found = members(stream(content[: 2 * tarfile.BLOCKSIZE + 100]), Path("x"))
    name, _ = next(found)
    assert name == "a.txt"
    with pytest.raises(CutOff):
        next(found)
