"""Compare ways to publish trips: what attacks find, what tasks lose, on several data sets.

    python benchmarks/compare.py DATA --page docs/comparison.md [--only sample]

DATA holds `sf_cabs`, `osm_pbf` and `geolife_plt`; without them, the sample and the drawn commuters
remain. Methods are lines of methods.toml. Tables go between two marks of the page, and a figure of
each data set beside it.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from measures import command_line, watched

import trajanon
from trajanon.cli.audit_of_other_programs import read_any, read_originals, write_points
from trajanon.common.errors import TrajanonError
from trajanon.data import sample
from trajanon.evaluation.audit import Audit, MatchName, audit, audit_with_report, ends_of_the_scale
from trajanon.evaluation.comparison_page import figure_of
from trajanon.evaluation.holdout_and_membership import (
    Holdout,
    Lines,
    measured_halves,
    published_halves,
)
from trajanon.evaluation.intervals import Estimate
from trajanon.evaluation.recordings import Originals
from trajanon.evaluation.usefulness_for_tasks import TASKS
from trajanon.extract import extract, roads_to_follow
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.release.report_files import report_beside
from trajanon.trajectories.trajectories import Trajectories

HERE = Path(__file__).parent
BEGIN = "<!-- comparison -->\n"
END = "<!-- end -->\n"
# Boxes: west, south, east, north. The first is that of the roads of San Francisco's north.
NORTH = (-122.485, 37.7805, -122.3942, 37.811)
BEIJING = (116.15, 39.75, 116.62, 40.10)
COMMUTERS = ("200", "10")  # people and days
K = 4
MOST_SECONDS = 900  # of a core, that a method may take
MOST_TRIPS_OF_SLOW = 1_000
# Attacks with a column in the tables.
SHOWN = ("whole trip", "two points", "both ends", "next trip", "home", "end of a trip")
SHOWN += ("membership",)


class Data(NamedTuple):
    """Trips to publish, and roads if they are known."""

    title: str
    trips: Trajectories
    roads: Path | None = None


class Row(NamedTuple):
    """A method on a data set: its audit, or why there is none."""

    name: str
    audit: Audit | None
    seconds: float
    problem: str = ""


def of_sample(_: Path) -> Data:
    """Read the bundled sample."""
    return Data("The sample", whole(extract(sample(), "madrid")))


def of_commuters(_: Path) -> Data:
    """Draw commuters."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "commuters.csv"
        script = HERE.parent / "data/generator/commuters.py"
        subprocess.run([sys.executable, script, path, *COMMUTERS], check=True, capture_output=True)
        return Data("Drawn commuters", whole(extract(path, "madrid")))


def of_geolife(folder: Path) -> Data:
    """Read GeoLife, which has too few people to count them."""
    trips = whole(extract(folder / "geolife_plt", BEIJING))
    return Data("GeoLife", replace(trips, subject=None, trace=None))


def of_cabs(folder: Path) -> Data:
    """Read a day of cabs, with the roads of the city's north."""
    roads = folder / "osm_pbf/san_francisco_north.osm.pbf"
    trips = whole(extract(folder / "sf_cabs", NORTH))
    every_third = trips.take(np.arange(0, len(trips), 3))  # a whole one takes an hour of a core
    return Data("San Francisco's cabs", every_third, roads)


DATA_SETS: dict[str, Callable[[Path], Data]] = {
    "sample": of_sample,
    "commuters": of_commuters,
    "geolife": of_geolife,
    "cabs": of_cabs,
}


def whole(trips: Trajectories) -> Trajectories:
    """Return the trips with true ends."""
    return trips.take(trips.ends_are_true.all(axis=1))


def published(command: str, files: dict[str, Path | None], out: Path) -> tuple[float, str]:
    """Run a method, which writes ``out``: its seconds of a core, and why it failed, or nothing."""
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    if words[0] == "trajanon":
        words = [sys.executable, "-m", *words]

    # Files stand in place of their names in braces; one that is not known is left out.
    filled = []
    for word in words:
        name = re.fullmatch(r"\{(\w+)\}", word)
        path = files.get(name[1]) if name else word
        if path is not None:
            filled.append(str(path))

    run = watched(["prlimit", f"--cpu={MOST_SECONDS}", *filled], HERE)
    if out.exists():
        return run["cpu"], ""
    if run["cpu"] >= MOST_SECONDS:
        return run["cpu"], f"stopped at {MOST_SECONDS}"
    return run["cpu"], (run["err"].strip().splitlines() or ["it wrote nothing"])[-1]


def audited(
    name: str, originals: Originals, out: Path, roads: RoadsToFollow | None, holdout: Holdout | None
) -> Audit:
    """Audit what a method wrote, by its report, its ids, or neither."""
    report = report_beside(out)
    if report is not None:
        ours = trajanon.read_release(out)
        return audit_with_report(name, originals, ours, report, roads=roads, holdout=holdout)
    release = read_any(out, originals.trips.points.shape[1])
    ids_kept = set(release.names) & set(originals.names[0])
    match: MatchName | None = "id" if ids_kept else None
    return audit(name, originals, release, match=match, roads=roads, holdout=holdout)


