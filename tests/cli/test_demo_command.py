"""trajanon demo: the whole chain on the sample."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from commands import Run, names

from trajanon._kernels.common import draw_bits
from trajanon.cli.messages import say_compiling
from trajanon.cli.progress_bars import bars


def test_that_kernels_are_compiled_is_said_once_by_commands_that_run_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    draw_bits(np.ones(1, np.uint64))  # the first kernel that is called sees to it
    say_compiling.cache_clear()
    for _ in range(2):
        with bars(), bars():
            numba.njit(lambda x: x)(0)
    assert capsys.readouterr().err.count("compiling") == 1


def test_demo_needs_no_network_and_no_home(tmp_path: Path) -> None:
    program = (
        "import socket, sys\n"
        "def refuse(*_): raise OSError('no network in this test')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "sys.argv = ['trajanon', 'demo', 'results']\n"
        "from trajanon.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "anonymized.parquet holds" in done.stdout
    assert done.stdout.rstrip().endswith(
        "map.html in a browser (keep it private: it shows the originals)."
    )
    assert (tmp_path / "results" / "map.html").stat().st_size > 10_000
    assert names(tmp_path) == {"results"}


def test_demo_in_a_place_that_cannot_be_written_says_so(run: Run) -> None:
    Path("file").touch()
    assert "cannot make the folder file/x" in run("demo", "file/x").sentence
    assert "cannot make the folder file" in run("demo", "file").sentence
