"""Measure how the search scales: seconds by stage, peak memory, loss.

    python benchmarks/scale.py                              drawn along corridors
    python benchmarks/scale.py --tracks cabs.parquet        real ones, all of them
    python benchmarks/scale.py --sizes 1000 50000 --out scale.jsonl

Each size runs in a process of its own, after compilation; MDAV, and the search in one piece, in
others. Seconds of a core are those of all threads together: on a machine that does other work, they
tell more than the clock. Writes a line of JSON for each run, and says how fast both grow.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from itertools import pairwise
from math import log
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np
from corridors import corridors

import trajanon
from trajanon import loss, neighbours
from trajanon.arrays import Floats
from trajanon.neighbours import Neighbours, neighbour_count

K = 5
SIZES = (1_000, 10_000, 20_000, 100_000, 1_000_000)
MOST_COMPARED = 50_000
"""Records up to which MDAV is asked, too: its time grows with their square."""
_COMPILED = (300, 11_000)  # records that go through all that is to be measured
_SAMPLE = 500  # records whose neighbours are looked for among all


def drawn(n: int, tracks: Path | None) -> Floats:
    """So many records, drawn along corridors or from a file."""
    if tracks is None:
        return corridors(n)
    records = trajanon.read_trajectories(tracks).records
    some = np.random.default_rng(0).permutation(len(records))[:n]
    return records[np.sort(some)]


def measured(n: int, tracks: Path | None, how: str) -> dict[str, Any]:
    """Search among so many records, or ask MDAV, in this process."""
    for few in _COMPILED:
        trajanon.microaggregate(corridors(few), K)
    records = drawn(n, tracks)
    method = "mdav" if how == "mdav" else "hm2"
    refine = how if how == "descent" else "none" if how == "mdav" else "anneal"
    largest = len(records) if how == "in one piece" else neighbours.WHOLE
    start, busy = perf_counter(), process_time()
    with patch.object(neighbours, "WHOLE", largest):
        found = trajanon.microaggregate(records, K, method=method, refine=refine)
    seconds, busy = perf_counter() - start, process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {
        "n": len(records),
        "k": K,
        "how": how,
        "seconds": round(seconds, 3),
        "cpu_seconds": round(busy, 3),
        "peak_gb": round(peak, 3),
        "information_loss": found.information_loss,
        "stages": [stage.account for stage in found.stages],
        "recall": recall(records) if how == "anneal" else None,
        "load": round(os.getloadavg()[0], 2),
        "cores": os.cpu_count(),
    }


def recall(X: Floats) -> float:
    """Share of the nearest records, by all columns, that the search knows of."""
    records = loss.standardise(X)
    nearest = Neighbours(records, neighbour_count(K)).nearest
    rows = np.random.default_rng(0).integers(0, len(records), _SAMPLE)
    shares = []
    for row in rows:
        away = ((records - records[row]) ** 2).sum(axis=1)
        away[row] = np.inf
        truly = np.argpartition(away, nearest.shape[1])[: nearest.shape[1]]
        shares.append(np.isin(truly, nearest[row]).mean())
    return round(float(np.mean(shares)), 4)


def asked(n: int, tracks: Path | None, how: str) -> dict[str, Any]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--one", str(n), "--how", how]
    if tracks is not None:
        command += ["--tracks", str(tracks)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def told(result: dict[str, Any], against: dict[str, Any] | None) -> None:
    """Print a row of the table."""
    stages = {stage["name"]: stage["seconds"] for stage in result["stages"]}
    names = ("neighbours", "path", "MHM", "descent", "annealing")
    cells = [f"{result['n']:,}", result["how"], f"{result['seconds']:.2f}"]
    cells += [f"{result['cpu_seconds']:.2f}"]
    cells += [f"{stages[name]:.2f}" if name in stages else "" for name in names]
    cells += [f"{result['peak_gb']:.2f}", f"{result['information_loss']:.5f}"]
    ratio = against and result["information_loss"] / against["information_loss"]
    cells += [f"{ratio:.3f}" if ratio else ""]
    cells += [str(result["recall"] or ""), str(result["load"])]
    print("|", " | ".join(cells), "|", flush=True)


def plot(results: list[dict[str, Any]], file: Path) -> None:
    """Draw seconds and memory over the number of records."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no plot: matplotlib is not installed", file=sys.stderr)
        return
    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, key, unit in zip(
        figure.subplots(1, 2), ("seconds", "peak_gb"), ("seconds", "GB"), strict=True
    ):
        for how in dict.fromkeys(result["how"] for result in results):
            some = [result for result in results if result["how"] == how]
            sizes = [result["n"] for result in some]
            axes.loglog(sizes, [result[key] for result in some], "o-", label=how)
        axes.set(xlabel="records of 60 columns", ylabel=unit)
        axes.grid(which="both", alpha=0.3)
        axes.legend()
    figure.savefig(file, dpi=120)


def main() -> None:
    """Measure each size, or the one asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--tracks", type=Path)
    parser.add_argument("--out", type=Path, default=Path("scale.jsonl"))
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--one", type=int)
    parser.add_argument("--how", default="anneal")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one, given.tracks, given.how)))
        return
    print("| n | how | seconds | of a core | neighbours | path | MHM |", end="")
    print(" descent | annealing | GB | IL % | of MDAV's | recall | load |")
    results = []
    for n in given.sizes:
        compared = asked(n, given.tracks, "mdav") if n <= MOST_COMPARED else None
        runs = [compared] if compared else []
        runs += [asked(n, given.tracks, how) for how in ("descent", "anneal")]
        if neighbours.WHOLE < n <= MOST_COMPARED:
            runs.append(asked(n, given.tracks, "in one piece"))
        for result in runs:
            told(result, compared)
        results += runs
        given.out.write_text("".join(json.dumps(result) + "\n" for result in results))
    for how in ("descent", "anneal"):
        some = [result for result in results if result["how"] == how]
        for less, more in pairwise(some):
            times = log(more["n"] / less["n"])
            growth = [
                log(more[clock] / less[clock]) / times for clock in ("seconds", "cpu_seconds")
            ]
            print(f"{how}: {less['n']:,} -> {more['n']:,}: exponents", *growth)
    if given.plot:
        plot(results, given.plot)


if __name__ == "__main__":
    main()
