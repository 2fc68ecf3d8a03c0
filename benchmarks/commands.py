"""Measure whole commands as a user would feel them: the table of docs/scale.md.

    python benchmarks/commands.py cabs.parquet

Start-up is included. Kernels are compiled before, but for the first row. Seconds of a core add up
all threads and processes. The file holds trajectories that may slide.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from measures import command_line, load, of_command, row, run_command

_TIMES = 3  # the least of so many
_FILES, _POINTS = 20_000, 60
_BOX = "--bbox=1.9,40.9,3.1,42.1"


def spent(words: list[str], folder: Path, times: int = _TIMES, **environment: str) -> list[float]:
    """Seconds by the clock and of a core, the least of some runs, and how busy the machine was."""
    busy = load()
    runs = [of_command(words, folder, **environment) for _ in range(times)]
    return [*np.min(runs, axis=0).round(2).tolist(), busy]


def write_small_files(folder: Path) -> None:
    """Write many files of one short walk each."""
    folder.mkdir()
    random = np.random.default_rng(0)
    for number in range(_FILES):
        places = np.array([41.0, 2.0]) + random.uniform(0, 1, 2)
        walk = places + np.cumsum(random.normal(0, 3e-4, (_POINTS, 2)), axis=0)
        table = pd.DataFrame(walk, columns=["lat", "lon"]).round(7)
        table.assign(id=number).to_csv(folder / f"{number:05d}.csv", index=False)


def commands(windows: Path) -> None:
    """Print what each command takes."""
    row("command", "seconds", "of a core", "load before")
    row(*["---"] * 4)
    windows = windows.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fresh = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
        row("`demo`, nothing compiled", *spent(["demo"], folder, 1, **fresh))
        row("`demo`, the next time", *spent(["demo"], folder, **fresh))
        row("`--help`", *spent(["--help"], folder))
        anonymize = ["anonymize", str(windows), "-k", "4", "--out", "release.parquet"]
        run_command(anonymize, folder)  # compiles
        row("`anonymize -k 4`", *spent(anonymize, folder))
        evaluate = ["evaluate", str(windows), "release.parquet"]
        run_command(evaluate, folder)
        row("`evaluate`", *spent(evaluate, folder))
        write_small_files(folder / "small")
        windows = "--windows --per-recording all --spacing 30"
        extract = f"extract small {_BOX} {windows} --jobs 2 --out small.parquet"
        row(f"`extract --jobs 2`, {_FILES:,} CSV files", *spent(extract.split(), folder, 1))


if __name__ == "__main__":
    command_line(__doc__, commands)
