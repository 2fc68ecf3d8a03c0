"""Measure trajanon beside its peers, on the same records of the same machine.

    python -m venv PEERS; PEERS/bin/pip install anonypyx
    python benchmarks/peers.py PEERS cabs.parquet    2,000 trips of cabs, k = 4

sdcMicro is used where `Rscript` finds it; without it its row says so. Each job is a process of its
own; of three runs the best counts. Its seconds are those of a core for the work alone, after
loading and compiling; those of whole commands stand below.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from measures import command_line, row, say_machine, watched
from tasks import NORTH, errors, in_cells, percents, whole

from trajanon.extract import extract
from trajanon.loss import group_means, loss_to
from trajanon.partition import dense, subjects_per_group
from trajanon.street_counts import ReleasedLines
from trajanon.trajectories import Trajectories
from trajanon.utility.displacements import displacement

K = 4
AT_ONCE, SMALL = 2_000, 1_000  # trips of cabs; rows of the whole commands
RUNS = 3

MEASURED = """
import json, sys, time, numpy as np, pandas as pd
table = np.load("records.npz")
records, subjects = table["records"], table["subjects"]
def measured(job):
    cpu = time.process_time()
    found = job()
    print(json.dumps({"cpu": time.process_time() - cpu}))
    return found
"""
OURS = """
import trajanon
how = dict(k=%d, **%s)
trajanon.microaggregate(records, **how)  # loads or compiles
np.save("labels.npy", measured(lambda: trajanon.microaggregate(records, **how)).labels)
"""
ANONYPYX = """
from anonypyx import Anonymiser
frame = pd.DataFrame(records)
frame.columns = frame.columns.astype(str)
asked = Anonymiser(frame, k=%d, algorithm="MDAV-generic")
labels = np.empty(len(records), dtype=np.int64)
for group, rows in enumerate(measured(lambda: asked.algorithm.partition(asked.parameters))):
    labels[rows] = group
np.save("labels.npy", labels)
"""
SDCMICRO = """
x <- read.csv("%s")
spent <- system.time(found <- sdcMicro::microaggregation(x, method = "mdav", aggr = %d))
write.csv(found$mx, "means.csv", row.names = FALSE)
cat(sprintf('{"cpu": %%f}\\n', spent[[1]] + spent[[2]]))
"""


def quality(found: Trajectories, folder: Path) -> list[str]:
    """Measures of groups by any method: loss, metres moved, tasks, groups of too few."""
    if (folder / "labels.npy").exists():
        labels = dense(np.load(folder / "labels.npy"))
    else:  # sdcMicro gives the means alone
        means = pd.read_csv(folder / "means.csv").to_numpy()
        labels = np.unique(means, axis=0, return_inverse=True)[1].ravel()
    means = group_means(found.records, labels)
    lines = means.reshape(len(means), -1, 2)
    moved = displacement(found.points, lines[labels]).mean()
    people = subjects_per_group(labels, dense(found.subject))
    before = ReleasedLines(found.points, np.ones_like(labels))
    wrong = errors(before, ReleasedLines(lines, np.bincount(labels)), in_cells)
    length, volumes, _, small, large, _ = percents(wrong)
    loss = f"{loss_to(found.records, means, labels):.3f}"
    return [loss, f"{moved:.0f}", length, volumes, small, large, str((people < K).sum())]


def measure(
    peers: Annotated[Path, typer.Argument(help="Environment of Python with anonypyx.")],
    cabs: Annotated[Path, typer.Argument(help="Tracks of cabs.")],
) -> None:
    """Group the same records by each tool."""
    us, by_r = (sys.executable, "-c"), ("Rscript", "-e")
    them = (str(peers.absolute() / "bin/python"), "-c")
    mdav, hm2 = ({"method": method, "refine": "none"} for method in ("mdav", "hm2"))
    ours = MEASURED + OURS
    jobs = {
        "trajanon, `--as-published`, MDAV": [*us, ours % (K, mdav)],
        "trajanon, `--as-published`, HM2-Micro": [*us, ours % (K, hm2)],
        "trajanon, default": [
            *us,
            (ours % (K, {})).replace("how = dict(", "how = dict(subjects=subjects, "),
        ],
        "sdcMicro, MDAV": [*by_r, SDCMICRO % ("records.csv", K)],
        "anonypyx, MDAV-generic": [*them, MEASURED + ANONYPYX % K],
    }
    found = whole(extract(cabs, NORTH)).take(np.arange(AT_ONCE))
    table = pd.DataFrame(found.records).add_prefix("c")
    say_machine()
    row("program", "s", "MB", "loss", "metres", "length", "volumes", "OD 1 km", "OD 2 km", "short")
    for name, job in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            np.savez(f"{folder}/records.npz", records=found.records, subjects=dense(found.subject))
            table.to_csv(f"{folder}/records.csv", index=False)
            runs = [watched(job, Path(folder)) for _ in range(RUNS)]
            if any(run["code"] for run in runs):
                row(name, runs[0]["err"].splitlines()[-1])
                continue
            best = min((json.loads(run["out"].splitlines()[-1])["cpu"], run["gb"]) for run in runs)
            row(name, f"{best[0]:.3g}", f"{1000 * best[1]:.0f}", *quality(found, Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        table[:SMALL].to_csv(f"{folder}/small.csv", index=False)
        options = ["small.csv", "-k", f"{K}", "--method", "mdav", "--refine", "none"]
        for job in (
            [sys.executable, "-m", "trajanon", "microaggregate", *options],
            [*by_r, SDCMICRO % ("small.csv", K)],
        ):
            seconds = min(watched(job, Path(folder))["cpu"] for _ in range(RUNS))
            print(f"{SMALL:,} rows, whole command, {Path(job[0]).name}: {seconds:.2f} s of a core")


if __name__ == "__main__":
    command_line(__doc__, measure)
