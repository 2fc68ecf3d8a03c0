"""Measure alignment: what sliding on their tracks brings trajectories, and changes.

    python benchmarks/alignment.py numbers cabs.parquet
    python benchmarks/alignment.py runs cabs.parquet --subjects -k 4 10
    python benchmarks/alignment.py figure cabs.parquet group.png
    python benchmarks/alignment.py scale --sizes 10000 100000
    python benchmarks/alignment.py scale cabs.parquet

All take trajectories that `trajanon extract` wrote; docs/alignment.md says how those it shows were
made. Without a file, `scale` draws tracks along corridors; it measures each size in a process of
its own. The figure needs matplotlib. Trajectories are counted, not subjects, unless --subjects is
given. Everything is compiled before the clock starts.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from corridors import POINTS, SPACING, corridors

import trajanon
from trajanon import neighbours
from trajanon.align.account import account, near_lines, step_lengths
from trajanon.align.alignment import align
from trajanon.arrays import Floats, Ints
from trajanon.files.release_lines import DIGITS
from trajanon.loss import group_means
from trajanon.partition import Partition
from trajanon.privacy.originals import matched
from trajanon.progress import Progress, silent
from trajanon.settings import EFFORTS
from trajanon.suppression import TrajectoryGroups
from trajanon.tracks import STEPS, Tracks
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement, moved_to
from trajanon.utility.displacements import from_runs
from trajanon.utility.grid import busyness, cells, density_divergence, shares
from trajanon.utility.shape import lengths
from trajanon.utility.usefulness import DENSITY_CELL, FLOW_CELL

KS = (3, 4, 5, 10)
SEED = 1
SEEDS = (0, 1, 2)
SIZES = (10_000, 100_000, 1_000_000)

_SHARES = (0.6, 0.3, 0.1)  # of runs with one window, two, three
_FREE = 0.3  # of a window's length, for each window of a run
_AT_ONCE = 20_000  # runs that are drawn together


def moved(trajectories: trajanon.Trajectories, partition: trajanon.Partition) -> Floats:
    """How far each point is from its group's line, metres, (n, m)."""
    points = trajectories.points
    return moved_to(points, partition.lines(points), partition.labels)


def aligned(
    cut: Trajectories, k: int, subjects: Ints | None, progress: Progress = silent
) -> tuple[Partition, Trajectories, Partition, float, float]:
    """Groups, windows as slid and their groups, and the seconds of both searches."""
    start = perf_counter()
    groups = trajanon.microaggregate(cut.records, k, subjects=subjects, seed=SEED)
    between = perf_counter()
    slid, others = align(
        cut,
        groups,
        k,
        subjects=subjects,
        regroup=True,
        moves_per_record=EFFORTS["balanced"].moves_per_record,
        seed=SEED,
        progress=progress,
    )
    return groups, slid, others, between - start, perf_counter() - between


def numbers(cut: Trajectories, subjects: Ints | None) -> None:
    """Print a row for each k."""
    tracks = cut.tracks
    assert tracks is not None
    spacing = STEPS * float(np.median(step_lengths(tracks)))
    print(
        "k | MDAV: mean, median m | IL % | mean m | median m | seconds "
        "| tracks near the release | slid"
    )
    for k in KS:
        mdav = trajanon.microaggregate(
            cut.records, k, subjects=subjects, method="mdav", refine="none"
        )
        far = moved(cut, mdav)
        groups, slid, others, took, more = aligned(cut, k, subjects)
        was, now = moved(cut, groups), moved(slid, others)
        assert slid.tracks is not None
        share = float((slid.tracks.start != tracks.start).mean())
        lines = (some.lines(cut.points) for some in (groups, others))
        near = [near_lines(tracks, some, spacing) for some in lines]
        print(
            k,
            f"{far.mean():.0f}, {np.median(far):.0f}",
            f"{groups.information_loss:.3f} -> {others.information_loss:.3f}",
            f"{was.mean():.1f} -> {now.mean():.1f}",
            f"{np.median(was):.1f} -> {np.median(now):.1f}",
            f"{took:.1f} + {more:.1f}",
            f"{near[0]:.1%} -> {near[1]:.1%}",
            f"{share:.0%}",
            sep=" | ",
            flush=True,
        )


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
    """Share of the points in cells that get more than twice their share of the runs."""
    before, after = shares(runs, points, DENSITY_CELL)
    return float(after[after > 2.0 * before].sum())


