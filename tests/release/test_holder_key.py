"""The holder's key: made once, secret, and all that is published follows from it."""

import os
import stat
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from toy import timed

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.release_formats import read_release
from trajanon.files.trajectory_files import write_trajectories
from trajanon.release.holder_key import KEY_BYTES, fingerprint, holders_key, key_path, search_seed

needs_modes = pytest.mark.skipif(os.name != "posix", reason="files have no modes here")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for a user's data."""
    folder = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder


@needs_modes
def test_it_is_made_once_and_its_owner_alone_can_read_it(home: Path) -> None:
    key = holders_key()
    assert key_path() == home / "trajanon" / "holder.key"
    assert len(key) == KEY_BYTES
    assert holders_key() == key == key_path().read_bytes()
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
    assert stat.S_IMODE(key_path().parent.stat().st_mode) == 0o700
    assert [*key_path().parent.iterdir()] == [key_path()]
    assert holders_key(home / "other.key") != key


@pytest.mark.usefixtures("home")
def test_runs_that_begin_at_once_agree() -> None:
    keys: list[bytes] = []
    start = threading.Barrier(8)

    def run() -> None:
        start.wait()
        keys.append(holders_key())

    runs = [threading.Thread(target=run) for _ in range(8)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


@needs_modes
@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        (b"", 0o600, "is not a key: it has 0 bytes, and a key 32"),
        (bytes(range(31)), 0o600, "it has 31 bytes"),
        (bytes(32), 0o600, "has the same byte everywhere"),
        (bytes(range(32)), 0o640, "others can read"),
    ],
)
def test_what_is_no_secret_is_refused(tmp_path: Path, content: bytes, mode: int, says: str) -> None:
    file = tmp_path / "some.key"
    file.write_bytes(content)
    file.chmod(mode)
    with pytest.raises(BadInput, match=says):
        holders_key(file)
    assert file.read_bytes() == content


def test_without_a_place_for_it_the_way_out_is_named(
    home: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write_text("no folder")
    with pytest.raises(FileProblem, match=r"cannot keep your key in .*: name a file"):
        holders_key()
    write_trajectories("trips.parquet", timed())
    answer = run("anonymize", "trips.parquet", "-k", "2")
    assert answer.code == 2
    assert answer.err.endswith("name a file for it with --key\n")
    assert run("anonymize", "trips.parquet", "-k", "2", "--key", "my.key").code == 0
    monkeypatch.setattr("platformdirs.user_data_path", lambda _: Path("~/where"))
    with pytest.raises(FileProblem, match="name a file for it"):
        holders_key()


def test_what_follows_from_it_tells_nothing_of_it() -> None:
    key = bytes(range(32))
    assert fingerprint(key) != fingerprint(key[::-1])
    seeds = {search_seed(some, seed) for some in (key, key[::-1]) for seed in (0, 1)}
    assert len(seeds) == 4
    assert min(seeds) > 2**100  # nobody tries them all


def test_two_runs_of_one_command_write_equal_files(run: Run) -> None:
    write_trajectories("trips.parquet", timed())
    command = ("anonymize", "trips.parquet", "-k", "2", "--times", "of-day", "--out")
    lines = []
    for suffix in (".parquet", ".gpkg", ".csv", ".geojson"):
        pair = [Path(f"{name}-{suffix[1:]}{suffix}") for name in ("one", "two")]
        for path in pair:
            assert run(*command, path).code == 0
            release = read_release(path)
            assert release.times is not None
            lines.append(np.dstack([release.points, release.times]))
        assert pair[0].read_bytes() == pair[1].read_bytes()
    assert all(np.array_equal(lines[0], each) for each in lines[1:])
    assert run(*command, "other.parquet", "--key", "other.key").code == 0
    assert not np.array_equal(lines[0][..., :2], read_release(Path("other.parquet")).points)


def test_no_report_holds_it(run: Run) -> None:
    key = bytes(range(32))
    report: dict[str, Any] = trajanon.anonymize(timed(), 2).report
    assert report["key_fingerprint"] == fingerprint(key)
    assert key.hex() not in str(report)
    assert str(search_seed(key, 0)) not in str(report)
    write_trajectories("trips.parquet", timed())
    for option in (("--ledger", "my.ledger"), ("--as-published",)):
        answer = run("anonymize", "trips.parquet", "-k", "2", "--key", "new.key", *option)
        assert answer.sentence.startswith(f"trajanon: {option[0]} h")
        assert "leave out --key" in answer.err
        assert not Path("new.key").exists()


def test_a_first_run_that_is_refused_makes_none(home: Path, run: Run, tmp_path: Path) -> None:
    write_trajectories("trips.parquet", timed())
    parts = tmp_path / "parts"
    parts.mkdir()
    write_trajectories(parts / "part-00000.parquet", timed())

    for source, key in (("trips.parquet", ()), ("parts", ()), ("trips.parquet", ("--key", "a"))):
        assert "form a group of k = 99" in run("anonymize", source, "-k", "99", *key).sentence
        assert not home.exists()
        assert not Path("a").exists()
    assert run("anonymize", "no.parquet", "-k", "2").code == 2
    assert not home.exists()

    assert run("anonymize", "trips.parquet", "-k", "2", "--key", "a").code == 0
    assert fingerprint(Path("a").read_bytes()) in Path("anonymized.report.json").read_text()
    assert not home.exists()


def test_as_published_needs_none(home: Path) -> None:
    report = trajanon.anonymize(timed(), 2, as_published=True).report
    assert report["key_fingerprint"] is None
    assert not home.exists()
