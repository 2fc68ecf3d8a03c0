"""Progress bars of a running command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from trajanon._kernels import compilation_listeners
from trajanon.cli.messages import StatusLine, say, say_compiling, speaks_json, write_json_line
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
        with _listening(lambda kernel, _: write_json_line(StatusLine(compiling=kernel))):
            yield _now_and_then(_json_line, _SECONDS_BETWEEN_LINES, of_each_task=True)
        return

    console = Console(stderr=True)
    if not console.is_terminal:
        with _listening(lambda kernel, can_be_kept: say_compiling(can_be_kept) if kernel else None):
            yield _now_and_then(_log_line, _SECONDS_BETWEEN_LOG_LINES, of_each_task=False)
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
            """Move the bar of a task; the first time it is added."""
            if task not in tasks:
                tasks[task] = display.add_task(printable(task, _LONGEST_NAME), total=total, note="")

            display.update(tasks[task], completed=done, total=total, note=printable(note))

        def compiling(kernel: str, can_be_kept: bool) -> None:
            """Show which kernel is being compiled; no name ends that."""
            if kernel:
                say_compiling(can_be_kept)
                move(_COMPILING, 0, None, kernel)
            elif _COMPILING in tasks:
                display.remove_task(tasks.pop(_COMPILING))

        with _listening(compiling):
            yield move


@contextmanager
def _listening(listener: Callable[[str, bool], None]) -> Iterator[None]:
    """Call a function whenever a kernel is compiled during the block."""
    compilation_listeners.append(listener)
    try:
        yield
    finally:
        compilation_listeners.remove(listener)


def _now_and_then(write: Progress, seconds: float, *, of_each_task: bool) -> Progress:
    """Pass the state of the work on every so many seconds, and perhaps whenever a task begins."""
    last_task = ""
    last_written = monotonic()

    def pass_on(task: str, done: float, total: float | None, note: str = "") -> None:
        """Write the state, if it is time."""
        nonlocal last_task, last_written

        now = monotonic()
        begins = of_each_task and task != last_task
        if begins or now - last_written >= seconds:
            last_task = task
            last_written = now
            write(task, done, total, note)

    return pass_on


def _log_line(task: str, done: float, total: float | None, note: str = "") -> None:
    """Write a line of a log."""
    of_all = "" if total is None else f": {done:,.0f} of {total:,.0f}"
    detail = f", {note}" if note else ""
    say(f"{printable(task, _LONGEST_NAME)}{of_all}{detail}")


def _json_line(task: str, done: float, total: float | None, note: str = "") -> None:
    """Write a line of JSON."""
    write_json_line(StatusLine(task, done, total, note))
