"""A run out of memory that is stopped: one sentence, and nothing stays of it."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socketpair
from threading import Event, Thread, get_ident
from typing import Any, Self

import distributed
import pytest
from commands import Run
from shards import released, walks, write_folder

from trajanon.errors import ServerProblem
from trajanon.executors import Executor, connected
from trajanon.parts import plan, workflow


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


@pytest.mark.parametrize("step", ["_look", "scatter", "search", "write_part", "write_groups"])
def test_ctrl_c_says_what_it_leaves(run: Run, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    write_folder(Path("trajectories"), walks(90))
    given = ("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    assert run(*given).code == 0
    before = released(Path("anonymized"))
    there = sorted(path.name for path in Path().iterdir())
    monkeypatch.setattr(workflow, "shards_for", lambda *_: 3)
    home = {"_look": plan}.get(step, workflow)
    monkeypatch.setattr(home, step, interrupted)
    answer = run(*given)
    assert answer.code == 130
    assert answer.out == ""
    assert answer.err == ("trajanon: stopped; nothing was released, and anonymized is as it was\n")
    assert sorted(path.name for path in Path().iterdir()) == there
    assert released(Path("anonymized")) == before