def held_out(data: Data, command: str) -> Holdout:
    """Publish halves of the people, and see whether the lines show who is in them."""

    def publish(half: Trajectories, run: int) -> Lines:
        with TemporaryDirectory() as name:
            folder = Path(name)
            out = folder / "out.parquet"
            files = written(folder, half, data.roads, run)
            published(command, files | {"out": out}, out)  # if it wrote nothing, reading fails
            return Lines(read_any(out, half.points.shape[1]).points)

    return measured_halves(data.trips, published_halves(data.trips, K, publish), K)


def written(
    folder: Path, trips: Trajectories, roads: Path | None, run: int = 0
) -> dict[str, Path | None]:
    """Write what a command may read; an adversary's runs have another key."""
    trajectories = folder / "trajectories.parquet"
    table_of_points = folder / "in.parquet"
    key = folder / "key"
    trajanon.write_trajectories(trajectories, trips)
    write_points(table_of_points, trips)
    key.write_bytes(np.random.default_rng(run).bytes(32))
    key.chmod(0o600)
    return {"in": table_of_points, "trajectories": trajectories, "roads": roads, "key": key}


def of_all(data: Data, methods: dict[str, Any], *, members: bool) -> Iterator[Row]:
    """Measure methods, and those that are ``slow`` on a draw of the trips."""
    quick = {name: command for name, command in methods.items() if name != "slow"}
    slow = methods.get("slow", {})
    yield from measured(data, quick, members=members)

    n = len(data.trips)
    drawn = np.sort(np.random.default_rng(0).permutation(n)[:MOST_TRIPS_OF_SLOW])
    fewer = data._replace(trips=data.trips.take(drawn))
    suffix = f", {len(drawn):,} drawn trips" if len(drawn) < n else ""
    for row in measured(fewer, slow, members=members):
        if row.name in slow:
            yield row._replace(name=f"{row.name}{suffix}")


def measured(data: Data, methods: dict[str, str], *, members: bool) -> Iterator[Row]:
    """Publish trips by each method, and audit what it wrote."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        files = written(folder, data.trips, data.roads)
        originals = read_originals(folder / "trajectories.parquet")
        roads = None if data.roads is None else roads_to_follow(data.roads, "car")
        for end in ends_of_the_scale(originals, roads):
            yield Row(end.name, end, 0.0)

        for number, (method, command) in enumerate(methods.items()):
            out = folder / f"{number}.parquet"
            seconds, problem = published(command, files | {"out": out}, out)
            audit_of_method = None
            try:
                if not problem:
                    holdout = held_out(data, command) if members else None
                    audit_of_method = audited(method, originals, out, roads, holdout)
            except TrajanonError as error:
                problem = str(error)
            yield Row(method, audit_of_method, seconds, problem)


def cell(figure: Estimate | None) -> str:
    """Write a figure in percent with half its interval, and a dash where there is none."""
    if figure is None:
        return "–"
    half = 50.0 * (figure.high - figure.low)
    return f"{100.0 * figure.value:.0f}±{half:.0f}"


def table_of(rows: list[Row]) -> str:
    """Write protection and worth of each method side by side; without columns of dashes.

    Where a method gave nothing, the last column says why.
    """
    lines = [["", *SHOWN, *TASKS, "people", "s"]]
    for row in rows:
        # Neither protection nor worth nor people.
        if row.audit is None:
            lines.append([row.name, *["–"] * (len(lines[0]) - 2), row.problem.replace("|", "/")])
            continue
        protection = [cell(row.audit.chances[attack]) for attack in SHOWN]
        people = "–" if row.audit.fewest_people is None else f"{row.audit.fewest_people}"
        worth = [cell(row.audit.errors[task]) for task in TASKS]
        lines.append([row.name, *protection, *worth, people, f"{row.seconds:.1f}"])

    columns = [column for column in zip(*lines, strict=True) if set(column[1:]) != {"–"}]
    head, *body = zip(*columns, strict=True)
    return "".join(f"|{'|'.join(line)}|\n" for line in [head, ["---"] * len(head), *body])


def compare(
    folder: Annotated[Path, typer.Argument(help="Where the data are.")],
    page: Annotated[Path, typer.Option(help="The page to write tables into.")],
    only: Annotated[list[str] | None, typer.Option(help="Names of data sets.")] = None,
    methods: Annotated[Path, typer.Option(help="A name and a command a line.")] = HERE
    / "methods.toml",
    members: Annotated[bool, typer.Option(help="Publish 19 halves by each method.")] = False,
) -> None:
    """Compare all methods on all data sets, and write the page."""
    commands = tomllib.loads(methods.read_text("utf-8"))
    texts = [f"{date.today():%-d %B %Y}, load {os.getloadavg()[0]:.1f}.\n"]
    for name in only or DATA_SETS:
        try:
            data = DATA_SETS[name](folder)
        except TrajanonError as error:
            print(name, error)
            continue
        rows = []
        for row in of_all(data, commands, members=members):
            print(name, row.name, f"{row.seconds:.1f} s", row.problem, flush=True)
            rows.append(row)
        figure = page.with_name(f"{page.stem}-{name}.svg")
        figure.write_text(figure_of([row.audit for row in rows if row.audit is not None]))
        title = f"### {data.title}, {len(data.trips):,} trips"
        texts.append(f"{title}\n\n{table_of(rows)}\n![Errors and attacks]({figure.name})\n")
    before, marked_and_after = page.read_text("utf-8").split(BEGIN)
    _, after = marked_and_after.split(END)
    page.write_text("".join([before, BEGIN, "\n".join(texts), END, after]), "utf-8")


if __name__ == "__main__":
    command_line(__doc__, compare)
