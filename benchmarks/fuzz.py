"""Broken files and odd words for every command: none may end in a traceback or hang.

python benchmarks/fuzz.py --cases 2000 --seed 0
python benchmarks/fuzz.py --seed 0 --only 17    # one case again, and what it says

Each case is a small file of some format, broken by chance in its bytes or in what they mean, and a
command that reads it. Findings are tracebacks, exit codes that mean none of what can happen, lines
on the screen that are no sentence of ours (warnings of libraries), and whatever takes too long or
ends the process.
"""

import argparse
import contextlib
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from fuzzing import Case, case, finding, run, seeds

LIMIT = 20.0
"""Seconds that a case may take."""


def prepare() -> None:
    """Show each warning that a user would see, and as often."""
    warnings.simplefilter("always")
    for kind in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)


def work(cases: Connection) -> None:
    """Run what comes, in the folder that comes with it."""
    prepare()
    with contextlib.suppress(EOFError):  # there are no more
        while True:
            folder, words = cases.recv()
            with contextlib.chdir(folder):
                cases.send(finding(words))


class Worker:
    """A process that runs cases; a new one after each that hung or died."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.process: Any = None

    def findings(self, cases: Iterator[Case]) -> Iterator[tuple[int, str]]:
        """Run cases until there are no more."""
        for one in cases:
            if self.process is None:
                context = multiprocessing.get_context("spawn")
                self.cases, theirs = context.Pipe()
                self.process = context.Process(target=work, args=(theirs,), daemon=True)
                self.process.start()
                theirs.close()
            self.cases.send((one.folder, one.words))
            try:
                over = f"over {self.limit:g} s: {one.words[0]} {one.what}"
                found = self.cases.recv() if self.cases.poll(self.limit) else over
            except EOFError:
                self.process.join()
                found = over = f"ended with {self.process.exitcode}: {one.what}"
            if found is over:
                self.process.kill()
                self.process = None
            if found is not None:
                yield one.number, found
            shutil.rmtree(one.folder, ignore_errors=True)
        if self.process is not None:
            self.cases.close()
            self.process.join()


class Shared:
    """Cases for several threads, made one at a time."""

    def __init__(self, cases: Iterator[Case]) -> None:
        self.cases = cases
        self.lock = multiprocessing.Lock()

    def __iter__(self) -> Iterator[Case]:
        return self

    def __next__(self) -> Case:
        with self.lock:
            return next(self.cases)


def again(seed: int, number: int) -> None:
    """Run one case where its files can be looked at afterwards."""
    root = Path(tempfile.mkdtemp(prefix="fuzz-"))
    one = case(seeds(root), seed, number, root)
    print(f"in {one.folder}, broken: {one.what!r}\ntrajanon {one.words}")
    os.chdir(one.folder)
    print(*run(one.words))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a case")
    parser.add_argument("--only", type=int, help="the number of one case")
    asked = parser.parse_args()
    prepare()
    if asked.only is not None:
        again(asked.seed, asked.only)
        return
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        make = partial(case, seeds(Path(name)), asked.seed, root=Path(name))
        cases = Shared(make(number) for number in range(asked.cases))
        with ThreadPoolExecutor(asked.jobs) as threads:
            workers = [Worker(asked.limit) for _ in range(asked.jobs)]
            found = threads.map(lambda worker: list(worker.findings(cases)), workers)
            told = [one for some in found for one in some]
    for what, count in Counter(what for _, what in told).most_common():
        first = min(number for number, other in told if other == what)
        print(f"{count:5} {what} (--only {first})")
    seconds = time.monotonic() - begun
    what = f"{asked.cases:,} cases of seed {asked.seed}"
    print(f"{len(told)} findings in {what}, {seconds:.0f} s")


if __name__ == "__main__":
    main()
