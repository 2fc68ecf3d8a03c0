"""The command line: its commands, and how it ends: a sentence and an exit code."""

import gc
import io
import signal
import sys
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from trajanon.cli.anonymize_command import anonymize
from trajanon.cli.check_command import check
from trajanon.cli.evaluate_command import evaluate
from trajanon.cli.exit_codes import BAD_INPUT, DEFECT, INTERRUPTED, SIGNAL_OFFSET
from trajanon.cli.extract_command import extract
from trajanon.cli.ledger_command import clean, ledger
from trajanon.cli.map_command import draw
from trajanon.cli.messages import log_to_screen, say, say_problem, tell, usage_error
from trajanon.cli.options import COMMAND_NAMES, GroupedCommand
from trajanon.cli.paper_commands import benchmark, figures
from trajanon.cli.run_commands import demo, run
from trajanon.cli.streets_command import streets
from trajanon.cli.table_commands import bound, microaggregate
from trajanon.cli.trim_command import trim
from trajanon.common.errors import BadInput, TrajanonError, TrajanonWarning, printable
from trajanon.common.glibc_memory import share_a_heap

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

app = typer.Typer(
    help="k-anonymous GPS trajectories with the least information loss: "
    "extract, anonymize, check, evaluate, map. For any table of numbers: "
    "microaggregate. Begin with: trajanon demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def studio(
    context: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders with tracks.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a local page that does all this without typing."""
    for file in files or []:
        if not file.exists():
            raise BadInput(f"there is no {file}")

    if find_spec("nicegui") is None:
        raise BadInput("the studio is a page of NiceGUI; run pip install 'trajanon[studio]'")

    from trajanon.studio.server import serve

    commands: dict[str, Any] = getattr(context.find_root().command, "commands", {})
    serve(files or [], commands, browser=browser)


# In the order in which the help lists them.
_COMMANDS: tuple[Callable[..., None], ...] = (
    extract,
    anonymize,
    check,
    evaluate,
    draw,
    run,
    studio,
    streets,
    trim,
    ledger,
    microaggregate,
    bound,
    benchmark,
    figures,
    demo,
    clean,
)
for command in _COMMANDS:
    app.command(COMMAND_NAMES.get(command.__name__), cls=GroupedCommand)(command)


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Show what there is, where no command is given."""
    if version:
        from importlib.metadata import version as version_of

        tell(f"trajanon {version_of('trajanon')}")
        raise typer.Exit

    if context.invoked_subcommand is None:
        typer.echo(context.get_help())  # noqa: TID251 -- in lines, all of our own words


class _Pipe(io.FileIO):
    """A standard stream with a reader that may leave, as `head` does: the exit code stays."""

    _failed = False

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError) and not self._failed:
                self._failed = True  # such as a full disk; said once
                raise
            return memoryview(data).nbytes


def _open_ended(stream: TextIO) -> TextIO:
    """Let a standard stream take any text, and drop it if the reader has left."""
    is_ours = stream in (sys.__stdout__, sys.__stderr__)  # or a program's that calls us
    if stream is None or not is_ours or stream.isatty():
        return stream

    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False)),
        stream.encoding,
        "backslashreplace",
        line_buffering=True,
    )


def _show_defect() -> None:
    """Show where the program failed."""
    for line in traceback.format_exc().splitlines():
        print(printable(line), file=sys.stderr)  # noqa: T201 -- lines of a traceback


class _Signals:
    """Signals that end the program as Ctrl-C does, with files whole."""

    def __init__(self) -> None:
        """Catch them, where the system has them."""
        self.exit_code: int | None = None  # once one has come

        for name in ("SIGTERM", "SIGHUP"):  # from outside, or of a terminal that is closed
            number = getattr(signal, name, None)
            # nohup asks to go on without a terminal.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._end)

    def _end(self, number: int, _: object) -> NoReturn:
        if self.exit_code is None:
            self.exit_code = SIGNAL_OFFSET + number
        sys.exit(self.exit_code)


def _exit_code(signals: _Signals) -> int:
    """Run the command that was asked for; report what went wrong in one sentence."""
    try:
        return int(app(standalone_mode=False) or 0)

    except (KeyboardInterrupt, typer.Abort) as stop:
        # typer takes both for Ctrl-C.
        if isinstance(stop.__cause__, EOFError):
            _show_defect()
            return DEFECT
        return INTERRUPTED

    except (TrajanonError, TrajanonWarning) as error:  # of -W error
        say_problem(error, str(error))
        return BAD_INPUT

    except OSError as error:
        say_problem(error, f"{error.filename or 'the system'}: {error.strerror or error}")
        return BAD_INPUT

    except Exception as error:
        # A compiled module that is being imported makes an ImportError of a signal.
        if signals.exit_code is not None:
            return signals.exit_code

        message = usage_error(error)
        if not message:
            _show_defect()
            return DEFECT

        context = getattr(error, "ctx", None)
        command = "trajanon" if context is None else context.command_path
        say_problem(error, f"{message}; see {command} --help")
        return BAD_INPUT


def main() -> NoReturn:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    sys.stdout = _open_ended(sys.stdout)
    sys.stderr = _open_ended(sys.stderr)
    gc.set_threshold(100_000)  # what libraries make when they are imported stays
    share_a_heap()
    log_to_screen()

    exit_code = _exit_code(_Signals())
    if exit_code == INTERRUPTED:  # which typer returns, too
        say("stopped; no file was left half-written")
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
