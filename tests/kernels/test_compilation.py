"""What is compiled ahead of a search, and by whom."""

import pickle
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from trajanon import compilation
from trajanon._kernels.compiled import _alone
from trajanon._kernels.tour_moves import shorten
from trajanon.compilation import compile_ahead

ASKED = """
import sys
import trajanon
from trajanon._kernels.compiled import Kernel
from trajanon.compilation import _NEEDED, compile_some
from trajanon.data import sample
from trajanon.extract import extract

def compiled():
    modules = [module for name, module in sys.modules.items() if "_kernels" in name]
    kernels = {one for module in modules for one in vars(module).values() if type(one) is Kernel}
    called = [one for one in kernels if "_called" in vars(one)]
    return {(one.__name__, str(sign)) for one in called for sign in one._called.signatures}

trajectories = extract(str(sample()), "madrid")
compile_some(*_NEEDED["sliding"])
ahead = compiled()
assert len(ahead) > 15, ahead
release = trajanon.anonymize(trajectories, 4)
assert compiled() == ahead, compiled() ^ ahead
compile_some(*_NEEDED["evaluation"])
with_evaluation = compiled()
assert len(with_evaluation) > len(ahead), with_evaluation
trajanon.evaluate(trajectories, release)
assert compiled() == with_evaluation, compiled() ^ with_evaluation
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


def shares(monkeypatch: pytest.MonkeyPatch, cores: int, missing: str) -> None:
    """Let some shares be missing, by their numbers."""
    kernels = [Missing(str(number) in missing) for number in range(8)]
    monkeypatch.setattr(compilation, "_SHARES", [(kernel, print) for kernel in kernels])
    monkeypatch.setattr(compilation, "cores", lambda: cores)


def told(*numbers: str) -> list[str]:
    before = "from trajanon.compilation import compile_some; "
    return [f"{before}compile_some({some})" for some in numbers]


def test_what_was_compiled_ahead_is_asked_for_and_nothing_else() -> None:
    run = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("cores", "missing", "what", "tasks"),
    [
        (1, "012345", "sliding", []),
        (2, "012345", "sliding", ["0, 1, 2, 3, 4, 5"]),
        (4, "012345", "sliding", ["0, 3", "1, 4", "2, 5"]),
        (4, "012345", "search", ["2, 5", "3", "4"]),
        (64, "012345", "sliding", ["0, 5", "1", "2", "3", "4"]),
        (4, "135", "sliding", ["1, 5", "3"]),
        (4, "5", "sliding", []),
        (4, "01", "search", []),
        (4, "", "sliding", []),
        (2, "01234567", "evaluation", ["6, 7"]),
        (4, "01234567", "sliding", ["0, 3", "1, 4", "2, 5"]),
        (4, "7", "evaluation", []),
    ],
)
def test_processes_on_the_other_cores_share_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
    started: list[str],
    cores: int,
    missing: str,
    what: str,
    tasks: list[str],
) -> None:
    shares(monkeypatch, cores, missing)
    assert compile_ahead.__wrapped__(what) == bool(tasks)
    assert started == told(*tasks)


def test_where_no_process_can_be_started_a_search_compiles_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError

    shares(monkeypatch, 4, "012345")
    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert not compile_ahead.__wrapped__("sliding")


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
