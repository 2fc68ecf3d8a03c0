"""What the benchmarks share: clocks, memory, tables, and processes of their own."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import typer

import trajanon
from trajanon.arrays import Floats


class Spent(NamedTuple):
    """What a job gave, its seconds by the clock, and those of all threads together."""

    found: Any
    seconds: float
    cpu_seconds: float


def spent(job: Callable[..., Any], *given: Any, **options: Any) -> Spent:
    """Do a job and measure how long it takes."""
    start, busy = perf_counter(), process_time()
    found = job(*given, **options)
    return Spent(found, perf_counter() - start, process_time() - busy)


def searched(records: Floats, k: int, **options: Any) -> Spent:
    """Search for groups; the program ends if it is stopped."""
    run = spent(trajanon.microaggregate, records, k, **options)
    if run.found.stopped:
        raise KeyboardInterrupt
    return run


def peak_gb(who: int = resource.RUSAGE_SELF) -> float:
    """Gigabytes that this process, or the largest of its children, held at most."""
    return round(resource.getrusage(who).ru_maxrss / 1e6, 3)


def say_machine() -> None:
    """Print how busy the machine was in the last minute."""
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")


def row(*cells: object) -> None:
    """Print a row of a table as soon as it is known."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def run_command(words: list[str], folder: Path) -> subprocess.CompletedProcess:
    """Run a command of trajanon in a folder; a release that does not hold is no failure."""
    command = [sys.executable, "-m", "trajanon", *words]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode in {0, 1}, run.stderr
    return run


def alone(job: Callable[..., Any], *given: Any) -> Any:
    """Do a job in a process of its own, whose memory is that of nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(job, *given).result()


def first_rows(trajectories: trajanon.Trajectories, n: int) -> trajanon.Trajectories:
    """Take the first trajectories, or all if there are fewer."""
    return trajectories.take(np.arange(min(n, len(trajectories))))


def command_line(description: str, *jobs: Callable[..., Any]) -> None:
    """Run the function that the command line names, or the only one, with its options."""
    app = typer.Typer(help=description, add_completion=False, rich_markup_mode=None)
    for job in jobs:
        app.command()(job)
    app()
