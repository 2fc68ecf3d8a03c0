"""Archives of GPX files: whole, damaged and hostile."""

import bz2
import gc
import gzip
import io
import lzma
import tarfile
import weakref
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from gpx_written import write
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.errors import FileProblem
from trajanon.extract.sources import gpx, gpx_archive
from trajanon.extract.sources.reading import Reading
from trajanon.extract.trace import Trace

Pack = Callable[[bytes], bytes]
PACKS: Sequence[Pack] = (bytes, gzip.compress, bz2.compress, lzma.compress)


def walk(*lats: float, creator: str = "test", version: str = "1.1") -> bytes:
    points = "".join(f'<trkpt lat="{lat}" lon="2"/>' for lat in lats)
    root = f'<gpx version="{version}" creator="{creator}">'
    return f"{root}<trk><trkseg>{points}</trkseg></trk></gpx>".encode()


def tar(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def read(path: Path, how: Reading | None = None) -> list[Trace]:
    found = list(gpx_archive.read(path, (how or Reading()).of_file(path, "a")))
    assert not any(trace.page for trace in found)
    return found


def names(traces: Sequence[Trace]) -> list[tuple[str, int]]:
    return [(trace.name, len(trace)) for trace in traces]


WALKS = {
    "b/one.gpx": walk(1, 2),
    "a/TWO.GPX": walk(1, 2, 3),
    "three.gpx.gz": gzip.compress(walk(1)),
    "four.gpx.bz2": bz2.compress(walk(1)),
    "five.gpx.xz": lzma.compress(walk(1)),
    "readme.txt": b"lat, lon",
    "b/.hidden.gpx": b"\0\5\x16\7",
    "deeper.tar": tar({"six.gpx": walk(1)}),
}
FOUND = [
    ("a/b/one.gpx", 2),
    ("a/a/TWO.GPX", 3),
    ("a/three.gpx.gz", 1),
    ("a/four.gpx.bz2", 1),
    ("a/five.gpx.xz", 1),
]


@pytest.mark.parametrize("content", [zipped(WALKS), *(pack(tar(WALKS)) for pack in PACKS)])
def test_every_gpx_file_is_read_in_order(tmp_path: Path, content: bytes) -> None:
    how = Reading()
    found = read(write(tmp_path / "walks", content), how)
    assert names(found) == FOUND
    assert {trace.subject for trace in found} == {None}
    assert how.counts == {"members that are not GPX": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["walks"]


def test_answers_of_the_server_stay_documents(tmp_path: Path) -> None:
    page = walk(1, creator="OpenStreetMap.org", version="1.0")
    files = {"page0.gpx": page, "page1.gpx": page, "walk.gpx": walk(1)}
    path = write(tmp_path / "a.zip", zipped(files))
    found = gpx_archive.read(path, Reading().of_file(path, "a"))
    assert [trace.page for trace in found] == [f"{path}/page0.gpx", f"{path}/page1.gpx", ""]


def test_names_are_names_and_no_places(tmp_path: Path) -> None:
    hostile = ["../../up.gpx", "/etc/root.gpx", "C:\\win.gpx", "new\nline.gpx"]
    for make in (tar, zipped):
        path = write(tmp_path / "hostile", make(dict.fromkeys(hostile, walk(1))))
        found = [trace.name for trace in read(path, Reading())]
        assert found == [f"a/{name}" for name in (*hostile[:3], r"new\nline.gpx")]
        assert [file.name for file in tmp_path.iterdir()] == ["hostile"]
        assert not (tmp_path.parents[1] / "up.gpx").exists()


def test_links_and_devices_are_passed_over(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo("odd.gpx")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("walk.gpx")
        info.size = len(walk(1))
        archive.addfile(info, io.BytesIO(walk(1)))
    how = Reading()
    assert names(read(write(tmp_path / "a.tar", stream.getvalue()), how)) == [("a/walk.gpx", 1)]
    assert how.counts == {"members that are not GPX": 3}


BROKEN = {
    "good.gpx": walk(1),
    "html.gpx": b"<html/>",
    "half.gpx": walk(1, 2)[:-6],
    "packed.gpx.gz": gzip.compress(walk(1))[:-9],
    "last.gpx": walk(1, 2),
}


@pytest.mark.parametrize("make", [tar, zipped])
def test_bad_members_are_named_and_the_others_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, make: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    how = Reading()
    path = write(tmp_path / "a", make(BROKEN))
    assert names(read(path, how)) == [
        ("a/good.gpx", 1),
        ("a/half.gpx", 2),  # all of it that was complete
        ("a/packed.gpx.gz", 1),
        ("a/last.gpx", 2),
    ]
    assert how.counts == {"files that could not be read": 1, "files from their damage on": 2}
    said = [record.getMessage() for record in caplog.records]
    assert [
        f"{path}/{bad}" in line
        for bad, line in zip(("html.gpx", "half.gpx", "packed.gpx.gz"), said, strict=True)
    ] == [True] * 3


@pytest.mark.parametrize("pack", [tar, zipped], ids=["tar", "zip"])
def test_the_last_piece_before_a_cut_is_marked(
    tmp_path: Path, pack: Callable[[Mapping[str, bytes]], bytes]
) -> None:
    """The archive is cut in its middle, or a file was before it was put there."""
    whole = walk(*range(1_000))
    segment = whole[whole.index(b"<trkseg>") : whole.index(b"</trk>")]
    long = b'<gpx version="1.1" creator="test"><trk>' + segment * 20
    packed = pack({"1.gpx": walk(1, 2), "2.gpx": long})
    path = write(tmp_path / "a", packed[:-60_000] if pack is tar else packed)
    found = [trace.cut_off for trace in read(path)]
    assert len(found) > 10
    assert found == [False] * (len(found) - 1) + [True]


@pytest.mark.parametrize("end", [512 * 2, 512 * 3, 512 * 3 + 50, 512 * 2 + 100])
def test_an_archive_cut_off_anywhere_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, end: int
) -> None:
    # A header and one block of text each; a cut between two files counts as well.
    path = write(tmp_path / "a.tar", tar({"1.gpx": walk(1), "2.gpx": walk(2)})[:end])
    how = Reading()
    assert names(read(path, how)) == [("a/1.gpx", 1)]
    assert how.counts == {"archives cut off": 1}
    assert f"{path} is damaged or cut off (" in caplog.text


def test_a_damaged_header_is_not_taken_for_the_end(tmp_path: Path) -> None:
    content = bytearray(tar({"1.gpx": walk(1), "2.gpx": walk(2)}))
    content[1024:1100] = b"\xff" * 76
    how = Reading()
    assert len(read(write(tmp_path / "a.tar", bytes(content)), how)) == 1
    assert how.counts == {"archives cut off": 1}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped({}), r"a\.zip holds no \.gpx, .* file"),
        (tar({}), r"a\.zip holds no \.gpx, .* file"),
        (gzip.compress(tar({"a.csv": b"lat"})), r"file: unpack others, and name the folder"),
        (tar({"a.gpx": b"<html/>"}), r"no GPX file in .*a\.zip can be read: .*html"),
        (zipped({"a.gpx": b"<html/>"}), r"no GPX file in .*a\.zip can be read"),
        (zipped(WALKS)[:-30], r"a\.zip is not a complete zip archive"),
        (b"", r"a\.zip is neither a zip nor a tar archive"),
        (b"hello" * 500, r"a\.zip is neither a zip nor a tar archive"),
        (tar(WALKS)[:600], r"damaged or cut off \("),
    ],
)
def test_an_archive_of_nothing_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(FileProblem, match=message) as caught:
        read(write(tmp_path / "a.zip", content))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [(8, 1, r"walk\.gpx is encrypted: unpack it"), (10, 99, r"walk\.gpx cannot be unpacked")],
)
def test_a_member_that_cannot_be_unpacked_is_named(
    tmp_path: Path, place: int, value: int, words: str
) -> None:
    content = bytearray(zipped({"walk.gpx": walk(1)}))
    content[content.index(b"PK\x01\x02") + place] = value
    with pytest.raises(FileProblem, match=words):
        read(write(tmp_path / "a.zip", bytes(content)))


