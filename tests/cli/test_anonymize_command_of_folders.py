"""A folder of parts on the command line."""

import json
from pathlib import Path

import numpy as np
from commands import Run, files_of_at_most
from shards import released, shards_of, walks, write_folder


def test_the_command_line_takes_a_folder(run: Run) -> None:
    write_folder(Path("trajectories"), walks(100), np.arange(100) // 2)
    with shards_of(40):
        answer = run("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    assert answer.code == 0
    assert "The lines of a person are not checked together: fewer than 3 people" in answer.out
    assert "100 trajectories to anonymized. Next: trajanon check" in answer.out.splitlines()[-1]
    answer = run("check", "anonymized", "-k", "3")
    assert answer.code == 0, answer
    with shards_of(40):
        answer = run("anonymize", "trajectories", "-k", "3", "--json", "--out", "b")
    report = json.loads(answer.out)
    assert report["n"] == 100


def test_what_is_empty_is_refused(run: Run) -> None:
    """As a variable that is not set."""
    write_folder(Path("trajectories"), walks(30))
    given = ("anonymize", "trajectories", "-k", "3")
    assert "--out is empty: name a file" in run(*given, "--out", "").sentence
    assert "--memory must be an amount" in run(*given, "--memory", "").sentence
    assert not Path("anonymized").exists()


def test_memory_and_cluster_are_for_folders(run: Run) -> None:
    for option, value in (("--memory", "4GB"), ("--cluster", "local:2")):
        answer = run("anonymize", "trips.parquet", "-k", "3", option, value)
        assert f"{option} {value} is for a folder of parts" in answer.sentence


def test_a_full_disk_leaves_what_was_there(run: Run) -> None:
    write_folder(Path("trajectories"), walks(300))
    given = ("anonymize", "trajectories", "-k", "3", "--effort", "fast")
    assert run(*given).code == 0
    before = released(Path("anonymized"))
    with shards_of(100), files_of_at_most(2000):
        answer = run(*given)
    assert "trajanon: cannot write " in answer.sentence
    assert "File too large; make room" in answer.sentence
    assert released(Path("anonymized")) == before
