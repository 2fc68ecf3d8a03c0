"""Trajectories that are written as they are found are those that memory would hold."""

import errno
import signal
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trajanon.errors import FileProblem
from trajanon.extract import Extraction, Rules, cutting, extraction
from trajanon.extract.cutting import Cutter
from trajanon.files.trajectories import read_trajectories
from trajanon.partition import dense
from trajanon.subjects import BY_BLANKS, BY_CASE
from trajanon.trajectories import Trajectories

PEOPLE = ["ann", "bob", "cy ", "cy", "Bob"]
"""Three, one of them in two cases, one with a blank."""


def trips(seed: int, number: int) -> pd.DataFrame:
    """Trips to the north, a fix every ten seconds and some 100 m."""
    rng = np.random.default_rng(seed)
    parts = []
    for trip in range(number):
        fixes = int(rng.integers(2, 60))
        lat = 40.0 + rng.uniform(0, 1) + np.cumsum(rng.uniform(8e-4, 1e-3, fixes))
        part = pd.DataFrame({"lat": lat, "lon": -3.0 + trip / 100})
        part["time"] = 1e9 + 10.0 * np.arange(fixes)
        parts.append(part.assign(trip_id=f"{seed}-{trip}", user_id=PEOPLE[rng.integers(5)]))
    return pd.concat(parts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three tables of 34 trips in all; the third repeats a trip of the first."""
    folder = tmp_path / "traces"
    folder.mkdir()
    first = trips(0, 12)
    again = first[first.trip_id == "0-3"].assign(user_id="99", trip_id="again")
    for number, table in enumerate((first, trips(1, 1), pd.concat([trips(2, 20), again]))):
        table.to_csv(folder / f"{number}.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few trajectories, batches of a few traces."""
    monkeypatch.setattr(extraction, "HELD", 20)
    monkeypatch.setattr(cutting, "BATCH", 60)


def of(folder: Path) -> Extraction:
    return Extraction(
        folder, rules=Rules(per_recording=None, spacing=50, points=5, max_per_subject=30)
    )


def test_in_parts_they_are_as_in_memory(folder: Path, tmp_path: Path) -> None:
    out, expected = tmp_path / "out.parquet", of(folder).trajectories()
    counts = expected.provenance["counts"]
    assert (counts[BY_CASE], counts[BY_BLANKS]) == (1, 1)
    assert of(folder).write(out) == expected.provenance
    written = read_trajectories(out)
    assert written.provenance == expected.provenance
    np.testing.assert_array_equal(written.points, expected.points)
    for name in ("subject", "trace"):  # a file that is read numbers those it has
        mine, theirs = (dense(getattr(each, name)) for each in (written, expected))
        np.testing.assert_array_equal(mine, theirs)
    for name in ("points", "first", "run", "start"):
        mine, theirs = (getattr(each.tracks, name) for each in (written, expected))
        np.testing.assert_array_equal(mine, theirs)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "traces"]


def test_parts_are_read_one_after_another(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read all at once they would fill the memory that they were written to spare."""
    held: list[int] = [0]
    most: list[int] = []

    def reading(path: Path) -> Trajectories:
        held[0] += 1
        most.append(held[0])
        part = read_trajectories(path)
        weakref.finalize(part.points, lose)
        return part

    def lose() -> None:
        held[0] -= 1

    monkeypatch.setattr(extraction, "read_trajectories", reading)
    of(folder).write(tmp_path / "out.parquet")
    assert len(most) > 3
    assert max(most) <= 2


@pytest.mark.parametrize("partition", [None, 7])
@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt),
        (OSError(errno.ENOSPC, "No space left on device"), FileProblem),
    ],
)
def test_stopped_it_leaves_what_was_there(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    partition: int | None,
    error: BaseException,
    raised: type[BaseException],
) -> None:
    out = tmp_path / ("out.parquet" if partition is None else "out")
    of(folder).write(out, partition=partition)
    files = [out] if partition is None else sorted(out.iterdir())
    before = {path: path.read_bytes() for path in files}
    cut = Cutter.cut

    def until(cutter: Cutter, some: Any) -> Any:
        if cutter.counts["recordings read"] > 20:
            (draft,) = tmp_path.glob(".out*.draft")
            assert len(list(draft.rglob("[0-9].parquet"))) > 1
            raise error
        return cut(cutter, some)

    monkeypatch.setattr(Cutter, "cut", until)
    with pytest.raises(raised, match=rf"cannot write {out}: No space" if error.args else None):
        of(folder).write(out, partition=partition)
    assert {path: path.read_bytes() for path in files} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name, "traces"]


def test_what_a_killed_one_leaves_the_next_removes(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    code = (
        "import os, signal, sys\n"
        "from trajanon.extract import Extraction, Rules, cutting, extraction\n"
        "extraction.HELD, cutting.BATCH = 20, 60\n"
        "extraction.Found.chosen = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "rules = Rules(per_recording=None, spacing=50, points=5)\n"
        "Extraction(sys.argv[1], rules=rules).write(sys.argv[2])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, folder, out], check=False)
    assert ended.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob("*out*")
    assert left.stat().st_mode & 0o777 == 0o700
    of(folder).write(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "traces"]
