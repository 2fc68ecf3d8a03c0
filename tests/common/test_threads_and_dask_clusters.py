"""Clusters of Dask: workers here and elsewhere, lost ones, and results in order."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Timer

import dask.config
import distributed
import pytest
from commands import Run
from distributed import Client, LocalCluster
from shards import walks, write_folder

from trajanon.common import threads_and_dask
from trajanon.common.errors import BadInput, ServerProblem
from trajanon.common.progress import silent
from trajanon.common.threads_and_dask import connected, each_done, on_cluster, results_in_order


def process_of(_: int) -> int:
    return os.getpid()


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
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)  # how long the new worker takes to start is another matter
    with connected("local:1") as client:
        (process,) = each_done(client, silent, "Asking", interrupt_oneself, [1])
        assert [*each_done(client, silent, "Asking", process_of, [1])] == [process]

    # Another one: what a lost worker did is done again.
    with connected("local:1") as client:
        each = partial(each_done, client, silent)
        (first,) = each("Asking", process_of, [1])
        (second,) = each("Dying", die_once, [str(tmp_path / "flag")])
        assert first != second
        assert [*each("Asking", interrupt_oneself, [1])] == [second]  # which goes on
        # Dask would warn of what is large.
        assert [*each("Counting", len, [bytes(11_000_000)])] == [11_000_000]
        with pytest.raises(ValueError, match="this is no number"):
            list(each("Refusing", refuse, [1]))
    assert capfd.readouterr() == ("", "")


def test_workers_that_cannot_be_started_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        msg = "Nanny failed\nto start."
        raise RuntimeError(msg)

    monkeypatch.setattr(distributed, "LocalCluster", fails)
    with pytest.raises(ServerProblem, match=r"started with local:2: Nanny failed to start\."):
        connected("local:2").__enter__()


def test_without_workers_a_run_waits_and_ends(caplog: pytest.LogCaptureFixture) -> None:
    """After the time that Dask's setting says."""
    impatient = {"distributed.scheduler.no-workers-timeout": "1s"}
    with (
        # A worker of another process reaches no scheduler whose address is inproc://.
        LocalCluster(
            n_workers=0, dashboard_address="127.0.0.1:0", processes=False, protocol="tcp://"
        ) as cluster,
        Client(cluster.scheduler_address) as client,
        dask.config.set(impatient),
    ):
        address = cluster.scheduler_address
        given = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        dask_worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, *given]
        with subprocess.Popen(dask_worker, stderr=subprocess.DEVNULL) as worker:
            client.wait_for_workers(1, timeout=60)
            Timer(0.5, worker.kill).start()
            with pytest.raises(ServerProblem, match="there were no workers for 1 s: start some"):
                list(each_done(client, silent, "Waiting", time.sleep, [60]))
    assert any("no workers yet: waiting" in message for message in caplog.messages)


def test_results_need_not_be_kept_until_all_have_come() -> None:
    done = list[int]()
    results = each_done(None, silent, "Trying", done.append, [1, 2, 3])
    next(results)
    assert done == [1]
    assert len(list(results)) == 2


def test_tasks_are_begun_a_few_ahead_and_end_in_order() -> None:
    begun = []

    def begin(number: int) -> Callable[[], int]:
        begun.append(number)
        return lambda: -number

    results = results_in_order(begin, iter(range(10)), 3)
    assert list(islice(results, 2)) == [0, -1]
    assert begun == [0, 1, 2, 3]
    assert list(results) == [-number for number in range(2, 10)]
    assert begun == list(range(10))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("local:", "'local:' must be the address of a scheduler"),
        ("local:0", "or local:4 for four workers here"),
        ("nonsense://x", "must be the address of a scheduler"),
    ],
)
def test_what_is_no_cluster_is_refused(address: str, says: str) -> None:
    with pytest.raises(BadInput, match=says), connected(address):
        pass


def test_a_scheduler_that_is_not_there_is_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads_and_dask, "_SECONDS_TO_WAIT", 1)
    write_folder(Path("trajectories"), walks(30))
    address = "tcp://127.0.0.1:1"
    answer = run("anonymize", "trajectories", "-k", "3", "--cluster", address)
    assert f"no workers could be reached or started with {address}: " in answer.sentence


def test_a_scheduler_without_workers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads_and_dask, "_SECONDS_TO_WAIT", 0.1)
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", processes=False) as cluster,
        Client(cluster) as client,
    ):
        with pytest.raises(ServerProblem, match="has no workers: start some with"):
            connected(cluster.scheduler_address).__enter__()
        with pytest.raises(ServerProblem, match="has no workers: start some with"):
            list(on_cluster(client, len, ["task"]))
