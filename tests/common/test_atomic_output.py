import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from commands import Run, mode
from failing_disk import failing_disk

from trajanon.common import atomic_output
from trajanon.common.atomic_output import check_outputs, replacing, replacing_folder
from trajanon.common.errors import BadInput, FileProblem


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_outputs_are_moved_into_place_at_the_end(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.json"
    two.write_text("old")
    with replacing(one, two) as drafts:
        assert [draft.name for draft in drafts] == ["one.csv", "two.json"]
        for draft in drafts:
            assert draft.parent.parent == tmp_path
            assert draft.parent.name.startswith(f".{draft.name}.{os.getpid()}-")
            draft.write_text(f"new {draft.suffix}")
        assert not one.exists()
        assert two.read_text() == "old"
    assert one.read_text() == "new .csv"
    assert two.read_text() == "new .json"
    assert names(tmp_path) == {"one.csv", "two.json"}


@pytest.mark.parametrize("error", [ValueError, OSError, MemoryError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("there", [True, False])
def test_whatever_ends_the_work_early_leaves_the_output_as_it_was(
    tmp_path: Path, error: type[BaseException], there: bool
) -> None:
    out = tmp_path / "out.csv"
    if there:
        out.write_text("old")

    def work() -> None:
        with replacing(out) as (draft,):
            draft.write_text("half")
            raise error

    with pytest.raises(error):
        work()
    assert names(tmp_path) == ({"out.csv"} if there else set())
    assert not there or out.read_text() == "old"


def test_ctrl_c_while_the_draft_is_made_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch = Path.touch

    def interrupted(self: Path, mode: int = 0o666, exist_ok: bool = True) -> None:
        touch(self, mode, exist_ok)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "touch", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "out.csv"):
        pytest.fail("the work began")
    with pytest.raises(KeyboardInterrupt):
        check_outputs(tmp_path / "out.csv")
    assert not names(tmp_path)


def test_an_error_of_another_file_is_not_taken_for_the_outputs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "out.csv"):
        (tmp_path / "other.csv").read_text()


def test_a_draft_that_cannot_be_written_is_the_outputs_problem(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"

    def work() -> None:
        with replacing(out) as (draft,):
            draft.unlink()
            draft.mkdir()
            draft.write_text("a folder cannot be written to")

    with pytest.raises(FileProblem, match=re.escape(str(out))):
        work()


@pytest.mark.parametrize("link", ["the same name", "symlink", "hard link", "dots"])
def test_an_input_is_never_an_output(tmp_path: Path, link: str) -> None:
    read = tmp_path / "in.csv"
    read.write_text("kept")
    out = tmp_path / "out.csv"
    if link == "the same name":
        out = read
    elif link == "symlink":
        out.symlink_to(read)
    elif link == "hard link":
        os.link(read, out)
    else:
        (tmp_path / "folder").mkdir()
        out = tmp_path / "folder" / ".." / "in.csv"
    with (
        pytest.raises(BadInput, match="is read as input; write elsewhere"),
        replacing(tmp_path / "first.csv", out, inputs=[tmp_path / "no.csv", read]),
    ):
        pytest.fail("the work began")
    assert read.read_text() == "kept"
    assert not any(name.startswith(".") for name in names(tmp_path))


@pytest.mark.parametrize("second", ["out.csv", "link.csv", "folder/../out.csv", None])
def test_two_outputs_are_never_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.csv").symlink_to("out.csv")
    outputs = Path("out.csv"), tmp_path / "out.csv" if second is None else Path(second)
    with pytest.raises(BadInput, match="would be written twice"), replacing(*outputs):
        pytest.fail("the work began")
    assert names(tmp_path) == {"folder", "link.csv"}


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("no/folder/out.csv", "there is no folder"),
        ("folder", "it is a folder; write elsewhere"),
        ("file/out.csv", "there is no folder"),
        ("o" * 300 + ".csv", "File name too long"),
    ],
)
def test_what_cannot_be_written_is_found_out_before_the_work(
    tmp_path: Path, out: str, says: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with (
        pytest.raises(FileProblem, match=f"cannot write .*{says}"),
        replacing(tmp_path / "first.csv", tmp_path / out),
    ):
        pytest.fail("the work began")
    assert names(tmp_path) == {"folder", "file"}
    assert not list((tmp_path / "folder").iterdir())


@pytest.mark.parametrize("there", [True, False])
def test_if_the_second_of_two_cannot_be_moved_neither_is(tmp_path: Path, there: bool) -> None:
    """A release with the report of another one is worse than none."""
    one, two = tmp_path / "one.csv", tmp_path / "two.json"
    if there:
        one.write_text("old")

    def work() -> None:
        with replacing(one, two) as drafts:
            for draft in drafts:
                draft.write_text("new")
            two.mkdir()  # as somebody else might, meanwhile

    with pytest.raises(FileProblem, match=re.escape(str(two))):
        work()
    assert names(tmp_path) == ({"one.csv", "two.json"} if there else {"two.json"})
    assert not there or one.read_text() == "old"


@pytest.mark.parametrize("before", [["old", "old"], [None, None], ["old", None], [None, "old"]])
def test_whatever_change_the_disk_refuses_all_outputs_are_new_or_none(
    tmp_path: Path, before: list[str | None]
) -> None:
    for number in count():
        folder = tmp_path / f"{number}"
        folder.mkdir()
        outputs = [folder / "one.csv", folder / "two.json"]
        for output, text in zip(outputs, before, strict=True):
            if text is not None:
                output.write_text(text)

        problem = None
        with failing_disk(folder, number) as disk:
            try:
                with replacing(*outputs) as drafts:
                    for draft in drafts:
                        draft.write_text("new")
            except FileProblem as error:
                problem = error

        now = [output.read_text() if output.exists() else None for output in outputs]
        assert now == (before if problem else ["new", "new"]), number
        if not disk.refused:
            break
    assert number > 10  # changes were refused at all


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("has_table", [True, False])
def test_whatever_the_disk_refuses_a_folder_and_its_files_are_new_or_as_before(
    tmp_path: Path, there: bool, has_table: bool
) -> None:
    """A table that is not written again is gone."""
    for number in count():
        home = tmp_path / f"{number}"
        home.mkdir()
        folder, table, report = home / "parts", home / "table", home / "report"
        if there:
            folder.mkdir()
            for path in (folder / "old1", table, report):
                path.write_text("old")
        before = contents(home)

        problem = None
        with failing_disk(home, number) as disk:
            try:
                outputs = replacing_folder(folder, lambda _: True, files=[table, report])
                with outputs as (folder_draft, table_draft, report_draft):
                    for path in (folder_draft / "new1", folder_draft / "new2", report_draft):
                        path.write_text("new")
                    if not has_table:
                        table_draft.unlink()
                    else:
                        table_draft.write_text("new")
            except FileProblem as error:
                problem = error

        after = {"parts/new1": "new", "parts/new2": "new", "report": "new"}
        after |= {"table": "new"} if has_table else {}
        assert contents(home) == (before if problem else after), number
        if not disk.refused:
            break
    assert number > 10  # changes were refused at all


def contents(home: Path) -> dict[str, str]:
    """The text of each file that is no draft."""
    paths = [path for path in home.rglob("*") if path.is_file()]
    names = {path: str(path.relative_to(home)) for path in paths}
    return {name: path.read_text() for path, name in names.items() if not name.startswith(".")}


def test_ctrl_c_waits_until_what_was_there_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove(folder: Path, **_: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        rmtree(folder)

    rmtree = shutil.rmtree
    folder, report = tmp_path / "parts", tmp_path / "report"
    folder.mkdir()
    (folder / "part").touch()
    with replacing_folder(folder, lambda _: True, files=[report]) as (_, report_draft):
        report_draft.write_text("new")
        monkeypatch.setattr(shutil, "rmtree", remove)
    assert names(tmp_path) == {"parts", "report"}
    assert report.read_text() == "new"


def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    """As root, --out /dev/null would else become a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileProblem, match="cannot write"), replacing(pipe) as (draft,):
        draft.write_text("new")
    assert pipe.is_fifo()


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as (draft,):
        draft.write_text("new")
    assert link.read_text() == "new"
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_check_finds_out_early_and_changes_nothing(tmp_path: Path) -> None:
    there, new = tmp_path / "there.csv", tmp_path / "new.md"
    there.write_text("as it was", encoding="utf-8")
    check_outputs(there, new, inputs=[tmp_path / "other.csv"])
    assert there.read_text(encoding="utf-8") == "as it was"
    assert list(tmp_path.iterdir()) == [there]
    with pytest.raises(BadInput, match=r"there\.csv"):
        check_outputs(new, there, inputs=[there])
    with pytest.raises(FileProblem, match="there is no folder"):
        check_outputs(tmp_path / "no" / "new.csv")
    assert list(tmp_path.iterdir()) == [there]


@pytest.fixture(params=[0o022, 0o077], ids=["umask 022", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_only_what_is_public_can_be_read_by_others(tmp_path: Path, umask: int) -> None:
    public, private = tmp_path / "public.csv", tmp_path / "private.csv"
    private.touch(mode=0o666)
    with replacing(public, private, public=[public]) as drafts:
        for draft in drafts:
            assert mode(draft.parent) == 0o700
            assert mode(draft) == 0o600
            draft.unlink()  # as GDAL does
            draft.touch()
    assert mode(public) == 0o666 & ~umask
    assert mode(private) == 0o600
    with replacing_folder(tmp_path / "parts", lambda _: True) as (folder,):
        (folder / "part").touch()
    assert mode(tmp_path / "parts") == 0o700
    assert mode(tmp_path / "parts" / "part") == 0o600


KILLED = """
import os, signal
from pathlib import Path
from trajanon.common.atomic_output import replacing, replacing_folder

with replacing(Path("t.parquet")), replacing_folder(Path("trips"), bool) as (folder,):
    (folder / "part").write_text("originals")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(folder: Path) -> None:
    """A run that is killed while it writes."""
    subprocess.run([sys.executable, "-c", KILLED], cwd=folder, check=False)
    assert {name.split(".")[1] for name in names(folder)} == {"t", "trips"}


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    killed(tmp_path)
    with replacing(tmp_path / "other.csv"):
        assert len(names(tmp_path)) == 3
    with replacing(tmp_path / "t.parquet") as (draft,):
        assert len(names(tmp_path)) == 3  # other.csv, the draft and that of trips
        with replacing(tmp_path / "t.parquet"):
            assert draft.exists()  # of a run at work
    with replacing_folder(tmp_path / "trips", lambda _: True):
        pass
    assert names(tmp_path) == {"other.csv", "t.parquet", "trips"}


def test_what_a_killed_run_had_put_aside_is_put_back(tmp_path: Path) -> None:
    out = tmp_path / "t.parquet"
    killed(tmp_path)
    (left,) = tmp_path.glob(".t.parquet.*.draft")
    (left / "before").write_text("the old one")
    check_outputs(out)
    assert out.read_text() == "the old one"
    assert not left.exists()


def test_without_locks_nobody_is_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a network's disk without locks, and on Windows."""
    killed(tmp_path)
    left = names(tmp_path)
    monkeypatch.setattr(atomic_output, "fcntl", None)
    with replacing(tmp_path / "t.parquet"):
        pass
    assert names(tmp_path) == left | {"t.parquet"}
    states = atomic_output.remove_drafts(tmp_path)
    assert all(states.values())
    assert {path.name for path in states} == left


def test_clean_keeps_what_is_at_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed(tmp_path)
    with replacing(tmp_path / "out.csv") as (draft,):
        answer = run("clean")
        assert draft.exists()
    assert answer.code == 0
    assert answer.out.count("Removed ") == 2
    assert "draft: a run is at work in it\n" in answer.out
    assert names(tmp_path) == {"out.csv"}
    assert run("clean").out == "Nothing to remove in .\n"
    assert "there is no folder no; " in run("clean", "no").sentence


@pytest.mark.parametrize("gone", ["table", "report"])
def test_an_output_that_is_not_written_again_is_gone(tmp_path: Path, gone: str) -> None:
    files = [tmp_path / name for name in ("table", "report")]
    for file in files:
        file.write_text("old")
    with replacing_folder(tmp_path / "parts", lambda _: True, files=files) as (_, *drafts):
        for file, draft in zip(files, drafts, strict=True):
            draft.write_text("new")
            if file.name == gone:
                draft.unlink()
    assert names(tmp_path) == {"parts", "table", "report"} - {gone}
