"""How a kernel is compiled: once, by one process, while others wait."""

import pickle
from pathlib import Path
from threading import Thread

import pytest

from trajanon._kernels.compiled import _alone
from trajanon._kernels.tour_search import shorten


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
