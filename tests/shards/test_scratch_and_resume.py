"""What is left of runs in shards that were stopped, killed or had no room; and how they go on."""

import errno
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask.config
import numpy as np
import pyarrow as pa
import pytest
from commands import Run
from shards import labels_of, out_of, released, shards_of, walks, write_folder, write_parts

from trajanon import anonymization
from trajanon.common.atomic_output import lock
from trajanon.common.errors import FileProblem
from trajanon.common.progress import Progress
from trajanon.shards import scratch_and_resume, shard_search, sharded_run
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.scratch_and_resume import scratch_for, scratch_roots
from trajanon.trajectories.trajectories import Trajectories

KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for scratch."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def run_of(tmp_path: Path, **options: Any) -> dict[str, Any]:
    source, out = tmp_path / "trips", out_of(tmp_path)
    if not source.exists():
        write_folder(source, walks(240))
    with shards_of(60):
        return anonymize_parts(str(source), str(out), 3, effort="fast", key=KEY, **options)


def after(calls: int, error: BaseException) -> Any:
    """Search some shards, and then fail."""
    grouped = anonymization.grouped
    left = [None] * calls

    def search(*given: Any) -> Any:
        if not left:
            raise error
        left.pop()
        return grouped(*given)

    return patch.object(shard_search, "grouped", search)


def originals_in(root: Path) -> list[Path]:
    return [*root.rglob("rows-*/*")]


