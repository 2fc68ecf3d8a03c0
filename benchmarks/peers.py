"""Measure trajanon beside its peers, on the same records of the same machine.

    python benchmarks/peers.py CACHE                       # made-up streets and the bundled sample
    python benchmarks/peers.py CACHE --cabs cabs.parquet   # and 2,000 windows of real tracks
    python benchmarks/peers.py CACHE --jars FOLDER         # and GLOVE, whose jar is in a folder
    python benchmarks/peers.py CACHE --only sample    # one table alone

anonypyx, scikit-mobility and gpxpy come from PyPI, each into an environment of its own in the
folder CACHE. sdcMicro is used where an `Rscript` finds it. Each job is a process of its own. Of up
to three runs the best counts. Its seconds are those of the work alone, after loading and compiling;
those of the process count both. Each table goes into docs/peers.md, between its two markers.
"""

import gzip
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from corridors import POINTS, corridors
from measures import command_line, first_rows, load
from peer_jobs import (
    ANONYPYX,
    ANONYPYX_TABLE,
    GPXPY,
    OUR_ATTACK,
    OUR_GPX,
    OURS,
    PATIENCE,
    SDCMICRO,
    SKMOB_ATTACK,
    Job,
    environments,
    glove,
    glove_labels,
    python,
    sdcmicro,
    spent,
    version_of,
)

import trajanon
from trajanon.data import sample
from trajanon.extract import extract
from trajanon.loss import group_means, loss_to
from trajanon.partition import dense, first_of_each, subjects_per_group
from trajanon.privacy.attack import Published
from trajanon.privacy.linkage import nearest_record
from trajanon.trajectories import Trajectories
from trajanon.utility.displacements import displacement

K = 4
PAGE = Path(__file__).parents[1] / "docs/peers.md"
CABS = {"area": "-122.52,37.70,-122.35,37.84", "spacing": 100.0, "max_gap": 1_000.0}
AT_ONCE = 2_000  # trajectories of cabs, and for GLOVE: it compares all pairs
ATTACKED, EACH = 8, 3  # rows of a release, and which points: of more, scikit-mobility takes hours

WORK = {"seconds": ".3g", "cpu": ".3g", "mb": ".0f"}
COMMAND = {"whole": ".3g", "whole_cpu": ".3g", "mb": ".0f"}
WORTH = {"loss": ".3f", "metres": ".0f", "people": "d", "under": "d", "linked": ".1f"}
NAMES = {
    "seconds": "seconds",
    "cpu": "CPU seconds",
    "whole": "seconds",
    "mb": "MB",
    "whole_cpu": "CPU seconds",
    "loss": "loss, %",
    "metres": "metres moved",
    "people": "people in smallest group",
    "under": "groups under k",
    "linked": "linked, %",
}

Rows = list[tuple[str, dict[str, Any] | str]]
"""Names of jobs, and what each cost and found, or why it did not."""


def done(jobs: list[Job], folder: Path) -> Rows:
    """Run jobs one after another; say what became of each."""
    rows: Rows = []
    for job in jobs:
        if job.words[0] == "Rscript" and sdcmicro() is None:
            rows.append((job.name, "not found"))
            continue
        run = spent(job, folder)
        rows.append((job.name, run or f"more than {PATIENCE:g} s"))
        took = f"{run['whole']:.1f} s" if run else "too long"
        print(f"{job.name}: {took}, load {load():.1f}", flush=True)
    return rows


