"""Programs of trajanon and of its peers, each in a process of its own, and what they cost."""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from trajanon.arrays import Floats, Ints
from trajanon.partition import dense

RUNS, SHORT = 3, 20.0  # a job that takes longer, in seconds, runs once
PATIENCE = 900.0  # seconds that a job may take

WANTED = {  # what pip installs; scikit-mobility 1.3.1 itself asks for older ones than it names
    "anonypyx": ["anonypyx"],
    "scikit-mobility": ["scikit-mobility", "numpy<2", "shapely<2"],
    "gpxpy": ["gpxpy"],
}

# The least that can tell the memory of a process from that of its parent.
WATCH = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
try:
    run = subprocess.run(sys.argv[2:], capture_output=True, text=True, timeout=float(sys.argv[1]))
    ended = {"code": run.returncode, "out": run.stdout, "err": run.stderr[-2000:]}
except subprocess.TimeoutExpired:
    ended = {"code": None}
used = resource.getrusage(resource.RUSAGE_CHILDREN)
spent = {"whole": time.perf_counter() - start, "mb": used.ru_maxrss / 1024}
print(json.dumps({**ended, **spent, "whole_cpu": used.ru_utime + used.ru_stime}))
"""
MEASURED = """
import json, time, warnings
warnings.simplefilter("ignore")
def measured(job, told=lambda found: None):
    wall, cpu = time.perf_counter(), time.process_time()
    found = job()
    spent = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps({**spent, "told": told(found)}))
    return found
"""
OURS = """
import numpy as np, trajanon
table = np.load("records.npz", allow_pickle=True)
records, subjects = table["records"], table["subjects"] if "subjects" in table else None
how = dict(k={k}, subjects=subjects, **{how})
trajanon.microaggregate(records, **how)  # loads or compiles
np.save("labels.npy", measured(lambda: trajanon.microaggregate(records, **how)).labels)
"""
ANONYPYX = """
import numpy as np, pandas as pd
from anonypyx import Anonymiser
records = pd.DataFrame(np.load("records.npz", allow_pickle=True)["records"])
records.columns = records.columns.astype(str)
asked = Anonymiser(records, k={k}, algorithm="{algorithm}")
labels = np.empty(len(records), dtype=np.int64)
for group, rows in enumerate(measured(lambda: asked.algorithm.partition(asked.parameters))):
    labels[rows] = group
np.save("labels.npy", labels)
"""
SDCMICRO = """
x <- read.csv("records.csv")
spent <- system.time(found <- sdcMicro::microaggregation(x, method = "mdav", aggr = {k}))
write.csv(found$mx, "means.csv", row.names = FALSE)
cat(sprintf('{{"seconds": %f, "cpu": %f}}\\n', spent[[3]], spent[[1]] + spent[[2]]))
"""
ANONYPYX_TABLE = """
import pandas as pd
from anonypyx import Anonymiser
asked = {{"k": {k}, "algorithm": "MDAV-generic", "generalisation_strategy": "microaggregation"}}
pd.DataFrame(Anonymiser(pd.read_csv("records.csv"), **asked).anonymise()).to_csv("means.csv")
"""
SKMOB_ATTACK = """
import numpy as np, pandas as pd, skmob
from skmob.privacy.attacks import LocationAttack
rows = np.load("rows.npy")
n, m, _ = rows.shape
lat, lng = rows.reshape(-1, 2).T
hours = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.tile(np.arange(m), n), unit="h")
points = {"lat": lat, "lng": lng, "datetime": hours, "uid": np.repeat(np.arange(n), m)}
known = skmob.TrajDataFrame(pd.DataFrame(points))
measured(
    lambda: LocationAttack(knowledge_length=2).assess_risk(known),
    lambda found: found.sort_values("uid")["risk"].tolist(),
)
"""
OUR_ATTACK = """
import numpy as np
from trajanon.privacy.attack import Published
from trajanon.privacy.known_points import known_points
rows = np.load("rows.npy")
lines, labels = np.unique(rows, axis=0, return_inverse=True)
published = Published(rows, lines, labels.ravel(), 2)
attack = lambda: known_points(published, 2, tolerance=0.0).evenly
attack()  # loads or compiles
measured(attack, lambda found: found.worst.tolist())
"""
GPXPY = """
import gpxpy
from pathlib import Path
def read():
    texts = (file.read_text() for file in Path("gpx").glob("*.gpx"))
    return [p for text in texts for track in gpxpy.parse(text).tracks for s in track.segments
            for p in s.points]
