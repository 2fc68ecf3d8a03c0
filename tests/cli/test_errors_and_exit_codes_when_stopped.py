"""Ctrl-C and other ends of commands: no file is left half-written."""

import signal
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from commands import Run, command, names
from shards import walks, write_folder

from trajanon import __main__ as main
from trajanon.data import sample
from trajanon.extract import extraction
from trajanon.files.trajectory_files import write_trajectories
from trajanon.trajectories.trajectories import Trajectories


def test_ctrl_c_is_one_sentence(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(extraction, "extract_to", interrupted)
    before, old = names(here), (here / "trajectories.parquet").read_bytes()
    answer = run("extract", str(sample()), "--bbox", "madrid")
    assert answer.code == 130
    assert answer.err.strip() == "trajanon: stopped; no file was left half-written"
    assert names(here) == before
    assert (here / "trajectories.parquet").read_bytes() == old


def is_stopped_in_one_sentence(process: subprocess.Popen[str]) -> bool:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    return err.strip() == "trajanon: stopped; no file was left half-written"


def test_ctrl_c_stops_a_download(tmp_path: Path) -> None:
    """The server takes the request and never answers."""
    (tmp_path / "trajectories.parquet").write_bytes(b"old")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with command(tmp_path, "extract", "--bbox", "madrid", "--api-url", url) as process:
            connection, _ = server.accept()
            with connection:
                assert connection.recv(3) == b"GET"
                time.sleep(0.5)  # now it waits for the answer
                stopped = is_stopped_in_one_sentence(process)
    assert (tmp_path / "trajectories.parquet").read_bytes() == b"old"
    assert names(tmp_path) <= {"trajectories.parquet", "trajanon"}
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert stopped


def test_ctrl_c_stops_the_search(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    n = 20_000
    points = np.cumsum(random.normal(0, 0.001, (n, 30, 2)), axis=1)
    points += np.array((40.0, -3.0)) + random.normal(0, 0.1, (n, 1, 2))
    write_trajectories(
        tmp_path / "trajectories.parquet", Trajectories(points, np.arange(n), np.arange(n))
    )
    for name in ("anonymized.parquet", "anonymized.report.json"):
        (tmp_path / name).write_bytes(b"old")
    before = names(tmp_path)
    with command(tmp_path, "anonymize", "-k", "4") as process:
        while names(tmp_path) == before and process.poll() is None:
            time.sleep(0.01)  # until its drafts are there
        stopped = is_stopped_in_one_sentence(process)
    assert names(tmp_path) == before
    assert (tmp_path / "anonymized.parquet").read_bytes() == b"old"
    assert (tmp_path / "anonymized.report.json").read_bytes() == b"old"
    assert stopped


def test_an_end_from_outside_leaves_no_originals(tmp_path: Path) -> None:
    write_folder(tmp_path / "trips", walks(20_000), rows=20_000)
    with command(tmp_path, "anonymize", "trips", "-k", "4") as process:
        while not [*tmp_path.glob(".anonymized.*.draft")] and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "Traceback" not in err
    assert names(tmp_path) == {"trips"}


@pytest.mark.parametrize(("end", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_an_end_that_another_package_turns_into_an_error_is_an_end(
    run: Run, monkeypatch: pytest.MonkeyPatch, end: str, code: int
) -> None:
    """As numpy does while a compiled module imports it."""

    def app(*, standalone_mode: bool) -> None:
        assert not standalone_mode
        try:
            signal.raise_signal(getattr(signal, end))
        except SystemExit as error:
            raise ImportError from error

    monkeypatch.setattr(main, "app", app)
    ignored = signal.signal(getattr(signal, end), signal.SIG_DFL)  # by nohup, perhaps
    answer = run()
    signal.signal(getattr(signal, end), ignored)
    assert answer.code == code
    assert answer.err == ""
