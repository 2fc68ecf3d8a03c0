"""How a command ends: a user's mistake is one sentence, and each end has an exit code."""

import io
import signal
import sys
import traceback
from typing import TYPE_CHECKING, NoReturn, TextIO

import typer

from trajanon.cli.messages import say_problem, usage_error
from trajanon.common.errors import TrajanonError, TrajanonWarning, printable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

RELEASE_AT_FAULT = 1
"""A release does not keep its promise, or is not to be published."""

BAD_INPUT = 2
"""Something that the user has to mend; one sentence says what."""

DEFECT = 70
"""The program failed; the traceback is shown."""

INTERRUPTED = 130
"""Ctrl-C, as shells report it."""

SIGNAL_OFFSET = 128
"""Added to the number of a signal that ended the program, as shells do."""


class _Pipe(io.FileIO):
    """A standard stream with a reader that may leave, as `head` does: the exit code stays."""

    _has_failed = False

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write to the reader, or to nobody if the reader has left."""
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError) and not self._has_failed:
                self._has_failed = True  # such as a full disk, which is reported once
                raise
            return memoryview(data).nbytes


def open_ended(stream: TextIO) -> TextIO:
    """Return a standard stream that takes any text, and drops it if the reader has left."""
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


class Signals:
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
        """End the program; a second signal does not change the exit code."""
        if self.exit_code is None:
            self.exit_code = SIGNAL_OFFSET + number
        sys.exit(self.exit_code)


def run_to_exit_code(app: typer.Typer, signals: Signals) -> int:
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
