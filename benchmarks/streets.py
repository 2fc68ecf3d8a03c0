"""Measure what counts of people on streets are worth, against the originals matched alike.

    python benchmarks/streets.py cabs.parquet san_francisco_north.osm.pbf --png streets.png

Trips that begin and end inside the box of the roads; k = 4; streets of cars.
"""

from pathlib import Path

import numpy as np
from measures import command_line, row, say_machine, spent

import trajanon
from trajanon.extract import extract, roads_to_follow
from trajanon.snapping import RoadsToFollow
from trajanon.street_counts import (
    ReleasedLines,
    StreetCounts,
    count_on_streets,
    different_lines,
    street_kinds,
    street_table,
)
from trajanon.utility.volumes import BUSIEST_STREETS, MANY, StreetUsefulness, street_usefulness

BOX = (-122.485, 37.7805, -122.3942, 37.811)
KEY = bytes(range(32))
KINDS = ("motorway", "trunk", "primary", "secondary", "tertiary", "residential")
MANY_LINES = 20_000


def streets(traces: Path, pbf: Path, png: Path | None = None, k: int = 4) -> None:
    """Print order and errors of volumes, speeds and kilometres, for each way to publish."""
    roads = roads_to_follow(pbf, "car")
    cut = extract(traces, BOX)
    trips = cut.take(np.flatnonzero(cut.known_ends.all(axis=1)))
    one_each = np.ones(len(trips), np.int64)
    original = ReleasedLines(trips.points, one_each, trips.times)
    before = count_on_streets(original, roads.network)
    print(f"{len(trips):,} trips, {(before.people >= k).sum():,} streets of {k} or more")
    made = {
        "release": trajanon.anonymize(trips, k, key=KEY),
        "with hours": trajanon.anonymize(trips, k, key=KEY, times="of-day"),
        "hours, steps of 1 min": trajanon.anonymize(
            trips, k, key=KEY, times="of-day", time_step=60
        ),
        "plain means": trajanon.anonymize(trips, k, exact_means=True),
    }
    lines = {name: different_lines(one.trajectories) for name, one in made.items()}
    for name in ("release", "with hours"):  # and the shortest way between released ends
        one = lines[name]
        ends = np.ascontiguousarray(one.points[:, [0, -1]])
        lines[f"{name}, ends alone"] = ReleasedLines(ends, one.people)
    row("", "Spearman", f"Kendall of {BUSIEST_STREETS}", "their error", "kilometres, right street")
    found: dict[str, StreetUsefulness] = {}
    for name, some in lines.items():
        after = count_on_streets(some, roads.network)
        found[name] = compared(before, after, roads)
        one = found[name]
        row(
            name,
            f"{one.order:.3f}",
            f"{one.busiest_order:.3f}",
            f"{one.busiest_error:.1%}",
            f"{sum_of(after, roads) / sum_of(before, roads):.1%}, {one.on_right_street:.1%}",
        )
        if png is not None and name == "release":
            picture(png, {"Originals": before, "Release, k = 4": after}, roads)
    row("median error, people on a street", *found["release"].error)
    row("kilometres of each kind", *KINDS)
    for name, one in found.items():
        row(f"error, {name}", *(f"{error:.0%}" for error in one.error.values()))
        row(f"kilometres, {name}", *(f"{one.kilometres[kind]:.2f}" for kind in KINDS))
        if one.speed_error is not None:
            near = f"{one.speeds_near:.0%} of them within 15 %"
            row(f"speeds, {name}", f"{MANY} people: {one.speed_error:.1%} in the median", near)
    many = original.points[np.arange(MANY_LINES) % len(trips)]
    run = spent(count_on_streets, ReleasedLines(many, np.ones(MANY_LINES, np.int64)), roads.network)
    print(f"{MANY_LINES:,} lines: {run.seconds:.1f} s, {run.cpu_seconds:.1f} s of processor")
    say_machine()


def sum_of(counts: StreetCounts, roads: RoadsToFollow) -> float:
    """Metres of all people."""
    return float((counts.people * np.repeat(roads.network.whole, 2)).sum())


def compared(before: StreetCounts, after: StreetCounts, roads: RoadsToFollow) -> StreetUsefulness:
    """Compare counts with those of the originals."""
    length, kind = (np.repeat(one, 2) for one in (roads.network.whole, street_kinds(roads)))
    speeds = None if after.speed is None else (before.speed, after.speed)
    return street_usefulness(before.people, after.people, length, kind, speeds)


def picture(png: Path, shown: dict[str, StreetCounts], roads: RoadsToFollow) -> None:
    """Draw streets by volume, one map above the other."""
    from matplotlib import pyplot
    from matplotlib.collections import LineCollection

    most = max(counts.people.max() for counts in shown.values())
    figure, axes = pyplot.subplots(len(shown), figsize=(10, 10), layout="constrained")
    for axis, (title, counts) in zip(axes, shown.items(), strict=True):
        table = street_table(counts, roads, np.argsort(counts.people))
        shapes = [np.array(line.coords) for line in table.geometry]
        share = np.sqrt(table.people.to_numpy() / most)
        drawn = LineCollection(shapes, linewidths=0.2 + 5 * share, array=share, cmap="YlOrRd")
        axis.add_collection(drawn)
        axis.set(title=title, xlim=BOX[::2], ylim=BOX[1::2], aspect=1 / np.cos(np.radians(37.8)))
        axis.set_axis_off()
    figure.savefig(png, dpi=100)


if __name__ == "__main__":
    command_line(__doc__, streets)
