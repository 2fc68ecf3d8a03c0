"""Progress: bars on a terminal, and lines now and then elsewhere."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from trajanon._kernels.common import draw_bits
from trajanon.cli import progress_bars
from trajanon.cli.messages import PROGRESS_VARIABLE, say_compiling
from trajanon.cli.progress_bars import bars
from trajanon.data import sample


def test_bars_are_shown_on_a_terminal_and_go_away(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "trajanon", "extract", str(sample()), "--bbox", "madrid"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait() == 0
    assert b"Reading 12 files" in shown
    assert b"\x1b[?25h" in shown  # the cursor is back


def test_that_kernels_are_compiled_is_said_once_by_commands_that_run_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw_bits(np.ones(1, np.uint64))  # the first kernel that is called sees to it
    say_compiling.cache_clear()
    for _ in range(2):
        with bars(), bars():
            numba.njit(lambda x: x)(0)
    assert capsys.readouterr().err.count("compiling") == 1


def test_a_program_reads_the_beginning_of_each_task(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROGRESS_VARIABLE, "lines")
    with bars() as progress:
        for done in range(3):
            progress("reading", done, 3)  # much faster than a page can show
        progress("searching", 0, None, "path")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        {"task": "reading", "done": 0, "total": 3},
        {"task": "searching", "done": 0, "note": "path"},
    ]


def test_a_log_has_a_line_a_minute(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([0, 1, 59, 60, 61, 120])
    monkeypatch.setattr(progress_bars, "monotonic", lambda: next(seconds))
    with bars() as progress:
        for done in range(1, 6):
            progress("reading", 1_000 * done, 5_000, "b.gpx")
    assert capsys.readouterr().err.splitlines() == [
        "trajanon: reading: 3,000 of 5,000, b.gpx",
        "trajanon: reading: 5,000 of 5,000, b.gpx",
    ]
