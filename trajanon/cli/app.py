"""The application: its commands, and what it says where none is given."""

from typing import Annotated

import typer

from trajanon.cli.anonymize import anonymize
from trajanon.cli.benchmark import benchmark
from trajanon.cli.bound import bound
from trajanon.cli.check import check
from trajanon.cli.clean import clean
from trajanon.cli.demo import demo
from trajanon.cli.evaluate import evaluate
from trajanon.cli.extract import extract
from trajanon.cli.figures import figures
from trajanon.cli.map import draw
from trajanon.cli.microaggregate import microaggregate

app = typer.Typer(
    help="k-anonymous GPS trajectories with the least information loss: "
    "extract, anonymize, check, evaluate, map. For any table of numbers: "
    "microaggregate. Begin with: trajanon demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command()(extract)
app.command()(anonymize)
app.command()(check)
app.command()(evaluate)
app.command("map")(draw)
app.command()(microaggregate)
app.command()(bound)
app.command()(benchmark)
app.command()(figures)
app.command()(demo)
app.command()(clean)


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Say what there is, where no command is given."""
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"trajanon {version_of('trajanon')}")  # noqa: TID251
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())  # noqa: TID251
