"""Runs on an object store: the same release whatever becomes of workers, and nothing left over."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import dask.config
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from object_store import ObjectStore, contents, download, upload
from shards import released, shards_of, walks, write_folder

from trajanon.errors import FileProblem, ServerProblem
from trajanon.parts import finish
from trajanon.parts.workflow import anonymize_parts
from trajanon.privacy.ledger import opened
from trajanon.remote_folder import Folder


@pytest.fixture(scope="module")
def client(store: ObjectStore) -> Iterator[Client]:
    """Two workers that are processes of their own."""
    settings = {
        # Workers that replace killed ones need not load everything again.
        "distributed.worker.multiprocessing-method": "forkserver",
        # On a busy machine a new one may take long: by itself, Dask gives it up after 15 s.
        "distributed.deploy.lost-worker-timeout": "10m",
    }
    with dask.config.set(settings):
        get_mp_context().set_forkserver_preload(["s3fs", "trajanon.parts.workflow"])
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client


def test_a_worker_killed_in_each_step_changes_nothing(
    tmp_path: Path, store: ObjectStore, bucket: str, client: Client
) -> None:
    points, subject = walks(200), np.arange(200) // 2
    source = upload(write_folder(tmp_path / "trips", points, subject, 100), f"{bucket}/trips")
    found, reports = [], []

    def once_in_each_step(step: str, method: str) -> bool:
        # Where workers write, one dies while it does.
        deadly = "PUT" if "PUT" in steps.get(step, ()) else "GET"
        return step in steps and step not in store.killed and method == deadly

    steps: dict[str, set[str]] = {}
    for name in ("calm", "killed"):
        store.watch(once_in_each_step)
        with shards_of(100), patch.object(finish, "PART", 100):
            report = anonymize_parts(
                source, f"{bucket}/{name}", 3, client=client, effort="fast", progress=store.progress
            )
        assert store.killed == [*steps]
        steps = {step: methods for step, methods in store.asked.items() if step}
        del report["stages"]
        reports.append(report)
        found.append(released(download(f"{bucket}/{name}", tmp_path / name)))
    assert found[0] == found[1]
    assert reports[0] == reports[1]
    left = contents(bucket)
    calm, killed = (
        [path.removeprefix(name) for path in left if path.startswith(name)]
        for name in ("calm", "killed")
    )
    assert calm == killed
    assert not any("unfinished" in path or "draft" in path for path in left)


def test_a_task_that_kills_its_workers_leaves_the_release_that_was_there(
    tmp_path: Path, store: ObjectStore, bucket: str, client: Client
) -> None:
    source = upload(write_folder(tmp_path / "trips", walks(60)), f"{bucket}/trips")
    anonymize_parts(source, f"{bucket}/out", 3, client=client, effort="fast")
    before = contents(bucket)
    store.watch(lambda step, method: bool(step) and method == "PUT")
    with pytest.raises(ServerProblem, match="several workers were lost during one task"):
        anonymize_parts(
            source, f"{bucket}/out", 4, client=client, effort="fast", progress=store.progress
        )
    assert len(store.killed) == 4
    assert contents(bucket) == before


def test_a_ledger_here_knows_what_a_cluster_released_there(
    tmp_path: Path, store: ObjectStore, bucket: str, client: Client
) -> None:
    store.watch()
    points, subject, book = walks(200), np.arange(200) // 2, tmp_path / "trips.ledger"
    for name, n in (("march", 120), ("april", 200)):
        source = upload(write_folder(tmp_path / name, points[:n], subject[:n]), f"{bucket}/{name}")
        with shards_of(50):
            report = anonymize_parts(
                source, f"{bucket}/{name}-out", 3, client=client, effort="fast", ledger=book
            )
    assert (report["n"], report["ledger"]["already_released"]) == (80, 120)
    assert report["shards"] > 1
    lines = released(download(f"{bucket}/april-out", tmp_path / "out"))
    assert len(lines) == report["rows"]["subjects"]
    with opened(book) as ledger:
        assert [said for _, said in ledger.verify()] == ["in place"] * 2
        Folder(f"{bucket}/march-out").remove()
        assert [said for _, said in ledger.verify()] == ["gone", "in place"]


def test_a_second_run_into_one_folder_is_refused(tmp_path: Path, bucket: str) -> None:
    source = upload(write_folder(tmp_path / "trips", walks(60)), f"{bucket}/trips")
    refused: list[str] = []

    def begin_another(task: str, done: float, total: float | None, note: str = "") -> None:
        with pytest.raises(FileProblem, match="belongs to a run that is still at work") as error:
            anonymize_parts(source, f"{bucket}/out", 3)
        refused.append(str(error.value))

    anonymize_parts(source, f"{bucket}/out", 3, effort="fast", progress=begin_another)
    assert refused
    assert "out/part-00000.parquet" in contents(bucket)


def test_a_folder_may_be_marked_by_an_empty_object(tmp_path: Path, bucket: str) -> None:
    source = upload(write_folder(tmp_path / "trips", walks(60)), f"{bucket}/trips")
    for name in ("trips", "out"):
        Folder(bucket).system.pipe_file(f"{bucket}/{name}/", b"")
    for k in (3, 4):
        anonymize_parts(source, f"{bucket}/out", k, effort="fast")
    assert contents(bucket) == [
        "out.parts.report.json",
        "out/",
        "out/part-00000.parquet",
        "trips/",
        "trips/part-00000.parquet",
    ]
