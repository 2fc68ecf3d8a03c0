"""Measure trajanon beside its peers, on the same records of the same machine.

    python benchmarks/peers.py CACHE cabs.parquet    2,000 windows of real tracks

anonypyx comes from PyPI, into an environment of its own in the folder CACHE; an `Rscript` has to
find sdcMicro. Each job is a process of its own; of three runs the best counts. Its seconds are
those of a core for the work alone, after loading and compiling.
"""

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from measures import command_line, row, say_machine, watched

from trajanon.extract import extract
from trajanon.loss import group_means, loss_to
from trajanon.partition import dense, subjects_per_group
from trajanon.trajectories import Trajectories
from trajanon.utility.displacements import displacement

K = 4
BOX = (-122.52, 37.70, -122.35, 37.84)
RULES = {"spacing": 100.0, "max_gap": 1_000.0, "per_recording": None}
AT_ONCE = 2_000  # trajectories of cabs
RUNS = 3

MEASURED = """
import json, time, numpy as np, pandas as pd
def measured(job):
    cpu = time.process_time()
    found = job()
    print(json.dumps({"cpu": time.process_time() - cpu}))
    return found
"""
OURS = """
import trajanon
table = np.load("records.npz")
records, subjects = table["records"], table["subjects"]
how = dict(k=%d, subjects=subjects, **%s)
trajanon.microaggregate(records, **how)  # loads or compiles
np.save("labels.npy", measured(lambda: trajanon.microaggregate(records, **how)).labels)
"""
ANONYPYX = """
from anonypyx import Anonymiser
records = pd.DataFrame(np.load("records.npz")["records"])
records.columns = records.columns.astype(str)
asked = Anonymiser(records, k=%d, algorithm="%s")
labels = np.empty(len(records), dtype=np.int64)
for group, rows in enumerate(measured(lambda: asked.algorithm.partition(asked.parameters))):
    labels[rows] = group
np.save("labels.npy", labels)
"""
SDCMICRO = """
x <- read.csv("records.csv")
spent <- system.time(found <- sdcMicro::microaggregation(x, method = "mdav", aggr = %d))
write.csv(found$mx, "means.csv", row.names = FALSE)
cat(sprintf('{"cpu": %%f}\\n', spent[[1]] + spent[[2]]))
"""


def best_run(words: list[str], folder: Path) -> tuple[float, float]:
    """Run a job; seconds of a core and gigabytes of the best run."""
    runs = [watched(words, folder) for _ in range(RUNS)]
    for run in runs:
        assert run["code"] == 0, run["err"]
    return min((json.loads(run["out"].splitlines()[-1])["cpu"], run["gb"]) for run in runs)


def quality(found: Trajectories, folder: Path) -> list[str]:
    """What groups are worth, whoever found them: loss, metres moved, groups of too few."""
    if (folder / "labels.npy").exists():
        labels = dense(np.load(folder / "labels.npy"))
    else:  # sdcMicro gives the means alone
        means = pd.read_csv(folder / "means.csv").to_numpy()
        labels = np.unique(means, axis=0, return_inverse=True)[1].ravel()
    means = group_means(found.records, labels)
    moved = displacement(found.points, means.reshape(len(means), -1, 2)[labels]).mean()
    people = subjects_per_group(labels, dense(found.subject))
    loss = loss_to(found.records, means, labels)
    return [f"{loss:.3f}", f"{moved:.0f}", str((people < K).sum())]


def anonypyx(cache: Path) -> str:
    """Make an environment for it, and name its Python."""
    interpreter = cache.absolute() / "anonypyx/bin/python"
    if not interpreter.exists():
        venv.create(cache / "anonypyx", with_pip=True)
        subprocess.run([interpreter, "-m", "pip", "install", "-q", "anonypyx"], check=True)
    return str(interpreter)


def measure(
    cache: Annotated[Path, typer.Argument(help="Where the environment of anonypyx is kept.")],
    cabs: Annotated[Path, typer.Argument(help="Tracks of cabs.")],
) -> None:
    """Group the same records by each tool."""
    us, them, by_r = (sys.executable, "-c"), (anonypyx(cache), "-c"), ("Rscript", "-e")
    mdav = {"method": "mdav", "refine": "none"}
    jobs = {
        "trajanon, MDAV": [*us, MEASURED + OURS % (K, mdav)],
        "trajanon, `effort=fast`": [*us, MEASURED + OURS % (K, {"effort": "fast"})],
        "trajanon, default": [*us, MEASURED + OURS % (K, {})],
        "sdcMicro, MDAV": [*by_r, SDCMICRO % K],
        "anonypyx, MDAV-generic": [*them, MEASURED + ANONYPYX % (K, "MDAV-generic")],
        "anonypyx, Mondrian": [*them, MEASURED + ANONYPYX % (K, "Mondrian")],
    }
    found = extract(cabs, BOX, **RULES).take(np.arange(AT_ONCE))
    say_machine()
    row("program", "s of a core", "MB", "loss", "mean metres", "short groups")
    for name, job in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            np.savez(f"{folder}/records.npz", records=found.records, subjects=dense(found.subject))
            pd.DataFrame(found.records).to_csv(f"{folder}/records.csv", index=False)
            seconds, gb = best_run(job, Path(folder))
            worth = quality(found, Path(folder))
        row(name, f"{seconds:.3g}", f"{1000 * gb:.0f}", *worth)


if __name__ == "__main__":
    command_line(__doc__, measure)
