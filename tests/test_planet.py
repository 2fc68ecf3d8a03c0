"""The planet dump: recordings, their visibility and their accounts."""

import io
import lzma
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from gpx_written import Slowly, write
from hypothesis import given
from hypothesis import strategies as st
from test_gpx_archive import names, read, tar, walk, zipped

from trajanon.extract.sources.gpx import gpx_archive, planet
from trajanon.extract.sources.streams import Reading

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


def test_a_public_recording_keeps_its_order_without_time(tmp_path: Path) -> None:
    files = {"public/000/000/000000022.gpx": walk(3, 1, 2)}
    (trace,) = read(write(tmp_path / "a.zip", zipped(files)))
    assert trace.lat.tolist() == [3, 1, 2]
    assert np.isnan(trace.time).all()


def test_accounts_that_come_too_late_are_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, *others = FILES
    order = ["trackable/000/000/000000018.gpx", first, "metadata.xml", *others]
    files = {"metadata.xml": METADATA, order[0]: walk(1)} | FILES
    how = Reading()
    found = subjects(tmp_path, {name: files[name] for name in order}, how)
    assert found == SUBJECTS | {"a/18": None, "a/1000123": None}
    assert how.counts == {"recordings whose account came too late": 1}
    (record,) = caplog.records
    assert "recordings: 1 recording counts as one person's, even" in record.getMessage()


def test_a_dump_without_metadata_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    how = Reading()
    assert set(subjects(tmp_path, FILES, how).values()) == {None}
    assert how.counts == {"recordings whose account is not in the dump": 4}
    (record,) = caplog.records
    assert "no metadata.xml: 4 recordings count as one person's each" in record.getMessage()


def test_damaged_metadata_are_used_up_to_the_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    half = METADATA[: METADATA.index(b'<gpxFile id="21"')]
    how = Reading()
    found = subjects(tmp_path, {"metadata.xml": half} | FILES, how)
    assert found == SUBJECTS | {"a/21": None}
    assert how.counts == {"files that could not be read": 1}
    (record,) = caplog.records
    assert "metadata.xml is not well-formed XML" in record.getMessage()


def test_a_dump_is_from_openstreetmap(tmp_path: Path) -> None:
    for files in ({"top/metadata.xml": METADATA}, FILES):
        named = {
            name: text.replace(b'creator="test"', b'creator="OSM gpx_dump.py"')
            for name, text in files.items()
        }
        path = write(tmp_path / "a.tar.xz", lzma.compress(tar(named)))
        assert gpx_archive.from_osm(path)


@pytest.mark.parametrize(
    "content",
    [
        b"<gpx/>",
        b'<!DOCTYPE gpxFiles [<!ENTITY a "b">]><gpxFiles/>',
        b"<gpxFiles>" + b"<a>" * 300,
        b'<gpxFiles generator="' + b" " * 5_000_000,
    ],
)
def test_metadata_that_are_none_are_left_out(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    files = {"metadata.xml": content} | FILES
    assert set(subjects(tmp_path, files, Reading()).values()) == {None}
    assert "metadata.xml is not GPX: " in caplog.text


@pytest.mark.parametrize(
    ("member", "number"),
    [
        ("public/000/123/000123456.gpx", 123456),
        ("top/trackable/001/123/1123456.gpx", 1123456),
        ("identifiable/0000007.gpx", 7),
        ("private/000/123/000123456.gpx", None),
        ("public/walk.gpx", None),
        ("republic/000/123/000123456.gpx", None),
        ("walk.gpx", None),
    ],
)
def test_a_recording_is_known_by_its_folder_and_number(member: str, number: int | None) -> None:
    found = planet.Accounts().recording(member)
    assert found == (number and (number, None))


@given(st.dictionaries(st.integers(0, 10**9), st.integers(0, 10**9)), st.integers(1))
def test_every_account_is_found_again(accounts: dict[int, int], size: int) -> None:
    rows = "".join(f'<gpxFile uid="{u}" id="{n}"/>' for n, u in accounts.items())
    text = f"<gpxFiles>{rows}</gpxFiles>".encode()
    known = planet.Accounts()
    known.learn(Slowly(io.BytesIO(text), size).read, "metadata.xml")
    for number in [*accounts, 10**9 + 1]:
        account = accounts.get(number)
        subject = None if account is None else f"osm:uid:{account}"
        assert known.recording(f"public/{number}.gpx") == (number, subject)
        assert known.recording(f"trackable/{number}.gpx") == (number, None)


def test_uploads_of_one_account_are_one_subject(tmp_path: Path) -> None:
    files = {"metadata.xml": METADATA} | FILES
    path = write(tmp_path / "a.tar", tar(files))
    found = read(path)
    assert len(names(found)) == 5
    assert len({trace.subject for trace in found if trace.subject}) == 2
