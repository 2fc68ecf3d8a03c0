"""What people see while a command works, and how it prints tables."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from trajanon.cli.wording import announce_compilation
from trajanon.errors import printable
from trajanon.progress import Progress

_NAME = 80
"""Characters of a name on the screen."""

LINES = "TRAJANON_PROGRESS"
"""Set to ``lines``, this lets a program that runs a command know how far it is."""

_OFTEN = 0.2  # seconds between two such lines


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


@contextmanager
def bars() -> Iterator[Progress]:
    """Show progress bars on standard error; nothing where that is no terminal."""
    announce_compilation()
    if os.environ.get(LINES) == "lines":
        yield _lines()
        return
    console = Console(stderr=True)
    tasks: dict[str, TaskID] = {}

    def move(task: str, done: float, total: float | None, note: str = "") -> None:
        if task not in tasks:
            tasks[task] = shown.add_task(printable(task, _NAME), total=total, note="")
        shown.update(tasks[task], completed=done, total=total, note=note)

    with RichProgress(
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
    ) as shown:
        yield move


def _lines() -> Progress:
    """Tell progress as lines of JSON on standard error."""
    last = ("", 0.0)

    def tell(task: str, done: float, total: float | None, note: str = "") -> None:
        nonlocal last
        if task != last[0] or monotonic() - last[1] > _OFTEN:
            last = task, monotonic()
            said = {"task": task, "done": done, "total": total, "note": note}
            print(json.dumps(said), file=sys.stderr, flush=True)  # noqa: T201 -- JSON escapes, too

    return tell


def show_table(
    title: str,
    rows: Iterable[Sequence[str]],
    names: Iterable[str],
    *,
    numbers: Iterable[str] = (),
    bold: str = "",
) -> None:
    """Print a table: columns of texts, then of numbers; and one row, by its name, in bold."""
    table = Table(*names, title=title, title_justify="left")
    for name in numbers:
        table.add_column(name, justify="right")
    table.show_header = any(column.header for column in table.columns)
    for row in rows:
        # One in brackets is no markup.
        table.add_row(*map(Text, row), style="bold" * (row[0] == bold))
    Console().print(table)


def listed(names: Iterable[str]) -> str:
    """List names, each cut where it is long."""
    return printable(", ".join(printable(name, _NAME) for name in names))
