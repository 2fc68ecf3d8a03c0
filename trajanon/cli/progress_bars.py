"""Progress bars of a running command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from trajanon._kernels import at_compilation
from trajanon.cli.messages import say, say_compiling, speaks_json, write_line
from trajanon.common.errors import printable
from trajanon.common.progress import Progress

_COMPILING = "Compiling kernels, once"
_LONGEST_NAME = 80  # characters
_SECONDS_BETWEEN_LINES = 0.2
_SECONDS_BETWEEN_LOG_LINES = 60.0


@contextmanager
def bars() -> Iterator[Progress]:
    """Show progress bars on standard error; where that is no terminal, a line now and then."""
    if speaks_json():
        with _listening(lambda kernel, _: write_line({"compiling": kernel})):
            yield _json_lines()
        return

    console = Console(stderr=True)
    if not console.is_terminal:
        with _listening(lambda kernel, kept: say_compiling(kept) if kernel else None):
            yield _log_lines()
        return

    tasks: dict[str, TaskID] = {}

    with RichProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as display:

        def move(task: str, done: float, total: float | None, note: str = "") -> None:
            if task not in tasks:
                tasks[task] = display.add_task(printable(task, _LONGEST_NAME), total=total, note="")

            display.update(tasks[task], completed=done, total=total, note=printable(note))

        def compiling(kernel: str, kept: bool) -> None:
            if kernel:
                say_compiling(kept)
                move(_COMPILING, 0, None, kernel)
            elif _COMPILING in tasks:
                display.remove_task(tasks.pop(_COMPILING))

        with _listening(compiling):
            yield move


@contextmanager
def _listening(listener: Callable[[str, bool], None]) -> Iterator[None]:
    at_compilation.append(listener)
    try:
        yield
    finally:
        at_compilation.remove(listener)


def _log_lines() -> Progress:
    """Return a progress for a log: a line a minute at most, of work that takes longer."""
    last_written = monotonic()

    def write(task: str, done: float, total: float | None, note: str = "") -> None:
        nonlocal last_written

        now = monotonic()
        if now - last_written >= _SECONDS_BETWEEN_LOG_LINES:
            last_written = now
            of_all = "" if total is None else f": {done:,.0f} of {total:,.0f}"
            say(f"{printable(task, _LONGEST_NAME)}{of_all}{f', {note}' * bool(note)}")

    return write


def _json_lines() -> Progress:
    """Return a progress that writes lines of JSON on standard error."""
    last_task = ""
    last_written = 0.0

    def write(task: str, done: float, total: float | None, note: str = "") -> None:
        nonlocal last_task, last_written

        now = monotonic()
        if task == last_task and now - last_written <= _SECONDS_BETWEEN_LINES:
            return

        last_task = task
        last_written = now
        write_line({"task": task, "done": done, "total": total, "note": note})

    return write
