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
from measures import Run, alone, command_line, peak_gb, print_load, print_row, run_command, spent

import trajanon
from trajanon.files.trajectory_files import part_name

K = 5
SIZES = [10_000, 100_000, 1_000_000]
_WARM_UP_SIZES = (300, 11_000)  # few and many trajectories: with both, all code is compiled
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
    for window_count, count in enumerate(np.ceil(traces).astype(np.int64), 1):
        points = int(window_count * POINTS * (1.0 + _FREE))
        lat, lon = corridors(count, seed=window_count, points=points).reshape(-1, 2).T
        # Numbers of the three kinds take turns as long as there are any. Six in a row are of one
        # subject, who so has up to two of each kind.
        number = 3 * np.repeat(np.arange(count), points) + window_count - 1
        tables.append(pd.DataFrame({"id": number, "subject": number // 6, "lat": lat, "lon": lon}))
    pd.concat(tables).to_parquet(folder / "traces.parquet", index=False)


def runs_of_commands(n: int) -> list[Run]:
    """Run each command on traces with room for n windows."""
    with tempfile.TemporaryDirectory() as name:
        alone(write_traces, Path(name), n)
        return [run_command(words, Path(name)) for words in _COMMANDS]


def commands(size: list[int] = SIZES) -> None:
    """Measure each size: seconds of a core, and gigabytes."""
    print_load()
    for n in _WARM_UP_SIZES:
        runs_of_commands(n)

    print_row("trajectories", *(words[0] for words in _COMMANDS))
    for n in size:
        runs = runs_of_commands(n)
        print_row(f"{n:,}", *(f"{run['cpu']:.1f} s, {run['gb']:.2f} GB" for run in runs))


def make(folder: Path, n: int, part: int = 100_000) -> None:
    """Draw trajectories along corridors, two of each subject, and write parts."""
    folder.mkdir(parents=True)
    for number, begin in enumerate(range(0, n, part)):
        subject = np.arange(begin, min(begin + part, n)) // 2
        points = corridors(len(subject), seed=begin).reshape(len(subject), POINTS, 2)
        drawn = trajanon.Trajectories(points, subject, trace=subject)
        trajanon.write_trajectories(folder / part_name(number), drawn)


def parts(folder: Path, memory: str = "4GB", k: int = K) -> None:
    """Anonymise the parts, and print a line of JSON."""
    print_load()
    job = trajanon.anonymize_parts
    out = folder.with_name(f"{folder.name}-anonymized")
    with tempfile.TemporaryDirectory() as warm_up:
        make(Path(warm_up) / "parts", _WARM_UP_SIZES[-1])
        job(f"{warm_up}/parts", f"{warm_up}/out", K, memory=memory)

    run = spent(job, str(folder), str(out), k, memory=memory)
    figures = {name: run.result[name] for name in ("n", "k", "shards", "displacement")}
    print(json.dumps(figures | {"seconds": round(run.seconds), "peak_gb": peak_gb()}))
    shutil.rmtree(out)


if __name__ == "__main__":
    command_line(__doc__, commands, make, parts)
