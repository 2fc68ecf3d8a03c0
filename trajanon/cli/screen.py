"""What people see while a command works, and when it is done."""

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from types import TracebackType
from typing import Any, Self

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from trajanon.benchmark.measurement import Measurement
from trajanon.errors import printable
from trajanon.subjects import Merged
from trajanon.words import number_of, percent

_NAME = 80
"""Characters of a name on the screen."""


class Console(rich.console.Console):
    """A terminal that no name in a file can steer."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as ever, but for control characters."""
        for text, style, control in super().render(renderable, options):
            if not control:
                text = "\n".join(map(printable, text.split("\n")))
            yield Segment(text, style, control)


class Bars:
    """Progress bars on standard error; nothing where that is no terminal."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Move the bar of a task; a `trajanon.progress.Progress`."""
        if task not in self._tasks:
            shown = printable(task, _NAME)
            self._tasks[task] = self._bars.add_task(shown, total=total, note="")
        self._bars.update(self._tasks[task], completed=done, total=total, note=note)


def show_json(result: Mapping[str, Any]) -> None:
    """Print a result for a script, on standard output."""
    print(json.dumps(dict(result), indent=1))  # noqa: T201


def without_lists(report: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a report what has an entry for each trajectory or group."""
    short = {}
    for name, value in report.items():
        if isinstance(value, Mapping):
            short[name] = without_lists(value)
        elif name == "stages" or not isinstance(value, list):
            short[name] = value
    return short


_ALWAYS = (
    "points read",
    "points near the ends of a trace",
    "points near hidden places",
    "trajectories",
)
"""Steps that are worth a row even if they dropped nothing."""

_HEADERS = 5
"""Kinds of tables whose columns are listed."""


def show_extraction(provenance: Mapping[str, Any]) -> None:
    """Print what extraction read, dropped and kept, and what to know of it."""
    counts = provenance["counts"]
    table = Table("Step", title="What became of the points", title_justify="left")
    table.add_column("Count", justify="right")
    for step, count in counts.items():
        if count or step in _ALWAYS:
            table.add_row(step, f"{count:,}", style="bold" * (step == "trajectories"))
    console = Console()
    console.print(table)
    notes = _columns(provenance["columns"])
    if unknown := counts.get("recordings of unknown subjects"):
        recordings = number_of(unknown, "recording names", "recordings name")
        notes.append(f"{recordings} no subject: each counts as its own.")
    if merged := Merged.told_by(provenance).told():
        notes.append(merged)
    if counts.get("points near hidden places") == 0:
        notes.append(
            "No point lies near a hidden place: look whether the file of --pbf holds "
            "the area of the traces."
        )
    if provenance["fill"] >= 0.005:
        notes.append(
            f"{provenance['fill']:.0%} of the points lie farther than "
            f"{provenance['spacing']:g} m from both fixes around them, on straight "
            "lines: --max-fill leaves out trajectories with many."
        )
    if provenance["attribution"]:
        notes.append(provenance["attribution"])
    for note in notes:
        console.print(Text(note), soft_wrap=True)


def _columns(tables: Mapping[str, int]) -> list[str]:
    """Say how the columns of tables were used, those of most tables first."""
    most = sorted(tables.items(), key=lambda use: -use[1])
    notes = [
        f"Columns{f' of {count:,} tables' * (count > 1)}: {use}." for use, count in most[:_HEADERS]
    ]
    if len(most) > _HEADERS:
        more = sum(count for _, count in most[_HEADERS:])
        notes.append(f"{more:,} more tables have other columns: --json lists them.")
    return notes


def show_release(report: Mapping[str, Any]) -> None:
    """Print what a release lost, and how its groups are."""
    # A release in parts tells how many groups there are of each size.
    sizes = report.get("sizes") or list(map(int, report["groups_of_size"]))
    counted = "subjects" if report["counted"] == "subjects" else "trajectories"
    table = Table(title="The release", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("Trajectories", f"{report['n']:,}")
    table.add_row("Groups", f"{report['groups']:,}")
    if report["lines"] < report["groups"]:
        table.add_row("(as different lines)", f"{report['lines']:,}")
    table.add_row("Decimals of degrees", f"{report['digits']}")
    table.add_row(
        f"Different {counted} in each group"
        if counted == "subjects"
        else "Trajectories in each group",
        f"at least {report['k']}",
    )
    table.add_row("Group sizes", f"{min(sizes)} to {max(sizes)}")
    if "shards" in report:
        table.add_row("Shards, searched one by one", f"{report['shards']:,}")
    _add_stages(table, report["stages"])
    if (alignment := report["alignment"]) is not None:
        slid = alignment["slid"]
        table.add_row("Trajectories that slid", f"{slid['share']:.0%}")
        table.add_row("(on their tracks by, mean)", f"{slid['mean']:,.0f} m")
    if (suppressed := report.get("suppressed")) is not None:
        _add_suppressed(table, suppressed)
    Console().print(table)
    Console().print(_moved(report))
    if alignment is not None:
        Console().print(alignment["measured"], soft_wrap=True)
    if suppressed is not None and (many := suppressed["declined"]):
        Console().print(
            f"Nothing was left out for its cost: without the {many:,} that cost most, "
            "the others would not have moved less.",
            soft_wrap=True,
        )
    if (wide := report.get("wide")) is not None:
        Console().print(_of_wide_groups(wide), soft_wrap=True)
    if "shards" in report:
        Console().print("Windows stay as they were cut: only files are aligned.")
    if report["stopped"]:
        Console().print(STOPPED, soft_wrap=True)
    if report.get("alignment_skipped"):
        Console().print(NOT_ALIGNED, soft_wrap=True)


def _of_wide_groups(wide: Mapping[str, Any]) -> str:
    """Say how far apart members of a group are, and what mends it."""
    many = wide["groups"]
    found = (
        f"{number_of(many, 'group holds', 'groups hold')} trajectories that "
        f"are farther apart than they are long, by up to {wide['span'] / 1e3:,.1f} km"
    )
    if wide["share"] is None:
        return f"{found}: lower -k, or release areas one by one."
    out, subjects = wide["trajectories"], wide["subjects"]
    whose = ""
    if subjects is not None:
        whose = f" of {number_of(subjects, 'subject')}"
    return (
        f"{found}. The widest are due to "
        f"{number_of(out, 'trajectory', 'trajectories')}{whose}: to leave these out, "
        f"repeat the command with --suppress {100 * wide['share']:.12g}%"
    )


def _moved(report: Mapping[str, Any]) -> Table:
    """Losses and metres of a release, against each of what it stands for."""
    ways = {"in the file": report}
    if (alignment := report["alignment"]) is not None:
        ways = {
            "as slid": report,
            "as cut": alignment["as_cut"],
            "without sliding": alignment["before"],
        }
    losses = [percent(way["information_loss"] / 100.0, 4) for way in ways.values()]
    distances = {name: way["displacement"] for name, way in ways.items()}
    if (from_runs := report.get("from_runs")) is not None:
        distances["from the runs"] = from_runs
        losses.append("")
    table = Table("Points moved", title="What it costs", title_justify="left")
    for name in distances:
        table.add_column(name, justify="right")
    for name, key in (
        ("mean", "mean"),
        ("median", "median"),
        ("95 %, at most", "p95"),
        ("farthest", "max"),
    ):
        table.add_row(name, *(f"{far[key]:,.0f} m" for far in distances.values()))
    table.add_row("Information loss", *losses)
    return table


def _add_suppressed(table: Table, suppressed: Mapping[str, Any]) -> None:
    """Say what was left out, and what would be lost with it."""
    if suppressed["share"]:
        table.add_row("Left out as outliers", f"{suppressed['outliers']:,}")
    if (before := suppressed["with_outliers"]) is not None:
        lost, moved = before["information_loss"], before["displacement"]["mean"]
        table.add_row("Information loss with them", percent(lost / 100.0, 4))
        others = before["displacement_of_others"]["mean"]
        table.add_row("Points moved with them (mean)", f"{moved:,.0f} m")
        table.add_row("(of the others, mean)", f"{others:,.0f} m")
    if suppressed["min_radius"]:
        table.add_row(
            f"Left out in groups within {suppressed['min_radius']:g} m",
            f"{suppressed['in_tight_groups']:,}",
        )


def rounded(value: float, way: str) -> str:
    """Write a percentage with four decimals.

    ``way`` is ROUND_FLOOR or ROUND_CEILING: a bound that were rounded up would be none.

    Examples
    --------
    >>> rounded(8.77986335, ROUND_FLOOR), rounded(3e-9, ROUND_CEILING)
    ('8.7798', '0.0001')
    """
    return f"{Decimal(value).quantize(Decimal('0.0001'), rounding=way):f}"


def show_certificate(account: Mapping[str, Any]) -> None:
    """Print the loss reached beside the bound."""
    table = Table(title="The certificate", title_justify="left", show_header=False)
    table.add_column()
    table.add_column()
    table.add_row("Rows", f"{account['n']:,}")
    table.add_row("Columns", _list(account["columns"]))
    table.add_row("Rows in each group", f"at least {account['k']}")
    _add_stages(table, account["stages"])
    reached, bound, gap = (
        rounded(account[name], way)
        for name, way in (
            ("information_loss", ROUND_CEILING),
            ("bound", ROUND_FLOOR),
            ("gap", ROUND_CEILING),
        )
    )
    table.add_row("Information loss reached", f"{reached} %")
    table.add_row("No groups lose less than", f"{bound} %")
    table.add_row("The gap between them", f"{gap} % of the loss")
    Console().print(table)


STOPPED = (
    "Stopped by Ctrl-C: these are the best groups so far. They keep what k promises; "
    "a longer search might lose less."
)

NOT_ALIGNED = "Alignment was skipped: the windows stay as they were cut."


def show_microaggregated(report: Mapping[str, Any]) -> None:
    """Print what a microaggregated table lost, and how its groups are."""
    sizes = report["sizes"]
    table = Table(title="The microaggregated table", title_justify="left", show_header=False)
    table.add_column()
    table.add_column()
    table.add_row("Rows", f"{report['n']:,}")
    for part, names in (
        ("Columns microaggregated", report["columns"]),
        ("Columns kept", report["kept"]),
        ("Columns dropped", report["dropped"]),
    ):
        if names:
            table.add_row(part, _list(names))
    table.add_row("Groups", f"{report['groups']:,}")
    counted = "Different subjects" if report["counted"] == "subjects" else "Rows"
    table.add_row(f"{counted} in each group", f"at least {report['k']}")
    if report["strata"] is not None:
        table.add_row("Groups lie within a value of", _list([report["strata"]]))
    table.add_row("Group sizes", f"{sizes['min']} to {sizes['max']}")
    _add_stages(table, report["stages"])
    losses = sorted(report["loss_by_column"].items(), key=lambda each: -each[1])
    for name, lost in losses[:_MOST_LOSSES]:
        table.add_row("Loss of a column", _list([f"{name}: {percent(lost / 100.0)}"]))
    if len(losses) > _MOST_LOSSES:
        table.add_row("(of all others, at most)", percent(losses[_MOST_LOSSES][1] / 100.0))
    risk = report["risk"]
    table.add_row(
        "Chance to link a row to a person",
        f"{risk['linkage_mean']:.1%} on average, {risk['linkage_highest']:.1%} at most",
    )
    table.add_row("Rows that hardly moved", f"{risk['near_original']:.1%}")
    Console().print(table)
    Console().print(HARDLY)


HARDLY = "A row hardly moved if no value of it moved by 5 % of its standard deviation."

_MOST_LOSSES = 8


def _list(names: Iterable[str]) -> Text:
    """List names as they are: one in brackets is no markup."""
    return Text(printable(", ".join(printable(name, _NAME) for name in names)))


def _add_stages(table: Table, stages: Sequence[Mapping[str, Any]]) -> None:
    for stage in stages:
        seconds, loss = f"({stage['seconds']:.2f} s)", stage["information_loss"]
        if loss is None:
            table.add_row(f"Time for the {stage['name']}", seconds)
        else:
            what = f"Information loss after {stage['name']}"
            table.add_row(what, f"{percent(loss / 100.0, 4)}  {seconds}")


def show_measurements(measurements: Sequence[Measurement]) -> None:
    """Print how far each method's losses lie above the published ones, on average."""
    table = Table("Table", "Data", "Method", title="Beside the papers", title_justify="left")
    table.add_column("Numbers compared", justify="right")
    table.add_column("Ours above them (mean)", justify="right")
    compared: dict[tuple[str, str, str], list[float]] = {}
    for m in measurements:
        if m.difference is not None and m.statistic in ("il", "avg", "path_length"):
            place = (m.table, m.dataset, m.method)
            compared.setdefault(place, []).append(m.difference)
    for place, differences in compared.items():
        mean = sum(differences) / len(differences)
        table.add_row(*place, str(len(differences)), f"{mean:+.1f} %")
    if compared:
        Console().print(table)
