"""The gate for a release in parts: what is hidden in any part is found."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Run
from shards import shards_of, walks, write_folder

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.errors import FileProblem
from trajanon.files.geoparquet import write_released
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.trajectories.trajectories import Trajectories


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release of 500 trajectories in five parts, of at least 4 each."""
    monkeypatch.setattr("trajanon.release.release.ROWS_PER_PART", 100)
    source = write_folder(tmp_path / "trips", walks(500))
    out = tmp_path / "anonymized"
    with shards_of(120):
        anonymize_parts(str(source), str(out), 4, effort="fast")
    return out


def lines_of(path: Path) -> Floats:
    return trajanon.read_release(path).points


def write(path: Path, points: Floats, first: int) -> None:
    with path.open("wb") as file:
        write_released(file, Trajectories(points), first)


def test_a_release_in_parts_holds(release: Path) -> None:
    findings = trajanon.check(release, 4)
    assert findings.holds, findings.problems
    assert findings.trajectories == 500
    whole = np.concatenate([lines_of(path) for path in sorted(release.iterdir())])
    counts = np.unique(whole.reshape(500, -1), axis=0, return_counts=True)[1]
    assert (findings.groups, findings.smallest) == (len(counts), counts.min())
    # In a part alone most trajectories are rare: parts are counted together.
    assert not trajanon.check(release / "part-00001.parquet", 4).holds
    told = trajanon.check(release, int(counts.min()) + 1).problems
    assert f"(the rarest {counts.min()} times)" in told[0]


def test_a_line_in_one_part_that_is_rare_in_all_is_found(release: Path) -> None:
    path = release / "part-00002.parquet"
    points = lines_of(path)
    ids = pq.read_table(path)["id"].to_numpy()
    points[3] = np.round(points[3] + 1e-4, 4)
    write(path, points, int(ids[0]))
    told = trajanon.check(release, 4).problems[-1]
    assert "occur fewer than 4 times (the rarest 1 time)" in told


def test_what_stands_beside_the_lines_of_any_part_is_found(release: Path) -> None:
    path = release / "part-00003.parquet"
    table = pq.read_table(path)
    user = pa.array(["anna"] * len(table))
    pq.write_table(table.append_column("user", user), path, write_statistics=False)
    told = trajanon.check(release, 4).problems
    assert any(one.startswith("part-00003.parquet: ") and "column 'user'" in one for one in told)


def test_parts_that_are_not_sorted_or_have_other_ids_are_found(release: Path) -> None:
    path = release / "part-00001.parquet"
    points = lines_of(path)
    write(path, points[::-1], 1)
    told = trajanon.check(release, 4).problems
    assert any("part-00001.parquet: column 'id'" in one for one in told)
    assert any("part-00001.parquet: trajectories are not sorted" in one for one in told)


def test_parts_that_are_not_sorted_from_part_to_part_are_found(release: Path) -> None:
    parts = sorted(release.iterdir())
    lines = [lines_of(path) for path in parts]
    first = 1
    for path, some in zip(parts, lines[::-1], strict=True):
        write(path, some, first)
        first += len(some)
    (told,) = trajanon.check(release, 4).problems
    assert told == "parts are not sorted by their coordinates: run trajanon anonymize again"


def test_something_else_in_the_folder_is_found(release: Path) -> None:
    (release / "trips.csv").write_text("anna")
    (told,) = trajanon.check(release, 4).problems
    assert told == "'trips.csv' is not a part of a release"


def test_a_part_that_is_missing_or_renamed_is_found(release: Path) -> None:
    last = release / "part-00004.parquet"
    for name in ("part-00005.parquet", "part-000004.parquet"):
        last.rename(release / name)
        (told,) = trajanon.check(release, 4).problems
        assert told.startswith(f"{name!r} stands where 'part-00004.parquet' should")
        (release / name).rename(last)
    assert trajanon.check(release, 4).holds


def test_a_link_in_place_of_a_part_is_found(release: Path, tmp_path: Path) -> None:
    part = release / "part-00001.parquet"
    part.rename(tmp_path / "elsewhere.parquet")
    part.symlink_to(tmp_path / "elsewhere.parquet")
    (told,) = trajanon.check(release, 4).problems
    assert told.startswith("'part-00001.parquet' is a link and no file")


def test_parts_of_other_trajectories_are_found(release: Path) -> None:
    write(release / "part-00005.parquet", np.zeros((4, 3, 2)), 501)
    told = trajanon.check(release, 4).problems
    assert told == ["parts have trajectories of different numbers of points"]


def test_what_cannot_be_checked_is_refused(tmp_path: Path, release: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileProblem, match="empty holds no part of a release"):
        trajanon.check(tmp_path / "empty", 4)
    (release / "part-00000.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileProblem, match=r"cannot read .*part-00000\.parquet"):
        trajanon.check(release, 4)


def test_the_command_line_checks_a_folder(run: Run) -> None:
    write_folder(Path("trajectories"), walks(60))
    assert run("anonymize", "trajectories", "-k", "3", "--effort", "fast").code == 0
    answer = run("check", "anonymized", "-k", "3")
    assert answer.code == 0
    assert answer.out.startswith("anonymized holds for rows: each of its ")
    assert "trajanon map" not in answer.out
    assert "Not checked: names, dates, owners and other attributes of the files." in answer.out
    assert run("check", "anonymized", "-k", "40").code == 1
