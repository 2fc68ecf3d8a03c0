"""Broken files and odd words for every command: none may end in a traceback or hang.

python benchmarks/fuzz.py --cases 2000 --seed 0
python benchmarks/fuzz.py --seed 0 --only 17    # one case again, and what it says

Each case is a small file of some format, broken by chance in its bytes or in what they mean, and a
command that reads it. Findings are tracebacks, exit codes that mean none of what can happen, lines
on the screen that are no sentence of ours (warnings of libraries), and whatever takes too long or
ends the process.
"""

import contextlib
import faulthandler
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

from measures import command_line

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from fuzzing import Seed, case, finding, run, seeds


def prepare() -> None:
    """Show each warning that a user would see, and as often."""
    warnings.simplefilter("always")
    for kind in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)


def work(some: Sequence[Seed], seed: int, number: int, root: Path, limit: float) -> str | None:
    """Run a case in this process, which ends if the case takes too long."""
    one = case(some, seed, number, root)
    faulthandler.dump_traceback_later(limit, exit=True)
    with contextlib.chdir(one.folder):
        found = finding(one.words)
    faulthandler.cancel_dump_traceback_later()
    shutil.rmtree(one.folder, ignore_errors=True)
    return found


def findings(
    numbers: Iterable[int], some: Sequence[Seed], seed: int, root: Path, limit: float
) -> list[tuple[str, int]]:
    """Run cases in one process, and a new one after each case that hung or died."""
    spawn = get_context("spawn")
    process, told = ProcessPoolExecutor(1, spawn, prepare), []
    for number in numbers:
        begun = time.monotonic()
        try:
            found = process.submit(work, some, seed, number, root, limit).result()
        except BrokenProcessPool:
            hung = time.monotonic() - begun >= limit
            found = f"over {limit:g} s" if hung else "ended the process"
            process = ProcessPoolExecutor(1, spawn, prepare)
        if found is not None:
            told.append((found, number))
    process.shutdown()
    return told


def again(seed: int, number: int) -> None:
    """Run one case where its files can be looked at afterwards."""
    root = Path(tempfile.mkdtemp(prefix="fuzz-"))
    one = case(seeds(root), seed, number, root)
    print(f"in {one.folder}, broken: {one.what!r}\ntrajanon {one.words}")
    os.chdir(one.folder)
    print(*run(one.words))


def fuzz(
    cases: int = 2_000, seed: int = 0, jobs: int = 2, limit: float = 20.0, only: int | None = None
) -> None:
    """Run many cases, each for some seconds at most, or only the one of a number."""
    prepare()
    if only is not None:
        again(seed, only)
        return
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, ThreadPoolExecutor(jobs) as threads:
        some = seeds(Path(name))
        shares = (range(first, cases, jobs) for first in range(jobs))
        found = threads.map(lambda share: findings(share, some, seed, Path(name), limit), shares)
        told = list(chain.from_iterable(found))
    for what, count in Counter(what for what, _ in told).most_common():
        first = min(number for other, number in told if other == what)
        print(f"{count:5} {what} (--only {first})")
    seconds = time.monotonic() - begun
    print(f"{len(told)} findings in {cases:,} cases of seed {seed}, {seconds:.0f} s")


if __name__ == "__main__":
    command_line(__doc__, fuzz)
