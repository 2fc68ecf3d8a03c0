"""Measure how each command grows: seconds and peak memory over the number of trajectories.

    python benchmarks/growth.py --out growth.jsonl --plot growth.png

Tracks are drawn along corridors, runs of one, two or three windows, and go through the whole chain
of commands, each in a process of its own after compilation. Writes a line of JSON for each, and
fits exponents from 10,000 trajectories on: before, starting up takes most of the time. They are
those of the seconds of all threads together, which other work on the machine changes least.
"""

import json
import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from alignment import drawn
from corridors import SPACING
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from measures import alone, command_line, load, of_command, peak_gb

from trajanon.tracks import STEPS

SIZES = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
FITTED = 10_000
_COMPILED = (300, 11_000)  # trajectories that go through all that is to be measured
_BOX = "--bbox=-3.9,40.2,-3.5,40.6"  # round all corridors
_RELEASE = ["trajectories.parquet", "-k", "5", "--out"]
_COMMANDS = {
    "extract": [
        "extract",
        "traces.parquet",
        _BOX,
        "--windows",
        "--per-recording",
        "all",
        "--spacing",
        f"{SPACING:g}",
    ],
    "anonymize": ["anonymize", *_RELEASE, "anonymized.parquet"],
    "anonymize --no-align": ["anonymize", *_RELEASE, "not-aligned.parquet", "--no-align"],
    "check": ["check", "anonymized.parquet", "-k", "5"],
    "evaluate": ["evaluate"],
    "map": ["map", "--offline"],
}

_SHOWN = {"cpu_seconds": "seconds of a core", "peak_gb": "peak memory, GB"}


def write_traces(folder: Path, n: int) -> None:
    """Draw the traces of n windows, two traces of each subject, and write them as a table."""
    tracks = drawn(n).tracks
    assert tracks is not None
    trace = np.repeat(np.arange(len(tracks.first) - 1), np.diff(tracks.first))[::STEPS]
    lat, lon = tracks.points[::STEPS].T
    table = pd.DataFrame({"id": trace, "subject": trace // 2, "lat": lat, "lon": lon})
    table.to_parquet(folder / "traces.parquet")


def spent(command: str, folder: Path) -> dict[str, Any]:
    """What a command took, this process's only child."""
    seconds, cpu_seconds = of_command(_COMMANDS[command], folder)
    return {
        "command": command,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 2),
        "peak_gb": peak_gb(resource.RUSAGE_CHILDREN),
        "load": load(),
    }


def exponent(some: pd.DataFrame, what: str) -> float:
    """Fit how something grows with n, from 10,000 on; NaN where there are no two sizes."""
    some = some[some["n"] >= FITTED]
    if len(some) < 2:
        return np.nan
    return float(np.polyfit(np.log(some["n"]), np.log(some[what]), 1)[0])


def draw(results: pd.DataFrame, plot: Path) -> None:
    """Draw what each command took, and say how it grows."""
    figure = Figure(figsize=(10, 6), layout="constrained")
    for ax, (what, label) in zip(figure.subplots(1, 2), _SHOWN.items(), strict=True):
        for command, some in results.groupby("command", sort=False):
            grown = f"{command}: {exponent(some, what):.2f}"
            ax.loglog(some["n"], some[what], "o-", label=grown)
        ax.set(xlabel="trajectories", ylabel=label)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.yaxis.set(major_locator=LogLocator(subs=(1, 2, 5)), major_formatter="{x:g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.grid(alpha=0.3)
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "ncols": 2}
        ax.legend(title=f"exponents from {FITTED:,} on", **below)
    figure.savefig(plot, dpi=120)


def growth(
    most: int = SIZES[-1], out: Path = Path("growth.jsonl"), plot: Path = Path("growth.png")
) -> None:
    """Measure the sizes up to the most."""
    rows: list[dict[str, Any]] = []
    for n in [*_COMPILED, *(size for size in SIZES if size <= most)]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            alone(write_traces, folder, n)
            for command in _COMMANDS:
                row = {"n": n} | alone(spent, command, folder)
                if n in _COMPILED:
                    continue
                rows.append(row)
                print(json.dumps(row), flush=True)
                pd.DataFrame(rows).to_json(out, orient="records", lines=True)
    results = pd.DataFrame(rows)
    draw(results, plot)
    for command, some in results.groupby("command", sort=False):
        found = (f"{label} {exponent(some, what):.2f}" for what, label in _SHOWN.items())
        print(f"{command}: exponents", *found)


if __name__ == "__main__":
    command_line(__doc__, growth)
