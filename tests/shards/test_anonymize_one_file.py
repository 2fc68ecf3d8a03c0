"""One file anonymised: its inputs, its report, and what a ledger does not go with."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ledgers import trips_of
from shards import walks

import trajanon
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.files.trajectory_files import write_trajectories
from trajanon.release.report_files import json_ready, read_report
from trajanon.shards.anonymize_one_file import anonymize_file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Forty walks of twenty people."""
    path = tmp_path / "trips.parquet"
    write_trajectories(path, trips_of(np.arange(40), walks(40)))
    return path


def test_the_report_is_that_beside_the_release_and_repeats_the_command(
    source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "r.csv"
    report = anonymize_file(source, out, 3, effort="fast", run={"k": 3, "effort": "fast"})
    assert json_ready(read_report(out)) == report
    assert report["run"] == {"k": 3, "effort": "fast"}
    assert report["n"] == 40
    assert min(report["subjects_per_group"]) >= 3
    assert trajanon.check(out, 3).holds


def test_a_release_is_not_released_again_and_replaces_no_input(
    source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "r.parquet"
    anonymize_file(source, out, 3, effort="fast")
    before = out.read_bytes()
    with pytest.raises(BadInput, match=r"r\.parquet is a release already"):
        anonymize_file(out, tmp_path / "again.csv", 3, effort="fast")
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_file(source, source, 3, effort="fast")
    assert out.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {source.name, out.name, "r.report.json"}


def test_too_few_people_leave_no_file(source: Path, tmp_path: Path) -> None:
    with pytest.raises(TooFewSubjects, match="come from 20 subjects"):
        anonymize_file(source, tmp_path / "r.csv", 21)
    assert {path.name for path in tmp_path.iterdir()} == {source.name}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"as_published": True}, "`as_published` is not for publication: leave out `ledger`"),
        ({"days": 2}, "a ledger knows trips: leave out `ledger`"),
        ({"key": bytes(range(32))}, "`ledger` holds a key of its own: leave out `key`"),
    ],
)
def test_what_does_not_go_with_a_ledger_is_refused_before_one_is_made(
    source: Path, tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    ledger = tmp_path / "trips.ledger"
    with pytest.raises(BadInput, match=says):
        anonymize_file(source, tmp_path / "r.csv", 3, ledger=ledger, **options)
    assert not ledger.exists()


def test_of_a_file_released_before_nothing_is_new(source: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "trips.ledger"
    report = anonymize_file(source, tmp_path / "a.csv", 3, effort="fast", ledger=ledger)
    assert report["ledger"]["new"] == 40
    with pytest.raises(BadInput, match=r"nothing is new: 40 of 40 were released before"):
        anonymize_file(source, tmp_path / "b.csv", 3, effort="fast", ledger=ledger)
    assert not (tmp_path / "b.csv").exists()
