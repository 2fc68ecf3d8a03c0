"""Measure alignment: what sliding on their tracks brings trajectories, and changes.

    python benchmarks/alignment.py numbers cabs.parquet -k 3 -k 4 -k 5 -k 10
    python benchmarks/alignment.py numbers --sizes 10000 --sizes 100000 -k 5
    python benchmarks/alignment.py runs cabs.parquet --subjects -k 4 -k 10
    python benchmarks/alignment.py figure cabs.parquet --out group.png

All take trajectories that `trajanon extract` wrote; docs/alignment.md says how those it shows were
made. Without a file, `numbers` draws tracks along corridors. The figure needs matplotlib.
Trajectories are counted, not subjects, unless --subjects is given. Everything is compiled before
the clock starts.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from corridors import POINTS, SPACING, corridors
from measures import account, alone, command_line, first_rows, peak_gb, say_machine, spent

import trajanon
from trajanon import neighbours
from trajanon.arrays import Floats
from trajanon.loss import group_means
from trajanon.privacy.originals import matched
from trajanon.releases import Release
from trajanon.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement
from trajanon.utility.displacements import lengths
from trajanon.utility.grid import cells, density_divergence, shares
from trajanon.utility.usefulness import DENSITY_CELL, FLOW_CELL

GROUPS = [4]
SIZES = [10_000, 100_000, 1_000_000]
MOST_COMPARED = 50_000  # windows up to which MDAV is asked, too
_SHARES = (0.6, 0.3, 0.1)  # of runs with one window, two, three
_FREE = 0.3  # of a window's length, for each window of a run
_AT_ONCE = 20_000  # runs that are drawn together

Groups = Annotated[list[int], typer.Option("-k")]
Subjects = Annotated[bool, typer.Option("--subjects", help="Count subjects.")]


def released(cut: Trajectories, k: int, subjects: bool = False, **options: Any) -> Release:
    """Anonymise by subjects, or as if none were known."""
    some = cut if subjects else replace(cut, subject=None)
    return trajanon.anonymize(some, k, **{"seed": 1} | options)


def read(file: Path) -> tuple[Trajectories, Tracks]:
    """Read trajectories and their tracks, and compile everything on a few of them."""
    cut = trajanon.read_trajectories(file)
    say_machine()
    released(first_rows(cut, 60), 3)
    assert cut.tracks is not None
    return cut, cut.tracks


def every_window(tracks: Tracks, m: int) -> tuple[Floats, Floats]:
    """All windows that could be cut from the runs, and how much each counts.

    A window begins at every spacing; those of a run count as much as it has windows.
    """
    starts = np.diff(tracks.first) - STEPS * (m - 1)
    many = -(-starts // STEPS)
    run = np.repeat(np.arange(len(many)), many)
    start = STEPS * (np.arange(len(run)) - np.repeat(np.cumsum(many) - many, many))
    windows = Tracks(tracks.points, tracks.first, run, start).windows(m)
    return windows, (np.bincount(tracks.run) / many)[run]


def flows_kept(windows: Floats, weights: Floats, lines: Floats) -> float:
    """As `flow_similarity`, with weights."""
    trips = [cells(some[:, [0, -1]], FLOW_CELL) for some in (windows, lines)]
    flows, place = np.unique(np.concatenate(trips), axis=0, return_inverse=True)
    first, second = np.split(place.reshape(-1), [len(windows)])
    before = np.bincount(first, weights, minlength=len(flows))
    after = np.bincount(second, minlength=len(flows))
    return float(np.minimum(before, after).sum() / len(lines))


def piled(runs: Floats, points: Floats) -> float:
    """Percent of the points in cells that get more than twice their share of the runs."""
    before, after = shares(runs, points, DENSITY_CELL)
    return 100.0 * float(after[after > 2.0 * before].sum())


def against_runs(cut: Trajectories, release: Release) -> dict[str, float]:
    """What a release leaves of the whole runs that windows were cut from."""
    tracks, report = cut.tracks, release.report
    assert tracks is not None
    lines, runs = release.trajectories.points, tracks.points[:]
    windows, weights = every_window(tracks, cut.points.shape[1])
    length = np.average(lengths(windows), weights=weights)
    as_cut, points = report["displacement"], cut.points
    if report["alignment"]:
        as_cut = report["alignment"]["as_cut"]["displacement"]
        points = cut.slid(np.array(report["alignment"]["starts"])).points
    return {
        "as slid, m": report["displacement"]["mean"],
        "as cut, m": as_cut["mean"],
        "from runs, mean m": report["from_runs"]["mean"],
        "median m": report["from_runs"]["median"],
        "density, bits": density_divergence(runs, lines, DENSITY_CELL),
        "flows kept, %": 100.0 * flows_kept(windows, weights, lines),
        "length, %": 100.0 * (lengths(lines).mean() / length - 1.0),
        "piled, %": piled(runs, lines),
        "windows: piled, %": piled(runs, points),
    }


def runs(file: Path, k: Groups = GROUPS, subjects: Subjects = False) -> None:
    """Print what releases leave of the whole runs: mean and half the range of three seeds."""
    cut, _ = read(file)
    for least in k:
        for slide in (True, False):
            found = pd.DataFrame(
                against_runs(cut, released(cut, least, subjects, align=slide, seed=seed))
                for seed in range(3)
            )
            half_range = (found.max() - found.min()) / 2
            print(f"k = {least}, {'aligned' if slide else 'not aligned'}")
            print(pd.DataFrame({"mean": found.mean(), "+-": half_range}), flush=True)


def figure(file: Path, out: Path = Path("group.png")) -> None:
    """Draw one group, member by member: as cut above, as slid below."""
    from matplotlib import pyplot

    cut, tracks = read(file)
    release = released(cut, 4)
    found = matched(cut, release.trajectories, release.report)
    labels, sizes = found.labels, np.bincount(found.labels)
    lines = [group_means(of.records, labels).reshape(found.lines.shape) for of in (cut, found.slid)]
    windows = [cut.points, found.slid.points]
    moved = [
        displacement(points, line[labels]).mean(axis=1)
        for points, line in zip(windows, lines, strict=True)
    ]
    average = np.array([np.bincount(labels, metres) / sizes for metres in moved])
    # The group of four that is most like all of them.
    unlike = np.abs(average / np.mean(moved, axis=1, keepdims=True) - 1.0).max(axis=0)
    unlike[sizes != 4] = np.inf
    group = int(np.argmin(unlike))
    members = np.flatnonzero(labels == group)
    around = np.concatenate([points[members] for points in windows]).reshape(-1, 2)
    low, high = around.min(axis=0) - 0.002, around.max(axis=0) + 0.002
    points = tracks.points[:]
    streets = points[np.all((points > low) & (points < high), axis=1)]
    plot, axes = pyplot.subplots(2, 4, figsize=(12, 6.6), layout="constrained")
    for number, name in enumerate(("as cut", "as slid")):
        for axis, member in zip(axes[number], members, strict=True):
            run = tracks.points[slice(*tracks.first[tracks.run[member] :][:2])]
            axis.plot(*streets[:, ::-1].T, ".", ms=1, color="0.8", alpha=0.3, zorder=0)
            axis.plot(*run[:, ::-1].T, color="0.6", lw=1, label="its run")
            for line, colour, label in (
                (windows[number][member], "#0072b2", "trajectory"),
                (lines[number][group], "#d55e00", "released"),
            ):
                east, north = line[:, ::-1].T
                axis.plot(east, north, color=colour, lw=2.2, label=label)
                axis.plot(east[0], north[0], "o", color=colour, ms=5)
            axis.set_title(f"{name}: moved by {moved[number][member]:.0f} m", fontsize=10)
            axis.set(xlim=(low[1], high[1]), ylim=(low[0], high[0]), xticks=[], yticks=[])
            axis.set_aspect(1 / np.cos(np.radians(low[0])))
    plot.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    plot.savefig(out, dpi=110)
    print("group {}: {:.0f} -> {:.0f} m".format(group, *average[:, group]))


def drawn(n: int, seed: int = 0) -> Trajectories:
    """Windows on runs along corridors, cut from where each run begins."""
    window = STEPS * POINTS  # and the spacing to the next one
    runs = np.ceil(n * np.array(_SHARES) / np.dot(_SHARES, [1, 2, 3])).astype(np.int64)
    windows = np.repeat([1, 2, 3], runs)
    windows = windows[: np.searchsorted(np.cumsum(windows), n) + 1]
    windows[-1] -= windows.sum() - n
    sizes = windows * int(window * (1.0 + _FREE))
    points = np.empty((sizes.sum(), 2))
    first = np.append(0, np.cumsum(sizes))
    run = 0
    while run < len(sizes):
        alike = np.flatnonzero(np.append(sizes[run:], 0) != sizes[run])[0]
        some = min(int(alike), _AT_ONCE)
        ways = corridors(some, seed + run, int(sizes[run]), SPACING / STEPS)
        points[first[run] : first[run + some]] = ways.reshape(-1, 2)
        run += some
    rank = np.arange(n) - np.repeat(np.cumsum(windows) - windows, windows)
    tracks = Tracks(
        TrackPoints.of(points), first, np.repeat(np.arange(len(windows)), windows), rank * window
    )
    return Trajectories(tracks.windows(POINTS), tracks=tracks)


class Clock:
    """Told of the progress: seconds of each task, those of all threads, and the peak of memory."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.of_cores: Counter[str] = Counter()
        self.gb = 0.0
        self._task, self._since = "", (perf_counter(), process_time())

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Note which task took the seconds since the last call."""
        now = perf_counter(), process_time()
        self.seconds[self._task] += now[0] - self._since[0]
        self.of_cores[self._task] += now[1] - self._since[1]
        self.gb = peak_gb()
        self._task, self._since = task, now


def measured(given: Path | int, k: int, subjects: bool) -> dict[str, Any]:
    """What alignment changes, and what it takes, in this process."""
    cut = drawn(given) if isinstance(given, int) else trajanon.read_trajectories(given)
    for few in (60, neighbours.WHOLE + 1):
        released(first_rows(cut, few), k)
    held, clock = peak_gb(), Clock()
    run = spent(released, cut, k, subjects, progress=clock)
    took, report = account(run), run.found.report
    told = {name: report[name] for name in ("n", "k", "counted", "stages", "displacement")}
    told |= {name: report["alignment"][name] for name in ("before", "slid", "runs")}
    if len(cut) <= MOST_COMPARED:
        mdav = released(cut, k, subjects, align=False, method="mdav", refine="none")
        told["of MDAV"] = mdav.report["displacement"]
    told["peak_gb before"], told["peak_gb without account"] = held, clock.gb
    return told | took | {"tasks": clock.seconds, "tasks, of a core": clock.of_cores}


def numbers(
    file: Annotated[Path | None, typer.Argument()] = None,
    sizes: list[int] = SIZES,
    k: Groups = GROUPS,
    subjects: Subjects = False,
) -> None:
    """Measure a file, or sizes, in a process of its own for each k: a line of JSON."""
    for given in sizes if file is None else [file]:
        for least in k:
            print(json.dumps(alone(measured, given, least, subjects)), flush=True)


if __name__ == "__main__":
    command_line(__doc__, numbers, runs, figure)
