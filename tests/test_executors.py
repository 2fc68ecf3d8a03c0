"""Clusters: the same result as without one, whatever becomes of the workers."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from commands import Run
from distributed import Client, LocalCluster
from shards import hours, released, released_with_times, shards_of, walks, write_folder, write_parts

from trajanon import executors
from trajanon.errors import BadInput, FileProblem, ServerProblem
from trajanon.executors import Executor, connected
from trajanon.parts.workflow import anonymize_parts


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two workers that are processes of their own."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_a_cluster_gives_what_one_process_does(tmp_path: Path, client: Client) -> None:
    points, subject = walks(400), np.arange(400) // 2
    source = write_folder(tmp_path / "trips", points, subject)
    told = []

    def progress(task: str, done: float, total: float | None, note: str = "") -> None:
        told.append((task, done, total))

    with shards_of(90):
        alone = anonymize_parts(str(source), str(tmp_path / "alone"), 3, effort="fast")
        together = anonymize_parts(
            str(source),
            str(tmp_path / "together"),
            3,
            client=client,
            effort="fast",
            progress=progress,
        )
    assert released(tmp_path / "alone") == released(tmp_path / "together")
    for report in (alone, together):
        del report["stages"]
    assert alone == together
    assert ("Grouping shards", 5, 5) in told


def test_a_cluster_gives_the_same_times(tmp_path: Path, client: Client) -> None:
    source = write_parts(tmp_path / "trips", hours(walks(200)))
    found, reports = [], []
    for out, on in (("alone", None), ("together", client)):
        with shards_of(60):
            report = anonymize_parts(
                str(source), str(tmp_path / out), 3, times="of-week", client=on, effort="fast"
            )
        del report["stages"]
        found.append(released_with_times(tmp_path / out))
        reports.append(report)
    assert found[0] == found[1]
    assert reports[0] == reports[1]


def test_workers_may_stand_elsewhere(
    tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(Path("trips"), walks(60))
    anonymize_parts("trips", "out", 3, client=client, effort="fast")
    assert len(released(Path("out"))) == 60


def test_a_worker_that_is_killed_costs_no_data(tmp_path: Path, client: Client) -> None:
    source = write_folder(tmp_path / "trips", walks(400), rows=40)
    killed: list[int] = []

    def kill(task: str, done: float, total: float | None, note: str = "") -> None:
        if task == "Grouping shards" and done == 1 and not killed:
            workers = client.run(os.getpid)
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    with shards_of(40):
        alone = anonymize_parts(str(source), str(tmp_path / "alone"), 3, effort="fast")
        together = anonymize_parts(
            str(source), str(tmp_path / "together"), 3, client=client, effort="fast", progress=kill
        )
    assert killed
    assert alone["information_loss"] == together["information_loss"]
    assert released(tmp_path / "alone") == released(tmp_path / "together")


def die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def lack(_: int) -> None:
    msg = "No module named 'trajanon'"
    raise ModuleNotFoundError(msg, name="trajanon")


def refuse(_: int) -> None:
    msg = "cannot read this"
    raise FileProblem(msg)


def test_what_a_task_refuses_is_refused(client: Client) -> None:
    for executor in (Executor(), Executor(client)):
        with pytest.raises(FileProblem, match="cannot read this"):
            executor.each("Trying", refuse, [1, 2])
    with pytest.raises(ServerProblem, match=r"missing on the workers: .*install trajanon"):
        Executor(client).each("Trying", lack, [1])


def doze(_: int) -> None:
    time.sleep(0.5)


def test_a_cluster_that_is_lost_is_one_sentence(client: Client) -> None:
    sent: list[Any] = []
    send = client.map

    def spied(*given: Any, **how: Any) -> list[Any]:
        sent.extend(send(*given, **how))
        return sent

    def lose(task: str, done: float, total: float | None, note: str = "") -> None:
        client.cancel(sent)  # as it does by itself when the scheduler is gone

    with (
        patch.object(client, "map", spied),
        pytest.raises(ServerProblem, match=r"the cluster was lost: .*cancelled"),
    ):
        Executor(client, lose).each("Waiting", doze, [1, 2, 3])


def test_a_task_that_kills_every_worker_is_given_up(client: Client) -> None:
    with pytest.raises(ServerProblem, match="several workers were lost during one task"):
        Executor(client).each("Dying", die, [1])


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("local:", "'local:' must be local: and a number of workers"),
        ("local:0", "must be local: and a number"),
        ("nonsense://x", "must be the address of a scheduler"),
    ],
)
def test_what_is_no_cluster_is_refused(address: str, says: str) -> None:
    with pytest.raises(BadInput, match=says), connected(address):
        pass


def test_a_scheduler_that_is_not_there_is_one_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "_PATIENCE", 1)
    write_folder(Path("trajectories"), walks(30))
    address = "tcp://127.0.0.1:1"
    answer = run("anonymize", "trajectories", "-k", "3", "--cluster", address)
    assert f"no scheduler answers at {address}: start one" in answer.sentence


def test_a_scheduler_without_workers_is_named() -> None:
    with (
        LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", processes=False) as cluster,
        pytest.raises(ServerProblem, match="has no workers: start some with"),
        connected(cluster.scheduler_address),
    ):
        pass


def test_the_command_line_starts_workers(run: Run) -> None:
    write_folder(Path("trajectories"), walks(60))
    given = ("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    answer = run(*given, "--cluster", "local:1")
    assert answer.code == 0, answer
    assert answer.err == ""
    assert Path("anonymized.parts.report.json").exists()
