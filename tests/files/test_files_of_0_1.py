"""What version 0.1 wrote is read: it knew no times, no marks of recordings and fewer accounts."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from commands import FAST, Run
from plain import plain_means

import trajanon
from trajanon.files.release_formats import write_release
from trajanon.trajectories import Trajectories

COLUMNS = ["trajectory", "subject", "trace", "run", "start", "geometry", "track"]
ACCOUNTS = [
    *("notice", "n", "k", "counted", "digits", "groups", "lines", "information_loss", "stages"),
    *("stopped", "displacement", "from_runs", "alignment", "alignment_skipped", "suppressed"),
    *("subject_names_merged", "wide", "attribution", "versions", "sizes", "subjects_per_group"),
    *("labels", "groups_of_equal_lines"),
]


@pytest.fixture
def old(here: Path, madrid: Trajectories, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Trajectories, a release of plain means, and its report, as 0.1 wrote them."""
    with plain_means():
        release = trajanon.anonymize(madrid, k=4, method="mdav", refine="none")
    path = here / "anonymized.parquet"
    release.write(path)
    said = {**release.trajectories.provenance, "boxes": "none"}
    write_release(path, replace(release.trajectories, provenance=said))
    assert pq.read_schema(path).names == ["id", "geometry"]
    trajectories = here / "trajectories.parquet"
    trajanon.write_trajectories(trajectories, madrid)
    table = pq.read_table(trajectories)
    assert not set(COLUMNS) - set(table.column_names)
    pq.write_table(table.select(COLUMNS), trajectories)
    report = here / "anonymized.report.json"
    account = json.loads(report.read_text("utf-8"))
    kept = {name: account[name] for name in ACCOUNTS if name in account}
    report.write_text(json.dumps(kept), "utf-8")
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize(
    "words",
    [
        ("check", "-k", "4", "--trajectories", "trajectories.parquet"),
        ("evaluate",),
        ("map", "--offline"),
        ("anonymize", "-k", "4", *FAST, "--out", "new.parquet"),
    ],
    ids=lambda words: words[0],
)
def test_files_of_0_1_are_read(old: Path, run: Run, words: tuple[str, ...]) -> None:
    answer = run(*words)
    if words[0] in ("check", "evaluate"):
        assert answer.code == 1, answer
        assert "A coordinate has more than the 5 decimals that a release may have" in answer.out
    else:
        assert answer.code == 0, answer