@given(
    st.sampled_from([zipped(WALKS), tar(WALKS), gzip.compress(tar(WALKS))]),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), max_size=8),
    st.integers(0, 1 << 20),
)
def test_whatever_is_damaged_there_is_no_traceback(
    tmp_path: Path, content: bytes, changes: list[tuple[int, int]], end: int
) -> None:
    damaged = bytearray(content)
    for place, value in changes:
        damaged[place % len(damaged)] = value
    path = write(tmp_path / "a", bytes(damaged[: end % (2 * len(damaged))]))
    how = Reading()
    try:
        found = names(read(path, how))
    except FileProblem:
        return
    whole = end % (2 * len(damaged)) >= len(content) and bytes(damaged) == content
    assert not whole or found == FOUND


@pytest.mark.parametrize(
    ("files", "answer"),
    [
        ({"a.txt": b"", "1.gpx": walk(1, creator="OpenStreetMap.org")}, True),
        ({"1.gpx": walk(1), "2.gpx": walk(1, creator="OpenStreetMap.org")}, True),
        ({"metadata.xml": b"<other/>", "1.gpx": walk(1)}, False),
    ],
)
def test_any_file_tells_where_an_archive_came_from(
    tmp_path: Path, files: Mapping[str, bytes], answer: bool
) -> None:
    for content in (tar(files), zipped(files)):
        how = Reading()
        list(gpx_archive.read(write(tmp_path / "a", content), how))
        assert (how.counts[gpx.FROM_OSM] > 0) is answer


