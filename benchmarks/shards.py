"""Measure anonymisation beyond memory: seconds by stage, peak memory, loss.

    python benchmarks/shards.py make trips 10000000       draw parts along corridors
    python benchmarks/shards.py make windows 1000000 --tracks     that may slide
    python benchmarks/shards.py run trips --memory 6GB
    python benchmarks/shards.py run trips --memory 6GB --cluster local:2
    python benchmarks/shards.py run trips --shards 10     ten shards, whatever the memory
    python benchmarks/shards.py run cabs --times of-day   parts that have times

Kernels are compiled before the clock
starts. Prints a line of JSON; the peak is that of this process and of the largest of the workers,
where there are some.
"""

import json
import resource
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from alignment import drawn
from corridors import POINTS, corridors
from measures import account, command_line, peak_gb, spent

import trajanon
from trajanon.executors import connected
from trajanon.files.trajectories import write_partition
from trajanon.parts import workflow

K = 5
PART = 100_000
AT_ONCE = 200_000  # trajectories that are drawn together


def make(folder: Path, n: int, part: int = PART, tracks: bool = False) -> None:
    """Draw trajectories along corridors, two of each subject, and write parts."""
    folder.mkdir(parents=True)

    def some(begin: int) -> trajanon.Trajectories:
        subject = np.arange(begin, min(begin + AT_ONCE, n)) // 2
        if tracks:
            return replace(drawn(len(subject), begin), subject=subject, trace=subject)
        points = corridors(len(subject), begin).reshape(len(subject), POINTS, 2)
        return trajanon.Trajectories(points, subject, subject)

    write_partition(folder, map(some, range(0, n, AT_ONCE)), {}, part)


def run(
    folder: Path,
    memory: str = "4GB",
    cluster: str | None = None,
    shards: int | None = None,
    times: str | None = None,
    align: bool = True,
) -> None:
    """Anonymise the parts, and say what it took."""
    with ExitStack() as closing:
        client = closing.enter_context(connected(cluster)) if cluster else None
        few = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        make(few / "parts", 11_000, tracks=True)
        job = trajanon.anonymize_parts
        job(str(few / "parts"), str(few / "out"), K, client=client, memory="4GB")
        if shards is not None:
            closing.enter_context(patch.object(workflow, "shards_for", lambda *_: shards))
        out = folder.with_name(f"{folder.name}-anonymized")
        how = {"memory": memory, "client": client, "times": times, "align": align}
        run = spent(job, str(folder), str(out), K, **how)
    told = ("n", "k", "counted", "shards", "information_loss", "displacement", "times", "stages")
    told = (*told, "alignment") if run.found["shards"] > 1 else told
    report = {name: run.found[name] for name in told}
    worker = peak_gb(resource.RUSAGE_CHILDREN) if cluster else None
    asked = {"memory": memory, "cluster": cluster, "peak_gb_of_a_worker": worker}
    print(json.dumps(report | asked | account(run)))
    shutil.rmtree(out)


if __name__ == "__main__":
    command_line(__doc__, make, run)