def against_runs(cut: Trajectories, k: int, count: str, slide: bool, seed: int) -> dict[str, float]:
    """What a release leaves of the whole runs that windows were cut from.

    With seven decimals: with fewer, the steps of rounding would hide what sliding does.
    """
    tracks = cut.tracks
    assert tracks is not None
    release = trajanon.anonymize(cut, k, count=count, align=slide, seed=seed, digits=7)
    found = matched(cut, release.trajectories.points, release.report)
    lines, runs = found.lines[found.labels], tracks.points
    windows, weights = every_window(tracks, cut.points.shape[1])
    away = from_runs(tracks, found.lines, found.labels)
    length = np.average(lengths(windows), weights=weights)
    return {
        "as slid, m": displacement(found.slid.points, lines).mean(),
        "as cut, m": displacement(cut.points, lines).mean(),
        "from runs, mean m": away.mean(),
        "median m": float(np.median(away)),
        "density, bits": density_divergence(runs, lines, DENSITY_CELL),
        "flows kept, %": 100.0 * flows_kept(windows, weights, lines),
        "length, %": 100.0 * (lengths(lines).mean() / length - 1.0),
        "piled, %": 100.0 * piled(runs, lines),
        "windows: density, bits": density_divergence(runs, found.slid.points, DENSITY_CELL),
        "windows: busyness": busyness(runs, found.slid.points, DENSITY_CELL),
        "windows: piled, %": 100.0 * piled(runs, found.slid.points),
    }


def runs(cut: Trajectories, count: str, ks: list[int]) -> None:
    """Print what releases leave of the whole runs: mean and half the range of seeds."""
    for k in ks:
        for slide in (True, False):
            found = [against_runs(cut, k, count, slide, seed) for seed in SEEDS]
            print(f"k = {k}, {'aligned' if slide else 'not aligned'}")
            for name in found[0]:
                values = np.array([one[name] for one in found])
                print(f"  {name}: {values.mean():.4g} (+- {np.ptp(values) / 2:.2g})")
            sys.stdout.flush()


def figure(cut: Trajectories, out: Path) -> None:
    """Draw one group, member by member: as cut above, as slid below."""
    from matplotlib import pyplot

    _, slid, groups, *_ = aligned(cut, 4, None)
    tracks = cut.tracks
    assert tracks is not None
    means = group_means(cut.records, groups.labels)[groups.labels]
    was = displacement(cut.points, means.reshape(cut.points.shape)).mean(axis=1)
    now = moved(slid, groups).mean(axis=1)
    average = np.array([np.bincount(groups.labels, w) / groups.sizes for w in (was, now)])
    # The group of four that is most like all of them.
    unlike = np.abs(average / np.array([[was.mean()], [now.mean()]]) - 1.0).max(axis=0)
    unlike[groups.sizes != 4] = np.inf
    group = int(np.argmin(unlike))
    members = np.flatnonzero(groups.labels == group)
    runs = [tracks.points[tracks.first[run] : tracks.first[run + 1]] for run in tracks.run[members]]
    around = np.concatenate([cut.points[members], slid.points[members]]).reshape(-1, 2)
    low, high = around.min(axis=0) - 0.002, around.max(axis=0) + 0.002
    near = np.all((tracks.points > low) & (tracks.points < high), axis=1)
    streets = tracks.points[near]
    plot, axes = pyplot.subplots(2, 4, figsize=(12, 6.6), layout="constrained")
    for row, (windows, name) in enumerate(((cut, "as cut"), (slid, "as slid"))):
        centroid = windows.points[members].mean(axis=0)
        away = displacement(windows.points[members], centroid[None]).mean(axis=1)
        for place, member in enumerate(members):
            axis = axes[row, place]
            axis.plot(*streets[:, ::-1].T, ".", ms=1, color="0.8", alpha=0.3, zorder=0)
            axis.plot(*runs[place][:, ::-1].T, color="0.6", lw=1, label="its run")
            line = windows.points[member]
            axis.plot(*line[:, ::-1].T, color="#0072b2", lw=2.2, label="trajectory")
            axis.plot(*line[0, ::-1], "o", color="#0072b2", ms=5)
            axis.plot(*centroid[:, ::-1].T, color="#d55e00", lw=2.2, label="released")
            axis.plot(*centroid[0, ::-1], "o", color="#d55e00", ms=5)
            axis.set_title(f"{name}: moved by {away[place]:.0f} m", fontsize=10)
            axis.set_xlim(low[1], high[1])
            axis.set_ylim(low[0], high[0])
            axis.set_aspect(1 / np.cos(np.radians(low[0])))
            axis.set_xticks([])
            axis.set_yticks([])
    plot.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    plot.savefig(out, dpi=110)
    print(f"group {group}: {average[0, group]:.0f} -> {average[1, group]:.0f} m")