METADATA = b"""<?xml version="1.0"?>
<gpxFiles version="1.0" generator="OpenStreetMap gpx_dump.py" timestamp="2013">
  <gpxFile id="1000123" visibility="identifiable" uid="7" user="ann" points="2">
    <description>uid="9"</description><tags><tag>id</tag></tags>
  </gpxFile>
  <gpxFile id="22" visibility="public" uid="8" user="bob"/>
  <gpxFile id="21" visibility="public" uid="7"/>
  <gpxFile id="20" visibility="trackable"/>
  <gpxFile id="many" uid="5"/><gpxFile id="19" uid=""/>
</gpxFiles>"""

FILES = {
    "identifiable/001/000/001000123.gpx": walk(1, 2),
    "public/000/000/000000022.gpx": walk(3, 1, 2),
    "public/000/000/000000021.gpx": walk(1),
    "public/000/000/000000019.gpx": walk(1),
    "trackable/000/000/000000020.gpx": walk(1),
}
SUBJECTS = {
    "a/1000123": "osm:uid:7",
    "a/22": "osm:uid:8",
    "a/21": "osm:uid:7",
    "a/19": None,
    "a/20": None,
}


def subjects(tmp_path: Path, files: Mapping[str, bytes], how: Reading) -> dict[str, str | None]:
    path = write(tmp_path / "gpx-planet.tar.xz", lzma.compress(tar(files)))
    return {trace.name: trace.subject for trace in read(path, how)}


@pytest.mark.parametrize("top", ["", "./", "gpx-planet-2013-04-09/"])
def test_recordings_have_their_number_and_their_account(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, top: str
) -> None:
    files = {"metadata.xml": METADATA} | FILES
    how = Reading()
    found = subjects(tmp_path, {top + name: text for name, text in files.items()}, how)
    assert found == SUBJECTS
    assert list(found) == list(SUBJECTS)
    assert not how.counts
    assert not caplog.records


def test_a_second_list_of_accounts_adds_to_the_first(tmp_path: Path) -> None:
    second = b'<gpxFiles><gpxFile id="19" uid="9"/></gpxFiles>'
    files = {"a/metadata.xml": METADATA, "b/metadata.xml": second} | FILES
    assert subjects(tmp_path, files, Reading()) == SUBJECTS | {"a/19": "osm:uid:9"}


def test_accounts_that_come_too_late_are_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, *others = FILES
    order = ["trackable/000/000/000000018.gpx", first, "metadata.xml", *others]
    files = {"metadata.xml": METADATA, order[0]: walk(1)} | FILES
    how = Reading()
    found = subjects(tmp_path, {name: files[name] for name in order}, how)
    assert found == SUBJECTS | {"a/18": None, "a/1000123": None}
    assert how.counts == {gpx_archive.BEFORE_ACCOUNTS: 1}
    (record,) = caplog.records
    assert "no metadata.xml before its recordings: 1 have no account" in record.getMessage()


def test_the_members_of_an_archive_do_not_wait_for_the_collector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(tar({f"{number}.gpx": walk(1.0) for number in range(20)}))
    opened: list[weakref.ref[Any]] = []

    class Watched(gpx.GpxDocument):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            opened.append(weakref.ref(self))

    monkeypatch.setattr(gpx_archive, "GpxDocument", Watched)
    gc.disable()
    try:
        for _ in gpx_archive.read(path, Reading().of_file(path, "a")):
            assert sum(one() is not None for one in opened) <= 3
    finally:
        gc.enable()
    assert len(opened) >= 20
