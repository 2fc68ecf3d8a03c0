"""What people see while a command works, and how it prints tables and JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from trajanon.cli.wording import with_flags
from trajanon.errors import printable
from trajanon.progress import Progress

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


@contextmanager
def bars() -> Iterator[Progress]:
    """Show progress bars on standard error; nothing where that is no terminal."""
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


def show_json(result: Mapping[str, Any]) -> None:
    """Print a result for a script, on standard output."""
    print(json.dumps(dict(result), indent=1))  # noqa: T201


def show(text: str | Table) -> None:
    """Print a table, or a sentence whose markup counts for nothing, on standard output."""
    if isinstance(text, str):
        Console().print(Text(with_flags(text)), soft_wrap=True)
    else:
        Console().print(text)


def show_facts(title: str, rows: Iterable[tuple[str, str | Text]], *, right: bool = False) -> None:
    """Print names and values, a line each."""
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right" if right else "left")
    for name, value in rows:
        table.add_row(name, value)
    show(table)


def listed(names: Iterable[str]) -> Text:
    """List names as they are: one in brackets is no markup."""
    return Text(printable(", ".join(printable(name, _NAME) for name in names)))
