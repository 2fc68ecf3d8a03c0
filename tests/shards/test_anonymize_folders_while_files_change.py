"""What others do in the folders of a run while it is going on."""

import errno
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
from object_store import contents, upload
from shards import released, shards_of, walks, write_folder

from trajanon.common.errors import FileProblem
from trajanon.common.progress import Progress
from trajanon.shards.anonymize_folders import anonymize_parts


def meanwhile(wanted: str, act: Callable[[], object]) -> Progress:
    """Do something once, when a task begins."""
    left = [act]

    def progress(task: str, done: float, total: float | None, note: str = "") -> None:
        if task == wanted and left:
            left.pop()()

    return progress


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["part-00000.parquet", "part-00007.parquet", "thesis.txt"])
def test_what_somebody_else_writes_during_a_run_is_not_replaced(tmp_path: Path, name: str) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out = tmp_path / "anonymized"
    anonymize_parts(str(source), str(out), 3, effort="fast")
    before = names(out)
    progress = meanwhile("Anonymising", lambda: (out / name).write_bytes(b"mine"))
    with pytest.raises(FileProblem, match=rf"somebody else wrote or removed .*/{name} during"):
        anonymize_parts(str(source), str(out), 4, effort="fast", progress=progress)
    assert (out / name).read_bytes() == b"mine"
    assert names(out) == sorted({*before, name})
    assert names(tmp_path) == ["anonymized", "anonymized.parts.report.json", "trips"]


def test_a_report_that_cannot_be_moved_leaves_the_release_before(tmp_path: Path) -> None:
    source, out = write_folder(tmp_path / "trips", walks(60)), tmp_path / "anonymized"
    anonymize_parts(str(source), str(out), 3, effort="fast")
    report = tmp_path / "anonymized.parts.report.json"
    before = released(out), report.read_text()
    replaced = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target == report and ".draft" in self.parent.suffix:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        return replaced(self, target)

    with patch.object(Path, "replace", full), pytest.raises(FileProblem, match="No space left"):
        anonymize_parts(str(source), str(out), 4, effort="fast")
    assert (released(out), report.read_text()) == before
    assert names(tmp_path) == ["anonymized", report.name, "trips"]


def changes() -> dict[str, Callable[[Path], object]]:
    return {
        "appears": lambda at: (
            write_folder(at / "more", walks(30))
            .joinpath("part-00000.parquet")
            .rename(at / "trips" / "part-00009.parquet")
        ),
        "is gone": lambda at: (at / "trips" / "part-00002.parquet").unlink(),
        "is cut": lambda at: (at / "trips" / "part-00002.parquet").write_bytes(b"PAR1"),
        "is as long": lambda at: (
            write_folder(at / "more", walks(70, 5), rows=70)
            .joinpath("part-00000.parquet")
            .rename(at / "trips" / "part-00002.parquet")
        ),
    }


@pytest.mark.parametrize("change", changes())
@pytest.mark.parametrize("when", ["Anonymising", "Reading parts", "Grouping shards"])
def test_a_part_that_changes_while_it_is_read_is_named(
    tmp_path: Path, change: str, when: str
) -> None:
    source = write_folder(tmp_path / "trips", walks(280))
    out = tmp_path / "anonymized"
    progress = meanwhile(when, lambda: changes()[change](tmp_path))
    with (
        nullcontext() if when == "Anonymising" else shards_of(150),
        pytest.raises(
            FileProblem, match=r"trips/part-0000[29]\.parquet was written or removed while"
        ),
    ):
        anonymize_parts(str(source), str(out), 3, effort="fast", progress=progress)
    assert not out.exists()


def test_a_part_that_changes_on_an_object_store_is_named(tmp_path: Path, bucket: str) -> None:
    source = upload(write_folder(tmp_path / "trips", walks(60)), f"{bucket}/trips")
    other = write_folder(tmp_path / "others", walks(60, 5))
    progress = meanwhile("Anonymising", lambda: upload(other, source))
    with pytest.raises(FileProblem, match=r"trips/part-00000\.parquet was written or removed"):
        anonymize_parts(source, f"{bucket}/out", 3, effort="fast", progress=progress)
    assert contents(bucket) == ["trips/part-00000.parquet"]


def test_what_is_no_part_may_change(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(140))
    (source / "notes.txt").write_text("no part")
    part, out = source / "part-00001.parquet", tmp_path / "anonymized"

    def write() -> None:
        (source / "notes.txt").write_text("still none")
        part.chmod(0o600)

    with shards_of(70):
        progress = meanwhile("Reading parts", write)
        anonymize_parts(str(source), str(out), 3, effort="fast", progress=progress)
    assert (source / "notes.txt").read_text() == "still none"
    assert len(released(out)) == 140
