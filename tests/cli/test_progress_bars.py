"""Bars of progress: on a terminal, and nowhere else."""

import os
import pty
import subprocess
import sys
from pathlib import Path

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
