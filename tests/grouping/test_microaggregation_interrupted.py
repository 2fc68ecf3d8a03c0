"""Ctrl-C in the middle of a search: the best groups so far, or nothing at all."""

import _thread
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pandas as pd
import pytest
from commands import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from interrupting import Interrupting
from naive_refine import search_in_blocks

from trajanon.cli.messages import STOPPED
from trajanon.common import threads_and_dask
from trajanon.common.parameters_of_single_methods import MicroaggregateSettings
from trajanon.grouping.microaggregation import REFINEMENTS, find_groups, microaggregate
from trajanon.grouping.problem import whole_problem

SEARCHING = {
    "Moving records",
    "Annealing",
    "Recombining groups",
    "Shuffling groups",
    "Comparing pairs of records",
    "Exchanging pairs of records",
}
"""What a refinement says that it does; whatever else is said comes before it."""


WAYS: list[dict[str, Any]] = [
    {"refine": "anneal"},
    {"refine": "anneal", "method": "mdav"},
    {"refine": "anneal", "effort": "fast"},
    {"refine": "descent"},
    {"refine": "swap"},
    {"refine": "rcs"},
]


@pytest.mark.parametrize("how", WAYS, ids=lambda how: "-".join(map(str, how.values())))
@pytest.mark.parametrize("block", [2_500, 12])
def test_ctrl_c_in_the_search_gives_the_best_groups_so_far(
    how: dict[str, Any], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    @settings(max_examples=10)
    @given(
        seed=st.integers(0, 10**6),
        n=st.integers(10, 60),
        k=st.integers(2, 4),
        j=st.integers(0, 30),
        owned=st.booleans(),
    )
    def test(seed: int, n: int, k: int, j: int, owned: bool) -> None:
        rng = np.random.default_rng(seed)
        subjects = np.arange(n) % (2 * k + 1) if owned else None
        interrupting = Interrupting(j, SEARCHING)
        interrupted = how | {"progress": interrupting}
        X = rng.normal(size=(n, 2))
        partition = microaggregate(X, k, subjects=subjects, **interrupted)
        assert naive.holds(partition.labels, subjects, k)
        assert naive.holds(partition.labels, None, k)
        assert partition.stopped == (interrupting.left < 0)
        losses = {stage.name: stage.information_loss for stage in partition.stages}
        if partition.stopped:
            assert partition.stages[-1].name == "Ctrl-C"
            assert losses["Ctrl-C"] == partition.information_loss
        first = losses["mdav" if how.get("method") else "MHM"]
        assert first is not None
        assert partition.information_loss <= first

    search_in_blocks(monkeypatch, block)
    test()


def test_that_groups_are_taken_is_said_only_where_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A run out of memory searches as well, and throws away what is not done."""
    caplog.set_level("INFO", "trajanon")
    X = np.random.default_rng(0).normal(size=(40, 2))
    progress = Interrupting(1, SEARCHING)
    _, stopped = find_groups(whole_problem(X, np.arange(40), 3, MicroaggregateSettings(), progress))
    assert stopped
    assert not caplog.messages
    microaggregate(X, 3)
    assert not caplog.messages
    assert microaggregate(X, 3, progress=Interrupting(1, SEARCHING)).stopped
    assert caplog.messages == ["stopping: the best groups so far are taken"]


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"heuristic": "repetitive-nn"},
        {"method": "mdav"},
        {"method": "decomposition"},
        {"method": "mf-tsp"},
    ],
)
def test_ctrl_c_before_there_are_groups_ends_everything(how: dict[str, Any]) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    tasks: set[str] = set()

    def listen(task: str, done: float, total: float | None, note: str = "") -> None:
        tasks.add(task)

    microaggregate(X, 3, **how | {"progress": listen})
    assert tasks - SEARCHING
    interrupting = Interrupting(0, tasks - SEARCHING)
    with pytest.raises(KeyboardInterrupt):
        microaggregate(X, 3, **how | {"progress": interrupting})


@pytest.mark.parametrize("cores", [1, 2])
def test_ctrl_c_while_threads_anneal_ends_them_all(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module("trajanon.grouping.refinements.annealing")
    make_random_moves, begun = module.make_random_moves, []

    def interrupted(*arguments: Any) -> None:
        begun.append(1)
        if len(begun) == 20:
            _thread.interrupt_main()
        make_random_moves(*arguments)

    monkeypatch.setattr(threads_and_dask, "cores", lambda: cores)
    search_in_blocks(monkeypatch, 12)
    monkeypatch.setattr(module, "make_random_moves", interrupted)
    before = set(threading.enumerate())
    X = np.random.default_rng(0).normal(size=(60, 2))
    partition = microaggregate(X, 3)
    assert partition.stopped
    assert partition.sizes.min() >= 3
    names = [stage.name for stage in partition.stages]
    assert names == ["path", "MHM", "descent", "Ctrl-C"]
    assert set(threading.enumerate()) <= before


# The command


@pytest.fixture
def table(tmp_path: Path) -> Path:
    X = np.random.default_rng(0).normal(size=(1000, 3))
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def is_written(folder: Path, k: int) -> bool:
    """Whether the table is whole, and each of its rows occurs k times."""
    assert {path.name for path in folder.iterdir()} == {"t.csv", "microaggregated.csv"}
    given = pd.read_csv(folder / "t.csv")
    written = pd.read_csv(folder / "microaggregated.csv")
    assert written.shape == given.shape
    assert written.mean().tolist() == pytest.approx(given.mean().tolist(), abs=1e-6)
    return bool(written.value_counts().min() >= k)


def test_a_search_that_is_stopped_is_called_so(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(REFINEMENTS, "anneal", interrupted)
    command = ("microaggregate", "t.csv", "-k", 3)
    answer = run(*command)
    assert answer.code == 0
    assert STOPPED in answer.out.splitlines()
    assert "Information loss after Ctrl-C" in answer.out
    report = json.loads(run(*command, "--json").out)
    assert report["stopped"] is True
    assert is_written(table, 3)


def test_ctrl_c_in_the_search_writes_the_best_table_so_far(table: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "trajanon", "microaggregate", "t.csv"),
            *("-k", "4", "--effort", "best", "--method", "mdav"),
        ],
        cwd=table,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as process:
        try:
            os.close(theirs)
            shown = read_until(ours, b"Annealing")
            process.send_signal(signal.SIGINT)
            shown += read_until(ours, None)
            assert process.stdout is not None
            out = process.stdout.read()
            code = process.wait()
        finally:
            process.kill()
            os.close(ours)
    assert code == 0, shown
    assert b"Traceback" not in shown
    assert STOPPED in out.splitlines()
    assert out.endswith("Wrote 1,000 rows to microaggregated.csv.\n")
    assert is_written(table, 4)


def read_until(terminal: int, words: bytes | None) -> bytes:
    """Read what is shown on a terminal up to some words, or to its end."""
    shown = b""
    while words is None or words not in shown:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is closed
            part = b""
        if not part:
            assert words is None, shown
            break
        shown += part
    return shown
