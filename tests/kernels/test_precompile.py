"""What is compiled ahead of a search, and by whom."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from trajanon import precompile
from trajanon._kernels.compiled import _alone
from trajanon._kernels.tour_moves import shorten
from trajanon.precompile import compile_ahead

ASKED = """
import sys
import trajanon
from trajanon._kernels.compiled import Kernel
from trajanon.data import sample
from trajanon.extract import extract
from trajanon.precompile import compile_search

def compiled():
    modules = [module for name, module in sys.modules.items() if "_kernels" in name]
    kernels = {one for module in modules for one in vars(module).values() if type(one) is Kernel}
    called = [one for one in kernels if "_called" in vars(one)]
    return {(one.__name__, str(sign)) for one in called for sign in one._called.signatures}

compile_search()
ahead = compiled()
assert len(ahead) == 6, ahead
trajanon.anonymize(extract(str(sample()), "madrid"), 4)
used = compiled()
names = {name for name, _ in used - ahead}
assert names == {
    "greedy_fragments", "join_fragments", "shorten", "fill_latest_starts", "mark_optimal_cut"
}, used ^ ahead
"""


class Missing:
    """A kernel that is not kept, or one that is."""

    def __init__(self, missing: bool) -> None:
        self.missing = missing


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks given to other processes. No process is started."""
    tasks: list[str] = []

    class Process:
        def __init__(self, words: list[str], **_: Any) -> None:
            tasks.append(words[-1])

        def wait(self) -> None:
            pass

        terminate = wait

    monkeypatch.setattr(subprocess, "Popen", Process)
    return tasks


def given(monkeypatch: pytest.MonkeyPatch, cores: int, load: float, missing: bool) -> None:
    """So many cores, of which so many are busy, and kernels that are missing or not."""
    monkeypatch.setattr(precompile, "make_random_moves", Missing(missing))
    monkeypatch.setattr(precompile, "cores", lambda: cores)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))


def test_what_was_compiled_ahead_is_asked_for_and_nothing_else() -> None:
    run = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("cores", "load", "missing", "helped"),
    [
        (2, 0.9, True, True),
        (64, 12.0, True, True),
        (1, 0.0, True, False),
        (2, 1.1, True, False),
        (4, 0.0, False, False),
    ],
)
def test_another_process_helps_where_a_core_is_free_and_kernels_are_missing(
    monkeypatch: pytest.MonkeyPatch,
    started: list[str],
    cores: int,
    load: float,
    missing: bool,
    helped: bool,
) -> None:
    given(monkeypatch, cores, load, missing)
    assert compile_ahead.__wrapped__() == helped
    assert len(started) == helped


def test_where_no_process_can_be_started_a_search_compiles_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError

    given(monkeypatch, 4, 0.0, True)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert not compile_ahead.__wrapped__()


def test_who_wants_a_kernel_that_another_compiles_waits(tmp_path: Path) -> None:
    done: list[str] = []

    def compile_it() -> None:
        with _alone(tmp_path / "lock"):
            done.append("second")

    with _alone(tmp_path / "lock"):
        second = Thread(target=compile_it)
        second.start()
        second.join(0.2)
        done.append("first")
    second.join()
    assert done == ["first", "second"]


def test_a_kernel_goes_to_a_worker_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(shorten)) is shorten


def test_where_nothing_can_be_locked_nobody_waits(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with _alone(tmp_path / "file" / "lock"):
        assert (tmp_path / "file").is_file()


def test_an_error_of_what_is_compiled_is_not_taken_for_one_of_the_lock(tmp_path: Path) -> None:
    def fail() -> None:
        with _alone(tmp_path / "lock"):
            (tmp_path / "nothing").read_bytes()

    with pytest.raises(FileNotFoundError):
        fail()
