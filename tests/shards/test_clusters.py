"""Clusters: the same result as without one, whatever becomes of the workers."""

import os
import re
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import dask.config
import pyarrow.parquet as pq
import pytest
from commands import Run, track
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from naive_sliding import town
from object_store import ObjectStore, contents, download, upload
from shards import (
    hours,
    labels_of,
    released,
    released_with_times,
    shards_of,
    walks,
    write_folder,
    write_parts,
)

from trajanon.common.errors import BadInput, FileProblem, ServerProblem
from trajanon.common.progress import Progress, silent
from trajanon.common.threads_and_dask import each_done
from trajanon.data import sample
from trajanon.extract import extract_to
from trajanon.extract.extraction import Source
from trajanon.extract.sources import files
from trajanon.extract.sources.reading import USED_IN_PART
from trajanon.shards.anonymize_folders import anonymize_parts


@pytest.fixture(scope="module")
def client(store: ObjectStore) -> Iterator[Client]:
    """Two workers that are processes of their own, and reach the object store."""
    settings = {
        # Workers that replace killed ones need not load everything again.
        "distributed.worker.multiprocessing-method": "forkserver",
        # On a busy machine a new one may take long: by itself, Dask gives it up after 15 s.
        "distributed.deploy.lost-worker-timeout": "10m",
        # A task that has killed two workers is given up: each new one takes seconds to start.
        "distributed.scheduler.allowed-failures": 1,
    }
    with dask.config.set(settings):
        get_mp_context().set_forkserver_preload(["s3fs", "trajanon.shards.anonymize_folders"])
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client


def test_a_cluster_gives_what_one_process_does(tmp_path: Path, client: Client) -> None:
    source = write_parts(tmp_path / "trips", town(5, 200, people=80), 35)
    told = []

    def progress(task: str, done: float, total: float | None, note: str = "") -> None:
        told.append((task, done, total))

    with shards_of(45):
        alone = anonymize_parts(
            str(source), str(tmp_path / "alone"), 3, key=bytes(range(32)), effort="fast"
        )
        together = anonymize_parts(
            str(source),
            str(tmp_path / "together"),
            3,
            key=bytes(range(32)),
            client=client,
            effort="fast",
            progress=progress,
        )
    assert released(tmp_path / "alone") == released(tmp_path / "together")
    assert alone["alignment"]["slid"] > 0.0
    # Workers cut tables into buckets of the usual size: their rows lie in other groups of a file.
    for report in (alone, together):
        del report["stages"]
        del report["members"]
    assert alone == together
    members = [
        pq.read_table(tmp_path / f"{name}.parts.rows.parquet") for name in ("alone", "together")
    ]
    assert members[0].equals(members[1])
    assert ("Grouping shards", 5, 5) in told


@pytest.mark.parametrize("step", ["Grouping shards", "Writing lines"])
def test_what_a_killed_worker_did_another_does(tmp_path: Path, client: Client, step: str) -> None:
    source = write_parts(tmp_path / "trips", hours(walks(150)), 40)
    killed: list[int] = []

    def kill(task: str, done: float, total: float | None, note: str = "") -> None:
        if task == step and done == 1 and not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    releases = []
    for name, team, progress in (("alone", None, silent), ("killed", client, kill)):
        how: dict[str, Any] = {"client": team, "progress": progress, "key": bytes(range(32))}
        with shards_of(50):
            anonymize_parts(str(source), str(tmp_path / name), 3, effort="fast", **how)
        releases.append((released(tmp_path / name), labels_of(tmp_path / name).tolist()))
    assert killed
    assert releases[0] == releases[1]


def test_tasks_have_names_on_the_dashboard(client: Client) -> None:
    seen = set[str]()

    def look(task: str, done: float, total: float | None, note: str = "") -> None:
        keys = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.task_prefixes])
        seen.update(keys)

    list(each_done(client, look, "Trying", partial(pow, 2), [1, 2, 3]))
    assert "pow" in seen


def lack(_: int) -> None:
    msg = "No module named 'trajanon'"
    raise ModuleNotFoundError(msg, name="trajanon")


def refuse(_: int) -> None:
    msg = "cannot read this"
    raise FileProblem(msg)


def test_what_a_task_refuses_is_refused(client: Client) -> None:
    for team in (None, client):
        with pytest.raises(FileProblem, match="cannot read this"):
            list(each_done(team, silent, "Trying", refuse, [1, 2]))
    with pytest.raises(ServerProblem, match=r"the cluster failed: No module .*have trajanon"):
        list(each_done(client, silent, "Trying", lack, [1]))


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Ten recordings, and a file that is cut off."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for number in range(10):
        (folder / f"{number}.gpx").write_text(track(40.0 + number / 100, points=100))
    (folder / "5a.gpx").write_text(track()[:300])
    return folder