def table(title: str, rows: Rows, columns: dict[str, str], counted: str) -> str:
    """Rows as a table of Markdown; beside each peer, ours on the same work."""
    ours = {name: run for name, run in rows if name.startswith("trajanon")}
    beside = [name.removeprefix("trajanon, ") for name in ours]
    titles = [NAMES[name] for name in columns]
    lines = [[title, *titles, *(f"beside it our {name}" for name in beside)]]
    lines.append(["---", *["---:"] * len(titles), *["---"] * len(beside)])
    for name, run in rows:
        if isinstance(run, str):
            lines.append([name, run, *[""] * (len(lines[0]) - 2)])
            continue
        cells = [format(run[column], how) for column, how in columns.items()]
        words = ["" if name in ours else compared(run, one, counted) for one in ours.values()]
        lines.append([name, *cells, *words])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def compared(peer: dict[str, Any], ours: Any, counted: str) -> str:
    """Say how much faster ours is than a peer, and how much less it loses."""
    if isinstance(ours, str):
        return ours
    factor = peer[counted] / max(ours[counted], 1e-4)
    many = max(factor, 1 / factor)
    times = f"{many:,.0f}" if many >= 10 else f"{many:.1f}"
    words = f"{times} times as fast" if factor >= 1 else f"takes {times} times as long"
    words += ", not twice" if 1 <= factor < 2 else ""
    if counted == "whole_cpu":
        words += f", {ours['mb'] / peer['mb']:.1f} times its memory"
    if "loss" in peer:
        less = 1 - ours["loss"] / peer["loss"]
        how = "less" if less > 0 else "more"
        words += ", equal loss" if abs(less) < 1e-3 else f", {abs(less):.1%} {how} loss"
    return words


def groups(
    name: str, found: Trajectories, peers: dict[str, Path], jars: Path | None, folder: Path
) -> str:
    """Group the same records by each tool."""
    write(found, folder)
    mdav = {"method": "mdav", "refine": "none"}
    ways = {"MDAV": mdav, "`effort=fast`": {"effort": "fast"}, "default": {}}
    jobs = [python(f"trajanon, {way}", OURS.format(k=K, how=how)) for way, how in ways.items()]
    jobs.append(Job("sdcMicro, MDAV", ["Rscript", "-e", SDCMICRO.format(k=K)]))
    for algorithm in ("MDAV-generic", "Mondrian"):
        script = ANONYPYX.format(k=K, algorithm=algorithm)
        jobs.append(python(f"anonypyx, {algorithm}", script, peers["anonypyx"]))
    if jars is not None and len(found) <= AT_ONCE:
        jobs.append(glove(found.points, K, jars, folder))
    rows: Rows = []
    for job in jobs:
        ((_, run),) = done([job], folder)
        if isinstance(run, dict):
            run |= quality(found, labels_of(job, folder))
        rows.append((job.name, run))
    return table(f"{name}, {len(found):,} x {2 * POINTS}", rows, WORK | WORTH, "cpu")


def write(found: Trajectories, folder: Path) -> None:
    """Write records for every tool."""
    known = {} if found.subject is None else {"subjects": dense(found.subject)}
    np.savez(folder / "records.npz", records=found.records, **known)
    columns = [f"x{number}" for number in range(found.records.shape[1])]
    pd.DataFrame(found.records, columns=columns).to_csv(folder / "records.csv", index=False)


def labels_of(job: Job, folder: Path) -> Any:
    """The groups that a job found; sdcMicro gives the means alone."""
    if job.words[0] == "java":
        return glove_labels(len(np.load(folder / "records.npz")["records"]), folder)
    if job.words[0] != "Rscript":
        return dense(np.load(folder / "labels.npy"))
    means = pd.read_csv(folder / "means.csv").to_numpy()
    return np.unique(means, axis=0, return_inverse=True)[1].ravel()


def quality(found: Trajectories, labels: Any) -> dict[str, Any]:
    """What groups are worth, whoever found them: their means, plain."""
    everyone = np.arange(len(labels)) if found.subject is None else dense(found.subject)
    means = group_means(found.records, labels)
    lines = means.reshape(len(means), -1, 2)
    own_row = first_of_each(labels, everyone)
    published = Published(found.points, lines, labels, K, everyone, own_row=own_row)
    people = subjects_per_group(labels, everyone)
    return {
        "loss": loss_to(found.records, means, labels),
        "metres": float(displacement(found.points, lines[labels]).mean()),
        "people": int(people.min()),
        "under": int((people < K).sum()),
        "linked": 100 * nearest_record(published).expected,
    }


