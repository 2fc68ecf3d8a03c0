"""Measure trajanon beside its peers, on the same records of the same machine.

    python -m venv PEERS; PEERS/bin/pip install anonypyx tqdm haversine psutil geopandas
    python benchmarks/peers.py PEERS cabs.parquet    2,000 trips of cabs, k = 4

Rows of peers that are missing say so: sdcMicro is used where `Rscript` finds it, mdl_anonymizer
where PEERS holds its package, GLOVE where `javac -d PEERS/glove` has compiled uqwhua/TrjPrivacy.
Of three runs, each a process of its own, the best counts; beyond half a minute the first. Seconds
are of a core for the work alone, after loading and compiling. Means of places and hours are those
of each peer's groups, formed by places alone.
"""

import json
import sys
import tempfile
from math import inf
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from measures import command_line, row, say_machine, watched
from tasks import NORTH, TASKS, errors, in_cells, percents, whole

import trajanon
from trajanon.common.arrays import dense
from trajanon.extract import extract
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.grouping.loss import group_means, loss_to
from trajanon.street_counts.released_lines import ReleasedLines
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.times import Clock
from trajanon.trajectories.trajectories import Trajectories

K = 4
AT_ONCE = 2_000  # trips of cabs; rows of the whole commands
SMALL = 1_000
RUNS = 3  # seconds of a core, beyond which the first run counts
LONG = 30.0
CLOCK = Clock("of-day", "America/Los_Angeles", 300)

MEASURED = """
import json, sys, time, numpy as np, pandas as pd
records = np.load("records.npy")
def measured(job):
    cpu = time.process_time()
    found = job()
    print(json.dumps({"cpu": time.process_time() - cpu}))
    return found
"""
PAPERS = """
import trajanon
how = dict(k=%d, method=%r, refine="none")
trajanon.microaggregate(records, **how)  # loads or compiles
np.save("labels.npy", measured(lambda: trajanon.microaggregate(records, **how)).labels)
"""
DEFAULT = """
import trajanon
trips, how = trajanon.read_trajectories("trips.parquet"), dict(k=%d, **%s)
trajanon.anonymize(trips, **how)  # loads or compiles
np.save("labels.npy", measured(lambda: trajanon.anonymize(trips, **how)).report["labels"])
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
MDL = """
from unittest.mock import MagicMock
sys.path.append(%r)
sys.modules |= dict.fromkeys(("skmob", "skmob.utils", "skmob.utils.constants"), MagicMock())
from mdl_anonymizer.clustering.MDAV.SimpleMDAV import SimpleMDAV
from mdl_anonymizer.distances.trajectory.Martinez2021.Distance import Distance
from mdl_anonymizer.entities.Dataset import Dataset
from mdl_anonymizer.entities.TimestampedLocation import TimestampedLocation
from mdl_anonymizer.entities.Trajectory import Trajectory
trips = Dataset()
for number, line in enumerate(records.reshape(len(records), -1, 2)):
    trip = Trajectory(number, number)
    trip.locations = [TimestampedLocation(at, lon, lat) for at, (lat, lon) in enumerate(line)]
    trips.add_trajectory(trip)
asked = SimpleMDAV(trips, Distance(trips, p_lambda=0.0))
measured(lambda: asked.run(%d))
found = asked.mdav_dataset.assigned_to
np.save("labels.npy", [found[number] for number in range(len(records))])
"""
GLOVE = """
import os, resource, subprocess
classes, k = %r, %d
lines = (records.reshape(len(records), -1, 2) - records[0, :2]) * 111.3  # it counts kilometres
lines[..., 1] *= np.cos(np.radians(records[0, 0]))
n, m = lines.shape[:2]
trip, minute = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
rows = np.column_stack([trip, trip, 60 * minute, lines[..., ::-1].reshape(-1, 2)])
np.savetxt("trips.csv", rows, "%%d,%%d,%%d,%%.7f,%%.7f", header="trip,user,time,lon,lat")
given = {"dataset": "T-Drive", "variant": "trips", "dataInput": "./", "dataOutput": "./",
    "outputResults": "true", "privacyModel": "glove", "k-anonymity": k} | dict.fromkeys(
    ("l-diversity", "t-closeness", "exposure_ratio", "radius", "min_length", "num_mixzones"), 1)
