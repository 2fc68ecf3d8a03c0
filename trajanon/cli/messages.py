"""What commands say on the screen, as sentences and as JSON."""

import json
import logging
import re
import shlex
import sys
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

import typer

from trajanon._kernels import at_first_compilation
from trajanon.errors import printable

_OF_METHODS = "trajanon microaggregate has it, and trajanon.anonymize in Python"

REMOVED: Mapping[str, Mapping[str, str]] = {
    "extract": {
        "admin-level": "give the number of the relation as --area",
        "format": "content and suffix tell the kind of a file: rename one that is mistaken",
        "limit": "--max-per-subject bounds what each gives, and rows of the file may be left out",
        "max-fill": "lower --max-gap: over longer hops no straight line is drawn",
        "min-displacement": "whole trips, the default, end where somebody stays",
        "no-tracks": "tracks are kept, and trajanon anonymize --as-published does not use them",
        "per-trace": "--per-recording is its new name, for windows",
        "radius": "150 m are cut out; in Python, trajanon.extract.hidden takes any radius",
        "refresh": "remove the folder of pages that the extraction names, to ask for new ones",
        "resume": "a stopped extraction begins anew, and pages of the OSM server are kept",
        "strict": "what cannot be read is counted, and the first broken line of a table is named",
        "source": "name the files and folders alone: trajanon extract FILES",
        "trips": "whole trips are the default: leave it out",
    },
    "anonymize": {
        "count": "k counts people, and with --as-published records",
        "mode": "lines follow roads of all kinds; for those of cars alone lay them on roads "
        "afterwards, with trajanon snap",
        "min-radius": "where all of a group went one way, take a larger -k",
        "suppress": "the farthest of groups that are too wide are left out",
        "digits": "a release has 5 decimals",
        "keep-off": "a line with a point over 100 m from all roads stays as it is; for another "
        "distance lay it on roads afterwards, with trajanon snap",
        **dict.fromkeys(
            ("compress-by", "expansion", "gamma", "path-neighbours", "subsets"), _OF_METHODS
        ),
        **dict.fromkeys(("heuristic", "compression", "seed"), _OF_METHODS),
        **dict.fromkeys(("align", "no-align"), "windows slide, but with --as-published"),
        "per-subject-in-all": "--one-line-each lets a person have one line in each release",
        **dict.fromkeys(("shuffle-probability", "max-events"), _OF_METHODS),
    },
    "evaluate": {"pbf": "--roads is its new name"},
    "check": {"digits": "a release has at most 5 decimals"},
    "clean": {"unfinished": "extractions leave drafts alone, which trajanon clean removes"},
}
"""By command and option: what to do instead."""


def removed(command: str | None, option: str) -> str:
    """Say what takes the place of an option, if a command had it before; else nothing."""
    name = option.lstrip("-").replace("_", "-")
    instead = REMOVED.get(command or "", {}).get(name, "")
    return instead and f"--{name} was removed: {instead}"


INTERRUPTED = 130
"""The shell's exit code for Ctrl-C."""

_OPTIONS = {"area": "bbox"}
"""Parameters of the library whose options have other names."""


def with_flags(message: str) -> str:
    """Name options where the library names parameters, in backquotes.

    Examples
    --------
    >>> with_flags("lower `min_radius`, or use `rows='lines'` or `k=4`")
    'lower --min-radius, or use --rows lines or -k 4'
    """

    def flag(found: re.Match[str]) -> str:
        name = _OPTIONS.get(found[1], found[1]).replace("_", "-")
        value = (found[2] or "").strip("='\"")
        if value in ("True", "False"):  # a flag says so by being there
            name, value = f"{'no-' * (value == 'False')}{name}", ""
        between = "=" if value.startswith("-") else " " * bool(value)
        return f"{'-' if len(name) == 1 else '--'}{name}{between}{value}"

    return re.sub(r"`([a-z_]+)(=[^`\s]+)?`", flag, message)


def say(message: str) -> None:
    """Say a sentence beside the results."""
    typer.echo(f"trajanon: {with_flags(printable(message))}", err=True)  # noqa: TID251 -- escaped


def usage_error(error: Exception) -> str:
    """What typer says of a usage error, and of which value; nothing of any other error.

    Its class has moved between typer's versions. Those that ask pydantic do not name the value.
    """
    if not hasattr(error, "format_message"):
        return ""
    command = getattr(getattr(error, "ctx", None), "command", None)
    if gone := removed(getattr(command, "name", ""), getattr(error, "option_name", "")):
        return gone
    refused: Any = getattr(error.__cause__, "errors", list)()
    value = f" (got {refused[0]['input']})" if refused else ""
    return f"{error.format_message().rstrip('.')}{value}"


def tell(line: str = "") -> None:
    """Print a line of the results; names in it cannot steer the terminal."""
    typer.echo(with_flags(printable(line)))  # noqa: TID251 -- escaped


def show_json(result: Mapping[str, Any]) -> None:
    """Print a result for a script."""
    print(json.dumps(dict(result), indent=1))  # noqa: T201 -- JSON escapes, too


def say_written(what: str, out: object, default: object, verb: str, k: int) -> None:
    """Say what was written where, and which command comes next."""
    name = "" if out == default else f" {shlex.quote(str(out))}"
    there = ", where it is copied to a disk" * ("://" in str(out))
    if there:
        name = " FOLDER"
    tell(f"Wrote {what} to {out}. Next{there}: trajanon {verb}{name} -k {k}")


class _ToScreen(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def log_to_screen() -> None:
    """Let what is logged be seen: all of the package, and what others warn of."""
    logger = logging.getLogger("trajanon")
    logger.handlers = [_ToScreen()]
    logger.setLevel(logging.INFO)
    logging.lastResort = _ToScreen(logging.WARNING)
    if not sys.warnoptions:  # warnings of other packages are for programmers
        warnings.showwarning = lambda *_, **__: None


@cache
def announce_compilation() -> None:
    """Let the first compilation of a kernel be announced; once, where a command runs others."""
    at_first_compilation.append(say_compiling)


@cache
def say_compiling(kept: bool) -> None:
    """Say, once, that kernels are compiled, and whether they can be kept."""
    say(
        "compiling the kernels, once: some 15 to 40 seconds"
        if kept
        else "compiling the kernels, some 20 to 40 seconds at every run: no folder "
        "to keep them can be written (NUMBA_CACHE_DIR names another)"
    )
