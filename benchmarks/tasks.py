"""Measure what each way to publish trips is good for, beside what attacks find in it.

    python benchmarks/tasks.py DATA --page docs/usefulness.md

DATA holds `sf_cabs` (a day of cabs), `osm_pbf` (roads of San Francisco's north) and `geolife_plt`.
The first city's table goes between two marks of the page, and a figure beside it; the others
are printed. Errors are shares of what the originals give. What cannot be computed at all counts
as wrong by 100 % in their mean.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pandas as pd
import typer
from measures import command_line
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree
from scipy.stats import wasserstein_distance
from synthesiser import along, synthesised

import trajanon
from trajanon.common.arrays import Floats, Ints
from trajanon.data import sample
from trajanon.evaluation.attacks.attack import Published, published
from trajanon.evaluation.attacks.known_tracks import Movement, Noise
from trajanon.evaluation.attacks.linkage import attacks
from trajanon.evaluation.attacks.verification import verification
from trajanon.evaluation.evaluation import ROUNDED
from trajanon.evaluation.usefulness import flow_similarity, flows
from trajanon.extract import extract, roads_to_follow
from trajanon.grouping.loss import group_means
from trajanon.release.originals import matched
from trajanon.release.perturbation import (
    GroupWidths,
    PublicWidths,
    displacement_covariance,
    group_widths,
    largest_shares,
)
from trajanon.release.report import checked
from trajanon.release.snapping import RoadsToFollow, traced
from trajanon.street_counts.released_lines import ReleasedLines
from trajanon.street_counts.streets import count_on_streets
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.geodesy import cells
from trajanon.trajectories.times import Clock
from trajanon.trajectories.trajectories import Trajectories

KEY = bytes(range(32))
HOURS: dict[str, Any] = {"times": "of-day"}
MDAV: dict[str, Any] = {"method": "mdav", "refine": "none", "plain": True}
NORTH = (-122.485, 37.7805, -122.3942, 37.811)  # of the roads of San Francisco's north
BEIJING = (116.15, 39.75, 116.62, 40.10)
BUSIEST = 1_000  # streets compared; cells without roads, and metres
PLACES = 100
CELL = 500.0
TASKS = ("length", "volumes", "speeds", "OD 1 km", "OD 2 km", "hours")
ATTACKS = {
    "whole trip": "nearest record",
    "two points": "2 known",
    "both ends": "both ends",
    "next trip": "next trip",
}
"""What the adversary knows, and how the names of these attacks begin."""
BEGIN = "<!-- tasks -->\n"
END = "<!-- end -->\n"


class Way(NamedTuple):
    """What a way to publish is worth: errors of tasks, and chances of adversaries, as shares."""

    name: str
    errors: list[float | None]
    found: list[float | None]  # by each attack; the last is the share of lines verified

    @property
    def mean_error(self) -> float:
        """Mean of five tasks, of which trips from cell to cell are one."""
        length, volumes, speeds, *od, hours = (1.0 if one is None else one for one in self.errors)
        return float(np.mean([length, volumes, speeds, np.mean(od), hours]))

    @property
    def best_attack(self) -> float:
        """Chance of the best adversary who picks a row."""
        return max((one or 0.0 for one in self.found[:-1]), default=0.0)


def cities(folder: Path) -> Iterator[tuple[str, Trajectories, RoadsToFollow | None]]:
    """Read trips, from true starts to true ends, and roads."""
    roads = roads_to_follow(folder / "osm_pbf/san_francisco_north.osm.pbf", "car")
    yield "San Francisco's cabs", whole(extract(folder / "sf_cabs", NORTH)), roads
    geolife = whole(extract(folder / "geolife_plt", BEIJING))  # of too few people to count
    yield "GeoLife", replace(geolife, subject=None, trace=None), None
    yield "the sample", whole(extract(sample(), "madrid")), None


def whole(trips: Trajectories) -> Trajectories:
    """Return the trips with true ends."""
    return trips.take(np.flatnonzero(trips.known_ends.all(axis=1)))


def ways(originals: Trajectories, roads: RoadsToFollow | None) -> Iterator[Way]:
    """Publish trips in each way, and measure it."""
    seen, clock = release(originals, 4, **HOURS)
    assert clock is not None
    assert originals.times is not None
    assert seen.line_times is not None
    seconds = clock.of(originals.times)
    before = ReleasedLines(originals.points, np.ones(len(originals), np.int64), seconds)

    places = in_cells if roads is None else cache(partial(on_streets, roads=roads))

    def attacked(name: str, seen: Published, clock: Clock | None) -> Way:
        lines = ReleasedLines(seen.lines, seen.rows, seen.line_times, clock)
        return Way(name, errors(before, lines, places, clock), found_by(seen))

    yield Way("originals", [0.0] * len(TASKS), found_by(seen.originals))
    for k in (4, 10):
        made = release(originals, k, **MDAV, **HOURS)
        yield attacked(f"MDAV, k = {k}, hours", *made)
        yield attacked(f"trips, k = {k}", *release(originals, k))
        yield attacked(f"trips, k = {k}, hours", *release(originals, k, **HOURS))
        if roads is not None:
            laid = release(originals, k, roads=roads, **HOURS)
            yield attacked(f"trips, k = {k}, hours, on roads", *laid)
    departure = seen.line_times[:, 0]
    duration = np.ptp(seen.line_times, axis=1)
    routed = shortest(seen.lines[:, [0, -1]], roads, seen.lines.shape[1])
    when = evenly(departure, duration, seen.lines.shape[1])
    yield attacked(
        "shortest ways, k = 4, hours", replace(seen, lines=routed, line_times=when), clock
    )
    for epsilon in (1.0, 4.0):
        new = synthesised(originals.points, seconds, epsilon)
        when = evenly(new.departure, new.duration, seconds.shape[1])
        lines = ReleasedLines(new.points, before.trips, when, clock)
        wrong = errors(before, lines, places, clock)
        yield Way(f"synthesiser, ε = {epsilon:g}", wrong, [None] * (len(ATTACKS) + 1))


def release(
    originals: Trajectories, k: int, plain: bool = False, **options: Any
) -> tuple[Published, Clock | None]:
    """Publish lines: what an adversary sees of them, and what their times count from."""
    with patch("trajanon.release.plan.holders_key", lambda _: None if plain else KEY):
        made = trajanon.anonymize(originals, k, **options)
    report = checked(made.report)
    kept = report.released_of(originals)
    seen = published(matched(kept, made.trajectories, report), report)
    return seen, report.clock


def found_by(seen: Published) -> list[float | None]:
    """Chances of the best adversary of each kind, as `trajanon evaluate` tries them."""
    own = seen.against == "originals"
    tried = attacks(seen)
    best: list[float | None] = [
        max((one.expected for one in tried if one.name.startswith(name)), default=None)
        for name in ATTACKS.values()
    ]
    if own:  # a whole trip is found among whole trips, and by its own points
        return [1.0, 1.0, *best[2:], None]
    means = group_means(seen.points.reshape(len(seen.points), -1), seen.labels)
    widths = group_widths(seen.points, means.reshape(seen.lines.shape), seen.labels)
    width = PublicWidths.of(GroupWidths(widths)).places
    m = seen.points.shape[1]
    noise = Noise(displacement_covariance(m, width, 1.0), ROUNDED)
    shares = largest_shares(seen.labels, seen.subjects)
    together = verification(seen, Movement(noise, shares, people=seen.subjects))
    return [*best, None if together is None else together.verified.value]


def evenly(departure: Floats, duration: Floats, many: int) -> Floats:
    """Times of lines of an even pace, (n, many)."""
    return departure[:, None] + duration[:, None] * np.linspace(0.0, 1.0, many)


def shortest(ends: Floats, roads: RoadsToFollow | None, many: int) -> Floats:
    """Points at equal shares of the shortest ways between ends, (n, 2, 2), by roads or straight."""
    found = np.array([along(pair, many) for pair in ends])
    if roads is None:
        return found
    net = roads.network
    scale = np.array([1.0, np.cos(np.radians(ends[0, 0, 0]))])
    there, back = net.open[net.street].T
    begin = np.append(net.tail[there], net.head[back])
    end = np.append(net.head[there], net.tail[back])
    metres = np.append(net.length[there], net.length[back])
    v = len(net.lat)
    graph = csr_array((metres, (begin, end)), shape=(v, v))
    at = np.stack([net.lat, net.lon], axis=1) * scale
    for line, (start, goal) in zip(found, cKDTree(at).query(ends * scale)[1], strict=True):
        before = dijkstra(graph, indices=start, return_predecessors=True)[1]
        way = [goal]
        while before[way[-1]] >= 0:
            way.append(before[way[-1]])
        if way[-1] == start != goal:
            line[:] = along(at[way[::-1]], many) / scale
    return found


def errors(
    before: ReleasedLines,
    after: ReleasedLines,
    places: Callable[[ReleasedLines], tuple[pd.DataFrame, Floats]],
    clock: Clock | None = None,
) -> list[float | None]:
    """Errors of each task, as shares of what the originals give."""
    (here, long), (there, long_after) = (places(one) for one in (before, after))
    wrong = wasserstein_distance(long, long_after, before.trips, after.trips) / long.mean()
    here = here.nlargest(PLACES if places is in_cells else BUSIEST, "trips")
    off = (there.reindex(here.index) / here - 1.0).abs()
    trips, trips_after = (np.repeat(one.points, one.trips, axis=0) for one in (before, after))
    od = [1.0 - flow_similarity(flows(trips, m), flows(trips_after, m)) for m in (1_000.0, 2_000.0)]
    speeds = starts = None
    if clock is not None and after.times is not None:
        speeds = float(off.speed[here.speed.notna()].fillna(1.0).median())
        starts = 1.0 - flow_similarity(*(departures(one, clock) for one in (before, after)))
    return [float(wrong), float(off.trips.fillna(1.0).median()), speeds, *od, starts]


def on_streets(lines: ReleasedLines, roads: RoadsToFollow) -> tuple[pd.DataFrame, Floats]:
    """Trips and their speed on each street in each direction; metres of each line on streets."""
    counts = count_on_streets(lines, roads.network)
    ways = traced(lines.points, roads.network)
    table = counts.table.set_index("state").reindex(columns=["trips", "speed"]).astype(float)
    return table, np.bincount(ways.line, ways.metres, len(lines.points))


def in_cells(lines: ReleasedLines) -> tuple[pd.DataFrame, Floats]:
    """Trips and their speed in each cell (by whole lines if by a clock); metres of each line."""
    metres = displacement(lines.points[:, :-1], lines.points[:, 1:])
    trips = np.repeat(lines.trips, metres.shape[1])
    hops = pd.DataFrame({"cell": cells(lines.points[:, :-1], CELL).ravel(), "trips": trips})
    hops["line"] = np.repeat(np.arange(len(metres)), metres.shape[1])
    once = hops.drop_duplicates(["cell", "line"]).groupby("cell").trips.sum().astype(float)
    speed: Any = np.nan
    if lines.times is not None:
        seconds = np.diff(lines.times, axis=1)
        if lines.clock is not None:
            pace = seconds.sum(axis=1) / np.maximum(metres.sum(axis=1), 1e-9)
            seconds = metres * pace[:, None]
        hops["metres"] = metres.ravel() * trips
        hops["seconds"] = seconds.ravel() * trips
        sums = hops.groupby("cell")[["metres", "seconds"]].sum()
        speed = sums.metres / sums.seconds.where(sums.seconds > 0.0)
    return pd.DataFrame({"trips": once, "speed": speed}), metres.sum(axis=1)


def departures(lines: ReleasedLines, clock: Clock) -> Ints:
    """Number the cell of 1 km, and the hour, where each trip begins, (n, 2)."""
    assert lines.times is not None
    starts = np.column_stack([cells(lines.points[:, 0], 1_000.0), clock.hour(lines.times[:, 0])])
    return np.repeat(starts, lines.trips, axis=0)


def percents(values: list[float | None]) -> list[str]:
    """Shares in percent, and a dash where there is none."""
    return ["–" if one is None else f"{100.0 * one:.0f}" for one in values]


def table_of(city: str, found: list[Way]) -> str:
    """Format the ways of one city."""
    rows = [["", *TASKS, "mean", *ATTACKS, "verified"]]
    rows += [[way.name, *percents([*way.errors, way.mean_error, *way.found])] for way in found]
    return f"{city}:\n\n{markdown(rows)}"


def markdown(rows: list[list[str]]) -> str:
    """Write a table of Markdown."""
    head, *others = (f"| {' | '.join(row)} |\n" for row in rows)
    return "".join([head, f"|{'---|' * len(rows[0])}\n", *others])


def picture(png: Path, some: list[Way]) -> None:
    """Draw errors against attacks."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    shown = [way for way in some[1:] if not way.name.endswith("on roads")]
    for way in shown:
        at = 100.0 * way.best_attack, 100.0 * way.mean_error
        axes.plot(*at, "o" if way.name.startswith("trips") else "s")
        where = {"xytext": (0, 7), "ha": "center"} if way.name[0] == "M" else {"xytext": (6, 3)}
        axes.annotate(way.name, at, textcoords="offset points", fontsize=8, **where)
    axes.set(xlabel="best attack that picks a row, %", ylabel="mean error of five tasks, %")
    axes.set(xlim=(-1, 32), ylim=(0, 55))
    figure.savefig(png, dpi=100)


def tasks(
    folder: Annotated[Path, typer.Argument(help="Where the data are.")],
    page: Annotated[Path, typer.Option(help="The page to write tables into.")],
) -> None:
    """Measure all ways to publish, of each city."""
    found: dict[str, list[Way]] = {}
    for city, originals, roads in cities(folder):
        name = f"{city}, {len(originals):,} trips"
        found[name] = []
        for way in ways(originals, roads):
            print(name, way.name, *percents([*way.errors, way.mean_error, *way.found]), flush=True)
            found[name].append(way)
    command = f"`python benchmarks/tasks.py DATA --page {page}`"
    city, first = next(iter(found.items()))
    text = f"{date.today():%-d %B %Y}, {command}.\n{table_of(city, first)}"
    before, after = page.read_text("utf-8").split(BEGIN)
    page.write_text(f"{before}{BEGIN}{text}{END}{after.split(END)[1]}", "utf-8")
    picture(page.with_suffix(".png"), first)


if __name__ == "__main__":
    command_line(__doc__, tasks)