measured(read, len)
"""
OUR_GPX = """
from collections import Counter
from trajanon.extract import traces
left_out = Counter()
measured(
    lambda: list(traces("gpx", counts=left_out)),
    lambda found: sum(len(trace.lat) for trace in found) + left_out["points without time"],
)
"""
GLOVE = """
privacyModel = glove
dataset = Geolife
variant =
dataInput = ./tracks
dataOutput = ./out/
outputResults = true
roadNetworkFile =
poiFile =
k-anonymity = {k}
l-diversity = 1
t-closeness = 1
exposure_ratio = 0.2
radius = 0.2
min_length = 10
num_mixzones = 1
"""


class Job(NamedTuple):
    """A program and its script."""

    name: str
    words: list[str]


def python(name: str, script: str, of: Path | str = sys.executable) -> Job:
    """A job for Python: ours, or that of an environment of a peer."""
    return Job(name, [str(of), "-c", MEASURED + script])


def spent(job: Job, folder: Path, most: int = RUNS, **environment: str) -> dict[str, Any] | None:
    """Run a job, the best of some runs; None if it takes too long."""
    runs: list[dict[str, Any]] = []
    while len(runs) < most and all(run["whole"] < SHORT for run in runs):
        words = [sys.executable, "-S", "-E", "-c", WATCH, str(PATIENCE), *job.words]
        watched = subprocess.run(words, cwd=folder, env=os.environ | environment, stdout=-1)
        run = json.loads(watched.stdout)
        if run["code"] is None:
            return None
        if run["code"] != 0:
            sys.exit(f"{job.name} failed:\n{run['err']}")
        run |= {"seconds": run["whole"], "cpu": run["whole_cpu"]}  # if it does not tell its own
        told = run["out"].splitlines()[-1:]
        runs.append(run | (json.loads(told[0]) if told and told[0].startswith("{") else {}))
    return min(runs, key=lambda run: run["cpu"])


def glove(points: Floats, k: int, jars: Path, folder: Path) -> Job:
    """GLOVE of the survey's program, whose jar is in a folder; the points are a minute apart."""
    n, m, _ = points.shape
    lat, lng = points.reshape(-1, 2).T
    trip, minute = np.divmod(np.arange(n * m), m)
    table = {"trip": trip, "user": trip, "time": 60 * minute, "lng": lng, "lat": lat}
    pd.DataFrame(table).to_csv(folder / "tracks.csv", index=False)
    (folder / "src/resources").mkdir(parents=True, exist_ok=True)
    (folder / "src/resources/config.properties").write_text(GLOVE.format(k=k))
    return Job("GLOVE", ["java", "-cp", f"{jars.absolute()}/*", "models.Main"])


def glove_labels(n: int, folder: Path) -> Ints:
    """The groups that GLOVE merged; what it left alone is a group of one."""
    labels = np.arange(n)
    for line in next(folder.glob("out/Glove/*.csv")).read_text().splitlines()[1:]:
        merged = [int(trip) for trip in line.split(",")[9:]]
        labels[merged] = min(merged, default=0)
    return dense(labels)


def environments(cache: Path) -> Iterator[tuple[str, Path]]:
    """Make an environment for each peer from PyPI, and name its Python."""
    for name, packages in WANTED.items():
        folder = cache / name
        interpreter = folder / "bin/python"
        if not (folder / "installed").exists():
            venv.create(folder, with_pip=True, clear=True)
            subprocess.run([interpreter, "-m", "pip", "install", "-q", *packages], check=True)
            (folder / "installed").touch()
        yield name, interpreter


def version_of(interpreter: Path, package: str) -> str:
    """Ask an environment for the version of a package."""
    code = f"from importlib.metadata import version; print('{package}', version('{package}'))"
    asked = subprocess.run([interpreter, "-c", code], stdout=-1, text=True, check=True)
    return asked.stdout.strip()


def sdcmicro() -> str | None:
    """Version of sdcMicro, where there is one."""
    asked = ["Rscript", "-e", 'cat("sdcMicro", format(packageVersion("sdcMicro")))']
    found = shutil.which("Rscript") and subprocess.run(asked, capture_output=True, text=True)
    return found.stdout if found and found.returncode == 0 else None
