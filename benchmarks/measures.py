"""What the benchmarks share: seconds, memory, tables, and processes of their own.

Memory is in gigabytes of 10^9 bytes; Linux counts it in units of 1,024 bytes.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Generic, NamedTuple, ParamSpec, TypedDict, TypeVar

import typer

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")

# A process's peak of memory begins with that of the process that starts it, so the one that starts
# it here is as small as can be.
WATCH = """
import json, resource, subprocess, sys
run = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
spent = {"cpu": used.ru_utime + used.ru_stime, "gb": used.ru_maxrss * 1024 / 1e9}
print(json.dumps({"code": run.returncode, "out": run.stdout, "err": run.stderr[-2000:], **spent}))
"""


class Spent(NamedTuple, Generic[Result]):
    """What a job returned, its seconds by the clock, and those of all threads together."""

    result: Result
    seconds: float
    cpu_seconds: float


class Run(TypedDict):
    """How a program ended, what it printed, its seconds of a core and gigabytes."""

    code: int
    out: str
    err: str
    cpu: float
    gb: float


def spent(
    job: Callable[Parameters, Result], *args: Parameters.args, **options: Parameters.kwargs
) -> Spent[Result]:
    """Run a job and measure how long it takes."""
    since = perf_counter()
    cpu_since = process_time()
    result = job(*args, **options)
    return Spent(result, perf_counter() - since, process_time() - cpu_since)


def peak_gb() -> float:
    """Return the gigabytes that this process held at most."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, 3)


def print_load() -> None:
    """Print how busy the machine was in the last minute."""
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")


def print_row(*cells: object) -> None:
    """Print a row of a table as soon as it is known."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def watched(words: list[str], folder: Path) -> Run:
    """Run a program in a folder, and measure what it takes."""
    watch = [sys.executable, "-S", "-E", "-c", WATCH, *words]
    watching = subprocess.run(watch, cwd=folder, stdout=subprocess.PIPE, check=True)
    run: Run = json.loads(watching.stdout)
    return run


def run_command(words: list[str], folder: Path) -> Run:
    """Run a command of trajanon in a folder; a release that does not hold is no failure."""
    run = watched([sys.executable, "-m", "trajanon", *words], folder)
    assert run["code"] in {0, 1}, run["err"]
    return run


def alone(
    job: Callable[Parameters, Result], *args: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run a job in a process of its own, so that its memory can be measured alone."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(job, *args, **options).result()


def command_line(description: str, *jobs: Callable[..., Any]) -> None:
    """Run the function that the command line names, or the only one, with its options."""
    app = typer.Typer(help=description, add_completion=False, rich_markup_mode=None)
    for job in jobs:
        app.command()(job)
    app()
