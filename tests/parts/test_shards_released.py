"""A release in parts comes whole or not at all, whatever ends the run."""

import fcntl
import json
import os
import signal
from pathlib import Path
from unittest.mock import patch

import pytest
from shards import out_of, released, shards_of, walks, write_folder

import trajanon
from trajanon.atomic_output import LOCK, remove_drafts
from trajanon.errors import BadInput, FileProblem
from trajanon.parts import shards as parts_shards
from trajanon.parts.workflow import anonymize_parts
from trajanon.remote_folder import Folder


def test_a_release_that_is_there_is_replaced_with_its_report(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out = out_of(tmp_path)
    with patch.object(parts_shards, "PART", 10):
        anonymize_parts(str(source), str(out), 3, effort="fast")
    assert len(list(out.iterdir())) == 6
    anonymize_parts(str(source), str(out), 4, effort="fast")
    assert [path.name for path in out.iterdir()] == ["part-00000.parquet"]
    report = json.loads((tmp_path / "anonymized.parts.report.json").read_text())
    assert report["k"] == 4
    assert trajanon.check(out / "part-00000.parquet", 4).holds
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "anonymized",
        "anonymized.parts.report.json",
        "trips",
    ]


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out_of(tmp_path).mkdir()
    (out_of(tmp_path) / "thesis.txt").write_text("years of work")
    with pytest.raises(FileProblem, match=r"holds thesis\.txt, which is no part"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(source), f"{source}/", 3)
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(source), str(tmp_path / "x" / ".." / "trips"), 3)


def test_what_ends_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(300))
    out = out_of(tmp_path)
    anonymize_parts(str(source), str(out), 3, effort="fast")
    before = released(out)

    for until in ("Splitting into shards", "Grouping shards", "Writing the release"):

        def stop(task: str, done: float, total: float | None, note: str = "") -> None:
            if task == until and done == 1:  # noqa: B023 -- called in this round
                os.kill(os.getpid(), signal.SIGINT)

        with (
            shards_of(60),
            patch.object(parts_shards, "PART", 60),
            pytest.raises(KeyboardInterrupt),
        ):
            anonymize_parts(str(source), str(out), 4, progress=stop, effort="fast")
        assert released(out) == before
        assert sorted(p.name for p in tmp_path.iterdir()) == [
            "anonymized",
            "anonymized.parts.report.json",
            "trips",
        ]


@pytest.mark.parametrize("there", ["tmp_path", "bucket"])
@pytest.mark.parametrize("fails", ["before", "out", "report.json"])
def test_a_release_that_is_there_stays_if_the_move_fails(
    tmp_path: Path, request: pytest.FixtureRequest, there: str, fails: str
) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    place = Folder(f"{request.getfixturevalue(there)}/kept")
    out = place / "out"
    anonymize_parts(str(source), out.url, 3, effort="fast")
    with out.open("part-00000.parquet") as file:
        before = file.read()
    move = Folder.move

    def stop(name: str) -> None:
        if name == fails:
            raise KeyboardInterrupt

    def moved(self: Folder, other: Folder) -> None:
        back = self.url.endswith("/before")
        if other.url.endswith("/out") and not back:
            stop("out")
        if self.url.endswith("/report.json"):
            stop("report.json")
        move(self, other)
        if other.url.endswith("/before"):
            stop("before")

    with patch.object(Folder, "move", moved):
        with pytest.raises(KeyboardInterrupt):
            anonymize_parts(str(source), out.url, 4, effort="fast")
        assert place.names() == ["out", "out.parts.report.json"]
        with out.open("part-00000.parquet") as file:
            assert file.read() == before
        if fails == "before":
            return
        with pytest.raises(KeyboardInterrupt):  # nothing was there
            anonymize_parts(str(source), (place / "new" / "out").url, 4, effort="fast")
    assert not (place / "new" / "out").exists


@pytest.mark.parametrize("error", [FileProblem("the disk is gone"), KeyboardInterrupt()])
def test_originals_that_cannot_be_removed_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    source = write_folder(tmp_path / "trips", walks(60))

    def stop(task: str, done: float, total: float | None, note: str = "") -> None:
        raise BadInput(task)

    with (
        patch.object(Folder, "remove", side_effect=error),
        pytest.raises(BadInput, match="Anonymising"),
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, progress=stop)
    assert "anonymized.unfinished could not be removed, and holds orig" in caplog.text


def test_what_cannot_be_moved_back_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out = out_of(tmp_path)
    anonymize_parts(str(source), str(out), 3, effort="fast")
    before = released(out)
    move = Folder.move

    def moved(self: Folder, other: Folder) -> None:
        if other.url.endswith("/anonymized"):
            msg = "the disk is gone"
            raise FileProblem(msg)
        move(self, other)

    with patch.object(Folder, "move", moved), pytest.raises(FileProblem, match="the disk is gone"):
        anonymize_parts(str(source), str(out), 4, effort="fast")
    assert released(tmp_path / "anonymized.unfinished" / "before") == before
    assert "unfinished/before is what was there: move it back" in caplog.text


def test_a_link_to_a_folder_stays_one(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    (tmp_path / "large_disk").mkdir()
    link = out_of(tmp_path)
    link.symlink_to(tmp_path / "large_disk")
    for k in (3, 4):
        anonymize_parts(str(source), str(link), k, effort="fast")
    assert link.is_symlink()
    assert len(released(tmp_path / "large_disk")) == 60
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "anonymized",
        "anonymized.parts.report.json",
        "large_disk",
        "trips",
    ]


def test_a_run_that_was_killed_is_named(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    (tmp_path / "anonymized.unfinished").mkdir()
    with pytest.raises(FileProblem, match=r"anonymized\.unfinished belongs to a run that"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)


@pytest.mark.parametrize("put_aside", [False, True])
def test_what_a_killed_run_left_is_removed(tmp_path: Path, put_aside: bool) -> None:
    source, out = write_folder(tmp_path / "trips", walks(60)), out_of(tmp_path)
    left = tmp_path / "anonymized.unfinished"
    if put_aside:
        anonymize_parts(str(source), str(out), 3, effort="fast")
    left.mkdir()
    (left / LOCK).touch()
    if put_aside:
        out.rename(left / "before")
        assert remove_drafts(tmp_path) == {left: ""}
        assert len(released(out)) == 60
    else:
        with (left / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with pytest.raises(FileProblem, match="belongs to a run that is still at work"):
                anonymize_parts(str(source), str(out), 3)
        anonymize_parts(str(source), str(out), 3, effort="fast")
    assert not left.exists()


def test_folders_may_be_on_any_file_system(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(90))
    there = Folder("memory://trips")
    there.remove()
    there.make()
    for path in source.iterdir():
        with there.writing(path.name) as file:
            file.write(path.read_bytes())
    with shards_of(30):
        far = anonymize_parts("memory://trips", "memory://released/out", 3, effort="fast")
        near = anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert far["information_loss"] == near["information_loss"]
    assert Folder("memory://released").names() == [
        "out",
        "out.parts.groups",
        "out.parts.report.json",
    ]
    assert Folder("memory://released/out").names() == ["part-00000.parquet"]


def test_what_is_written_meanwhile_is_for_the_holders_eyes(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    seen: list[int] = []

    def look(task: str, done: float, total: float | None, note: str = "") -> None:
        seen.append((tmp_path / "anonymized.unfinished").stat().st_mode & 0o777)

    anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast", progress=look)
    assert set(seen) == {0o700}
    assert out_of(tmp_path).stat().st_mode & 0o777 != 0o700  # this is to be published
