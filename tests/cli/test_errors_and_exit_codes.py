"""Exit codes, of faults of ours and of answers that nobody can read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import FAST, Run

from trajanon.data import sample
from trajanon.extract import extraction


@pytest.mark.parametrize("mistake", [ZeroDivisionError, EOFError])
def test_a_mistake_of_ours_is_not_hidden(
    run: Run, monkeypatch: pytest.MonkeyPatch, mistake: type[Exception]
) -> None:
    """It keeps its traceback; typer would take an end of file for Ctrl-C."""

    def broken(*_: object, **__: object) -> None:
        raise mistake

    monkeypatch.setattr(extraction, "extract_to", broken)
    answer = run("extract", str(sample()), "--bbox", "madrid")
    assert answer.code == 70
    assert "Traceback" in answer.err
    assert mistake.__name__ in answer.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["check", "-k", "99", "--json"], 1), (["microaggregate", "t.csv", "-k", "2", *FAST], 0)],
)
def test_a_pipe_that_closes_changes_no_answer(here: Path, arguments: list[str], code: int) -> None:
    (here / "t.csv").write_text("a\n1\n2\n")
    ours, theirs = os.pipe()
    os.close(ours)  # as head does
    errors = theirs if code else subprocess.PIPE
    program = [sys.executable, "-m", "trajanon", *arguments]
    done = subprocess.run(program, cwd=here, stdout=theirs, stderr=errors, check=False)
    os.close(theirs)
    assert done.returncode == code
    assert not done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_none(here: Path) -> None:
    program = [sys.executable, "-m", "trajanon", "check", "-k", "4"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(program, cwd=here, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"trajanon: the system: No space left on device\n"