def to(out: Path, source: Source, client: Client | None, progress: Progress = silent) -> Any:
    return extract_to(out, source, spacing=20, client=client, progress=progress)


def test_a_cluster_reads_files_as_one_process_does(
    traces: Path, tmp_path: Path, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """With the pages of the sample, which are joined over their borders."""
    found, said = [], []
    for on in (None, client):
        provenance = to(tmp_path / "out.parquet", [traces, sample()], on)
        found.append(((tmp_path / "out.parquet").read_bytes(), provenance))
        ours = (record for record in caplog.records if record.name.startswith("trajanon"))
        said.append([record.message for record in ours])
        caplog.clear()
    assert found[0] == found[1]
    assert found[0][1]["counts"][USED_IN_PART] == 1
    assert said[0] == said[1]
    assert "5a.gpx" in said[0][0]


def test_a_file_of_a_killed_worker_is_read_by_another(
    traces: Path, tmp_path: Path, client: Client
) -> None:
    killed: list[int] = []

    def kill(task: str, done: float, total: float | None, note: str = "") -> None:
        if task.startswith("Reading") and not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    to(tmp_path / "alone.parquet", traces, None)
    to(tmp_path / "out.parquet", traces, client, kill)
    assert killed
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()


def test_a_file_that_workers_do_not_see_is_refused(
    traces: Path, tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left out as unreadable, it would change the result."""

    files_of = files.files_of

    def found(*given: Any) -> Any:
        listed = files_of(*given)
        (traces / "3.gpx").unlink()
        return listed

    monkeypatch.setattr(files, "files_of", found)
    with pytest.raises(FileProblem, match=r"worker cannot read .*/3\.gpx .*under the same names"):
        to(tmp_path / "out.parquet", traces, client)


def test_the_command_line_takes_a_cluster(run: Run, client: Client) -> None:
    write_folder(Path("trajectories"), walks(60))
    given = ("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    answer = run(*given, "--cluster", client.scheduler_info()["address"])
    assert answer.code == 0, answer
    assert re.fullmatch(r"trajanon: Dask shows the work at http://.*/status\n", answer.err)
    assert Path("anonymized.parts.report.json").exists()


# On an object store: the same release whatever becomes of workers, and nothing left over


def test_a_worker_killed_in_each_step_changes_nothing(
    tmp_path: Path, store: ObjectStore, bucket: str, client: Client
) -> None:
    source = upload(write_parts(tmp_path / "trips", hours(walks(200)), 100), f"{bucket}/trips")
    how: dict[str, Any] = {
        "times": "of-day",
        "client": client,
        "effort": "fast",
        "key": bytes(range(32)),
    }
    steps, found, reports = ["Reading parts", "Writing shards"], [], []

    def once_in_each_step(step: str, method: str) -> bool:
        return step in steps and step not in store.killed and method == "GET"

    for name in ("calm", "killed"):
        store.watch(*([once_in_each_step] * (name == "killed")))
        with shards_of(100):
            report = anonymize_parts(source, f"{bucket}/{name}", 3, progress=store.progress, **how)
        del report["stages"]
        reports.append(report)
        found.append(released_with_times(download(f"{bucket}/{name}", tmp_path / name)))
    assert store.killed == steps
    assert found[0] == found[1]
    assert reports[0] == reports[1]
    left = contents(bucket)
    calm, killed = (
        [path.removeprefix(name) for path in left if path.startswith(name)]
        for name in ("calm", "killed")
    )
    assert calm == killed


def test_a_task_that_kills_its_workers_leaves_nothing(
    tmp_path: Path, store: ObjectStore, bucket: str, client: Client
) -> None:
    source = upload(write_folder(tmp_path / "trips", walks(60)), f"{bucket}/trips")
    before = contents(bucket)
    store.watch(lambda step, method: step == "Writing shards" and method == "GET")
    with shards_of(30), pytest.raises(ServerProblem, match=r"the cluster failed: .*memory"):
        anonymize_parts(
            source, f"{bucket}/out", 3, client=client, effort="fast", progress=store.progress
        )
    assert contents(bucket) == before


def test_a_ledger_takes_no_release_on_a_store(tmp_path: Path, bucket: str) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    with pytest.raises(BadInput, match="`ledger` needs a release on a local disk"):
        anonymize_parts(str(source), f"{bucket}/out", 3, ledger=tmp_path / "trips.ledger")
