"""trajanon demo."""

from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.anonymize import anonymize
from trajanon.cli.check import check
from trajanon.cli.extract import extract
from trajanon.cli.map import draw
from trajanon.cli.options import ANONYMIZED, MAP, TRAJECTORIES


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the results go.")] = Path(
        "trajanon-demo"
    ),
) -> None:
    """Run the whole chain on the bundled synthetic sample, without network."""
    from trajanon.data import sample
    from trajanon.errors import FileProblem

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder {folder}: {error.strerror}; name another one"
        raise FileProblem(msg) from error
    trajectories, released = folder / TRAJECTORIES, folder / ANONYMIZED
    typer.echo("1. trajanon extract --bbox madrid --source (the bundled sample)")
    extract(source=[str(sample())], bbox=["madrid"], out=trajectories)
    typer.echo("\n2. trajanon anonymize -k 4")
    anonymize(str(trajectories), k=4, out=str(released))
    typer.echo("\n3. trajanon check -k 4")
    check(released, k=4)
    typer.echo("\n4. trajanon map")
    draw([trajectories, released], out=folder / MAP)
