"""A run out of memory that is stopped: one sentence, and nothing stays of it."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socketpair
from threading import Event, Thread, get_ident
from typing import Any, Self
from unittest.mock import patch

import distributed
import numpy as np
import pytest
from commands import Run
from shards import released, walks, write_folder

from trajanon.errors import FileProblem, ServerProblem
from trajanon.executors import Executor, connected
from trajanon.parts import finish, plan, workflow
from trajanon.parts.scratch import Arrays, Scratch
from trajanon.remote_folder import Folder


@pytest.fixture(params=["file", "s3"])
def scratch(request: pytest.FixtureRequest, tmp_path: Path) -> Scratch:
    """On disk, and on an object store, where there are no folders."""
    where = tmp_path if request.param == "file" else request.getfixturevalue("bucket")
    return Scratch(f"{where}/here")


def write(scratch: Scratch, name: str, rows: bytes = b"rows") -> None:
    with scratch.writing(name) as file:
        file.write(rows)


def test_what_comes_after_the_end_is_taken_back(scratch: Scratch) -> None:
    def write_late() -> None:
        with scratch.writing("late") as file:
            file.write(b"coordinates")
            scratch.remove()

    with scratch.at_work():
        write(scratch, "early")
        with pytest.raises(FileProblem, match="here"):
            write_late()
    assert not scratch.exists
    with pytest.raises(FileProblem):
        write(scratch, "later")
    assert not scratch.exists


def test_what_comes_late_does_not_replace_what_the_next_run_wrote(scratch: Scratch) -> None:
    following = Scratch(scratch.url)
    with scratch.at_work():
        scratch.remove()
    with following.at_work():
        write(following, "some")
        with pytest.raises(FileProblem, match="here is of a run that has ended"):
            write(scratch, "some", b"old")
        with following.open("some") as file:
            assert file.read() == b"rows"


def test_rows_come_back(scratch: Scratch) -> None:
    pieces: list[tuple[int, Arrays]] = [
        (3, [np.arange(2), np.zeros((2, 3)), np.ones(7, dtype=np.int8)]),
        (5, [np.arange(3, dtype=np.uint64)]),
    ]
    with scratch.at_work():
        written = scratch.write_pieces("some.npy", pieces)
        assert [(number, place.rows) for number, place in written] == [(3, 2), (5, 3)]
        for (_, piece), (_, place) in zip(pieces, written, strict=True):
            found = scratch.read_piece(place)
            assert [some.dtype for some in found] == [some.dtype for some in piece]
            assert all(map(np.array_equal, found, piece))
        short = place._replace(end=place.end - 1)
        with pytest.raises(FileProblem, match=r"cannot use .*here/some\.npy"):
            scratch.read_piece(short)


def test_a_second_run_is_refused(scratch: Scratch) -> None:
    with scratch.at_work():
        with (
            pytest.raises(FileProblem, match="here belongs to a run that is still at work"),
            Scratch(scratch.url).at_work(),
        ):
            pytest.fail("two at work")
        write(scratch, "some")


def test_a_run_that_cannot_begin_leaves_nothing(scratch: Scratch) -> None:
    full = FileProblem("No space left on device")
    with (
        patch.object(Folder, "claim", side_effect=full),
        pytest.raises(FileProblem, match="No space left"),
        scratch.at_work(),
    ):
        pytest.fail("the work began")
    assert not scratch.exists
    with scratch.at_work():
        assert scratch.exists


@contextmanager
def another_thread() -> Iterator[int]:
    """One that does nothing, and may be told of signals."""
    done = Event()
    thread = Thread(target=done.wait)
    thread.start()
    assert thread.ident is not None
    try:
        yield thread.ident
    finally:
        done.set()
        thread.join()


def interrupt(thread: int) -> None:
    """Press Ctrl-C, and wait until a thread that may be told has been told."""
    ours, theirs = socketpair()
    ours.settimeout(30)
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno())
    try:
        signal.pthread_kill(thread, signal.SIGINT)
        if thread != get_ident():
            assert ours.recv(1) == bytes([signal.SIGINT])
    finally:
        signal.set_wakeup_fd(before)
        ours.close()
        theirs.close()


@pytest.mark.parametrize("told", ["this thread", "another one"])
def test_ctrl_c_while_workers_begin_is_not_lost(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    steps: list[str] = []

    class Beginning:
        """A cluster that is interrupted while it begins."""

        def __init__(self, *_: Any, **__: Any) -> None:
            interrupt(get_ident() if told == "this thread" else thread)
            steps.append("has begun")

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            steps.append("is closed")

    class Asking(Beginning):
        def __init__(self, _: object) -> None:
            pass

    monkeypatch.setattr(distributed, "LocalCluster", Beginning)
    monkeypatch.setattr(distributed, "Client", Asking)
    before = signal.getsignal(signal.SIGINT)
    with another_thread() as thread, pytest.raises(KeyboardInterrupt), connected("local:2"):
        pytest.fail("went on")
    assert steps == ["has begun", "is closed", "is closed"]
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def interrupt_oneself(_: int) -> int:
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(100_000))
    return os.getpid()


def die_once(flag: str) -> int:
    if not Path(flag).exists():
        Path(flag).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def refuse(_: int) -> None:
    msg = "this is no number"
    raise ValueError(msg)


def test_workers_leave_ctrl_c_and_words_to_the_one_who_started_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that begin in the place of one that was lost."""
    # A cluster that another test started sets this for all that come after.
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    with connected("local:1") as client:
        team = Executor(client)
        (first,) = team.each("Asking", interrupt_oneself, [1])
        (second,) = team.each("Dying", die_once, [str(tmp_path / "flag")])
        assert first != second
        # Dask would warn of what is large, and let blocks pay for their pages anew.
        assert team.each("Counting", len, [bytes(11_000_000)]) == [11_000_000]
        given = ["MALLOC_TRIM_THRESHOLD_", "OMP_NUM_THREADS"]
        assert team.each("Asking", os.environ.get, given) == [None, "1"]
        assert team.each("Asking", interrupt_oneself, [1]) == [second]
        with pytest.raises(ValueError, match="this is no number"):
            team.each("Refusing", refuse, [1])
    assert capfd.readouterr() == ("", "")


def test_workers_that_cannot_be_started_are_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        msg = "Nanny failed\nto start."
        raise RuntimeError(msg)

    monkeypatch.setattr(distributed, "LocalCluster", fails)
    with pytest.raises(ServerProblem, match=r"not be started: Nanny failed to start\."):
        connected("local:2").__enter__()
    write_folder(Path("trajectories"), walks(30))
    answer = run("anonymize", "trajectories", "-k", "3", "--cluster", "local:2")
    assert "the workers could not be started" in answer.sentence


@pytest.mark.parametrize("step", ["look", "scatter", "search", "write_part", "write_groups"])
def test_ctrl_c_says_what_it_leaves(run: Run, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    write_folder(Path("trajectories"), walks(90))
    given = ("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    assert run(*given).code == 0
    before = released(Path("anonymized"))
    there = sorted(path.name for path in Path().iterdir())
    monkeypatch.setattr(workflow, "shards_for", lambda *_: 3)
    home = {"look": plan, "write_part": finish}.get(step, workflow)
    monkeypatch.setattr(home, step, interrupted)
    answer = run(*given)
    assert answer.code == 130
    assert answer.out == ""
    assert answer.err == ("trajanon: stopped; nothing was released, and anonymized is as it was\n")
    assert sorted(path.name for path in Path().iterdir()) == there
    assert released(Path("anonymized")) == before
