"""Extractions that are stopped, and go on as if they had not been."""

import errno
import json
import logging
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import Run, mode
from hypothesis import given, settings
from hypothesis import strategies as st

from trajanon.drafts import LOCK
from trajanon.errors import BadInput, FileProblem, NoTrajectories
from trajanon.extract import Extraction, Rules, checkpoint, cutting
from trajanon.extract.cutting import Cutter
from trajanon.files.trajectories import read_trajectories, write_trajectories
from trajanon.partition import dense
from trajanon.subjects import BY_BLANKS, BY_CASE
from trajanon.trajectories import Trajectories

PEOPLE = ["ann", "bob", "cy ", "cy", "Bob"]
"""Three, one of them in two cases, one with a blank."""


def table(path: Path, seed: int, trips: int) -> Path:
    """A CSV of trips to the north, a fix every ten seconds and some 100 m."""
    rng = np.random.default_rng(seed)
    parts = []
    for trip in range(trips):
        fixes = int(rng.integers(2, 60))
        lat = 40.0 + rng.uniform(0, 1) + np.cumsum(rng.uniform(8e-4, 1e-3, fixes))
        parts.append(
            pd.DataFrame(
                {
                    "trip_id": f"{seed}-{trip}",
                    "user_id": PEOPLE[rng.integers(5)],
                    "lat": lat,
                    "lon": -3.0 + trip / 100,
                    "time": 1e9 + 10.0 * np.arange(fixes),
                }
            )
        )
    pd.concat(parts).to_csv(path, index=False)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three tables of 36 trips in all; the third repeats a trip of the first."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for seed, trips in enumerate((12, 1, 20)):
        table(folder / f"{seed}.csv", seed, trips)
    first = pd.read_csv(folder / "0.csv")
    again = first[first.trip_id == "0-3"].assign(user_id=99, trip_id="again")
    third = pd.read_csv(folder / "2.csv")
    pd.concat([third, again]).to_csv(folder / "2.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few trajectories, batches of a few traces."""
    monkeypatch.setattr(checkpoint, "TRAJECTORIES_HELD", 20)
    monkeypatch.setattr(cutting, "BATCH", 60)


def of(folder: Path, **more: Any) -> Extraction:
    rules = Rules(spacing=50, points=5, max_per_subject=30, trim_ends=more.pop("trim_ends", 0.0))
    return Extraction(folder, rules=rules, **more)


def is_the_same(found: Trajectories, other: Trajectories) -> bool:
    np.testing.assert_array_equal(found.points, other.points)
    for name in ("subject", "trace"):  # a file that is read numbers those it has
        mine, theirs = (dense(getattr(each, name)) for each in (found, other))
        np.testing.assert_array_equal(mine, theirs)
    one, two = found.tracks, other.tracks
    assert one is not None
    assert two is not None
    for name in ("points", "first", "run", "start"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert found.provenance == other.provenance
    return True


@contextmanager
def stopping(batches: int, error: BaseException) -> Iterator[None]:
    """Let a number of batches be cut, then something happen."""
    cut, left = Cutter.cut, [batches]

    def until(cutter: Cutter, some: Any) -> Any:
        found = cut(cutter, some)
        left[0] -= 1
        if left[0] < 0:
            raise error
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cutter, "cut", until)
        yield


def test_in_parts_it_is_as_in_memory(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    provenance = of(folder).write(out)
    assert is_the_same(read_trajectories(out), of(folder).trajectories())
    assert provenance == read_trajectories(out).provenance
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "traces"]


def test_stopped_anywhere_it_goes_on_to_the_same_result(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = of(folder).trajectories()
    counts = expected.provenance["counts"]
    assert (counts[BY_CASE], counts[BY_BLANKS]) == (1, 1)

    @settings(max_examples=12)
    @given(st.lists(st.integers(0, 25), max_size=3), st.sampled_from([1, 2]))
    def test(stops: list[int], held: int) -> None:
        out = tmp_path / "out.parquet"
        monkeypatch.setattr(checkpoint, "TRAJECTORIES_HELD", 20 * held**5)
        for stop in stops:
            with stopping(stop, KeyboardInterrupt()):
                try:
                    of(folder).write(out, resume=True)
                except KeyboardInterrupt:
                    assert not out.exists()
                else:
                    break
        if not out.exists():
            of(folder).write(out, resume=True)
        assert is_the_same(read_trajectories(out), expected)
        assert not (tmp_path / "out.parquet.unfinished").exists()
        out.unlink()

    test()


def test_what_was_found_is_readable_and_its_files_are_not_read_again(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    with stopping(12, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(out)
    parts = sorted((tmp_path / "out.parquet.unfinished").glob("part-*.parquet"))
    assert len(parts) > 1
    assert sum(len(read_trajectories(part)) for part in parts) > 20
    state = json.loads((tmp_path / "out.parquet.unfinished" / "state.json").read_text())
    assert state["position"][0] >= 1
    read = []
    again = of(folder, progress=lambda task, done, total, note="": read.append(done))
    again.write(out, resume=True)
    assert min(read) > (folder / "0.csv").stat().st_size


def test_without_resume_nothing_is_thrown_away(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with stopping(5, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(out)
    with pytest.raises(BadInput, match=r"out\.parquet\.unfinished holds .* add `resume`"):
        of(folder).write(out)
    assert of(folder).write(out, resume=True)["counts"]["trajectories"] > 0


def test_another_extraction_does_not_go_on_from_it(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with stopping(5, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(out)
    for other in (
        Extraction(folder, rules=Rules(spacing=51, points=5, max_per_subject=30)),
        of(folder, area="-180,-80,180,80"),
        of(folder, untimed="reject"),
        of(folder, tracks=False),
        of(folder / "0.csv"),
    ):
        with pytest.raises(BadInput, match="is of another extraction"):
            other.write(out, resume=True)
    with (folder / "2.csv").open("a") as file:
        file.write("new,1,40.0,-3.0,1e9\n")
    with pytest.raises(BadInput, match="is of another extraction"):
        of(folder).write(out, resume=True)


def test_to_resume_from_nothing_is_to_begin(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    of(folder).write(out, resume=True)
    assert is_the_same(read_trajectories(out), of(folder).trajectories())


def test_a_state_that_cannot_be_read_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out.parquet.unfinished").mkdir()
    state = tmp_path / "out.parquet.unfinished" / "state.json"
    for text in ("{", '{"version": 3}', '{"version": 3, "counts": 1}', "[1, 2]"):
        state.write_text(text)
        with pytest.raises(FileProblem, match=r"cannot read .*state\.json"):
            of(folder).write(tmp_path / "out.parquet", resume=True)


def test_a_state_of_another_version_is_refused_by_it(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with stopping(5, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(out)
    path = tmp_path / "out.parquet.unfinished" / "state.json"
    state = json.loads(path.read_text())
    older = {name: state[name] for name in state if name != "version"}
    for other in (older, {**state, "version": 2}):
        path.write_text(json.dumps(other))
        with pytest.raises(BadInput, match=r"unfinished was kept by another version .*: remove"):
            of(folder).write(out, resume=True)
    path.write_text(json.dumps(state))
    of(folder).write(out, resume=True)
    assert is_the_same(read_trajectories(out), of(folder).trajectories())


def test_a_full_disk_keeps_what_was_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.parquet"
    savez = np.savez

    def full(path: Path, **arrays: Any) -> None:
        if "00002" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        savez(path, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(FileProblem, match=r"No space left on device.*`resume`"):
        of(folder).write(out)
    assert not out.exists()
    monkeypatch.setattr(np, "savez", savez)
    of(folder).write(out, resume=True)
    assert is_the_same(read_trajectories(out), of(folder).trajectories())


def test_bad_input_leaves_nothing_to_go_on_from(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with stopping(0, BadInput("no")), pytest.raises(BadInput, match="no"):
        of(folder).write(out)
    with pytest.raises(NoTrajectories):
        Extraction(folder, rules=Rules(spacing=50_000)).write(out)
    assert [path.name for path in tmp_path.iterdir()] == ["traces"]


def test_bad_input_after_hours_loses_nothing(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with stopping(9, BadInput("no")), pytest.raises(BadInput, match="no"):
        of(folder).write(out)
    of(folder).write(out, resume=True)
    assert is_the_same(read_trajectories(out), of(folder).trajectories())


def test_what_else_lies_in_the_folder_stays(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "out.parquet.unfinished"
    own.mkdir()
    (own / "diary.txt").write_text("mine")
    with stopping(5, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(tmp_path / "out.parquet")
    of(folder).write(tmp_path / "out.parquet", resume=True)
    assert [path.name for path in own.iterdir()] == ["diary.txt"]


def test_the_secret_of_the_ends_goes_on_too(folder: Path, tmp_path: Path) -> None:
    """With another one, the trips of a subject would be cut out in two ways."""
    out = tmp_path / "out.parquet"
    with stopping(5, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder, trim_ends=100).write(out)
    state = tmp_path / "out.parquet.unfinished" / "state.json"
    key = json.loads(state.read_text())["key"]
    used = []
    cutter = Cutter.__init__

    def made(self: Cutter, *arguments: Any, **more: Any) -> None:
        used.append(more["key"])
        cutter(self, *arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cutter, "__init__", made)
        of(folder, trim_ends=100).write(out, resume=True)
    assert used == [key]


def test_the_command_says_how_to_go_on(run: Run, folder: Path) -> None:
    command = ["extract", folder, "--spacing", 50, "--points", 5]
    with stopping(5, KeyboardInterrupt()):
        stopped = run(*command)
    assert stopped.code == 130
    assert "kept in trajectories.parquet.unfinished: add --resume to go on" in stopped.err
    kept = Path("trajectories.parquet.unfinished")
    assert mode(kept) == 0o700
    some = [path for path in kept.iterdir() if path.name != LOCK]
    assert {mode(path) for path in some} == {0o600}
    assert f"{kept} holds" in run(*command).sentence
    assert run("clean").out.startswith(f"Kept {kept}: trajanon extract --resume")
    answer = run(*command, "--resume", "--json")
    assert answer.code == 0
    whole = Extraction(folder, rules=Rules(spacing=50, points=5)).trajectories()
    assert json.loads(answer.out)["counts"] == whole.provenance["counts"]


def test_a_process_that_is_killed_leaves_what_it_had(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    code = (
        "import os, signal, sys\n"
        "from trajanon.extract import Extraction, Rules, cutting, checkpoint\n"
        "checkpoint.TRAJECTORIES_HELD, cutting.BATCH = 20, 60\n"
        "keep = checkpoint.Checkpoint._keep\n"
        "def kept(self):\n"
        "    keep(self)\n"
        "    if len(self.state.rows) == 2:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "checkpoint.Checkpoint._keep = kept\n"
        "rules = Rules(spacing=50, points=5, max_per_subject=30)\n"
        "Extraction(sys.argv[1], rules=rules)"
        ".write(__import__('pathlib').Path(sys.argv[2]))\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, folder, out], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not out.exists()
    of(folder).write(out, resume=True)
    assert is_the_same(read_trajectories(out), of(folder).trajectories())


def test_parts_are_read_one_after_another(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read all at once they would fill the memory that they were written to spare."""
    held = 0
    most = 0

    def reading(path: Path) -> Trajectories:
        nonlocal held, most
        held += 1
        most = max(most, held)
        found = read_trajectories(path)
        weakref.finalize(found.points, lose)
        return found

    def lose() -> None:
        nonlocal held
        held -= 1

    monkeypatch.setattr(checkpoint, "read_trajectories", reading)
    of(folder).write(tmp_path / "out.parquet")
    assert 1 <= most <= 2


def test_what_readers_left_out_is_counted_once(folder: Path, tmp_path: Path) -> None:
    """Rows that cannot be read, in each file; it may have been begun before a stop."""
    for number in range(3):
        path = folder / f"{number}.csv"
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:3], "a,b,c,d,e,f,g", *lines[3:], "a,b"]))
    expected = of(folder).trajectories().provenance["counts"]
    assert expected["rows that could not be read"] == 6
    for stop in range(0, 20, 5):
        out = tmp_path / f"{stop}.parquet"
        with suppress(KeyboardInterrupt), stopping(stop, KeyboardInterrupt()):
            of(folder).write(out)
        found = of(folder, jobs=1 + stop % 2).write(out, resume=True)
        assert found["counts"] == expected


def test_it_goes_on_where_the_output_lies_among_the_sources(folder: Path, tmp_path: Path) -> None:
    expected = of(folder).trajectories()
    out = folder / "out.parquet"
    with stopping(5, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(out)
    (folder / "out.parquet.unfinished" / "part-00009.parquet").write_text("half")
    of(folder).write(out, resume=True)
    assert is_the_same(read_trajectories(out), expected)
    assert not (folder / "out.parquet.unfinished").exists()


def test_two_at_once_do_not_mix(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    cut, other = Cutter.cut, table(tmp_path / "other.csv", 9, 30)
    calls = 0

    def meanwhile(cutter: Cutter, some: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls in (1, 8):
            with pytest.raises(FileProblem, match="another extraction is at work in"):
                of(other).write(out)
        return cut(cutter, some)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cutter, "cut", meanwhile)
        of(folder).write(out)
    assert calls > 8
    assert is_the_same(read_trajectories(out), of(folder).trajectories())


@pytest.mark.parametrize("lost", ["part-00000.parquet", "known-00001.npz"])
@pytest.mark.parametrize("how", ["removed", "cut off", "of another"])
def test_a_part_that_is_lost_or_damaged_is_said(
    folder: Path, tmp_path: Path, lost: str, how: str
) -> None:
    out = tmp_path / "out.parquet"
    with stopping(9, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(out)
    path = tmp_path / "out.parquet.unfinished" / lost
    if how == "removed":
        path.unlink()
    elif how == "cut off":
        path.write_bytes(path.read_bytes()[:-100])
    elif path.suffix == ".parquet":
        write_trajectories(path, read_trajectories(path).take(np.arange(3)))
    else:
        np.savez(path, trace=np.arange(3))
    with pytest.raises(FileProblem, match=rf"cannot read .*{lost}: remove .* to begin"):
        of(folder).write(out, resume=True)


def test_an_output_may_have_any_name(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "trajanon")  # its name is no text, and not to be passed on
    out = Path(os.fsdecode(bytes(tmp_path) + b"/o\xff.parquet"))
    with stopping(9, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        of(folder).write(out)
    of(folder).write(out, resume=True)
    assert is_the_same(read_trajectories(out), of(folder).trajectories())
