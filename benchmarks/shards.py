"""Measure anonymisation beyond memory: seconds by stage, peak memory, loss.

    python benchmarks/shards.py make trips 10000000       draw parts along corridors
    python benchmarks/shards.py run trips --memory 6GB
    python benchmarks/shards.py run trips --memory 6GB --cluster local:2
    python benchmarks/shards.py run trips --shards 10     so many, whatever the memory

Drawing takes as much memory as the table: it is done once. Kernels are compiled before the clock
starts. Prints a line of JSON; the peak is that of this process and of the largest of the workers,
where there are some.
"""

import argparse
import json
import os
import resource
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, process_time
from unittest.mock import patch

import numpy as np
from corridors import POINTS, corridors

import trajanon
from trajanon.files.trajectories import write_trajectories
from trajanon.parts import workflow
from trajanon.parts.executors import connected
from trajanon.trajectories import Trajectories

K = 5
PART = 100_000


def make(folder: Path, n: int, part: int) -> None:
    """Draw trajectories along corridors, two of each subject, and write parts."""
    folder.mkdir(parents=True)
    points = corridors(n).reshape(n, POINTS, 2)
    for number, start in enumerate(range(0, n, part)):
        some = points[start : start + part]
        subject = (start + np.arange(len(some))) // 2
        trajectories = Trajectories(points=some, subject=subject, trace=subject)
        write_trajectories(folder / f"part-{number:05d}.parquet", trajectories)


def compiled(client: object) -> None:
    """Let all kernels be compiled, and kept, before they are measured."""
    with tempfile.TemporaryDirectory() as place:
        make(Path(place) / "few", 11_000, PART)
        workflow.anonymize_parts(f"{place}/few", f"{place}/out", K, client=client, memory="4GB")


def run(folder: Path, memory: str, cluster: str | None, count: str, shards: int | None) -> None:
    """Anonymise the parts, and say what it took."""
    with ExitStack() as closing:
        client = closing.enter_context(connected(cluster)) if cluster else None
        compiled(client)
        if shards is not None:
            many = patch.object(workflow, "shards_for", lambda *_: shards)
            closing.enter_context(many)
        out = folder.with_name(f"{folder.name}-anonymized")
        start, busy = perf_counter(), process_time()
        report = trajanon.anonymize_parts(
            str(folder), str(out), K, count=count, memory=memory, client=client
        )
        seconds, busy = perf_counter() - start, process_time() - busy
    peaks = [
        round(resource.getrusage(who).ru_maxrss / 1e6, 3)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    print(
        json.dumps(
            {
                "n": report["n"],
                "k": K,
                "counted": report["counted"],
                "memory": memory,
                "cluster": cluster,
                "shards": report["shards"],
                "seconds": round(seconds, 1),
                "cpu_seconds": round(busy, 1),
                "peak_gb": peaks[0],
                "peak_gb_of_a_worker": peaks[1] if cluster else None,
                "information_loss": report["information_loss"],
                "displacement": report["displacement"],
                "stages": report["stages"],
                "load": round(os.getloadavg()[0], 2),
            }
        )
    )
    shutil.rmtree(out)


def main() -> None:
    """Make parts, or run over them."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    making = commands.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("n", type=int)
    making.add_argument("--part", type=int, default=PART)
    running = commands.add_parser("run")
    running.add_argument("folder", type=Path)
    running.add_argument("--memory", default="4GB")
    running.add_argument("--cluster")
    running.add_argument("--count", default="subjects")
    running.add_argument("--shards", type=int)
    given = parser.parse_args()
    if given.command == "make":
        make(given.folder, given.n, given.part)
    else:
        run(given.folder, given.memory, given.cluster, given.count, given.shards)


if __name__ == "__main__":
    main()
