"""Folders: whole files or none, on any file system."""

import errno
from pathlib import Path

import pytest
from s3fs import S3FileSystem

from trajanon.errors import BadInput, FileProblem
from trajanon.remote_folder import Folder


@pytest.fixture(params=["file", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """On disk, and on an object store, where there are no folders."""
    where = tmp_path if request.param == "file" else request.getfixturevalue("bucket")
    return Folder(f"{where}/here")


def stop_half_way(folder: Folder) -> None:
    with folder.writing("file") as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_a_file_has_its_name_once_it_is_whole(folder: Folder) -> None:
    folder.make()
    with pytest.raises(KeyboardInterrupt):
        stop_half_way(folder)
    with folder.writing("other") as file:
        file.write(b"whole")
    assert folder.names() == ["other"]
    with folder.open("other") as file:
        assert file.read() == b"whole"


def test_folders_move_and_go(folder: Folder) -> None:
    (folder / "draft").make()
    with (folder / "draft").writing("part") as file:
        file.write(b"x")
    (folder / "draft").move(folder / "done")
    assert folder.names() == ["done"]
    (folder / "done" / "part").move(folder / "report.json")
    assert "report.json" in folder.names()
    assert folder.exists
    folder.remove()
    assert not folder.exists
    folder.remove()  # nothing to do


def test_of_two_that_claim_a_folder_one_is_refused(folder: Folder) -> None:
    folder.claim("marker")
    with pytest.raises(FileProblem, match=r"cannot use .*here"):
        folder.claim("marker")


def test_what_is_not_there_is_named(folder: Folder) -> None:
    with pytest.raises(FileProblem, match=r"cannot use .*here: there is no such"):
        folder.names()
    with pytest.raises(FileProblem, match=r"cannot use .*here/part"):
        folder.open("part")


@pytest.mark.parametrize("url", ["nowhere://trips", "gs://trips"])
def test_a_file_system_that_is_not_known_or_installed_is_named(url: str) -> None:
    with pytest.raises(FileProblem, match=f"cannot use {url}: "):
        Folder(url)


def test_names_that_match_others_are_refused() -> None:
    with pytest.raises(BadInput, match=r"memory://trips\[1\] has \*, \? or \["):
        Folder("memory://trips[1]")


def test_a_store_that_asks_for_credentials_is_named(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    folder = Folder(bucket)
    monkeypatch.setattr(folder, "system", S3FileSystem(skip_instance_cache=True))
    with pytest.raises(FileProblem, match=f"cannot use {bucket}: Unable to locate credentials"):
        folder.names()


def test_what_is_not_removed_although_nothing_says_so_is_named(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Folder(f"{bucket}/here")
    with folder.writing("file") as file:
        file.write(b"coordinates")
    # As S3 does where one may write, but not remove.
    monkeypatch.setattr(folder.system, "rm", lambda *_, **__: None)
    with pytest.raises(FileProblem, match=f"cannot use {bucket}/here: it is still there"):
        folder.remove()


def test_an_error_says_why(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path))
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        pytest.raises(FileProblem, match=r"cannot use .*/x: No space left on device"),
        folder.writing("x"),
    ):
        raise full


def test_two_that_write_one_file_do_not_mix(folder: Folder) -> None:
    folder.make()
    with folder.writing("file") as one:
        one.write(b"as one ")
        with folder.writing("file") as other:
            other.write(b"as the other one writes it")
        one.write(b"writes it")
    with folder.open("file") as file:
        assert file.read() == b"as one writes it"
    assert folder.names() == ["file"]


def test_a_folder_holds_what_is_in_it_by_any_way(tmp_path: Path) -> None:
    (tmp_path / "trips" / "madrid").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "trips" / "madrid")
    trips = Folder(str(tmp_path / "trips"))
    for way in ("trips/", "x/../trips", "trips/madrid", "trips/madrid/", "link", "link/x.parquet"):
        assert trips.holds(Folder(f"{tmp_path}/{way}")), way
    for way in ("link", "trips/x/../madrid"):
        assert Folder(f"{tmp_path}/{way}").holds(trips / "madrid"), way
    assert not (trips / "madrid").holds(trips)
    assert not trips.holds(Folder(str(tmp_path / "other")))
    assert not trips.holds(Folder("memory://trips"))
    assert Folder("memory://a").holds(Folder("memory://a/b"))
    assert Folder("memory://a/b/").holds(Folder("memory://a/b"))
    assert not Folder("memory://a").holds(Folder("memory://ab/c"))


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileProblem, match="file: it is no folder"):
        Folder(str(tmp_path / "file")).names()
