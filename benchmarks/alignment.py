"""Measure alignment: what sliding on their tracks brings windows.

    python benchmarks/alignment.py numbers windows.parquet -k 4 -k 10
    python benchmarks/alignment.py figure windows.parquet --out group.png

Both take windows that `trajanon extract` wrote, and count trajectories, not subjects. The figure
needs matplotlib.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from measures import command_line, first_rows, row, say_machine

import trajanon
from trajanon.files.report import checked, released_of
from trajanon.loss import group_means
from trajanon.privacy.originals import matched
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement


def read(file: Path) -> Trajectories:
    """Read trajectories without their subjects, and compile everything on a few of them."""
    cut = replace(trajanon.read_trajectories(file), subject=None)
    say_machine()
    trajanon.anonymize(first_rows(cut, 60), 3)
    return cut


def numbers(file: Path, k: Annotated[list[int], typer.Option("-k")]) -> None:
    """Print mean and median metres by MDAV, by the search alone, and with sliding."""
    cut = read(file)
    row("k", "MDAV", "search", "with sliding", "windows that slid")
    for least in k:
        mdav = trajanon.anonymize(cut, least, align=False, method="mdav", refine="none").report
        report = trajanon.anonymize(cut, least, seed=1).report
        found = report["alignment"]
        ways = (mdav["displacement"], found["before"]["displacement"], report["displacement"])
        metres = (f"{way['mean']:.1f}, {way['median']:.1f}" for way in ways)
        row(least, *metres, f"{found['slid']['share']:.0%}")


def figure(file: Path, out: Path = Path("group.png")) -> None:
    """Draw one group, member by member: where windows were first cut above, as they slid below."""
    from matplotlib import pyplot

    cut = read(file)
    tracks = cut.tracks
    assert tracks is not None
    release = trajanon.anonymize(cut, 4, seed=1)
    report = checked(release.report)
    cut = released_of(cut, report)
    found = matched(cut, release.trajectories, report)
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
    for number, name in enumerate(("first cut", "after sliding")):
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


if __name__ == "__main__":
    command_line(__doc__, numbers, figure)
