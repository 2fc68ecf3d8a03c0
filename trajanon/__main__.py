"""The command line: its commands."""

import gc
import sys
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

from trajanon.cli.anonymize_command import anonymize
from trajanon.cli.check_command import check
from trajanon.cli.errors_and_exit_codes import INTERRUPTED, Signals, open_ended, run_to_exit_code
from trajanon.cli.evaluate_command import evaluate
from trajanon.cli.extract_command import extract
from trajanon.cli.ledger_command import clean, ledger
from trajanon.cli.map_command import draw
from trajanon.cli.messages import log_to_screen, say, tell
from trajanon.cli.options import COMMAND_NAMES, GroupedCommand
from trajanon.cli.paper_commands import benchmark, figures
from trajanon.cli.run_commands import demo, run
from trajanon.cli.streets_command import streets
from trajanon.cli.table_commands import bound, microaggregate
from trajanon.cli.trim_command import trim
from trajanon.common.glibc_memory import share_a_heap
from trajanon.studio.studio_command import studio

app = typer.Typer(
    help="k-anonymous GPS trajectories with the least information loss: "
    "extract, anonymize, check, evaluate, map. For any table of numbers: "
    "microaggregate. Begin with: trajanon demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def main() -> NoReturn:
    """Run the command line; a user's mistake is one sentence and exit code 2."""
    sys.stdout = open_ended(sys.stdout)
    sys.stderr = open_ended(sys.stderr)
    gc.set_threshold(100_000)  # what libraries make when they are imported stays
    share_a_heap()
    log_to_screen()

    exit_code = run_to_exit_code(app, Signals())
    if exit_code == INTERRUPTED:  # which typer returns, too
        say("stopped; no file was left half-written")
    sys.exit(exit_code)


if __name__ == "__main__":
    main()