os.makedirs("src/resources", exist_ok=True)
said = "\\n".join(f"{name} = {value}" for name, value in given.items())
open("src/resources/config.properties", "w").write(said)
subprocess.run(["java", "-cp", classes, "models.Main"], check=True, stdout=subprocess.DEVNULL)
used, labels = resource.getrusage(resource.RUSAGE_CHILDREN), np.arange(n)
for row in open(f"Glove/trips_{k}.csv").readlines()[1:]:
    _, group, _, _, _, _, _, _, _, *members = map(float, row.split(","))
    labels[[int(one) for one in members]] = n + group
np.save("labels.npy", labels)
print(json.dumps({"cpu": used.ru_utime + used.ru_stime}))
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
    seconds = CLOCK.of(np.asarray(found.times))
    lines = means.reshape(len(means), -1, 2)
    moved = displacement(found.points, lines[labels]).mean()
    people = subjects_per_group(labels, dense(found.subject))
    before = ReleasedLines(found.points, np.ones_like(labels), seconds)
    after = ReleasedLines(lines, np.bincount(labels), group_means(seconds, labels), CLOCK)
    loss = f"{loss_to(found.records, means, labels):.3f}"
    wrong = percents(errors(before, after, in_cells, CLOCK))
    return [loss, f"{moved:.0f}", *wrong, str((people < K).sum())]


def tried(program: str, code: str, found: Trajectories, folder: Path) -> list[str]:
    """Seconds of a core, megabytes, and the groups' quality; or what a program says that fails."""
    words = ["-e", code] if program == "Rscript" else ["-c", MEASURED + code]
    best = inf, 0.0
    for _ in range(RUNS):
        run = watched([program, *words], folder)
        if run["code"]:
            return [run["err"].splitlines()[-1]]
        best = min(best, (json.loads(run["out"].splitlines()[-1])["cpu"], run["gb"]))
        if best[0] > LONG:
            break
    return [f"{best[0]:.3g}", f"{1000 * best[1]:.0f}", *quality(found, folder)]


def measure(
    peers: Annotated[Path, typer.Argument(help="Environment of Python with anonypyx.")],
    cabs: Annotated[Path, typer.Argument(help="Tracks of cabs.")],
) -> None:
    """Group the same records by each tool."""
    theirs = str(peers.absolute() / "bin/python")
    classes = str(peers.absolute() / "glove")
    jobs = {
        "trajanon, `--as-published`, MDAV": (sys.executable, PAPERS % (K, "mdav")),
        "trajanon, `--as-published`, HM2-Micro": (sys.executable, PAPERS % (K, "hm2")),
        "trajanon, default": (sys.executable, DEFAULT % (K, {})),
        "trajanon, `--times of-day`": (sys.executable, DEFAULT % (K, {"times": CLOCK.times})),
        "sdcMicro, MDAV": ("Rscript", SDCMICRO % ("records.csv", K)),
        "anonypyx, MDAV-generic": (theirs, ANONYPYX % K),
        "mdl-anonymizer, MDAV": (theirs, MDL % (str(peers.absolute()), K)),
        "GLOVE": (theirs, GLOVE % (classes, K)),
    }
    found = whole(extract(cabs, NORTH)).take(np.arange(AT_ONCE))
    table = pd.DataFrame(found.records).add_prefix("c")
    say_machine()
    row("program", "s", "MB", "loss", "metres", *TASKS, "short")
    for name, (program, code) in jobs.items():
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/records.npy", found.records)
            trajanon.write_trajectories(f"{folder}/trips.parquet", found)
            table.to_csv(f"{folder}/records.csv", index=False)
            row(name, *tried(program, code, found, Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        table[:SMALL].to_csv(f"{folder}/small.csv", index=False)
        options = ["small.csv", "-k", f"{K}", "--method", "mdav", "--refine", "none"]
        for job in (
            [sys.executable, "-m", "trajanon", "microaggregate", *options],
            ["Rscript", "-e", SDCMICRO % ("small.csv", K)],
        ):
            seconds = min(watched(job, Path(folder))["cpu"] for _ in range(RUNS))
            print(f"{SMALL:,} rows, whole command, {Path(job[0]).name}: {seconds:.2f} s of a core")


if __name__ == "__main__":
    command_line(__doc__, measure)
