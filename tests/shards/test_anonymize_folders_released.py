"""A release in parts comes whole or not at all, whatever ends the run."""

import json
import os
import signal
from pathlib import Path
from unittest.mock import patch

import pytest
from shards import out_of, released, shards_of, walks, write_folder

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.object_stores import Folder
from trajanon.release import release
from trajanon.shards.anonymize_folders import anonymize_parts


def test_a_release_that_is_there_is_replaced_with_its_report(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out = out_of(tmp_path)
    with patch.object(release, "ROWS_PER_PART", 10):
        anonymize_parts(str(source), str(out), 3, effort="fast")
    assert len(list(out.iterdir())) == 6
    anonymize_parts(str(source), str(out), 4, effort="fast")
    assert [path.name for path in out.iterdir()] == ["part-00000.parquet"]
    report = json.loads((tmp_path / "anonymized.parts.report.json").read_text())
    assert report["k"] == 4
    assert trajanon.check(out / "part-00000.parquet", 4).holds
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "anonymized",
        "anonymized.parts.report.json",
        "trips",
    ]


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    out_of(tmp_path).mkdir()
    (out_of(tmp_path) / "thesis.txt").write_text("years of work")
    with pytest.raises(FileProblem, match=r"there is thesis\.txt in it, not ours"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(source), f"{source}/", 3)
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(source), str(tmp_path / "x" / ".." / "trips"), 3)


def test_what_ends_a_run_leaves_nothing_behind(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(300))
    out = out_of(tmp_path)
    anonymize_parts(str(source), str(out), 3, effort="fast")
    before = released(out)

    for until in ("Reading parts", "Grouping shards", "Writing the release"):

        def stop(task: str, done: float, total: float | None, note: str = "") -> None:
            if task == until and done == 1:  # noqa: B023 -- called in this round
                os.kill(os.getpid(), signal.SIGINT)

        with (
            shards_of(60),
            patch.object(release, "ROWS_PER_PART", 60),
            pytest.raises(KeyboardInterrupt),
        ):
            anonymize_parts(str(source), str(out), 4, progress=stop, effort="fast")
        assert released(out) == before
        assert sorted(p.name for p in tmp_path.iterdir()) == [
            "anonymized",
            "anonymized.parts.report.json",
            "trips",
        ]


def test_a_link_to_a_folder_stays_one(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    (tmp_path / "large_disk").mkdir()
    link = out_of(tmp_path)
    link.symlink_to(tmp_path / "large_disk")
    for k in (3, 4):
        anonymize_parts(str(source), str(link), k, effort="fast")
    assert link.is_symlink()
    assert len(released(tmp_path / "large_disk")) == 60
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "anonymized",
        "anonymized.parts.report.json",
        "large_disk",
        "trips",
    ]


BESIDE = ["out.parts.report.json", "out.parts.rows.parquet"]


def test_folders_may_be_on_any_file_system(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(90))
    there = Folder("memory://trips")
    for place in (there, Folder("memory://released")):
        place.remove()
    for path in source.iterdir():
        with there.writing(path.name) as file:
            file.write(path.read_bytes())
    with shards_of(30):
        far = anonymize_parts("memory://trips", "memory://released/out", 3, effort="fast")
        near = anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert far["information_loss"] == near["information_loss"]
    assert Folder("memory://released").names() == ["out", *BESIDE]
    assert Folder("memory://released/out").names() == ["part-00000.parquet"]
    with pytest.raises(FileProblem, match="memory://released/out exists: remove it, or write to"):
        anonymize_parts("memory://trips", "memory://released/out", 3, effort="fast")
