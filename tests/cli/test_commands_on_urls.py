"""Commands that read releases, and originals, on any file system that fsspec knows."""

import errno
import os
import tempfile
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pytest
from commands import Run
from shards import shards_of, walks, write_folder

from trajanon.common.errors import FileProblem
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


def test_drafts_of_a_report_are_in_scratch_that_is_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They say who is in which group."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = set[str]()

    def look(task: str, done: float, total: float | None, note: str = "") -> None:
        found.update(path.name for path in tmp_path.glob(f"trajanon-*{SCRATCH}"))

    anonymize_parts(f"{STORE}/trips", f"{STORE}/other", 3, effort="fast", progress=look)
    assert found
    assert not list(tmp_path.iterdir())


def test_if_a_report_cannot_be_put_beside_a_release_there_is_none(
    store: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = store.names()
    monkeypatch.setattr(type(store.system), "put_file", full)
    with pytest.raises(FileProblem, match="No space left"):
        anonymize_parts(f"{STORE}/trips", f"{STORE}/other", 3, effort="fast")
    assert store.names() == before


def test_a_release_at_once_has_no_table_of_an_earlier_one_beside_it(store: Folder) -> None:
    Folder(RELEASE).remove()
    anonymize_parts(f"{STORE}/trips", RELEASE, 3, effort="fast")
    assert store.names() == ["out", "out.parts.report.json", "trips"]


def test_a_release_is_read_where_it_is(run: Run, store: Folder) -> None:
    answer = run("check", RELEASE, "-k", "3", "--trajectories", f"{STORE}/trips")
    assert answer.code == 0, answer
    assert answer.err.startswith(f"trajanon: read {RELEASE} as ")
    assert "each of its" in answer.out
    assert run("map", "--view", "public", "--offline", RELEASE).code == 0
    assert Path("map.public.html").is_file()
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


def test_settings_check_what_they_released(run: Run, store: Folder, tmp_path: Path) -> None:
    """It is read after it is written, although all settings are understood at first."""
    Folder(RELEASE).remove()
    settings = tmp_path / "settings.toml"
    anonymize = f'trajectories = "{STORE}/trips"\nk = 3\neffort = "fast"\nout = "{RELEASE}"'
    settings.write_text(
        f'[anonymize]\n{anonymize}\n[check]\nreleased = "{RELEASE}"\nk = 3\n', "utf-8"
    )
    answer = run("run", str(settings))
    assert answer.code == 0, answer
    assert f"Next: trajanon check {RELEASE} -k 3" in answer.out
    assert f"trajanon: read {RELEASE} as " in answer.err


def test_what_is_not_there_is_named(run: Run) -> None:
    answer = run("check", f"{STORE}/nothing", "-k", "3")
    assert answer.code == 2
    assert answer.sentence == f"trajanon: there is no {STORE}/nothing\n"
