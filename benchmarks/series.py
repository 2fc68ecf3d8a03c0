"""Measure a series of releases beside one of all: metres, what is left out, an attack on all.

    python benchmarks/series.py cabs cabs_dataset_20080608.parquet
    python benchmarks/series.py kills --times 100
    python benchmarks/series.py digests --count 1000000

``cabs`` parts the fixes of a table of cabs by time in three, extracts each part, and anonymises one
after another with one ledger; then exports that grow, as of a source that keeps what it had; then
all at once. ``kills`` stops such a run at random moments and counts how often ledger and releases
disagree. ``digests`` enters so many hops in a ledger, and looks as many up.
"""

import json
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from measures import command_line, run_command, spent

import trajanon
from trajanon.arrays import Hashes
from trajanon.evaluation.series import attacks_in_all
from trajanon.privacy.ledger import Sorted, content_of, opened
from trajanon.trajectories import HOPS

PARTS = 3
RULES = [
    "--bbox=-122.52,37.70,-122.35,37.84",
    "--windows",
    "--per-recording",
    "all",
    "--spacing",
    "100",
    "--max-gap",
    "1000",
]


def cabs(table: Path, k: int = 4) -> None:
    """Release a day of cabs in three parts, in exports that grow, and at once."""
    fixes = pd.read_parquet(table)
    when = pd.to_datetime(fixes["timestamp"]).rank(method="first")
    part = pd.qcut(when, PARTS, labels=False).to_numpy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(PARTS):
            for way, which in (("part", part == number), ("grown", part <= number)):
                raw = folder / f"raw-{way}-{number}.parquet"
                fixes[which].to_parquet(raw, index=False)
                out = folder / f"{way}-{number}.parquet"
                words = ["extract", str(raw), *RULES, "--out", str(out)]
                run_command(words, folder)
        every, last = range(PARTS), range(PARTS - 1, PARTS)
        for way, numbers in (("part", every), ("grown", every), ("grown", last)):
            ledger = folder / f"{way}-{len(numbers)}.ledger"
            told = []
            for number in numbers:
                source = folder / f"{way}-{number}.parquet"
                out = folder / f"{way}-{number}-{len(numbers)}.parquet"
                told.append(trajanon.anonymize_file(source, out, k, ledger=ledger))
            account(way, told, ledger)


def account(way: str, told: list[dict], ledger: Path) -> None:
    """Print what a series came to."""
    n = np.array([report["n"] for report in told])
    metres = np.array([report["displacement"]["mean"] for report in told])
    median = [round(report["displacement"]["median"], 1) for report in told]
    attacks = {one.name: one.account["expected"] for one in attacks_in_all(ledger)}
    row = {
        "way": way,
        "releases": len(told),
        "released": n.tolist(),
        "left_out": [report["ledger"]["already_released"] for report in told],
        "mean_metres": round(float((metres * n).sum() / n.sum()), 1),
        "medians": median,
        "attacks": attacks,
    }
    print(json.dumps(row))


def kills(times: int = 100, seed: int = 0) -> None:
    """Kill runs at random moments of their second half; after each, compare the two."""
    draw = np.random.default_rng(seed)
    counts = Counter(dict.fromkeys(("ended", "killed", "settled", "forgotten", "disagreed"), 0))
    points = 1e-4 * draw.normal(size=(40, 30, 2)).cumsum(axis=1) + (40.0, -3.0)
    longest = np.inf  # seconds; each run that ends shows how long one takes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = folder / "trips.ledger"
        for number in range(times + 1):
            source, out = folder / f"{number}.parquet", folder / f"release-{number}.parquet"
            moved = trajanon.Trajectories(points + number * 1e-3, np.arange(40))
            trajanon.write_trajectories(source, moved)
            # A fork has all libraries at once, so that moments fall into the work itself.
            if (child := os.fork()) == 0:
                trajanon.anonymize_file(source, out, 4, effort="fast", ledger=ledger)
                os._exit(0)
            took = seconds_until(child, longest * draw.uniform(0.5, 1.05))
            longest = took or longest
            counts["ended" if took else "killed"] += 1
            known = {}
            if ledger.exists():
                with opened(ledger) as book:
                    counts.update(said for _, said in book.verify())
                    known = {one.told["release"]: one.told["content"] for one in book.entries}
            there = {str(path.resolve()) for path in folder.glob("release-*.parquet")}
            same = all(content_of(place) == content for place, content in known.items())
            counts["disagreed"] += there != set(known) or not same
    del counts["in place"]
    print(json.dumps(counts))


def seconds_until(child: int, limit: float) -> float | None:
    """Wait for the end of a process, or kill it after a time: None."""
    since = time.perf_counter()
    while os.waitpid(child, os.WNOHANG)[0] != child:
        if time.perf_counter() - since > limit:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(1e-4)
    return time.perf_counter() - since


def digests(count: int = 1_000_000) -> None:
    """Enter hops, and look up as many others."""
    draw = np.random.default_rng(0)
    marks = draw.integers(1, 2**63, (count // HOPS, 1 + HOPS), dtype=np.uint64)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "some.ledger"
        told = {"when": "", "release": "", "originals": "", "content": "", "settled": True}
        told |= {"k": 4, "counted": "subjects", "n": len(marks)}
        with opened(path, new=True) as book:
            entered = spent(lambda: book.announce(told, book.keyed(marks)))

        def looked_up(marks: Hashes) -> Sorted:
            with opened(path) as book:
                return book.sort(book.keyed(marks), None, None)

        others, same = spent(looked_up, marks + np.uint64(1)), spent(looked_up, marks)
        size = path.stat().st_size
    assert others.found.new.all()
    assert not same.found.new.any()
    seconds = {"entered": entered.seconds, "others": others.seconds, "same": same.seconds}
    print(json.dumps({"hops": count, "bytes": size} | seconds))


if __name__ == "__main__":
    command_line(__doc__, cabs, kills, digests)
