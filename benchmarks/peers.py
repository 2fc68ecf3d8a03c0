"""Measure trajanon beside its peers, on the same records of the same machine.

    python benchmarks/peers.py CACHE cabs.parquet    2,000 windows of real tracks
    python benchmarks/peers.py CACHE                 whole commands on 1,000 made-up rows

anonypyx comes from PyPI, into an environment of its own in the folder CACHE. sdcMicro is used where
an `Rscript` finds it. Each job is a process of its own; of up to three runs the best counts. Its
seconds are those of a core for the work alone, after loading and compiling, but for whole commands.
"""

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from corridors import POINTS, corridors
from measures import command_line, first_rows, row, say_machine

from trajanon.extract import extract
from trajanon.loss import group_means, loss_to
from trajanon.partition import dense, subjects_per_group
from trajanon.trajectories import Trajectories
from trajanon.utility.displacements import displacement

K = 4
BOX = (-122.52, 37.70, -122.35, 37.84)
RULES = {"spacing": 100.0, "max_gap": 1_000.0, "per_recording": None}
AT_ONCE = 2_000  # trajectories of cabs
RUNS, SHORT = 3, 20.0  # a job that takes longer, in seconds, runs once

# The least that can tell the memory of a process from that of its parent.
WATCH = """
import json, resource, subprocess, sys
run = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
spent = {"cpu": used.ru_utime + used.ru_stime, "mb": used.ru_maxrss / 1024}
print(json.dumps({"code": run.returncode, "out": run.stdout, "err": run.stderr[-2000:], **spent}))
"""
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
table = np.load("records.npz", allow_pickle=True)
records, subjects = table["records"], table["subjects"] if "subjects" in table else None
how = dict(k=%d, subjects=subjects, **%s)
trajanon.microaggregate(records, **how)  # loads or compiles
np.save("labels.npy", measured(lambda: trajanon.microaggregate(records, **how)).labels)
"""
ANONYPYX = """
from anonypyx import Anonymiser
records = pd.DataFrame(np.load("records.npz", allow_pickle=True)["records"])
records.columns = records.columns.astype(str)
asked = Anonymiser(records, k=%d, algorithm="%s")
labels = np.empty(len(records), dtype=np.int64)
for group, rows in enumerate(measured(lambda: asked.algorithm.partition(asked.parameters))):
    labels[rows] = group
np.save("labels.npy", labels)
"""
ANONYPYX_TABLE = """
from anonypyx import Anonymiser
asked = {"k": %d, "algorithm": "MDAV-generic", "generalisation_strategy": "microaggregation"}
pd.DataFrame(Anonymiser(pd.read_csv("records.csv"), **asked).anonymise()).to_csv("means.csv")
"""
SDCMICRO = """
x <- read.csv("records.csv")
spent <- system.time(found <- sdcMicro::microaggregation(x, method = "mdav", aggr = %d))
write.csv(found$mx, "means.csv", row.names = FALSE)
cat(sprintf('{"cpu": %%f}\\n', spent[[1]] + spent[[2]]))
"""


def spent(words: list[str], folder: Path) -> dict[str, Any]:
    """Run a job, the best of some runs."""
    runs: list[dict[str, Any]] = []
    while len(runs) < RUNS and all(run["whole"] < SHORT for run in runs):
        watch = [sys.executable, "-S", "-E", "-c", WATCH, *words]
        watched = subprocess.run(watch, cwd=folder, stdout=-1)
        run = json.loads(watched.stdout)
        if run["code"] != 0:
            sys.exit(f"{words[0]} failed:\n{run['err']}")
        said = run["out"].splitlines()[-1:]
        own = json.loads(said[0]) if said and said[0].startswith("{") else {}
        runs.append(run | {"whole": run["cpu"]} | own)
    return min(runs, key=lambda run: run["cpu"])


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
    cabs: Annotated[Path | None, typer.Argument(help="Tracks of cabs.")] = None,
) -> None:
    """Group the same records by each tool."""
    us, them, by_r = (sys.executable, "-c"), (anonypyx(cache), "-c"), ("Rscript", "-e")
    mdav = {"method": "mdav", "refine": "none"}
    if cabs is not None:
        found = first_rows(extract(cabs, BOX, **RULES), AT_ONCE)
        jobs = {
            "trajanon, MDAV": [*us, MEASURED + OURS % (K, mdav)],
            "trajanon, `effort=fast`": [*us, MEASURED + OURS % (K, {"effort": "fast"})],
            "trajanon, default": [*us, MEASURED + OURS % (K, {})],
            "sdcMicro, MDAV": [*by_r, SDCMICRO % K],
            "anonypyx, MDAV-generic": [*them, MEASURED + ANONYPYX % (K, "MDAV-generic")],
            "anonypyx, Mondrian": [*them, MEASURED + ANONYPYX % (K, "Mondrian")],
        }
    else:
        found = Trajectories(corridors(1_000).reshape(-1, POINTS, 2))
        words = f"microaggregate records.csv -k {K} --columns all --method mdav --refine none"
        jobs = {
            "trajanon": [sys.executable, "-m", "trajanon", *words.split()],
            "sdcMicro": [*by_r, SDCMICRO % K],
            "anonypyx": [*them, MEASURED + ANONYPYX_TABLE % K],
        }
    say_machine()
    row("program", "s of a core", "MB", *(["loss", "mean metres", "short groups"] if cabs else []))
    for name, job in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            known = {} if found.subject is None else {"subjects": dense(found.subject)}
            np.savez(f"{folder}/records.npz", records=found.records, **known)
            columns = [f"x{number}" for number in range(found.records.shape[1])]
            table = pd.DataFrame(found.records, columns=columns)
            table.to_csv(f"{folder}/records.csv", index=False)
            run = spent(job, Path(folder))
            worth = [] if cabs is None else quality(found, Path(folder))
        row(name, f"{run['cpu' if cabs else 'whole']:.3g}", f"{run['mb']:.0f}", *worth)


if __name__ == "__main__":
    command_line(__doc__, measure)
