"""Measure large data: seconds, peak memory and metres. Tracks are drawn along corridors.

    python benchmarks/growth.py commands                       each command, over the size
    python benchmarks/growth.py make windows 1000000           parts of trajectories
    python benchmarks/growth.py parts windows --memory 3GB     these parts, beyond memory

Everything is compiled before the clock starts. docs/measurements.md shows the tables.
"""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from corridors import POINTS, SPACING, corridors
from measures import alone, command_line, peak_gb, row, run_command, say_machine, spent

import trajanon
from trajanon.files.trajectory_files import part_name

K = 5
SIZES = [10_000, 100_000, 1_000_000]
_COMPILED = (300, 11_000)  # trajectories that go through all that is to be measured
_SHARES = (0.6, 0.3, 0.1)  # of traces with room for one window, two, three
_FREE = 0.3  # of a window's length, for each window of a trace
_BOX = "--bbox=-3.9,40.2,-3.5,40.6"  # round all corridors
_WINDOWS = ["--windows", "--per-recording", "all", "--spacing", f"{SPACING:g}"]
_COMMANDS = [
    ["extract", "traces.parquet", _BOX, *_WINDOWS],
    ["anonymize", "-k", f"{K}"],
    ["check", "-k", f"{K}"],
    ["evaluate"],
    ["map", "--offline"],
]


def write_traces(folder: Path, n: int) -> None:
    """Draw traces with room for n windows, and write them as a table."""
    # How many have room for one window, for two and for three.
    traces = n * np.array(_SHARES) / np.dot(_SHARES, [1, 2, 3])
    tables = []
    for windows, count in enumerate(np.ceil(traces).astype(np.int64), 1):
        points = int(windows * POINTS * (1.0 + _FREE))
        lat, lon = corridors(count, windows, points).reshape(-1, 2).T
        # Numbers of the three kinds take turns, so six in a row, of one subject, are two of each.
        number = 3 * np.repeat(np.arange(count), points) + windows - 1
        tables.append(pd.DataFrame({"id": number, "subject": number // 6, "lat": lat, "lon": lon}))
    pd.concat(tables).to_parquet(folder / "traces.parquet", index=False)


def commands(size: list[int] = SIZES) -> None:
    """Measure each size: seconds of a core, and gigabytes."""
    say_machine()
    row("trajectories", *(words[0] for words in _COMMANDS))
    for n in [*_COMPILED, *size]:
        with tempfile.TemporaryDirectory() as name:
            alone(write_traces, Path(name), n)
            runs = [run_command(words, Path(name)) for words in _COMMANDS]
        if n not in _COMPILED:
            row(f"{n:,}", *(f"{run['cpu']:.1f} s, {run['gb']:.2f} GB" for run in runs))


def make(folder: Path, n: int, part: int = 100_000) -> None:
    """Draw trajectories along corridors, two of each subject, and write parts."""
    folder.mkdir(parents=True)
    for number, begin in enumerate(range(0, n, part)):
        subject = np.arange(begin, min(begin + part, n)) // 2
        points = corridors(len(subject), begin).reshape(len(subject), POINTS, 2)
        drawn = trajanon.Trajectories(points, subject, subject)
        trajanon.write_trajectories(folder / part_name(number), drawn)


def parts(folder: Path, memory: str = "4GB", k: int = K) -> None:
    """Anonymise the parts, and print a line of JSON."""
    say_machine()
    job = trajanon.anonymize_parts
    out = folder.with_name(f"{folder.name}-anonymized")
    with tempfile.TemporaryDirectory() as few:
        make(Path(few) / "parts", _COMPILED[-1])
        job(f"{few}/parts", f"{few}/out", K, memory=memory)
    run = spent(job, str(folder), str(out), k, memory=memory)
    figures = {name: run.found[name] for name in ("n", "k", "shards", "displacement")}
    print(json.dumps(figures | {"seconds": round(run.seconds), "peak_gb": peak_gb()}))
    shutil.rmtree(out)


if __name__ == "__main__":
    command_line(__doc__, commands, make, parts)