def drawn(n: int) -> Trajectories:
    """So many windows on runs along corridors, cut from where each run begins."""
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
        ways = corridors(some, run, int(sizes[run]), SPACING / STEPS)
        points[first[run] : first[run + some]] = ways.reshape(-1, 2)
        run += some
    rank = np.arange(n) - np.repeat(np.cumsum(windows) - windows, windows)
    tracks = Tracks(points, first, np.repeat(np.arange(len(windows)), windows), rank * window)
    return Trajectories(tracks.windows(POINTS), tracks=tracks)


class Clock:
    """Told of the progress: the seconds of each task, and those of all threads."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.of_cores: Counter[str] = Counter()
        self._task, self._since = "", (perf_counter(), process_time())

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Note whose the seconds since the last call were."""
        now = perf_counter(), process_time()
        self.seconds[self._task] += now[0] - self._since[0]
        self.of_cores[self._task] += now[1] - self._since[1]
        self._task, self._since = task, now


def peak() -> float:
    """Gigabytes that this process held at most."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 3)


def measured(cut: Trajectories, k: int) -> dict[str, Any]:
    """Groups and alignment of a table, measured in this process."""
    few = np.arange(min(len(cut), 60))
    assert cut.tracks is not None
    for many in (few, np.arange(min(len(cut), neighbours.WHOLE + 1))):
        aligned(Trajectories(cut.points[many], tracks=cut.tracks.take(many)), k, None)
    held, load = peak(), os.getloadavg()[0]
    clock, busy = Clock(), process_time()
    groups, slid, others, took, more = aligned(cut, k, None, clock)
    clock("", 0, None)
    busy, between = process_time() - busy, perf_counter()
    at_most = peak()
    account(TrajectoryGroups(cut, groups, DIGITS), TrajectoryGroups(slid, others, DIGITS))
    was, now = moved(cut, groups), moved(slid, others)
    return {
        "n": len(cut),
        "k": k,
        "seconds of groups": round(took, 2),
        "seconds of alignment": round(more, 2),
        "seconds of account": round(perf_counter() - between, 2),
        "seconds of a core": round(busy, 2),
        "tasks": {task: round(spent, 2) for task, spent in clock.seconds.items()},
        "tasks, of a core": {task: round(spent, 2) for task, spent in clock.of_cores.items()},
        "gb before": held,
        "gb": at_most,
        "gb with account": peak(),
        "information loss": [groups.information_loss, others.information_loss],
        "mean": [round(float(m.mean()), 3) for m in (was, now)],
        "median": [round(float(np.median(m)), 3) for m in (was, now)],
        "load": [round(load, 2), round(os.getloadavg()[0], 2)],
        "cores": os.cpu_count(),
    }


def scale(tracks: Path | None, sizes: list[int]) -> None:
    """Measure each size, or a file, in a process of its own: a line of JSON."""
    for given in sizes if tracks is None else [tracks]:
        command = [sys.executable, __file__, "one", str(given)]
        subprocess.run(command, check=True)


def main() -> None:
    """Run the measurement asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["numbers", "runs", "figure", "scale", "one"])
    parser.add_argument("trajectories", nargs="?")
    parser.add_argument("out", type=Path, nargs="?", default=Path("group.png"))
    parser.add_argument("--subjects", action="store_true")
    parser.add_argument("-k", type=int, nargs="+", default=[4])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    asked = parser.parse_args()
    if asked.what == "scale":
        scale(asked.trajectories, asked.sizes)
        return
    if asked.trajectories is None:
        parser.error("name a file of trajectories")
    if asked.what == "one":
        given = asked.trajectories
        cut = drawn(int(given)) if given.isdigit() else trajanon.read_trajectories(given)
        print(json.dumps(measured(cut, 5)), flush=True)
        return
    cut = trajanon.read_trajectories(asked.trajectories)
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores; n = {len(cut)}")
    few = np.arange(min(len(cut), 60))
    assert cut.tracks is not None
    some = Trajectories(cut.points[few], tracks=cut.tracks.take(few))
    aligned(some, 3, None)
    if asked.what == "runs":
        runs(cut, "subjects" if asked.subjects else "records", asked.k)
    elif asked.what == "figure":
        figure(cut, asked.out)
    else:
        numbers(cut, cut.subject if asked.subjects else None)


if __name__ == "__main__":
    main()