def whole_commands(found: Trajectories, peers: dict[str, Path], folder: Path) -> str:
    """From a CSV to the CSV of means."""
    write(found, folder)
    words = ["microaggregate", "records.csv", "-k", str(K), "--columns", "all", "--out", "ours.csv"]
    ours = [sys.executable, "-m", "trajanon", *words, "--method", "mdav", "--refine", "none"]
    once = spent(Job("", ours), folder, 1, NUMBA_CACHE_DIR=str(folder / "compiled"))
    first: Rows = [("trajanon, the first time", once or "")]
    jobs = [
        Job("trajanon, MDAV", ours),
        Job("sdcMicro, MDAV", ["Rscript", "-e", SDCMICRO.format(k=K)]),
        python("anonypyx, MDAV-generic", ANONYPYX_TABLE.format(k=K), peers["anonypyx"]),
    ]
    return table("a whole command", first + done(jobs, folder), COMMAND, "whole_cpu")


def attack(originals: Trajectories, peers: dict[str, Path], folder: Path) -> str:
    """Two points known, of the first rows of a release."""
    release = trajanon.anonymize(originals, K, align=False).trajectories
    order = np.lexsort(release.records.T)  # rows of one line together
    rows = release.points[order][:ATTACKED, ::EACH]
    np.save(folder / "rows.npy", rows)
    ours = python("trajanon, `known_points`", OUR_ATTACK)
    theirs = python("scikit-mobility, `LocationAttack`", SKMOB_ATTACK, peers["scikit-mobility"])
    found = done([ours, theirs], folder)
    told = [run["told"] for _, run in found if isinstance(run, dict)]
    assert all(np.allclose(one, told[0]) for one in told), "the attacks do not find the same"
    title = f"two known points, {ATTACKED} rows of {rows.shape[1]} points"
    return table(title, found, WORK, "cpu")


def reading(peers: dict[str, Path], folder: Path) -> str:
    """The bundled sample, unpacked."""
    (folder / "gpx").mkdir()
    for file in sample().glob("*.gpx.gz"):
        (folder / "gpx" / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
    jobs = [python("trajanon, `traces`", OUR_GPX), python("gpxpy", GPXPY, peers["gpxpy"])]
    found = done(jobs, folder)
    points = {run["told"] for _, run in found if isinstance(run, dict)}
    assert len(points) == 1, "not the same points were read"
    return table(f"reading GPX, {points.pop():,} points", found, WORK, "cpu")


def measure(
    cache: Annotated[Path, typer.Argument(help="Where the peers' environments are kept.")],
    cabs: Annotated[Path | None, typer.Option(help="Tracks of cabs.")] = None,
    jars: Annotated[Path | None, typer.Option(help="Folder with the jar of TrjPrivacy.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Name of a table.")] = None,
) -> None:
    """Measure table by table, and write each into the page."""
    peers = dict(environments(cache.absolute()))
    streets = {n: Trajectories(corridors(n).reshape(n, POINTS, 2)) for n in (1_000, 10_000)}
    bundled = extract(sample(), "madrid")
    sets = {"sample": bundled, "streets-1000": streets[1_000], "streets-10000": streets[10_000]}
    if cabs is not None:
        sets["cabs"] = first_rows(extract(cabs, **CABS), AT_ONCE)
    tables: dict[str, Callable[[Path], str]] = {
        **{name: partial(groups, name, found, peers, jars) for name, found in sets.items()},
        "command": partial(whole_commands, streets[1_000], peers),
        "attack": partial(attack, bundled, peers),
        "reading": partial(reading, peers),
    }
    with_r = sdcmicro() or "sdcMicro not found"
    versions = [version_of(path, name) for name, path in peers.items()]
    tools = ", ".join([f"trajanon {version('trajanon')}", *versions, with_r])
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    for name in only or tables:
        busy = load()
        with tempfile.TemporaryDirectory() as folder:
            measured = tables[name](Path(folder))
        said = f"{date.today()}, {machine}, load {busy:.1f} before and {load():.1f} after; {tools}."
        print(measured, said, sep="\n", flush=True)
        begin, end = f"<!-- measured: {name} -->\n", f"<!-- end: {name} -->\n"
        before, rest = PAGE.read_text(encoding="utf-8").split(begin)
        after = rest.split(end)[1]
        text = f"{before}{begin}\n{measured}\n*{said}*\n\n{end}{after}"
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    command_line("Measure trajanon beside its peers.", measure)
