"""Measure anonymisation beyond memory: seconds, peak memory, metres.

    python benchmarks/shards.py make windows 1000000 --tracks   parts that may slide
    python benchmarks/shards.py run windows --memory 3GB
    python benchmarks/shards.py run windows --shards 10         whatever the memory

Kernels are compiled before the clock starts. Prints a line of JSON.
"""

import json
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from corridors import POINTS, corridors, windows_on_runs
from measures import command_line, peak_gb, say_machine, spent

import trajanon
from trajanon.files.trajectories import write_partition
from trajanon.parts import workflow

K = 5
AT_ONCE = 200_000  # trajectories that are drawn together


def make(folder: Path, n: int, part: int = 100_000, tracks: bool = False) -> None:
    """Draw trajectories along corridors, two of each subject, and write parts."""
    folder.mkdir(parents=True)

    def some(begin: int) -> trajanon.Trajectories:
        subject = np.arange(begin, min(begin + AT_ONCE, n)) // 2
        if tracks:
            return replace(windows_on_runs(len(subject), begin), subject=subject, trace=subject)
        points = corridors(len(subject), begin).reshape(len(subject), POINTS, 2)
        return trajanon.Trajectories(points, subject, subject)

    write_partition(folder, map(some, range(0, n, AT_ONCE)), {}, part)


def run(folder: Path, memory: str = "4GB", shards: int | None = None, k: int = K) -> None:
    """Anonymise the parts, and say what it took."""
    say_machine()
    job = trajanon.anonymize_parts
    with ExitStack() as closing:
        few = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        make(few / "parts", 11_000, tracks=True)
        job(str(few / "parts"), str(few / "out"), K, memory="4GB")
        if shards is not None:
            closing.enter_context(patch.object(workflow, "shards_for", lambda *_: shards))
        out = folder.with_name(f"{folder.name}-anonymized")
        run = spent(job, str(folder), str(out), k, memory=memory)
    told = {name: run.found[name] for name in ("n", "k", "shards", "displacement")}
    print(json.dumps(told | {"seconds": round(run.seconds), "peak_gb": peak_gb()}))
    shutil.rmtree(out)


if __name__ == "__main__":
    command_line(__doc__, make, run)
