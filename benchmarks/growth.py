"""Measure how each command grows: seconds of a core and peak memory over the number of windows.

    python benchmarks/growth.py

Tracks are drawn along corridors, runs of one, two or three windows, and go through the whole chain
of commands, each in a process of its own after compilation. docs/measurements.md shows the table.
"""

import resource
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from corridors import SPACING, windows_on_runs
from measures import alone, command_line, peak_gb, row, run_command, say_machine

from trajanon.tracks import STEPS

SIZES = [10_000, 100_000, 1_000_000]
_COMPILED = (300, 11_000)  # trajectories that go through all that is to be measured
_BOX = "--bbox=-3.9,40.2,-3.5,40.6"  # round all corridors
_WINDOWS = ["--windows", "--per-recording", "all", "--spacing", f"{SPACING:g}"]
_COMMANDS = [
    ["extract", "traces.parquet", _BOX, *_WINDOWS],
    ["anonymize", "-k", "5"],
    ["check", "-k", "5"],
    ["evaluate"],
    ["map", "--offline"],
]


def write_traces(folder: Path, n: int) -> None:
    """Draw the traces of n windows, two traces of each subject, and write them as a table."""
    tracks = windows_on_runs(n).tracks
    assert tracks is not None
    trace = np.repeat(np.arange(len(tracks.first) - 1), np.diff(tracks.first))[::STEPS]
    lat, lon = tracks.points[::STEPS].T
    table = pd.DataFrame({"id": trace, "subject": trace // 2, "lat": lat, "lon": lon})
    table.to_parquet(folder / "traces.parquet")


def took(words: list[str], folder: Path) -> str:
    """Seconds of a core and gigabytes of a command, this process's only child."""
    run_command(words, folder)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{used.ru_utime + used.ru_stime:.1f} s, {peak_gb(resource.RUSAGE_CHILDREN):.2f} GB"


def growth(size: list[int] = SIZES) -> None:
    """Measure each size."""
    say_machine()
    row("trajectories", *(words[0] for words in _COMMANDS))
    for n in [*_COMPILED, *size]:
        with tempfile.TemporaryDirectory() as name:
            alone(write_traces, Path(name), n)
            cells = [alone(took, words, Path(name)) for words in _COMMANDS]
        if n not in _COMPILED:
            row(f"{n:,}", *cells)


if __name__ == "__main__":
    command_line(__doc__, growth)
