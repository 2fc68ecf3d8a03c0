"""trajanon ledger: what was released before, as commands show and repair it."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import FAST, Run
from ledgers import trips_of
from shards import walks

from trajanon.files.trajectory_files import write_trajectories


def write_trips(folder: Path, name: str, which: slice = slice(None), n: int = 60) -> None:
    """Some of the same trips, marked by their numbers; two of each subject."""
    write_trajectories(folder / name, trips_of(np.arange(n)[which], walks(n)[which]))


def test_a_series_by_commands(run: Run, tmp_path: Path) -> None:
    write_trips(tmp_path, "trips.parquet", slice(0, 30))
    command = ("anonymize", "trips.parquet", "-k", "3", "--ledger", "trips.ledger", *FAST)
    assert run(*command, "--out", "march.parquet").code == 0
    write_trips(tmp_path, "grown.parquet")
    command = ("anonymize", "grown.parquet", *command[2:])
    answer = run(*command, "--out", "april.parquet", "--one-line-each")
    assert answer.code == 0
    assert "trajectories released before" in answer.out
    shown = run("ledger", "show", "trips.ledger").out
    assert "1: " in shown
    assert "march.parquet" in shown
    assert "30 trajectories, k = 3 subjects" in shown
    assert '"number": 2' in run("ledger", "show", "trips.ledger", "--json").out
    assert run("check", "april.parquet", "-k", "3").code == 0
    assert run("evaluate", "grown.parquet", "april.parquet").code == 0
    assert run("map", "grown.parquet", "april.parquet", "--offline").code == 0
    (tmp_path / "march.parquet").unlink()
    assert "gone" in run("ledger", "verify", "trips.ledger").out
    assert "is forgotten: its 30" in run("ledger", "forget", "trips.ledger", "1").out
    assert (
        "there is no release 1 in trips.ledger; there are: 2"
        in run("ledger", "forget", "trips.ledger", "1").sentence
    )
    again = ("anonymize", "trips.parquet", *command[2:])
    assert run(*again, "--out", "march.parquet").code == 0
    told = json.loads(run("ledger", "forget", "trips.ledger", "2", "--json").out)
    assert told["forgotten"]["number"] == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["look", "a.ledger"], "'look' is not one of 'show', 'verify', 'forget'"),
        (["forget", "a.ledger"], "takes the number of a release, which show lists"),
        (["show", "a.ledger", "1"], "takes no number"),
        (["show", "none.ledger"], "there is no none.ledger"),
        (["show", "."], "cannot use . as a ledger"),
    ],
)
def test_the_command_refuses_in_one_sentence(run: Run, words: list[str], says: str) -> None:
    assert says in run("ledger", *words).sentence
