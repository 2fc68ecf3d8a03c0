"""Commands that read releases, and originals, on any file system that fsspec knows."""

from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pytest
from commands import Run
from shards import shards_of, walks, write_folder

from trajanon.common.object_stores import SCRATCH, Folder
from trajanon.shards.anonymize_folders import anonymize_parts

STORE = "memory://store"
RELEASE = f"{STORE}/out"
BESIDE = ["out.parts.report.json", "out.parts.rows.parquet"]


@pytest.fixture(autouse=True)
def store(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Originals and a release of shards on a file system that no path leads to."""
    store = Folder(STORE)
    store.remove()
    folder = tmp_path_factory.mktemp("originals") / "trips"
    trips = write_folder(folder, walks(120), subject=np.arange(120))
    store.system.put(str(trips), f"{store.path}/trips", recursive=True)
    with shards_of(60):
        anonymize_parts(f"{STORE}/trips", RELEASE, 3, effort="fast", key=bytes(range(32)))
    return store


def test_a_release_is_read_where_it_is(run: Run, store: Folder) -> None:
    answer = run("check", RELEASE, "-k", "3", "--trajectories", f"{STORE}/trips")
    assert answer.code == 0, answer
    assert answer.err.startswith(f"trajanon: read {RELEASE} as ")
    assert "each of its" in answer.out
    assert run("map", "--view", "public", "--offline", RELEASE).code == 0
    assert Path("map.html").is_file()
    assert run("streets", RELEASE, "--cells", "500").code == 0
    assert store.names() == ["out", *BESIDE, "trips"]
    assert not list(Path(gettempdir()).glob(f"trajanon-????????{SCRATCH}/copy/trips"))


def test_what_is_written_beside_a_release_is_put_there(run: Run, store: Folder) -> None:
    answer = run("evaluate", f"{STORE}/trips", RELEASE)
    assert answer.code in (0, 1), answer
    sheets = ["out.parts.certificate.json", "out.parts.datasheet.md"]
    assert store.names() == ["out", *sheets, *BESIDE, "trips"]
    before = store.states()
    assert run("check", RELEASE, "-k", "3").code == 0
    assert store.states() == before


def test_what_is_not_there_is_named(run: Run) -> None:
    answer = run("check", f"{STORE}/nothing", "-k", "3")
    assert answer.code == 2
    assert answer.sentence == f"trajanon: there is no {STORE}/nothing\n"
