"""What commands say on the screen, as sentences and as JSON."""

import json
import logging
import os
import re
import shlex
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import typer
from msgspec import Struct, to_builtins

from trajanon.common.command_lines import flag_of
from trajanon.common.errors import ColumnsUnclear, TrajanonWarning, printable
from trajanon.common.plain_text import escaped_json

STOPPED = (
    "Stopped by Ctrl-C: these are the best groups so far. They keep the promise of k; a longer "
    "search might lose less."
)

_OPTIONS = {"area": "bbox"}
"""Options of the parameters of the library that have another name."""


def with_flags(message: str) -> str:
    """Name options where the library names parameters, in backquotes.

    >>> with_flags("lower `min_radius`, or use `rows='lines'` or `k=4`")
    'lower --min-radius, or use --rows lines or -k 4'
    """

    def option(parameter: re.Match[str]) -> str:
        """Write the option of a parameter, and its value if it has one."""
        name = _OPTIONS.get(parameter[1], parameter[1])
        value = (parameter[2] or "").strip("='\"")
        if value in ("True", "False"):  # a flag is there, or is there with no- before its name
            return flag_of(name if value == "True" else f"no_{name}")
        separator = "=" if value.startswith("-") else " "
        return f"{flag_of(name)}{separator}{value}" if value else flag_of(name)

    return re.sub(r"`([a-z_]+)(=[^`\s]+)?`", option, message)


PROGRESS_VARIABLE = "TRAJANON_PROGRESS"
"""The variable of the environment which, set to ``lines``, lets a program that runs a command read
its progress, its messages and its error as lines of JSON on standard error, in which parameters are
named in backquotes."""


def speaks_json() -> bool:
    """Check whether a program reads what a command says on standard error."""
    return os.environ.get(PROGRESS_VARIABLE) == "lines"


class CommandProblem(Struct, frozen=True):
    """Why a command failed, and the columns of a table if one of them has to be named."""

    sentence: str
    roles: Sequence[str] = ()
    columns: Sequence[str] = ()
    table: str = ""


class StatusLine(Struct, frozen=True, omit_defaults=True):
    """How far a command is, a kernel that it compiles, a message, or why it failed."""

    task: str = ""
    done: float = 0.0
    total: float | None = None
    note: str = ""
    compiling: str = ""
    message: str = ""
    problem: CommandProblem | None = None


def write_json_line(status: StatusLine) -> None:
    """Write a line of JSON on standard error."""
    line = json.dumps(to_builtins(status))  # which escapes all but ASCII
    print(line, file=sys.stderr, flush=True)  # noqa: T201 -- escaped


def say(message: str) -> None:
    """Print a sentence on standard error, beside the results."""
    if speaks_json():
        write_json_line(StatusLine(message=message))
        return
    typer.echo(f"trajanon: {with_flags(printable(message))}", err=True)  # noqa: TID251 -- escaped


def say_problem(error: Exception, sentence: str) -> None:
    """Print why a command failed; for a program, also the columns of which one has to be named."""
    if not speaks_json():
        say(sentence)
        return

    problem = CommandProblem(sentence)
    if isinstance(error, ColumnsUnclear):
        problem = CommandProblem(error.problem, error.roles, error.columns, error.table)
    write_json_line(StatusLine(problem=problem))


def usage_error(error: Exception) -> str:
    """Return typer's message for a usage error, and the value it is about; else nothing."""
    if not hasattr(error, "format_message"):
        return ""
    message: str = error.format_message().replace("Value error, ", "").rstrip(".")
    # Where a value is refused, its errors are those of pydantic.
    refused: Any = getattr(error.__cause__, "errors", list)()
    if refused and str(refused[0]["input"]) not in message:
        message += f" (got {refused[0]['input']})"
    return message


def tell(line: str = "", *, colour: str | None = None) -> None:
    """Print a line of the results, on a terminal in a colour; names in it cannot steer it."""
    typer.secho(with_flags(printable(line)), fg=colour, bold=bool(colour))


def show_json(result: Mapping[str, object]) -> None:
    """Print a result for a script."""
    print(escaped_json(json.dumps(dict(result), indent=1)))  # noqa: T201 -- escaped


def say_written(content: str, out: object, default: object, next_command: str, k: int) -> None:
    """Print what was written where, and which command comes next.

    That command finds ``default`` without its name.
    """
    name = "" if out == default else f" {shlex.quote(str(out))}"
    tell(f"Wrote {content} to {out}. Next: trajanon {next_command}{name} -k {k}")


class _ToScreen(logging.Handler):
    """A handler that prints log messages as all other sentences."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message."""
        say(record.getMessage())


def _show_warning(
    message: Warning | str, category: type[Warning], *_: object, **__: object
) -> None:
    """Print a warning of the package; others are for programmers."""
    if issubclass(category, TrajanonWarning):
        say(str(message))


def log_to_screen() -> None:
    """Show log messages: all of the package, and warnings of other packages."""
    logger = logging.getLogger("trajanon")
    logger.handlers = [_ToScreen()]
    logger.setLevel(logging.INFO)
    logging.lastResort = _ToScreen(logging.WARNING)
    if not sys.warnoptions:  # warnings of other packages are for programmers
        warnings.simplefilter("always", TrajanonWarning)
        warnings.showwarning = _show_warning


@cache
def say_compiling(can_be_kept: bool) -> None:
    """Print, once, that kernels are compiled, and whether a folder keeps them for later runs."""
    say(
        "compiling for the first run: 15 to 40 seconds, once"
        if can_be_kept
        else "compiling, 20 to 40 seconds at every run: no cache folder can be written (set "
        "NUMBA_CACHE_DIR to another)"
    )