def test_a_stopped_run_goes_on_where_it_stopped(
    tmp_path: Path, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    run_of(tmp_path)
    expected = released(out_of(tmp_path)), labels_of(out_of(tmp_path)).tolist()
    assert not list(root.iterdir())

    with after(2, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        run_of(tmp_path)
    assert not originals_in(root)
    with after(2, AssertionError("a third shard was searched")):
        run_of(tmp_path)
    assert "continuing: 2 shards searched before" in caplog.messages
    assert (released(out_of(tmp_path)), labels_of(out_of(tmp_path)).tolist()) == expected
    assert not list(root.iterdir())


def test_with_other_options_a_run_begins_from_the_start(
    tmp_path: Path, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with after(2, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        run_of(tmp_path)
    run_of(tmp_path, seed=3)
    assert caplog.messages[-1].endswith("this one starts from the beginning")
    assert not list(root.iterdir())


@pytest.mark.parametrize("writes", [1, 6, 9, 13])
def test_a_full_disk_is_one_sentence_and_leaves_no_original(
    tmp_path: Path, root: Path, writes: int
) -> None:
    """Wherever it comes."""
    left = [writes]
    replaced = Path.replace

    def full(self: Path, target: Path) -> Path:
        left[0] -= "scratch" in str(target)
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        return replaced(self, target)

    with (
        patch.object(Path, "replace", full),
        pytest.raises(FileProblem, match=r"cannot write .*scratch.*No space left.*make room"),
    ):
        run_of(tmp_path)
    assert not originals_in(root)
    assert not out_of(tmp_path).exists()
    run_of(tmp_path)
    assert len(released(out_of(tmp_path))) == 240


def test_a_worker_that_goes_on_writing_leaves_no_original(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task on a cluster does not end with the run that began it."""
    rows = pa.table({"place": [40.0, 41.0]})
    refused: list[str] = []

    def remove(folder: Path, **_: object) -> None:
        for path in folder.iterdir():
            rmtree(path)
        try:
            made.put("shard", np.array([2, 3]), 1, rows)
        except FileProblem as error:
            refused.append(str(error))
        with suppress(OSError):  # as where errors are ignored
            folder.rmdir()

    rmtree = shutil.rmtree
    with suppress(KeyboardInterrupt), scratch_for("out", root, 0) as made:
        made.put("shard", np.array([2, 3]), 0, rows)
        made.groups_of_shards.mkdir()
        made.groups(0).touch()
        monkeypatch.setattr(shutil, "rmtree", remove)
        raise KeyboardInterrupt
    assert not originals_in(root)
    assert "a worker does not see the scratch" in refused[0]


def test_originals_that_cannot_be_removed_are_named(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with patch.object(shutil, "rmtree"), scratch_for("out", root, 0) as made:
        pass
    (message,) = caplog.messages
    assert message.startswith(f"originals could not be removed from {made.folder}/rows-")
    assert message.endswith("trajanon clean")


def test_groups_that_come_late_from_a_stopped_run_are_not_taken_for_anothers(
    tmp_path: Path,
) -> None:
    source = write_parts(tmp_path / "trips", Trajectories(walks(240)), in_order=True)
    how: dict[str, Any] = {"effort": "fast"}
    late: list[tuple[Path, bytes]] = []

    def stop(table: PartsTable, progress: Progress, shard: int) -> None:
        shard_search.search_shard(table, progress, shard)
        path = table.scratch.groups(shard)
        late.append((path, path.read_bytes()))
        path.unlink()
        raise KeyboardInterrupt

    def come_late(task: str, done: float, total: float | None, note: str = "") -> None:
        if task == "Grouping shards" and done == 0:
            for path, groups in late:
                path.parent.mkdir()
                path.write_bytes(groups)

    with shards_of(60):
        with patch.object(sharded_run, "search_shard", stop), pytest.raises(KeyboardInterrupt):
            anonymize_parts(str(source), str(out_of(tmp_path)), 3, key=KEY, **how)
        anonymize_parts(
            str(source), str(out_of(tmp_path)), 3, key=KEY[1:], progress=come_late, **how
        )
        anonymize_parts(str(source), str(tmp_path / "alone"), 3, key=KEY[1:], **how)
    found, expected = labels_of(out_of(tmp_path)), labels_of(tmp_path / "alone")
    assert found.tolist() == expected.tolist()


def test_too_little_room_is_found_before_the_work(tmp_path: Path) -> None:
    with (
        patch.object(shutil, "disk_usage", lambda _: Free()),
        pytest.raises(FileProblem, match=r"has 0\.0 GB free, and the run needs some .*TMPDIR"),
    ):
        run_of(tmp_path)


def test_parts_in_order_need_little_room(tmp_path: Path) -> None:
    trips = Trajectories(walks(2400))
    source = write_parts(tmp_path / "trips", trips, 600, in_order=True)
    size = sum(path.stat().st_size for path in source.iterdir())
    with (
        patch.object(Free, "free", size // 2),
        patch.object(shutil, "disk_usage", lambda _: Free()),
    ):
        with shards_of(800):
            anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
        # If runs lie apart, their rows are written after all.
        with (
            shards_of(800),
            patch.object(PartsTable, "shards_are_ranges", False),
            pytest.raises(FileProblem, match="the run needs some"),
        ):
            anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")


class Free:
    free = 1000


def test_groups_that_are_not_whole_are_searched_again(tmp_path: Path, root: Path) -> None:
    """As after a power cut."""
    run_of(tmp_path)
    expected = labels_of(out_of(tmp_path)).tolist()
    with after(2, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        run_of(tmp_path)
    whole, cut = sorted(root.rglob("groups-*/*.parquet"))
    cut.write_bytes(b"")
    assert whole.stat().st_size
    run_of(tmp_path)
    assert labels_of(out_of(tmp_path)).tolist() == expected


def test_a_stopped_run_says_what_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with after(2, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        run_of(tmp_path)
    assert "the groups of 2 shards are kept: the same command continues" in caplog.messages[-1]


def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by `trajanon clean`, or by the end of another run."""
    left = [None]

    def late(file: Any) -> None:
        if left:
            left.pop()
            shutil.rmtree(Path(file.name).parent)
        lock(file)

    monkeypatch.setattr(scratch_and_resume, "lock", late)
    with scratch_for("out", root / "new", 0) as made:
        assert not left
        assert made.rows.is_dir()
        with pytest.raises(FileProblem, match="another run"), scratch_for("out", root / "new", 0):
            pass


def test_scratch_that_cannot_be_made_is_one_sentence(root: Path) -> None:
    (root / "file").touch()
    says = "cannot write .*Not a directory; make room, or name another folder"
    with pytest.raises(FileProblem, match=says), scratch_for("out", root / "file", 0):
        pass


KILLED = """
import os, signal, sys, tempfile
from trajanon.shards import anonymize_folders, shard_search
anonymize_folders.shards_for = lambda *_: 4
found = []
def search(*given, grouped=shard_search.grouped):
    if len(found) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    found.append(grouped(*given))
    return found[-1]
shard_search.grouped = search
anonymize_folders.anonymize_parts("trips", "anonymized", 3, effort="fast", key=bytes(range(32)))
"""


def test_scratch_of_a_killed_run_is_its_owners_and_is_cleaned(
    tmp_path: Path, root: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_of(tmp_path)
    expected = released(out_of(tmp_path))
    process = subprocess.run(
        [sys.executable, "-c", KILLED],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(root)},
        check=False,
    )
    assert process.returncode == -signal.SIGKILL
    (folder,) = root.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert originals_in(root)
    assert released(out_of(tmp_path)) == expected

    with after(2, AssertionError("a third shard was searched")):
        run_of(tmp_path)
    assert released(out_of(tmp_path)) == expected
    assert not list(root.iterdir())


def test_clean_removes_scratch_that_no_run_holds(root: Path, run: Run) -> None:
    for name in ("held", "left"):
        with suppress(KeyError), scratch_for(name, root, 0) as made:
            made.groups_of_shards.mkdir()
            made.groups(0).touch()
            raise KeyError
    assert len(list(root.iterdir())) == 2
    with scratch_for("held", root, 0):
        answer = run("clean")
        assert answer.out.count("Removed ") == 1
        assert "a run is at work in it" in answer.out
        with (
            pytest.raises(FileProblem, match="another run is writing held"),
            scratch_for("held", root, 0),
        ):
            pass
    assert not list(root.iterdir())


def test_clean_finds_the_scratch_of_a_cluster(tmp_path: Path, run: Run) -> None:
    with dask.config.set({"temporary-directory": str(tmp_path / "shared")}):
        root = tmp_path / "shared"
        assert scratch_roots()[-1] == root
        with suppress(KeyError), scratch_for("out", root, 0) as made:
            made.groups_of_shards.mkdir()
            made.groups(0).touch()
            raise KeyError
        (folder,) = root.iterdir()
        assert f"Removed {folder}" in run("clean").out
    assert not list(root.iterdir())


def test_scratch_that_others_could_read_is_refused(root: Path) -> None:
    with scratch_for("out", root, 0) as made:
        name = made.folder.name
    (root / name).mkdir(mode=0o755)
    with pytest.raises(FileProblem, match="is not yours alone"), scratch_for("out", root, 0):
        pass


def test_a_second_ctrl_c_waits_until_no_originals_are_left(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove(folder: Path, **_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        rmtree(folder)

    rmtree = shutil.rmtree
    with suppress(KeyboardInterrupt), scratch_for("out", root, 0) as made:
        (made.rows / "part").touch()
        monkeypatch.setattr(shutil, "rmtree", remove)
        raise KeyboardInterrupt
    assert not list(root.iterdir())
